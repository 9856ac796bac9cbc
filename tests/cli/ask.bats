# `vitrine ask` on the fake device.

load cli

@test "the answer alone is on stdout" {
    fake_script
    run -0 --separate-stderr v ask --device fake:fake.jsonl hello
    [ "$output" = "Hello there" ]
    [ -z "$stderr" ]
    v ask --device fake:fake.jsonl hello > out
    printf 'Hello there\n' | cmp - out
}

@test "-v puts thinking and speed on stderr" {
    fake_script
    run -0 --separate-stderr v ask -v --device fake:fake.jsonl hello
    [ "$output" = "Hello there" ]
    [[ ${stderr_lines[0]} == "thinking: Hmm." ]]
    [[ ${stderr_lines[1]} == "vitrine: 8 tokens, eos;"* ]]
}

@test "the prompt is the operands, joined by spaces" {
    fake_script
    run -0 v ask --json --device fake:fake.jsonl how are you
    [[ $output == *'"content":"how are you"'* ]]
}

@test "--json prints the events of one turn" {
    fake_script
    v ask --json --seed 7 -s "be kind" --device fake:fake.jsonl hello > out
    "$look" lines < out
    run -0 bash -c '"$0" get-lines type < out | uniq' "$look"
    [ "$output" = $'session\nmessage\nprompt\ntoken\nstop' ]
    run -0 bash -c '"$0" get-lines role < out' "$look"
    [ "$output" = $'system\nuser\nassistant' ]
    run -0 bash -c '"$0" get-lines ch < out | uniq' "$look"
    [ "$output" = $'control\nthink\ncontrol\nresponse\ncontrol' ]
    run -0 bash -c '"$0" get-lines why < out' "$look"
    [ "$output" = eos ]
    run -0 bash -c '"$0" get-lines seed < out' "$look"
    [ "$output" = 7 ]
    # Every token has its evidence.
    for field in i id lp rank ent top us; do
        [ "$("$look" get-lines $field < out | wc -l)" -ge 8 ]
    done
}

@test "--logprobs says how many alternatives" {
    fake_script
    for k in 0 1 64; do
        v ask --json --logprobs $k --device fake:fake.jsonl hello > out
        run -0 bash -c 'grep "\"i\":1," out | "$0" get-lines "top.*" | wc -l' "$look"
        [ "$output" -eq $k ]
    done
}

@test "the answer is saved, unless it is private" {
    fake_script
    sessions=$HOME/.local/share/vitrine/sessions
    v ask --private --device fake:fake.jsonl hello
    [ ! -e "$sessions" ] || [ -z "$(ls "$sessions")" ]
    v ask --device fake:fake.jsonl hello
    [ "$(ls "$sessions" | wc -l)" -eq 1 ]
    [ "$(stat -c %a "$sessions"/*)" = 600 ]
    [ "$(stat -c %a "$sessions")" = 700 ]
    "$look" lines < "$sessions"/*.jsonl
}

@test "the saved events are those that --json prints" {
    fake_script
    v ask --json --device fake:fake.jsonl hello > out
    cmp out "$HOME"/.local/share/vitrine/sessions/*.jsonl
}

@test "--resume goes on with a session" {
    fake_script
    v ask --device fake:fake.jsonl one
    run -0 --separate-stderr v ask --resume last --json --device fake:fake.jsonl two
    [[ $output == *'"content":"two"'* && $output != *'"content":"one"'* ]]
    run -0 v sessions show last
    [ "$(grep -c '^user:' <<< "$output")" -eq 2 ]
    run -1 --separate-stderr v ask --resume nonesuch --device fake:fake.jsonl two
    [[ $stderr == *nonesuch* ]]
}

@test "-n ends the answer, which is no error" {
    fake_script
    run -0 --separate-stderr v ask -n 5 --json --device fake:fake.jsonl hello
    [[ $output == *'"why":"length","tokens":5,'* ]]
    [ -z "$stderr" ]
}

@test "a prompt that does not fit is status 4 with both numbers" {
    fake_script
    run -4 --separate-stderr v ask -c 12 --device fake:fake.jsonl "a long prompt, too long"
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr =~ needs\ [0-9]+\ .*holds\ 12\  ]]
    run -4 --separate-stderr v ask --no-chat -c 4 --device fake:fake.jsonl "a long prompt"
    [[ $stderr =~ needs\ [0-9]+\ .*holds\ 4\  ]]
}

@test "a context that becomes full is status 4, and the answer is printed" {
    fake_endless
    run -4 --separate-stderr v ask -c 40 --device fake:endless.jsonl hi
    [[ $output == "la la "* ]]
    [[ $stderr == *"the context is full: 40 of 40"* ]]
}

@test "--no-chat continues the text, with the same events and no session" {
    fake_script
    run -0 --separate-stderr v ask --no-chat --device fake:fake.jsonl hello
    [ "$output" = "Hmm.Hello there" ]
    v ask --no-chat --json --device fake:fake.jsonl hello > out
    run -0 bash -c '"$0" get-lines type < out | uniq' "$look"
    [ "$output" = $'session\nmessage\nprompt\ntoken\nstop' ]
    [ ! -e "$HOME/.local/share/vitrine/sessions" ]
}

@test "--special makes names in a raw text special tokens" {
    fake_script
    v ask --no-chat --json --device fake:fake.jsonl "<think>" > text
    v ask --no-chat --json --special --device fake:fake.jsonl "<think>" > special
    [ "$(grep '"prompt"' text | "$look" get-lines tokens)" -eq 7 ]
    [ "$(grep '"prompt"' special | "$look" get-lines tokens)" -eq 1 ]
}

@test "a device that fails in mid-answer is said, and the text stays" {
    cat > lost.jsonl << 'END'
{"fake":1,"template":"chatml","special":["<|im_start|>","<|im_end|>"],"eos":"<|im_end|>"}
{"answer":["some ","text",{"error":"device lost"}]}
END
    run -1 --separate-stderr v ask --device fake:lost.jsonl hello
    [ "$output" = "some text" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"device lost"* ]]
    run -0 v sessions show last
    [[ $output == *"some text"*"[cut: error"* ]]
}

@test "SIGINT and SIGTERM stop the answer, keep the text and end with 130 and 143" {
    fake_endless
    for how in INT:130 TERM:143; do
        for kind in "" --no-chat; do
            # shellcheck disable=SC2086
            run -${how#*:} timeout --preserve-status -k 20 -s ${how%:*} 1 \
                "$VITRINE" ask $kind --device fake:endless.jsonl hello
            [[ $output == "la la "* ]]
        done
        run -0 v sessions show last
        [[ $output == *"la la "*"[cut: user]" ]] || { echo "$output"; false; }
    done
}

@test "a signal while the prompt is read stops it at once" {
    cat > slow.jsonl << 'END'
{"fake":1,"template":"chatml","ctx":100000,"prefill_us":20000,"special":["<|im_start|>","<|im_end|>"],"eos":"<|im_end|>"}
{"answer":["x"]}
END
    prompt=$(printf 'word %.0s' {1..2000})
    SECONDS=0
    run -130 timeout --preserve-status -k 20 -s INT 1 "$VITRINE" ask --device fake:slow.jsonl "$prompt"
    [ $SECONDS -lt 8 ]
    [ -z "$output" ]
}

@test "--think with a level that no template knows is refused" {
    fake_script
    run --separate-stderr v ask --think max --device fake:fake.jsonl hello
    [ "$status" -eq 2 ]
    [[ $stderr == *"--think max"* ]]
}

@test "a script that does not fit is a model error" {
    echo '{"fake":1' > bad.jsonl
    run -3 --separate-stderr v ask --device fake:bad.jsonl hello
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *bad.jsonl* ]]
    run --separate-stderr v ask --device nonsense hello
    [ "$status" -ne 0 ]
    [ "${#stderr_lines[@]}" -ge 1 ]
}
