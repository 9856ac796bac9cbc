# `vitrine sessions`.

load cli

@test "list is empty where nothing was said" {
    run -0 --separate-stderr v sessions
    [ -z "$output$stderr" ]
    run -0 v sessions list
    [ -z "$output" ]
    run -0 v sessions list --json
    [ "$output" = "[]" ]
}

@test "list shows the newest first, one line each" {
    fake_script
    v ask --device fake:fake.jsonl "the first question"
    sleep 1.1
    v ask --device fake:fake.jsonl "the second question"
    run -0 v sessions list
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[1]} == *"the second question" && ${lines[2]} == *"the first question" ]]
    v sessions list --json > out
    "$look" valid < out
    run -0 bash -c '"$0" get "*.title" < out' "$look"
    [ "${lines[0]}" = "the second question" ]
    run -0 bash -c '"$0" get "*.messages" < out' "$look"
    [ "$output" = $'2\n2' ]
}

@test "show prints roles, thinking and text" {
    fake_script
    v ask -s "be kind" --device fake:fake.jsonl hello
    run -0 --separate-stderr v sessions show last
    [ "$output" = $'system:\nbe kind\n\nuser:\nhello\n\nassistant:\n| Hmm.\nHello there' ]
    [ -z "$stderr" ]
}

@test "a session is found by id, by its beginning, by path and as last" {
    fake_script
    v ask --device fake:fake.jsonl hello
    file=$(echo "$HOME"/.local/share/vitrine/sessions/*.jsonl)
    id=$(basename "$file" .jsonl)
    for name in "$id" "${id%????}" "$file" last; do
        run -0 v sessions show "$name"
        [[ $output == *"Hello there" ]]
    done
    run -1 --separate-stderr v sessions show 1999
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *1999* ]]
}

@test "show --json prints the file's events" {
    fake_script
    v ask --device fake:fake.jsonl hello
    v sessions show last --json > out
    cmp out "$HOME"/.local/share/vitrine/sessions/*.jsonl
}

@test "a session is read without its model" {
    fake_script
    v ask --device fake:fake.jsonl hello
    rm fake.jsonl
    run -0 v sessions show last
    [[ $output == *"Hello there" ]]
}

@test "foreign bytes are shown in a pipe too" {
    cat > esc.jsonl << 'END'
{"fake":1,"name":"\u001b]0;evil\u0007","template":"chatml","special":["<|im_start|>","<|im_end|>"],"eos":"<|im_end|>"}
{"answer":["a\u001b[31mb",{"b64":"/w=="}]}
END
    v ask --device fake:esc.jsonl $'ti\e[1mtle' > /dev/null
    v sessions list > out
    v sessions show last >> out
    run -1 grep -q $'\e\|\a' out
    grep -q 'a^\[\[31mb' out
    grep -q 'ti^\[\[1mtle' out
    v sessions list --json | "$look" valid
}

@test "colour marks roles only where it is wanted" {
    fake_script
    v ask --device fake:fake.jsonl hello
    run -0 v sessions show last
    [[ $output != *$'\e'* ]]
    run -0 v sessions show last --color always
    [[ $output == *$'\e['* ]]
    CLICOLOR_FORCE=1 run -0 v sessions show last
    [[ $output == *$'\e['* ]]
    CLICOLOR_FORCE=1 NO_COLOR=1 run -0 v sessions show last
    [[ $output != *$'\e'* ]]
    NO_COLOR=1 run -0 v sessions show last --color always
    [[ $output == *$'\e['* ]]
}

@test "a torn last line and unknown events are noted, and the rest is shown" {
    fake_script
    v ask --device fake:fake.jsonl hello
    file=$(echo "$HOME"/.local/share/vitrine/sessions/*.jsonl)
    { cat "$file"; echo '{"type":"from_the_future","x":1}'; printf '{"type":"mess'; } > torn.jsonl
    run -0 --separate-stderr v sessions show ./torn.jsonl
    [[ $output == *"Hello there" ]]
    [[ $stderr == *torn* && $stderr == *"not know"* ]]
}

@test "an answer without an end is marked as cut" {
    fake_script
    v ask --device fake:fake.jsonl hello
    grep -v '"type":"stop"' "$HOME"/.local/share/vitrine/sessions/*.jsonl > cut.jsonl
    run -0 v sessions show ./cut.jsonl
    [[ ${lines[-1]} == "[cut: the program ended here]" ]]
}

@test "what is no session is refused" {
    echo hello > text
    run -1 --separate-stderr v sessions show ./text
    [ -z "$output" ]
    [[ $stderr == *"not a vitrine session"* ]]
    run -1 v sessions show ./nothing
    run -1 v sessions show .
    : > empty
    run -1 v sessions show ./empty
}
