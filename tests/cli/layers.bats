# The layers of STYLE.md section 1, proved on the sources and on libcore.a.

load ../helper

setup()
{
    cd "$top_srcdir"
}

# "file:line:header" of every include of ours ("...") in the files given.
ours()
{
    grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" |
        sed -E 's/^([^:]*:[0-9]+):[^"]*"([^"]*)".*/\1:\2/'
}

# Print the includes of the files of folder $1 that do not match $2.
outside()
{
    ours "$1"/*.[ch] | grep -vE ":(config\.h|$2)\$" || true
}

no_output()
{
    [ -z "$output" ] || { echo "$output"; false; }
}

@test "base includes nothing of ours but base" {
    run -0 outside base 'base/[a-z0-9_]+\.h'
    no_output
}

@test "backend, tokenizer and templates include their own headers and base" {
    for dir in backend tokenizer templates; do
        run -0 outside $dir "($dir|base)/[a-z0-9_]+\\.h"
        no_output
    done
}

@test "chat includes no screen" {
    run -0 outside chat '(chat|templates|tokenizer|backend|base)/[a-z0-9_]+\.h'
    no_output
}

@test "tui includes chat and base only" {
    [ -d tui ] || skip "there is no tui/ yet"
    run -0 outside tui '(tui|chat|base)/[a-z0-9_]+\.h'
    no_output
}

# Files of the tree's code but for the folder or files that match $1, and that include a
# header whose name begins as $2 says.
includers()
{
    local all=(base backend tokenizer templates chat tui main.c cmd*.[ch])
    [ -d tui ] || all=("${all[@]/tui/}")
    # shellcheck disable=SC2046
    grep -rlE --include='*.[ch]' "#[[:space:]]*include[[:space:]]*[<\"]($2)" $(ls -d ${all[@]}) |
        grep -vE "^($1)" || true
}

@test "only tui/screen.c and tui/draw.c include curses" {
    run -0 includers 'tui/(screen|draw)\.c$' 'n?curses|ncursesw?/|term\.h|panel'
    no_output
}

@test "only tui/input.c includes readline" {
    run -0 includers 'tui/input\.c$' 'readline'
    no_output
}

@test "PCRE2 lives in tokenizer, libdrm in backend" {
    run -0 includers 'tokenizer/' 'pcre2'
    no_output
    run -0 includers 'backend/' 'xf86drm|libdrm|amdgpu|drm'
    no_output
}

@test "modules never print and never exit" {
    # Comments and strings may name what the code must not call. Perl is there: autoconf
    # needs it.
    strip()
    {
        local file
        for file in "$@"; do
            perl -0pe 's{/\*.*?\*/}{"\n" x ($& =~ tr/\n//)}gse; s{"(\\.|[^"\\\n])*"}{""}g' "$file" |
                grep -nE '(^|[^a-z_0-9])((printf|puts|putchar|perror|exit|_exit|errx?|warnx?) ?\(|(stdout|stderr)[^a-z_0-9])' |
                sed "s|^|$file:|"
        done
        true
    }
    run -0 strip backend/*.c tokenizer/*.c templates/*.c chat/*.c
    no_output
}

@test "libcore.a has no undefined symbol of curses or readline" {
    lib=$top_builddir/libcore.a
    [ -e "$lib" ] || skip "there is no libcore.a in $top_builddir"
    ldd "$VITRINE" | grep -oE '/[^ ]*lib(ncurses|tinfo|readline|history|panel)[^ ]*' | sort -u > "$BATS_TEST_TMPDIR/libs"
    if [ -s "$BATS_TEST_TMPDIR/libs" ]; then
        xargs nm -D --defined-only < "$BATS_TEST_TMPDIR/libs" |
            awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u > "$BATS_TEST_TMPDIR/theirs"
        [ -s "$BATS_TEST_TMPDIR/theirs" ]
    else
        printf '%s\n' initscr newterm endwin waddnstr setupterm tigetstr readline rl_initialize \
            rl_insert_text add_history | sort > "$BATS_TEST_TMPDIR/theirs"
    fi
    # What is undefined in one member and defined in another does not count.
    nm --defined-only "$lib" | awk 'NF == 3 { print $3 }' | sort -u > "$BATS_TEST_TMPDIR/defined"
    nm -u "$lib" | awk 'NF == 2 { print $2 }' | sort -u | comm -23 - "$BATS_TEST_TMPDIR/defined" |
        comm -12 - "$BATS_TEST_TMPDIR/theirs" > "$BATS_TEST_TMPDIR/found"
    run -0 cat "$BATS_TEST_TMPDIR/found"
    no_output
}

@test "every header compiles alone" {
    cd "$BATS_TEST_TMPDIR"
    flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I$top_srcdir -I$top_builddir"
    failed=
    for header in "$top_srcdir"/{base,backend,tokenizer,templates,chat,tui}/*.h "$top_srcdir"/cmd*.h; do
        [ -e "$header" ] || continue
        name=${header#"$top_srcdir"/}
        printf '#include "%s"\n#include "%s"\n' "$name" "$name" > one.c
        # shellcheck disable=SC2086
        ${CC:-cc} $flags one.c 2> messages || { failed="$failed $name"; head -3 messages; }
    done
    [ -z "$failed" ] || { echo "do not compile alone:$failed"; false; }
}

@test "no file includes a .c file or climbs out of its folder" {
    run -0 includers 'nothing' '[^>"]*\.c[>"]|\.\.?/'
    no_output
}
