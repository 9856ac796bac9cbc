# What the Bats tests of tests/cli and tests/screen share. `make check` names the program and
# the tree; by hand, `bats tests/cli/x.bats` takes those of the tree it stands in.
bats_require_minimum_version 1.5.0

: "${top_srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
: "${VITRINE:=$top_builddir/vitrine}"
export top_srcdir top_builddir VITRINE

# ../shared beside the tree, or where VT_SHARED says.
shared=${VT_SHARED:-$top_srcdir/../shared}

# A world of its own for every test: no user's files, no colours, one locale.
use_clean_home()
{
    export HOME=$BATS_TEST_TMPDIR/home
    mkdir -p "$HOME"
    unset "${!XDG_@}" "${!VITRINE_@}" NO_COLOR CLICOLOR_FORCE INPUTRC COLUMNS LINES
    export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color
    export TMPDIR=$BATS_TEST_TMPDIR
}

need_shared()
{
    [ -e "$shared${1:+/$1}" ] || skip "the shared test data is not beside the tree"
}

# Sanitizers change timing, memory and what a library may do.
is_sanitized()
{
    nm "$VITRINE" 2>/dev/null | grep -q '__[at]san_init'
}
