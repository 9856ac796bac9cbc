# stdin, stdout and stderr: what is read, what is written, and what happens when they are
# closed, full or gone.

load cli

@test "an answer that cannot be written is an error" {
    [ -c /dev/full ] || skip "no /dev/full"
    fake_script
    for command in "--help" "--version" "devices" "devices --json" \
        "ask --device fake:fake.jsonl hello" "ask --json --device fake:fake.jsonl hello" \
        "ask --no-chat --device fake:fake.jsonl hello"; do
        # shellcheck disable=SC2086
        run -1 bash -c '"$VITRINE" "$@" > /dev/full' - $command
        [[ $output == "vitrine: cannot write to standard output: "* ]] || { echo "$command: $output"; false; }
    done
}

@test "a closed stdout is an error, and nothing lands in another file" {
    fake_script
    before=$(cksum fake.jsonl)
    run -1 bash -c '"$VITRINE" ask --device fake:fake.jsonl hello >&-'
    [[ $output == *"cannot write to standard output"* ]]
    [ "$(cksum fake.jsonl)" = "$before" ]
    grep -q '"type":"stop"' "$HOME"/.local/share/vitrine/sessions/*.jsonl
    for file in "$HOME"/.local/share/vitrine/sessions/*.jsonl; do
        "$look" lines < "$file"
    done
}

@test "a closed stderr or stdin harms nothing" {
    fake_script
    run -0 bash -c '"$VITRINE" ask --device fake:fake.jsonl hello 2>&-'
    [ "$output" = "Hello there" ]
    run -0 bash -c '"$VITRINE" ask --device fake:fake.jsonl hello <&-'
    [ "$output" = "Hello there" ]
    run -2 bash -c '"$VITRINE" ask --device fake:fake.jsonl <&-'
    run -3 bash -c '"$VITRINE" ask -m no-such hello 2>&-'
    [ -z "$output" ]
}

@test "a reader that goes away stops the program, without a word" {
    fake_endless
    # shellcheck disable=SC2016
    run --separate-stderr -0 bash -c '
        timeout 20 "$VITRINE" ask --device fake:endless.jsonl hello | head -c 6
        echo "${PIPESTATUS[0]}"'
    [ "$output" = "la la 141" ]
    [ -z "$stderr" ]
    grep -q '"why":"user"' "$HOME"/.local/share/vitrine/sessions/*.jsonl
}

@test "a prompt on the command line leaves stdin alone" {
    fake_script
    mkfifo never
    exec 9<> never
    run -0 timeout 20 "$VITRINE" ask --device fake:fake.jsonl hello <&9
    [ "$output" = "Hello there" ]
    run -0 timeout 20 "$VITRINE" ask --no-chat --device fake:fake.jsonl hello <&9
    exec 9>&-
}

@test "without a prompt stdin is the prompt" {
    fake_script
    run -0 bash -c 'printf "two\nlines\n" | "$VITRINE" ask --json --device fake:fake.jsonl'
    [ "$(grep '"role":"user"' <<< "$output" | "$look" get-lines content)" = $'two\nlines' ]
    run -0 bash -c 'printf "dash" | "$VITRINE" ask --json --device fake:fake.jsonl -'
    [ "$(grep '"role":"user"' <<< "$output" | "$look" get-lines content)" = dash ]
    # Raw text is used to its last byte.
    run -0 bash -c 'printf "raw\n" | "$VITRINE" ask --no-chat --json --device fake:fake.jsonl'
    [[ $output == *'"content":"raw\n"'* ]]
}

@test "an empty stdin is no prompt" {
    fake_script
    usage_error ask --device fake:fake.jsonl < /dev/null
    [[ $stderr == *empty* ]]
    usage_error ask --device fake:fake.jsonl - < /dev/null
    usage_error ask --device fake:fake.jsonl --no-chat < /dev/null
    usage_error ask --device fake:fake.jsonl ""
}

@test "an answer goes to a pipe exactly, and to a terminal with its controls shown" {
    cat > esc.jsonl << 'END'
{"fake":1,"template":"chatml","special":["<|im_start|>","<|im_end|>"],"eos":"<|im_end|>"}
{"answer":["a\u001b]0;evil\u0007",{"b64":"4pQ="},{"b64":"gg=="},{"b64":"/w=="},"b"]}
END
    v ask --device fake:esc.jsonl hello > out
    printf 'a\e]0;evil\a\xe2\x94\x82\xffb\n' | cmp - out
    command -v script > /dev/null || skip "no script(1)"
    TERM=xterm script -qec "'$VITRINE' ask --device fake:esc.jsonl hello" /dev/null < /dev/null > tty
    tr -d '\r' < tty > shown
    printf 'a^[]0;evil^G\xe2\x94\x82\xef\xbf\xbdb\n' | cmp - shown
}

@test "files that cannot be read are said, with status 1" {
    need_shared models/stories260K.gguf
    model=$shared/models/stories260K.gguf
    run -1 --separate-stderr v tokenize -m "$model" no-such-file
    [[ $stderr == "vitrine: "*no-such-file* ]]
    run -1 --separate-stderr v tokenize -m "$model" .
    run -1 --separate-stderr v score -m "$model" no-such-file
}
