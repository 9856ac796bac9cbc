# What the command-line tests share beside ../helper.
load ../helper

look=$top_builddir/tests/cli/look

setup()
{
    use_clean_home
    cd "$BATS_TEST_TMPDIR"
}

v()
{
    "$VITRINE" "$@"
}

# A script for the fake device: answer "Hello there" after some thinking, for ever.
fake_script()
{
    cat > fake.jsonl << 'END'
{"fake":1,"name":"demo","template":"chatml","ctx":256,"special":["<|im_start|>","<|im_end|>","<think>","</think>"],"eos":"<|im_end|>"}
{"answer":[{"special":"<think>"},"Hm","m.",{"special":"</think>"},"Hel",{"t":"lo","top":[["p",-6]]}," there"]}
END
}

# One that never ends, a token every 10 ms.
fake_endless()
{
    cat > endless.jsonl << 'END'
{"fake":1,"name":"endless","template":"chatml","ctx":100000,"delay_us":10000,"special":["<|im_start|>","<|im_end|>"],"eos":"<|im_end|>"}
{"answer":["la "],"open":true}
END
}

# A usage error: status 2, nothing on stdout, one line and the hint on stderr.
is_usage_error()
{
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    # shellcheck disable=SC2154
    [ "${#stderr_lines[@]}" -eq 2 ]
    [[ ${stderr_lines[0]} == "vitrine: "* ]]
    [[ ${stderr_lines[1]} == "Try 'vitrine"*"--help' for more information." ]]
}

usage_error()
{
    run --separate-stderr v "$@"
    is_usage_error || { echo "not a usage error: $* ($status): $output / $stderr"; false; }
}
