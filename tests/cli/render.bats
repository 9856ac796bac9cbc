# vitrine render, and which template a model gets.

load cli

remake=$top_builddir/tests/cli/remake

# Write conv.json: what the user says holds the names of special tokens.
conversation()
{
    cat > conv.json << 'END'
[{"role": "system", "content": "Be brief."},
 {"role": "user", "content": "a<|im_end|><think>"}]
END
}

# A template that says where it comes from.
template()
{
    printf '%s' "$1{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant {% endif %}"
}

# chat_model OUT [CHANGE...]: a tiny model with markers of ChatML in its vocabulary.
chat_model()
{
    local out=$1
    shift
    "$remake" "$shared/models/tiny-arch/qwen3.gguf" "$out" \
        '500:<|im_start|>' '501:<|im_end|>' '502:<think>' '503:</think>' "$@"
}

@test "a template of ours needs no model" {
    conversation
    run -0 v render --template chatml conv.json
    [ "$output" = '<|im_start|>system
Be brief.<|im_end|>
<|im_start|>user
a<|im_end|><think><|im_end|>
<|im_start|>assistant' ]
    run -0 v render --template chatml --think off conv.json
    [ "${lines[5]}" = "<think>" ]
    run -0 v render --template llama3 - < conv.json
    [[ $output == '<|begin_of_text|><|start_header_id|>system'* ]]
}

@test "special tokens are marked in colour, and only those of the template" {
    conversation
    v render --template chatml --color=always conv.json > out
    [ "$(grep -c $'\e\[7m<|im_end|>\e\[0m' out)" -eq 2 ]
    grep -qF 'a<|im_end|><think>'$'\e' out
    v render --template chatml conv.json > out
    run -1 grep $'\e' out
}

@test "--json gives pieces and whose they are" {
    conversation
    v render --template chatml --json conv.json > out
    "$look" valid < out
    [ "$("$look" get pieces.0.special < out)" = '<|im_start|>' ]
    [ "$("$look" get pieces.1.spans.1.1 < out)" = conversation ]
    [ "$("$look" get start < out)" = response ]
    run -1 grep '"ids"' out
}

@test "a template file is rendered, with bos, eos and the time that were given" {
    template '{{ bos_token }}{{ eos_token }}{{ strftime_now("%Y-%m-%d") }} ' > t.jinja
    conversation
    run -0 v render --template-file t.jinja --bos-token B --eos-token E \
        --now 2026-01-15T12:34:56 conv.json
    [[ $output == 'BE2026-01-15 <|im_start|>system Be brief.'* ]]
    run -0 v render --template ./t.jinja conv.json
    run --separate-stderr -2 v render --template-file t.jinja --now yesterday conv.json
    [[ $stderr == *2026-01-15T12:34:56* ]]
}

@test "--jsonl renders line by line, and goes on behind an error" {
    template '{{ x }}' > t.jinja
    cat > in << 'END'
{"messages": [{"role": "user", "content": "a"}], "tools": null, "options": {"x": 1.0}}

{"messages": 1}
nonsense
{"messages": [], "options": {"add_generation_prompt": true}}
END
    run --separate-stderr v render --jsonl --template-file t.jinja in
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = '{"text":"1.0<|im_start|>user a<|im_end|>"}' ]
    [[ ${lines[1]} == '{"error":"needs a list of messages'* ]]
    [[ ${lines[2]} == '{"error":"not JSON'* ]]
    [ "${lines[3]}" = '{"text":"<|im_start|>assistant "}' ]
    [ "${#lines[@]}" -eq 4 ]
}

@test "a conversation that loses something is warned of" {
    conversation
    printf '{{ messages[1].content }}' > t.jinja
    run --separate-stderr -0 v render --template-file t.jinja conv.json
    [ "$output" = 'a<|im_end|><think>' ]
    [[ $stderr == *'the content of message 1 (system) is not in the prompt'* ]]
}

@test "what makes no sense is a usage error" {
    conversation
    usage_error render --json --jsonl --template chatml conv.json
    usage_error render --template chatml --template-file x conv.json
    usage_error render --template nope conv.json
    usage_error render --template ./none.jinja conv.json
    usage_error render --template chatml conv.json more
    usage_error render --template chatml --think low conv.json
    usage_error ask --now 1 x
    echo '{"role": "user"}' > bad.json
    usage_error render --template chatml bad.json
    echo '[{"role": "critic", "content": "x"}]' > bad.json
    usage_error render --template chatml bad.json
    [[ $stderr == *critic* ]]
    echo '{% if %}' > bad.jinja
    usage_error render --template-file bad.jinja conv.json
    [[ $stderr == *'line 1'* ]]
}

@test "a broken template of a model's is refused with its line and the choices" {
    need_shared models/tiny-arch
    chat_model m.gguf 'tokenizer.chat_template={% for %}'
    run --separate-stderr -3 v render -m m.gguf conv.json
    [[ $stderr == *'line 1'* && $stderr == *'--template'* && $stderr == *chatml* ]]
    run --separate-stderr -3 v ask -m m.gguf --private -n 1 hi
    [[ $stderr == *'line 1'* ]]
    run -0 v ask -m m.gguf --private -n 1 --template chatml hi
}

@test "a model without a template gets that of its vocabulary, or plain text" {
    need_shared models/tiny-arch
    conversation
    chat_model m.gguf
    run -0 v info m.gguf
    [[ $output == *'chatml: the file has no chat template, but its vocabulary has <|im_start|>'* ]]
    run -0 v info "$shared/models/tiny-arch/qwen3.gguf"
    [[ $output == *'plain: the file has no chat template and its vocabulary no chat markers'* ]]
    # A chat model of a family that is not known is not guessed at.
    "$remake" "$shared/models/tiny-arch/qwen3.gguf" m.gguf '500:<start_of_turn>'
    run --separate-stderr -3 v ask --private -n 1 -m m.gguf hi
    [[ $stderr == *'<start_of_turn>'*'--template'* ]]
    run -0 v ask --private -n 1 --template plain -m m.gguf hi
}

@test "Kimi K3 is known by its tokens, whatever template the file holds" {
    need_shared models/tiny-arch
    template '' > t.jinja
    "$remake" "$shared/models/tiny-arch/qwen3.gguf" m.gguf '500:<|open|>' \
        '501:<|close|>' '502:<|sep|>' '503:<|end_of_msg|>' tokenizer.chat_template=@t.jinja
    run -0 v info m.gguf
    [[ $output == *'kimi-k3: its vocabulary has <|open|>'* ]]
    conversation
    run -0 v render -m m.gguf conv.json
    [[ $output == *'<|open|>message role="user"<|sep|>a<|im_end|><think><|close|>message<|sep|>'* ]]
}

@test "ask on every tiny model uses the template in its file" {
    need_shared models/tiny-arch
    template 'T{{ bos_token }}' > t.jinja
    printf '[{"role": "user", "content": "a<|im_end|>"}]' > conv.json
    for file in "$shared"/models/tiny-arch/*.gguf; do
        [[ $file != */llama256-* ]] || continue
        "$remake" "$file" m.gguf '500:<|im_start|>' '501:<|im_end|>' \
            tokenizer.chat_template=@t.jinja 'tokenizer.chat_template.rag=R{{ messages[0].content }}'
        v render --json -m m.gguf conv.json > rendered
        [[ $("$look" get text < rendered) == T* ]]
        v ask --json --private -m m.gguf --seed 1 -n 1 'a<|im_end|>' > events 2> err ||
            { grep -q "cannot compute" err && continue; cat err; false; }
        [ "$("$look" get-lines template < events)" = own ]
        [ "$(grep '"type":"prompt"' events | "$look" get-lines tokens)" -eq \
            "$("$look" get 'ids.*' < rendered | wc -l)" ]
        # The markers of the template are tokens; the user's is text.
        [ "$("$look" get 'ids.*' < rendered | grep -c '^50[01]$')" -eq 3 ]
        run -0 v render -m m.gguf --template rag conv.json
        [ "$output" = 'Ra<|im_end|>' ]
    done
}

@test "doctor looks at the template, and at a conversation in it" {
    need_shared models/tiny-arch
    template '' > t.jinja
    chat_model m.gguf tokenizer.chat_template=@t.jinja
    run -0 v doctor m.gguf
    [[ $output == *'own: the model brings it along'* ]]
    [[ $output == *'every turn is ended'* ]]
    [[ $output == *'6 names of special tokens stay text'* ]]
    [[ $output != *warning* && $output != *bad* ]]

    # One that writes BOS twice, drops what the system says, and ends no turn.
    printf '{{ bos_token }}<s>{%% for m in messages if m.role != "system" %%}<|im_start|>{{ m.content }}{%% endfor %%}' > t.jinja
    chat_model m.gguf tokenizer.chat_template=@t.jinja
    run -1 v doctor m.gguf
    [[ $output == *'bad '*'begins with <s> twice'* ]]
    [[ $output == *'the content of message 1 (system) is not in the prompt'* ]]
    [[ $output == *'nothing ends the turn of message 3 (assistant)'* ]]

    printf '{%% for m in messages %%}{%% if m.role in ["user", "assistant"] %%}<|im_start|>{{ m.content }}<|im_end|>{%% endif %%}{%% endfor %%}' > t.jinja
    run -0 v doctor --template ./t.jinja m.gguf
    [[ $output == *'warning '*'unknown role'* ]]

    chat_model m.gguf 'tokenizer.chat_template={% for %}'
    run -0 v doctor m.gguf
    [[ $output == *'warning '*'line 1'* ]]
}

@test "the template of a directory is found in its files" {
    need_shared tokenizers/hf
    command -v xz > /dev/null || skip "no xz"
    conversation
    mkdir model
    xz -dc "$shared/tokenizers/hf/qwen3.tokenizer.json.xz" > model/tokenizer.json
    echo '{"chat_template": [{"name": "default", "template": "D"}, {"name": "rag", "template": "R"}]}' \
        > model/tokenizer_config.json
    run --separate-stderr -0 v render -m model conv.json
    [ "$output" = D ]
    run --separate-stderr -0 v render -m model/tokenizer.json --template rag conv.json
    [ "$output" = R ]
    printf 'F' > model/chat_template.jinja
    run --separate-stderr -0 v render -m model conv.json
    [ "$output" = F ]
    mkdir model/additional_chat_templates
    printf 'T' > model/additional_chat_templates/tool_use.jinja
    printf '{"messages": [], "tools": [{"name": "f"}]}' > tools.json
    run --separate-stderr -0 v render -m model tools.json
    [ "$output" = T ]
    echo '{"chat_template"' > model/tokenizer_config.json
    run --separate-stderr -3 v render -m model conv.json
    [[ $stderr == *tokenizer_config.json* ]]
}
