# Options, help, version, and what a wrong command line says.

load cli

@test "--version is in GNU form on stdout" {
    run -0 --separate-stderr v --version
    [[ ${lines[0]} == "vitrine (vitrine) "[0-9]*.[0-9]* ]]
    [[ $output == *Copyright* && $output == *GPL* ]]
    [ -z "$stderr" ]
    run -0 v -V
    run -0 v ask -V
}

@test "--help is on stdout and names every command" {
    run -0 --separate-stderr v --help
    [ -z "$stderr" ]
    for command in chat ask score tokenize info doctor plan bench sessions devices help; do
        [[ $output == *$'\n'"  $command"* ]] || { echo "no $command"; false; }
    done
    general=$output
    run -0 v help
    [ "$output" = "$general" ]
    run -0 v -h
    [ "$output" = "$general" ]
}

@test "no line of help is wider than 80 columns" {
    for command in "" chat ask score tokenize info plan bench sessions devices help; do
        # shellcheck disable=SC2086
        run -0 v $command --help
        for line in "${lines[@]}"; do
            [ "${#line}" -le 80 ] || { echo "$line"; false; }
        done
    done
}

@test "the help of a command lists its options and no others" {
    run -0 v tokenize --help
    [[ $output == *--decode* && $output == *--bos* && $output == *--model* ]]
    [[ $output != *--temp* && $output != *--resume* ]]
    tokenize=$output
    run -0 v help tokenize
    [ "$output" = "$tokenize" ]
    run -0 v chat --help
    [[ $output == *--temp* && $output == *--plain* && $output != *--decode* ]]
}

@test "an unknown command is a usage error with near names" {
    usage_error tokenzie
    [[ $stderr == *"'tokenzie'"*"tokenize"* ]]
    usage_error zzzzzz
    [[ $stderr != *"did you mean"* ]]
    usage_error help zzzzzz
}

@test "an unknown or ambiguous option is a usage error with near names" {
    usage_error --tmp 1
    [[ $stderr == *"'--tmp'"*"--temp"* ]]
    usage_error ask --re x
    [[ $stderr == *ambiguous*--repeat-penalty* ]]
    usage_error -Z
    usage_error ask -mX -Zx
    usage_error --json=1
    [[ $stderr == *"'--json' takes no value"* ]]
}

@test "long options may be abbreviated" {
    usage_error ask --repeat-p 1000 hello
    [[ $stderr == *"--repeat-penalty needs a number from 0.01 to 100, not '1000'"* ]]
    # A whole name is no abbreviation of a longer one.
    usage_error ask --temp 1000 hello
    [[ $stderr == *"--temp needs"* ]]
}

@test "an option without its value is a usage error" {
    usage_error ask --temp
    [[ $stderr == *"'--temp' needs a value"* ]]
    usage_error ask -m
    [[ $stderr == *"'--model' needs a value"* ]]
}

@test "values are checked, whole and in range" {
    for bad in "--temp -1" "--temp nan" "--temp inf" "--temp 0x1" "--temp 1,5" "--temp 1x" \
        "--top-k -1" "--top-k 1.5" "--top-p 1.01" "--min-p -0.1" "--seed -1" "--seed x" \
        "--seed 9223372036854775808" "-n 0" "-n 1e3" "-c 0" "-c 99999999999999999999" "-t 0" \
        "--memory 0" "--memory 8Q" "--memory -1G" "--cpu sse9" "--think perhaps" \
        "--logprobs 65" "--chunk 0" "--repeat-penalty 0"; do
        # shellcheck disable=SC2086
        usage_error ask $bad hello
        # shellcheck disable=SC2086
        set -- $bad
        [[ $stderr == *"needs "*"'$2'"* ]] || { echo "$stderr"; false; }
    done
}

@test "an option that a command does not take is named with it" {
    usage_error tokenize --temp 1 -m x
    [[ $stderr == *"'tokenize'"*"'--temp'"* ]]
    usage_error devices -m x
    usage_error chat --json
    usage_error ask --plain hello
    usage_error sessions --seed 1
    usage_error help --json
    usage_error info --predict 1 x
}

@test "options that contradict each other are usage errors" {
    usage_error tokenize -m x --json --jsonl
    usage_error tokenize -m x --decode --bos
    usage_error score -m x --json --jsonl
    usage_error score -m x --logits
    usage_error score -m x --ids 1 --jsonl
    usage_error score -m x --ids 1 file
    usage_error ask -m x --special hello
    usage_error ask -m x --no-chat -s "be kind" hello
    usage_error info -m x y
    usage_error plan -m x y
}

@test "too many operands are a usage error" {
    usage_error chat hello
    usage_error info a b
    usage_error plan a b
    usage_error devices x
    usage_error sessions list x
    usage_error sessions show a b
    usage_error sessions frobnicate
    usage_error tokenize -m x a b
    usage_error help ask tokenize
}

@test "options may stand before the command and behind the operands" {
    fake_script
    run -0 --separate-stderr v --device fake:fake.jsonl ask hello
    [ "$output" = "Hello there" ]
    run -0 --separate-stderr v ask hello --device fake:fake.jsonl
    [ "$output" = "Hello there" ]
    POSIXLY_CORRECT=1 run -0 --separate-stderr v ask hello --device fake:fake.jsonl
    [ "$output" = "Hello there" ]
}

@test "-- ends the options" {
    fake_script
    run -0 --separate-stderr v ask --device fake:fake.jsonl --json -- --temp
    [[ $output == *'"content":"--temp"'* ]]
}

@test "foreign bytes on the command line are shown, not sent" {
    usage_error $'ev\e]0;il\a'
    [[ $stderr != *$'\e'* && $stderr == *'^[]0;il^G'* ]]
    usage_error ask --temp $'\e[31m'
    [[ $stderr != *$'\e'* ]]
    usage_error $'--\e[31m'
    [[ $stderr != *$'\e'* ]]
}

@test "--trace writes a trace, and a bad path is said" {
    fake_script
    run -0 v ask --device fake:fake.jsonl --trace trace.log hello
    grep -q event trace.log
    run -1 --separate-stderr v ask --device fake:fake.jsonl --trace no/such/dir/t hello
    [[ $stderr == *no/such/dir/t* ]]
}

@test "without a model every command says so, with status 3" {
    for command in chat "ask hello" "tokenize fake" "score fake" info plan bench; do
        echo text > fake
        # shellcheck disable=SC2086
        run -3 --separate-stderr v $command
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$command: $stderr"; false; }
        [[ $stderr == *"-m"* ]] || { echo "$command: $stderr"; false; }
    done
}

@test "a model that is not there is one sentence and status 3" {
    for command in chat "ask hello" "tokenize fake" "score fake" info plan bench; do
        echo text > fake
        # shellcheck disable=SC2086
        run -3 --separate-stderr v $command -m no-such.gguf
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *no-such.gguf* ]]
    done
    run -3 --separate-stderr v ask -m qwen3:0.6b hello
    [[ $stderr == *qwen3:0.6b* ]]
}
