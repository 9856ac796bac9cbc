# The documents agree with the program's tables.

load cli

@test "doc/vitrine.1 is what the tables make of doc/vitrine.1.in" {
    run -0 v help mdoc "$top_srcdir/doc/vitrine.1.in"
    diff "$top_srcdir/doc/vitrine.1" <(printf '%s\n' "$output") || {
        echo "run: make docs"
        false
    }
}

@test "assets/bash-completion/vitrine is what the tables make" {
    run -0 v help bash
    diff "$top_srcdir/assets/bash-completion/vitrine" <(printf '%s\n' "$output") || {
        echo "run: make docs"
        false
    }
}

@test "the manual pages are clean" {
    command -v mandoc > /dev/null || skip "no mandoc"
    for page in vitrine.1 vitrine-session.5; do
        run -0 mandoc -T lint -W warning "$top_srcdir/doc/$page"
        [ -z "$output" ]
    done
}

@test "the manual names every option and command" {
    command -v mandoc > /dev/null || skip "no mandoc"
    LC_ALL=C.UTF-8 mandoc -T utf8 "$top_srcdir/doc/vitrine.1" | sed 's/.\x08//g' > page
    run -0 v --help
    while read -r option; do
        grep -qe "$option" page || { echo "no $option"; false; }
    done < <(grep -oE -e '--[a-z-]+' <<< "$output" | sort -u)
    for command in chat ask score tokenize parse info plan bench sessions devices; do
        grep -qE "^ +$command" page
    done
}

@test "the completion offers commands, options and values" {
    # shellcheck disable=SC1091
    source "$top_srcdir/assets/bash-completion/vitrine"
    complete_words()
    {
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMPREPLY=()
        compopt() { :; }
        _vitrine
        echo "${COMPREPLY[*]}"
    }
    run -0 complete_words vitrine to
    [ "$output" = tokenize ]
    run -0 complete_words vitrine ask --top
    [ "$output" = "--top-k --top-p" ]
    run -0 complete_words vitrine tokenize --te
    [ -z "$output" ]
    run -0 complete_words vitrine ask --cpu avx
    [ "$output" = "avx2 avx512" ]
    run -0 complete_words vitrine sessions s
    [ "$output" = show ]
}

@test "README, HACKING and NEWS are there and name what exists" {
    for file in README.md HACKING.md NEWS COPYING; do
        [ -s "$top_srcdir/$file" ]
    done
    # Every path in the tree that HACKING.md names in backquotes exists.
    missing=
    while read -r path; do
        [ -e "$top_srcdir/$path" ] || missing="$missing $path"
    done < <(grep -oE '`[a-z_./-]+/[a-zA-Z0-9_./-]*`|`[a-z_-]+\.(c|h|md|am|ac)`' "$top_srcdir/HACKING.md" | tr -d '`' | grep -v '^\.\./' | sort -u)
    [ -z "$missing" ] || { echo "not there:$missing"; false; }
}
