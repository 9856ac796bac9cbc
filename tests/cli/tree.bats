# What the tree promises about itself.

load ../helper

# The words of the variables $2... of Makefile.am $1.
listed()
{
    local file=$1
    shift
    awk -v names=" $* " '
        /^[a-z_]+ *\+?=/ { inside = index(names, " " $1 " ") > 0; sub(/^[a-z_]+ *\+?=/, "") }
        inside { line = $0; sub(/\\$/, "", line); n = split(line, w); for (i = 1; i <= n; i++) print w[i] }
        !/\\$/ { inside = 0 }' "$file" | sort
}

@test "make check runs every test that is there" {
    cd "$top_srcdir"
    diff -u <(listed Makefile.am unit_tests cli_tests screen_tests) \
        <({ find tests/unit -name 'test-*.c' | sed 's/\.c$//'; find tests/cli tests/screen -name '*.bats'; } | sort)
}

@test "make fuzz-smoke runs every fuzz target that is there" {
    cd "$top_srcdir"
    diff -u <(listed Makefile.am fuzz_targets) \
        <(find tests/fuzz -name 'fuzz-*.c' | sed 's/\.c$//' | sort)
}
