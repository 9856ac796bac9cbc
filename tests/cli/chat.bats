# The bare command: when there is a screen, when plain text, and what is said on the way.

load cli

# Run the chat on a terminal of its own, with what it is fed as keys. "screen" holds what it
# sent there.
on_terminal()
{
    command -v script > /dev/null || skip "no script(1)"
    script -qec "'$VITRINE' $*" /dev/null > screen
}

# A stdin with one line in it that does not end.
open_stdin()
{
    mkfifo stdin
    exec 7<> stdin
    echo hi >&7
}

@test "from a pipe the chat is plain text, and the end of input ends it" {
    fake_script
    run -0 --separate-stderr timeout 20 bash -c 'printf "hi\nagain\n" | "$VITRINE" --device fake:fake.jsonl'
    [ "$(grep -c "Hello there" <<< "$output")" -eq 2 ]
    [[ $output != *$'\e'* ]]
    run -0 v sessions show last
    [ "$(grep -c '^user:' <<< "$output")" -eq 2 ]
    # A last line without its newline counts too.
    run -0 timeout 20 bash -c 'printf "hi" | "$VITRINE" chat --plain --device fake:fake.jsonl'
    [[ $output == *"Hello there"* ]]
}

@test "an empty stdin ends the chat at once" {
    fake_script
    run -0 timeout 20 "$VITRINE" --device fake:fake.jsonl < /dev/null
    [[ $output != *"Hello"* ]]
    run -0 timeout 20 "$VITRINE" --plain --device fake:fake.jsonl < /dev/null
}

@test "a pipe on stdout is no screen, even with a terminal on stdin" {
    fake_script
    command -v script > /dev/null || skip "no script(1)"
    # cat is between the program and the terminal
    printf 'hi\n/quit\n' | timeout 20 script -qec "'$VITRINE' --device fake:fake.jsonl | cat" /dev/null > screen
    grep -q "Hello there" screen || { cat screen; false; }
    run -1 grep -q $'\e\\[?1049h' screen
}

@test "TERM=dumb and ACCESSIBLE mean plain text on a terminal" {
    fake_script
    printf 'hi\n/quit\n' | TERM=dumb on_terminal --device fake:fake.jsonl
    grep -q "Hello there" screen
    run -1 grep -q $'\e' screen
    printf 'hi\n/quit\n' | ACCESSIBLE=1 on_terminal --device fake:fake.jsonl
    grep -q "Hello there" screen
    run -1 grep -q $'\e\\[?1049h' screen
}

@test "a model that cannot be loaded is said before any screen, with status 3" {
    command -v script > /dev/null || skip "no script(1)"
    run -3 script -qec "'$VITRINE' -m no-such.gguf" /dev/null < /dev/null
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "vitrine: "*no-such.gguf* && $output != *$'\e'* ]]
}

@test "--private saves nothing" {
    fake_script
    run -0 timeout 20 bash -c 'printf "hi\n" | "$VITRINE" --private --device fake:fake.jsonl'
    run -0 v sessions list
    [ -z "$output" ]
}

@test "--resume goes on, and an unknown session is an error" {
    fake_script
    v ask --device fake:fake.jsonl "the first message"
    run -0 timeout 20 bash -c 'printf "more\n" | "$VITRINE" --resume last --device fake:fake.jsonl'
    run -0 v sessions show last
    [[ $output == *"the first message"*"more"* ]] || { echo "$output"; ls -l "$HOME"/.local/share/vitrine/sessions; false; }
    run -1 --separate-stderr timeout 20 "$VITRINE" --resume nonesuch --device fake:fake.jsonl < /dev/null
    [[ $stderr == *nonesuch* ]]
}

@test "a stdout that is full or gone ends the plain chat" {
    fake_script
    if [ -c /dev/full ]; then
        run -1 timeout 20 bash -c 'printf "hi\n" | "$VITRINE" --device fake:fake.jsonl > /dev/full'
        [[ $output == *"standard output"* ]]
    fi
    fake_endless
    open_stdin
    # shellcheck disable=SC2016
    run -0 bash -c '
        timeout 20 "$VITRINE" --device fake:endless.jsonl < stdin | head -c 20 > /dev/null
        echo "${PIPESTATUS[0]}"'
    [ "$output" -eq 141 ] || [ "$output" -eq 0 ]
}

@test "SIGTERM and SIGINT end the plain chat and keep what was said" {
    fake_endless
    open_stdin
    for how in INT:130 TERM:143; do
        [ $how = INT:130 ] || echo hi >&7
        run -${how#*:} timeout --preserve-status -k 20 -s ${how%:*} 1 \
            "$VITRINE" --device fake:endless.jsonl < stdin
        run -0 v sessions show last
        [[ $output == *"la la"*"[cut: user]" ]] || { echo "$output"; false; }
    done
}
