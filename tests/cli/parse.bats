# vitrine parse: what a model wrote, taken apart.

load cli

setup()
{
    use_clean_home
    cd "$BATS_TEST_TMPDIR"
}

@test "parse tells thinking, answer and calls in their order" {
    printf '<think>\nHm.\n</think>\n\nHi.\n<tool_call>\n{"name":"f","arguments":{"a":1.0}}\n</tool_call>\nDone.' > text
    run -0 v parse text
    [ "${lines[0]}" = '{"type":"think","text":"Hm."}' ]
    [ "${lines[1]}" = '{"type":"response","text":"Hi."}' ]
    [ "${lines[2]}" = '{"type":"tool_call","id":"call_0","name":"f","arguments":{"a":1.0},"status":"complete"}' ]
    [ "${lines[3]}" = '{"type":"response","text":"Done."}' ]
    [ "${lines[4]}" = '{"type":"end","why":"eof"}' ]
    [ "${#lines[@]}" -eq 5 ]
    run -0 v parse - < text
    [ "${#lines[@]}" -eq 5 ]
    run -0 v parse --verbose text
    [ "${lines[0]}" = '{"type":"control","text":"<think>\n"}' ]
}

@test "parse tells what is decided before the text ends" {
    mkfifo pipe
    v parse < pipe > out 3>&- &
    exec 4> pipe
    printf 'Hello <tool' >&4
    for _ in $(seq 100); do
        [ -s out ] && break
        sleep 0.05
    done
    [ "$(cat out)" = '{"type":"response","text":"Hello "}' ]
    printf ' no' >&4
    exec 4>&-
    wait
    [ "$(sed -n 2p out)" = '{"type":"response","text":"<tool no"}' ]
}

@test "parse --json gives the whole in one object" {
    run -0 v parse --json <<< '<think>a</think>b<tool_call>x</tool_call>'
    [ "$output" = '{"reasoning":"a","content":"b","tool_calls":[{"id":"call_0","raw":"x","error":"no JSON value","error_at":0,"status":"malformed"}],"end":"eof"}' ]
    run -0 v parse --json < /dev/null
    [ "$output" = '{"reasoning":"","content":"","tool_calls":[],"end":"eof"}' ]
}

@test "parse takes the syntax by name, also by the name of a template or model" {
    run -0 v parse --json --syntax mistral <<< '[TOOL_CALLS]f[ARGS]{}'
    [[ "$output" == *'"name":"f"'* ]]
    run -0 v parse --json --syntax gpt-oss <<< '<|channel|>final<|message|>a<|return|>'
    [[ "$output" == *'"content":"a'*'"end":'* ]]
    run -0 v parse --json --template llama3 <<< '{"name": "f", "parameters": {}}'
    [[ "$output" == *'"name":"f"'* ]]
    run -0 v parse --json --template kimi-k3 --start think <<< 'a<|close|>think<|sep|>b<|end_of_msg|>'
    [[ "$output" == '{"reasoning":"a","content":"b"'*'"message"}' ]]
    run -0 v parse --json --start think <<< 'a</think>b'
    [[ "$output" == '{"reasoning":"a","content":"b'* ]]
}

@test "parse --jsonl answers line by line" {
    cat > in << 'END'
{"start": "think", "chunks": ["a</thi", "nk>b", {"special": "<|im_end|>"}]}
{"chunks": [{"hex": "ff"}, "<|im_end|>"]}
{"syntax": "harmony", "start": "response", "chunks": [{"special": "<|channel|>"}, "final", {"special": "<|message|>"}, "x"]}

[]
{"chunks": [3]}
{"chunks": [], "start": "nowhere"}
{"chunks": [], "syntax": "nonsense"}
{"chunks": ["last"]}
END
    run -1 --separate-stderr v parse --jsonl in
    [ -z "$stderr" ]
    [ "${lines[0]}" = '{"reasoning":"a","content":"b","tool_calls":[],"end":"message"}' ]
    [ "${lines[1]}" = '{"reasoning":"","content":{"hex":"ff"},"tool_calls":[],"end":"message"}' ]
    [ "${lines[2]}" = '{"reasoning":"","content":"x","tool_calls":[],"end":"eof"}' ]
    for i in 3 4 5 6; do
        [[ "${lines[i]}" == '{"error":'* ]]
    done
    [ "${lines[7]}" = '{"reasoning":"","content":"last","tool_calls":[],"end":"eof"}' ]
}

@test "parse refuses what makes no sense" {
    run -2 --separate-stderr v parse --json --jsonl < /dev/null
    run -2 --separate-stderr v parse --syntax nonsense < /dev/null
    [[ "$stderr" == *hermes*mistral* || "$stderr" == *mistral*hermes* ]]
    run -2 --separate-stderr v parse --template nonsense < /dev/null
    [[ "$stderr" == *chatml* ]]
    run -2 --separate-stderr v parse --syntax none --template plain < /dev/null
    run -2 --separate-stderr v parse --start nowhere < /dev/null
    run -2 --separate-stderr v parse --json --verbose < /dev/null
    run -2 --separate-stderr v parse one two
    run -1 --separate-stderr v parse missing
    run -3 --separate-stderr v parse -m missing.gguf < /dev/null
}

@test "parse chooses the syntax of a model" {
    need_shared models/stories260K.gguf
    run -0 v parse -m "$shared/models/stories260K.gguf" --json <<< '<think>a</think>b'
    [[ "$output" == '{"reasoning":"","content":"<think>a</think>b'* ]]
}
