# tokenize, score, info, plan, bench and devices.

load cli

setup()
{
    use_clean_home
    cd "$BATS_TEST_TMPDIR"
    need_shared models/stories260K.gguf
    model=$shared/models/stories260K.gguf
}

@test "tokenize prints the ids in one line" {
    printf 'Once upon a time' > text
    run -0 v tokenize -m "$model" text
    [ "$output" = "403 407 261 378" ]
    run -0 v tokenize -m "$model" < text
    [ "$output" = "403 407 261 378" ]
    run -0 v tokenize -m "$model" - < text
    [ "$output" = "403 407 261 378" ]
    run -0 v tokenize -m "$model" --bos text
    [ "$output" = "1 403 407 261 378" ]
    run -0 v tokenize -m "$model" < /dev/null
    [ "$output" = "" ]
}

@test "special tokens are text unless --special is given" {
    printf '</s>' > text
    run -0 v tokenize -m "$model" text
    [ "$output" != 2 ]
    run -0 v tokenize -m "$model" --special text
    [ "$output" = 2 ]
}

@test "tokenize --decode gives the text back, byte for byte" {
    printf 'Tim\0 said: \xff\xfe "h\xc3\xa4" \xe2\x94\n' > text
    v tokenize -m "$model" text > ids
    v tokenize -m "$model" --decode ids | cmp text -
    run -0 bash -c 'echo "[1, 403, 407, 2]" | "$VITRINE" tokenize -m "$1" --decode' - "$model"
    [ "$output" = "Once upon" ]
    run -0 bash -c 'echo "403 407 2" | "$VITRINE" tokenize -m "$1" --decode --special' - "$model"
    [ "$output" = "Once upon</s>" ]
}

@test "what is no id is refused" {
    for bad in 512 -1 x 1.5 99999999999999999999 "1 2 three"; do
        echo "$bad" > ids
        run -1 --separate-stderr v tokenize -m "$model" --decode ids
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        run -1 --separate-stderr v score -m "$model" --ids "$bad"
    done
}

@test "tokenize --json tells id and text, or bytes" {
    printf 'Once \xff' > text
    v tokenize -m "$model" --json text > out
    run -0 bash -c '"$0" get "*.text" < out' "$look"
    [ "${lines[0]}" = " Once" ]
    run -0 bash -c '"$0" get "*.bytes" < out' "$look"
    [ "$output" = "/w==" ]
}

@test "tokenize --jsonl answers line by line" {
    cat > in << 'END'
"Once upon a time"
{"hex":"4f6e6365"}

""
"a\u0000b"
[1]
not json
{"hex":"0"}
"last"
END
    run -1 --separate-stderr v tokenize -m "$model" --jsonl in
    [ -z "$stderr" ]
    [ "${lines[0]}" = "[403,407,261,378]" ]
    [ "${lines[1]}" = "[403]" ]
    [ "${lines[2]}" = "[]" ]
    [[ ${lines[3]} == "["*"]" ]]
    for i in 4 5 6; do
        [[ ${lines[i]} == '{"error":"'* ]]
    done
    [[ ${lines[7]} == "["* ]]
    [ "${#lines[@]}" -eq 8 ]
    printf '%s\n' '[403,407]' '[258]' '[512]' > in
    run -1 v tokenize -m "$model" --jsonl --decode in
    [ "${lines[0]}" = '"Once upon"' ]
    [ "${lines[1]}" = '{"hex":"ff"}' ]
    [[ ${lines[2]} == '{"error":'* ]]
}

@test "tokenize --jsonl answers each line before it reads the next" {
    mkfifo in out
    "$VITRINE" tokenize -m "$model" --jsonl < in > out 3>&- &
    exec 8> in 9< out
    for _ in 1 2 3; do
        echo '"Once"' >&8
        read -r -t 20 line <&9
        [ "$line" = "[403]" ]
    done
    exec 8>&- 9<&-
    wait
}

@test "score shows a table, and JSON with the same numbers" {
    printf 'Once upon a time' > text
    run -0 v score -m "$model" text
    [[ ${lines[0]} =~ ^\ *i\ +id\ +text\ +lp\ +rank\ +ent\ +top ]]
    [ "${#lines[@]}" -eq 7 ]
    v score --json --logprobs 2 -m "$model" text > out
    run -0 bash -c '"$0" get "tokens.*.id" < out | paste -sd" "' "$look"
    [ "$output" = "1 403 407 261 378" ]
    run -0 bash -c '"$0" get "tokens.*.top.*.1" < out | wc -l' "$look"
    [ "$output" -eq 8 ]
    run -0 bash -c '"$0" get "tokens.0.lp" < out' "$look"
    [ "$output" = null ]
    run -0 v score --json --ids 1,403,407,261,378 --logprobs 2 -m "$model"
    [ "$output" = "$(cat out)" ]
}

@test "score --jsonl takes texts, bytes and ids" {
    printf '%s\n' '"Once upon"' '{"hex":"4f6e636520"}' '[1,403,407]' '[]' '{}' > in
    run -1 v score -m "$model" --jsonl in
    [ "${#lines[@]}" -eq 5 ]
    [ "${lines[0]}" = "${lines[2]}" ]
    [[ ${lines[3]} == '{"error":'* && ${lines[4]} == '{"error":'* ]]
    "$look" lines <<< "$output"
}

@test "score of a text that does not fit is status 4" {
    run -4 --separate-stderr v score -c 3 --ids 1,2,3,4 -m "$model"
    [ -z "$output" ]
    [[ $stderr == *" 4 "*" 3"* ]]
}

@test "info describes the file" {
    run -0 --separate-stderr v info "$model"
    [[ $output == *"llama, F32"* && $output == *"512 tokens"* && $output == *"48: 48 F32"* ]]
    [ -z "$stderr" ]
    info=$output
    run -0 v info -m "$model"
    [ "$output" = "$info" ]
    v info --json "$model" > out
    "$look" valid < out
    for pair in arch:llama quant:F32 layers:5 embedding:64 heads:8 kv_heads:4 \
        vocabulary.tokens:512 runs:true; do
        run -0 bash -c '"$0" get "$1" < out' "$look" "${pair%:*}"
        [ "$output" = "${pair#*:}" ]
    done
    run -0 bash -c '"$0" get "tensors.*.name" < out | wc -l' "$look"
    [ "$output" -eq 48 ]
    run -0 bash -c '"$0" get sha256 < out' "$look"
    [ "$output" = null ] || [ "$output" = "$(sha256sum < "$model" | cut -d" " -f1)" ]
    run -0 v info -v "$model"
    [[ $output == *"general.architecture"*"llama"* && $output == *"tokenizer.ggml.tokens"*"string[512]"* ]]
}

@test "info says which template is used, and refuses one that is not there" {
    run -0 v info --json "$model"
    [ "$("$look" get template.name <<< "$output")" = plain ]
    [[ $("$look" get template.why <<< "$output") == *"no chat template"* ]]
    run -0 v info --json --template chatml "$model"
    [ "$("$look" get template.name <<< "$output")" = chatml ]
    usage_error info --template nonesuch "$model"
    [[ $stderr == *nonesuch*chatml* ]]
}

@test "a device that is not there is refused, never replaced" {
    run --separate-stderr v ask --no-chat -n 1 --device gpu -m "$model" hi
    [ "$status" -ne 0 ]
    [ -z "$output" ]
    [ -n "$stderr" ]
    run --separate-stderr v plan --device gpu:7 "$model"
    [ "$status" -ne 0 ]
}

@test "plan adds up and follows the context" {
    v plan --json -c 100 "$model" > a
    v plan --json -c 200 "$model" > b
    get()
    {
        "$look" get "$2" < "$1"
    }
    for f in a b; do
        [ $(($(get $f weights) + $(get $f kv) + $(get $f scratch))) -eq "$(get $f total)" ]
        [ $(($(get $f kv_per_position) * $(get $f ctx))) -eq "$(get $f kv)" ]
    done
    [ "$(get a ctx)" -eq 100 ]
    [ "$(get b kv)" -eq $((2 * $(get a kv))) ]
    run -0 --separate-stderr v plan "$model"
    [[ $output == *"they fit"* ]]
    [ -z "$stderr" ]
}

@test "plan, --memory and what is allocated agree" {
    # The largest context that plan promises is opened; one more is refused.
    run -0 v plan --json --memory 1M "$model"
    most=$("$look" get ctx_max <<< "$output")
    run -0 v plan --json --memory 1M -c "$most" "$model"
    [ "$("$look" get fits <<< "$output")" = true ]
    run -0 v plan --json --memory 1M -c $((most + 1)) "$model"
    [ "$("$look" get fits <<< "$output")" = false ]
    run -0 v ask --no-chat -n 1 --memory 1M -c "$most" -m "$model" hi
    run -1 --separate-stderr v ask --no-chat -n 1 --memory 1M -c $((most + 1)) -m "$model" hi
    [[ $stderr == *" $most"* ]]
}

@test "bench measures what it says" {
    v bench --json --prompt-tokens 5,20 --decode-tokens 8 --repeat 1 "$model" > out
    "$look" valid < out
    run -0 bash -c '"$0" get "results.*.prompt_tokens" < out | paste -sd,' "$look"
    [ "$output" = 5,20 ]
    for field in prefill_tps decode_tps first_token_ms p50_ms p95_ms; do
        run -0 bash -c '"$0" get "results.*.$1" < out' "$look" $field
        [ "${#lines[@]}" -eq 2 ]
        [[ $output != *-* && $output =~ [1-9] ]]
    done
    run -0 --separate-stderr v bench --decode-tokens 4 --repeat 1 -m "$model"
    [[ $output == *"ms to the first prompt"*"prefill tok/s"* ]]
    run -2 v bench --prompt-tokens 0 "$model"
    run -2 v bench --prompt-tokens 5, "$model"
    run -2 v bench --prompt-tokens 5x "$model"
    run -4 --separate-stderr v bench -c 20 --prompt-tokens 20 "$model"
    [ -z "$output" ]
}

@test "from the start to the first prompt takes less than 50 ms" {
    is_sanitized && skip "sanitizers take time"
    # The best of a few: other programs run on this machine too.
    best=1000
    for _ in 1 2 3 4 5; do
        v bench --json --prompt-tokens 1 --decode-tokens 1 --repeat 1 "$model" > out
        ms=$("$look" get start_ms < out)
        [ "${ms%.*}" -ge $best ] || best=${ms%.*}
    done
    echo "$best ms"
    [ $best -lt 50 ]
}

@test "devices lists the CPU" {
    run -0 --separate-stderr v devices
    [[ ${lines[0]} == cpu* ]]
    v devices --json > out
    run -0 bash -c '"$0" get 0.kind < out' "$look"
    [ "$output" = cpu ]
    run -0 bash -c '"$0" get 0.usable < out' "$look"
    [ "$output" = true ]
}
