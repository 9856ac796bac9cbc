# Tokenizers: files without a model, --pre, --check, doctor, bench --tokenizer.

load cli

setup()
{
    use_clean_home
    cd "$BATS_TEST_TMPDIR"
    need_shared tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf
    vocab=$shared/tokenizers/llama.cpp/ggml-vocab
}

@test "tokenize --check agrees with llama.cpp's files" {
    for name in gpt-2 falcon starcoder deepseek-coder phi-3; do
        run -0 --separate-stderr v tokenize -m "$vocab-$name.gguf" --check "$vocab-$name.gguf.inp"
        [ "$output" = "46 cases: 46 equal, 0 differ" ]
        [ -z "$stderr" ]
    done
}

@test "tokenize --check reads expected ids and finds their corpus" {
    run -0 v tokenize -m "$vocab-gpt-2.gguf" --check "$shared/tokenizers/expected/gpt-2.json"
    [ "$output" = "264 cases: 264 equal, 0 differ" ]
    cd "$shared/tokenizers/expected"
    run -0 v tokenize -m "$vocab-gpt-2.gguf" --check gpt-2.json
    [ "$output" = "264 cases: 264 equal, 0 differ" ]
}

@test "tokenize --check says what differs, and is status 1" {
    cat > cases.json << 'END'
{"cases": [{"name": "right", "text": "Hello", "ids": [15496]},
           {"name": "bytes", "hex": "48656c6c6f", "ids": [15496]},
           {"name": "special", "text": "<|endoftext|>", "ids": [50256], "allow_special": true},
           {"name": "wrong", "text": "Hello Hello", "ids": [15496, 1, 2]}]}
END
    run -1 --separate-stderr v tokenize -m "$vocab-gpt-2.gguf" --check cases.json
    [ "${lines[0]}" = "wrong: differs at token 1" ]
    [ "${lines[1]}" = "  expected 3: 1 2" ]
    [ "${lines[2]}" = "  got      2: 18435" ]
    [ "${lines[3]}" = "4 cases: 3 equal, 1 differ" ]
    [ -z "$stderr" ]
    v tokenize -m "$vocab-gpt-2.gguf" --json --check cases.json > out || true
    run -0 bash -c '"$0" get equal < out' "$look"
    [ "$output" = 3 ]
    run -0 bash -c '"$0" get "differ.0.name" < out' "$look"
    [ "$output" = wrong ]
}

@test "a broken --check file is an error, not a result" {
    for text in '{}' '[]' 'x' '{"cases":[{"text":"a","ids":[1]}]}' \
        '{"cases":[{"name":"a","ids":[1]}]}' '{"cases":[{"name":"a","text":"a","ids":["x"]}]}' \
        '{"ref":{"a":[1]}}' '{"ref":{"a":[1]},"corpus":"../../etc/passwd"}' \
        '{"ref":{"a":[1]},"corpus":"none.json"}'; do
        echo "$text" > bad.json
        run -1 --separate-stderr v tokenize -m "$vocab-gpt-2.gguf" --check bad.json
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run -1 --separate-stderr v tokenize -m "$vocab-gpt-2.gguf" --check absent.inp
    usage_error tokenize -m "$vocab-gpt-2.gguf" --check x --decode
    usage_error tokenize -m "$vocab-gpt-2.gguf" --check x text
}

@test "--pre overrules the file, and is refused where it means nothing" {
    printf '1234567' > text
    run -0 v tokenize -m "$vocab-gpt-2.gguf" text
    gpt2=$output
    run -0 v tokenize -m "$vocab-gpt-2.gguf" --pre qwen2 text
    [ "$output" != "$gpt2" ]
    [ "$(wc -w <<< "$output")" -eq 7 ]
    run -3 --separate-stderr v tokenize -m "$vocab-gpt-2.gguf" --pre nonsense text
    [[ $stderr == *'--pre is "nonsense"'*"llama-bpe, "*"qwen2"* ]]
    run -3 --separate-stderr v tokenize -m "$vocab-llama-spm.gguf" --pre qwen2 text
    [[ $stderr == *"--pre means nothing"* ]]
}

@test "WordPiece is refused by its name" {
    for command in tokenize doctor info; do
        run -3 --separate-stderr v "$command" -m "$vocab-bert-bge.gguf" < /dev/null
        [[ $stderr == *WordPiece* ]]
    done
}

@test "a tokenizer.json and a directory with one are enough for tokenize and doctor" {
    command -v xz > /dev/null || skip "no xz"
    mkdir model
    xz -dc "$shared/tokenizers/hf/modernbert.tokenizer.json.xz" > model/tokenizer.json
    for path in model model/tokenizer.json; do
        run -0 v tokenize -m "$path" --check "$shared/tokenizers/expected/olmo.json"
        [ "$output" = "265 cases: 265 equal, 0 differ" ]
    done
    run -0 v doctor model
    [[ $output == *"50368 tokens, from model/tokenizer.json"* ]]
    usage_error tokenize -m model --pre
    run -3 --separate-stderr v tokenize -m model --pre qwen2 model/tokenizer.json
    [[ $stderr == *"--pre means nothing"* ]]
}

@test "a bad tokenizer.json is refused safely" {
    need_shared bad-files/dir-tokenizer-bad
    for command in tokenize doctor; do
        run -3 --separate-stderr v "$command" -m "$shared/bad-files/dir-tokenizer-bad" < /dev/null
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *dir-tokenizer-bad/tokenizer.json* ]]
    done
    mkdir empty
    run -3 --separate-stderr v doctor empty
    [[ $stderr == *"neither a tokenizer.json nor a tiktoken.model"* ]]
    touch empty/tokenizer.model
    run -3 --separate-stderr v doctor empty
    [[ $stderr == *SentencePiece* ]]
}

@test "doctor tells what was found, from where, and that it works" {
    run -0 --separate-stderr v doctor "$vocab-phi-3.gguf"
    [[ $output == *"SPM, 32064 tokens, from tokenizer.ggml.* of "*phi-3.gguf* ]]
    [[ $output == *"<s> (1) opens every prompt"* ]]
    [[ $output == *"<|endoftext|> (32000), <|end|> (32007)"* ]]
    [[ $output != *bad* ]]
    [ -z "$stderr" ]
    v doctor --json "$vocab-falcon.gguf" > out
    run -0 bash -c '"$0" get state < out' "$look"
    [ "$output" = warning ]
    run -0 bash -c '"$0" get "checks.0.what" < out' "$look"
    [ "$output" = tokenizer ]
}

@test "bench --tokenizer measures text, and nothing else" {
    v bench --tokenizer --json --repeat 1 "$vocab-gpt-2.gguf" > out
    run -0 bash -c '"$0" get "results.0.bytes" < out' "$look"
    [ "$output" -gt 65536 ]
    run -0 bash -c '"$0" get "results.0.encode_mb_s" < out' "$look"
    [[ $output =~ ^[0-9.]+$ ]]
    run -0 v bench --tokenizer --repeat 1 "$vocab-gpt-2.gguf"
    [[ $output == *"encode MB/s"* ]]
    usage_error bench --tokenizer --prompt-tokens 5 "$vocab-gpt-2.gguf"
}
