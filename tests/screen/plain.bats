# vitrine --plain, the append-only twin, through pipes.
load ../helper

teardown()
{
    cat "$BATS_TEST_TMPDIR/err" 2> /dev/null || true
}

setup()
{
    use_clean_home
    scripts=$BATS_TEST_DIRNAME
}

# What is printed for the lines in the file "in".
out()
{
    timeout 60 "$VITRINE" --plain --device "fake:$scripts/$1.jsonl" "${@:2}" \
        < "$BATS_TEST_TMPDIR/in" 2> "$BATS_TEST_TMPDIR/err"
}

@test "roles are words and nothing else is printed" {
    printf 'hi\nagain\n' > "$BATS_TEST_TMPDIR/in"
    run -0 out hello
    [ "$output" = "you: hi
assistant: Hello, it is nice to meet you.
you: again
assistant: The second answer." ]
    grep -q "^note: saved; go on with: vitrine --resume" "$BATS_TEST_TMPDIR/err"
}

@test "no escapes and no box drawing" {
    printf 'hi\n' > "$BATS_TEST_TMPDIR/in"
    run -0 out think
    [ "$output" = "you: hi
thinking: The user wants a number.
assistant: Forty-two." ]
    LC_ALL=C run -1 grep '[^ -~]' "$BATS_TEST_TMPDIR/err"
}

@test "bytes of the model go to a file as they are" {
    printf 'hi\n' > "$BATS_TEST_TMPDIR/in"
    out bytes > "$BATS_TEST_TMPDIR/out"
    grep -qaF $'\e]0;evil\a' "$BATS_TEST_TMPDIR/out"
}

@test "the end of the input ends the program" {
    : > "$BATS_TEST_TMPDIR/in"
    run -0 out hello
    [ -z "$output" ]
    run -0 timeout 60 "$VITRINE" --plain --device "fake:$scripts/hello.jsonl" < /dev/null
    printf 'no newline at the end' > "$BATS_TEST_TMPDIR/in"
    run -0 out hello
    [[ $output == *"nice to meet you." ]]
}

@test "commands work and answer on stdout" {
    printf '/set temp 0\n/think\nhi\n/help\n/quit\nnever sent\n' > "$BATS_TEST_TMPDIR/in"
    run -0 out think
    [[ $output == *"temp = 0"* ]]
    [[ $output == *"thinking: 4 tokens"* ]]
    [[ $output != *"The user wants"* ]]
    [[ $output == *"/retry"* ]]
    [[ $output != *"never sent"* ]]
}

@test "an unknown command is told on stderr and is the status" {
    printf '/nonsense\n//path\n' > "$BATS_TEST_TMPDIR/in"
    run -2 out hello
    [[ $output == "you: /path"* ]]
    grep -q "error: there is no command /nonsense" "$BATS_TEST_TMPDIR/err"
}

@test "a backslash joins lines" {
    printf 'one\\\ntwo\n' > "$BATS_TEST_TMPDIR/in"
    run -0 out hello
    [ "${lines[0]}" = "you: one" ]
    [ "${lines[1]}" = "two" ]
    [[ ${lines[2]} == assistant:* ]]
}

@test "/retry, /new and /continue wait for their turn" {
    printf 'hi\n/retry\n/new\nhi\n/session\n' > "$BATS_TEST_TMPDIR/in"
    run -0 out hello
    [ "$(sed '/^session/,$d' <<< "$output")" = "you: hi
assistant: Hello, it is nice to meet you.
assistant: The second answer.
you: hi
assistant: The third answer." ]
    grep -q "note: a new conversation" "$BATS_TEST_TMPDIR/err"
}

@test "SIGTERM ends it with 143, SIGINT on a pipe with 130" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for signal in TERM INT; do
        # Job control, so that the background job does not ignore SIGINT.
        set -m
        "$VITRINE" --plain --device "fake:$scripts/hello.jsonl" < "$BATS_TEST_TMPDIR/fifo" \
            > "$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
        pid=$!
        set +m
        exec 7> "$BATS_TEST_TMPDIR/fifo"
        echo hi >&7
        until grep -q "meet you." "$BATS_TEST_TMPDIR/out"; do sleep 0.02; done
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        exec 7>&-
        [ $status -eq $((128 + $(kill -l $signal))) ]
    done
}

@test "a reader that goes away ends it quietly" {
    set -o pipefail
    seq 1 1000 > "$BATS_TEST_TMPDIR/in"
    status=0
    timeout 60 "$VITRINE" --plain --device "fake:$scripts/hello.jsonl" \
        < "$BATS_TEST_TMPDIR/in" 2> "$BATS_TEST_TMPDIR/err" | head -n 2 || status=$?
    [ $status -eq 141 ]
}

@test "a SIGINT that was ignored at the start stays ignored" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    (
        trap '' INT
        exec "$VITRINE" --plain --device "fake:$scripts/hello.jsonl" < "$BATS_TEST_TMPDIR/fifo" \
            > "$BATS_TEST_TMPDIR/out" 2>&1 3>&-
    ) &
    pid=$!
    exec 7> "$BATS_TEST_TMPDIR/fifo"
    echo hi >&7
    until grep -q "meet you." "$BATS_TEST_TMPDIR/out"; do sleep 0.02; done
    kill -INT $pid
    echo again >&7
    exec 7>&-
    wait $pid
    grep -q "The second answer." "$BATS_TEST_TMPDIR/out"
}

@test "an answer that comes all at once keeps its lines" {
    # Of many runs side by side some find the whole answer in one batch of events.
    printf 'hi\n' > "$BATS_TEST_TMPDIR/in"
    for i in $(seq 8); do
        for k in 1 2 3 4 5 6 7 8; do
            out think > "$BATS_TEST_TMPDIR/got.$k" 3>&- &
        done
        wait
        for k in 1 2 3 4 5 6 7 8; do
            printf 'you: hi\nthinking: The user wants a number.\nassistant: Forty-two.\n' |
                cmp - "$BATS_TEST_TMPDIR/got.$k"
        done
    done
}
