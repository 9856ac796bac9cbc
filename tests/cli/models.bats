# Real models against the values of ../shared/models/expected, through the command line.

load cli

# The greedy ids that ask gives for a prompt.
greedy()
{
    local model=$1 prompt=$2
    shift 2
    v ask --no-chat --temp 0 -n 64 --json -m "$model" "$@" "$prompt" > events
    grep '"type":"token"' events | "$look" get-lines id
}

# ids FILE RUN
expected_greedy()
{
    "$look" get "runs.$2.greedy.*.id" < "$shared/models/expected/$1.json"
}

@test "greedy text is that of the reference, for F32, F16, BF16 and Q8_0" {
    need_shared models/expected
    for name in stories260K stories260K-f16 stories260K-bf16 stories260K-q8_0; do
        expected=$shared/models/expected/$name.json
        for run in 0 1 2 3; do
            prompt=$("$look" get "runs.$run.prompt" < "$expected")
            greedy "$shared/models/$name.gguf" "$prompt" > got
            expected_greedy $name $run > want
            diff want got || { echo "$name: '$prompt'"; false; }
            [ "$(wc -l < got)" -eq 64 ]
        done
    done
}

@test "the ids depend on neither threads nor chunk nor instruction set" {
    need_shared models/expected
    model=$shared/models/stories260K.gguf
    prompt=$("$look" get runs.2.prompt < "$shared/models/expected/stories260K.json")
    expected_greedy stories260K 2 > want
    for threads in 1 2 3; do
        for chunk in 1 7 256; do
            greedy "$model" "$prompt" --threads $threads --chunk $chunk > got
            cmp want got
            grep '"type":"token"' events | "$look" get-lines lp > "lp-$threads-$chunk"
            cmp lp-1-1 "lp-$threads-$chunk"
        done
    done
    greedy "$model" "$prompt" --cpu portable > got
    cmp want got
}

@test "the same seed gives the same text, whatever the threads" {
    need_shared models
    model=$shared/models/stories260K.gguf
    run -0 v ask --no-chat --seed 42 -n 40 -m "$model" "Once upon a time"
    first=$output
    run -0 v ask --no-chat --seed 42 -n 40 -m "$model" --threads 1 --chunk 3 "Once upon a time"
    [ "$output" = "$first" ]
    run -0 v ask --no-chat --seed 43 -n 40 -m "$model" "Once upon a time"
    [ "$output" != "$first" ]
}

@test "log-probabilities of the answer are within 1e-3" {
    need_shared models/expected
    expected=$shared/models/expected/stories260K.json
    for run in 0 2 3; do
        prompt=$("$look" get "runs.$run.prompt" < "$expected")
        greedy "$shared/models/stories260K.gguf" "$prompt" > /dev/null
        grep '"type":"token"' events | "$look" get-lines lp > got
        "$look" get "runs.$run.greedy.*.logprob" < "$expected" > want
        run -0 "$look" near 1e-3 want got
        grep '"type":"token"' events | "$look" get-lines "top.*.0" > got
        "$look" get "runs.$run.greedy.*.top5.*.0" < "$expected" > want
        [ "$(diff want got | grep -c '^<')" -le 4 ]     # near ties may change places
    done
}

# The logits after a prompt, against KEY of the expected file.
logits_near()
{
    local model=$1 expected=$2 key=$3 tolerance=$4
    local ids
    ids=$("$look" get "runs.0.prompt_ids.*" < "$expected" | paste -sd,)
    v score -m "$model" --ids "$ids" --logits --json > score
    "$look" get "runs.0.$key.*" < "$expected" > want
    # Large vocabularies stand there with their first values only.
    "$look" get "tokens.$(($(tr , '\n' <<< "$ids" | wc -l) - 1)).logits.*" < score |
        head -n "$(wc -l < want)" > got
    run -0 "$look" near "$tolerance" want got
    echo "$(basename "$model"): $output"
}

@test "logits are within 1e-3 of the reference for F32" {
    need_shared models/expected
    for name in stories260K llama-2-tiny-random; do
        logits_near "$shared/models/$name.gguf" "$shared/models/expected/$name.json" \
            prompt_logits_last 1e-3
    done
}

@test "logits of quantised files are within 0.05 of exact arithmetic" {
    need_shared models/expected
    for name in q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl mxfp4; do
        [ -e "$shared/models/stories260K-$name.gguf" ] || continue
        logits_near "$shared/models/stories260K-$name.gguf" \
            "$shared/models/expected/stories260K-$name.json" \
            prompt_logits_last_dequantized_f64 0.05
    done
}

@test "the logits of every position are within 1e-3, for each architecture" {
    need_shared models/expected
    for name in llama3-rope mistral3-yarn qwen2 qwen3 smollm3 olmo2 phi3 glm4 granite \
                exaone4 cohere2 mixtral qwen3moe gpt-oss llama4 glm4moe deepseek2 \
                deepseek2-lite deepseek2-groups; do
        expected=$shared/models/expected/tiny-$name.json
        ids=$("$look" get "prompt_ids.*" < "$expected" | paste -sd,)
        v score -m "$shared/models/tiny-arch/$name.gguf" --ids "$ids" --logits --json > score
        "$look" get "tokens.*.logits.*" < score > got
        "$look" get "logits.*.*" < "$expected" > want
        run -0 "$look" near 1e-3 want got
        echo "$name: $output"
    done
}

@test "score gives the reference's perplexity of a text" {
    need_shared models/expected
    expected=$shared/models/expected/stories260K.json
    "$look" get perplexity.text < "$expected" | head -c -1 > text
    v score --json -m "$shared/models/stories260K.gguf" text > score
    "$look" get perplexity < score > got
    "$look" get perplexity.ppl < "$expected" > want
    run -0 "$look" near 1e-3 want got
    "$look" get "tokens.*.id" < score > got
    "$look" get "perplexity.ids.*" < "$expected" > want
    cmp want got
    run -0 v score -m "$shared/models/stories260K.gguf" text
    [[ ${lines[-1]} == "125 tokens scored, "*"perplexity 2.57"* ]]
}

@test "a chat with a real model, resumed, reuses what the model said" {
    need_shared models
    model=$shared/models/stories260K.gguf
    v ask --template plain --seed 1 -n 20 -m "$model" "Once upon a time" > /dev/null
    run -0 v ask --json --seed 1 -n 5 --resume last -m "$model" --template plain "And then"
    [[ $output == *'"why":"length"'* ]]
    # Scoring the session finds the ids that were sampled, and judges them as they were.
    v score --json -m "$model" --template plain last > score
    "$look" get "tokens.*.lp" < score | tail -n 5 > got
    v sessions show last --json | grep '"message":4' | grep '"token"' | "$look" get-lines lp > want
    run -0 "$look" near 1e-4 want got
}
