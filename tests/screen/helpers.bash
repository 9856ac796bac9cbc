# Screen tests: a private tmux server, keys in, plain text out. A test waits for a text to
# appear and never for time to pass. When it fails the screen is printed.
load ../helper

setup()
{
    command -v tmux > /dev/null || skip "tmux is not installed"
    use_clean_home
    unset TMUX TMUX_PANE EDITOR VISUAL ESCDELAY LINES COLUMNS
    export TERM=tmux-256color
    socket=$BATS_TEST_TMPDIR/tmux
    cat > "$socket.conf" <<'EOF'
set-option -g default-terminal tmux-256color
set-option -g remain-on-exit on
set-option -g escape-time 0
EOF
    scripts=$BATS_TEST_DIRNAME
    patience=10
    ! is_sanitized || patience=60
}

teardown()
{
    [ -n "${socket:-}" ] || return 0
    if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
        echo "--- the screen at the end:"
        tm capture-pane -p 2> /dev/null || true
    fi
    tm kill-server 2> /dev/null || true
}

tm()
{
    tmux -S "$socket" -f "$socket.conf" "$@" 3>&-
}

# A terminal of $1 columns and $2 rows that runs the rest as a shell command line.
terminal()
{
    local cols=$1 rows=$2
    shift 2
    tm new-session -d -x "$cols" -y "$rows" "exec bash --norc --noprofile -c '$*'"
}

# End the terminal; the next one has a server of its own.
close_terminal()
{
    tm kill-server
    cp "$socket.conf" "$socket+.conf"
    socket+=+
}

# Run vitrine in 80x24 on the script $1 with further options; then tell its status and show
# what it leaves the terminal like.
start()
{
    start_sized 80 24 "$@"
}

start_sized()
{
    local cols=$1 rows=$2 script=$3
    shift 3
    cat > "$BATS_TEST_TMPDIR/pane" <<EOF
stty -a > "$BATS_TEST_TMPDIR/before"
"$VITRINE" --device "fake:$scripts/$script.jsonl" $*
echo "status \$?"
stty -a > "$BATS_TEST_TMPDIR/after"
exec cat -v
EOF
    terminal "$cols" "$rows" "exec bash \"$BATS_TEST_TMPDIR/pane\""
    wait_for "idle"
}

# Keys as tmux names them; text with -l.
keys()
{
    tm send-keys "$@"
}

type_text()
{
    tm send-keys -l -- "$1"
}

paste_text()
{
    tm set-buffer -b paste -- "$1"
    tm paste-buffer -p -b paste
}

screen()
{
    tm capture-pane -p "$@"
}

resize()
{
    tm resize-window -x "$1" -y "$2"
}

# Run the rest until it succeeds, within the deadline: a frame may be on its way. Every look
# at the screen goes through this.
eventually()
{
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || { echo "waited for $what"; return 1; }
        sleep 0.02
    done
}

is_on_screen()
{
    screen | grep -qF -- "$1"
}

is_off_screen()
{
    ! screen | grep -qF -- "$1"
}

# A fixed string is on the screen, is gone from it.
wait_for()
{
    eventually "'$1'" is_on_screen "$1"
}

wait_gone()
{
    eventually "'$1' to go" is_off_screen "$1"
}

# It is not there now. Wait for something else first.
has_not()
{
    is_off_screen "$1" || { echo "'$1' is on the screen"; return 1; }
}

# Nothing on the screen matches a pattern; with -e also among its attributes.
no_match()
{
    local pattern=$1
    shift
    if screen "$@" | LC_ALL=C grep -E -- "$pattern"; then
        echo "/$pattern/ is on the screen"
        return 1
    fi
}

# Row $1, from 1, as it is now.
row()
{
    screen | sed -n "${1}p"
}

row_matches()
{
    screen | sed -n "${1}p" | grep -q -- "$2"
}

# Row $1, from 1, matches a pattern; some row does.
wait_row()
{
    eventually "/$2/ in row $1" row_matches "$1" "$2"
}

rows_match()
{
    screen | grep -q -- "$1"
}

wait_match()
{
    eventually "/$1/" rows_match "$1"
}

# Rows with these texts, one behind the other.
rows_follow()
{
    screen | awk -v want="$(printf '%s\n' "$@")" '
        BEGIN { n = split(want, line, "\n") }
        $0 == line[k + 1] { if (++k == n) { found = 1; exit } next }
        { k = $0 == line[1] }
        END { exit !found }'
}

wait_rows()
{
    eventually "the rows: $*" rows_follow "$@"
}

format_is()
{
    [ "$(tm display-message -p "#{$1}")" = "$2" ]
}

# A tmux format has a value.
wait_format()
{
    eventually "$1 to be $2" format_is "$1" "$2"
}

wait_for_file()
{
    eventually "the file $1" test -s "$1"
}

# The process that runs in the terminal.
program()
{
    pgrep -P "$(tm display-message -p '#{pane_pid}')" vitrine
}

# Leave, and the terminal is as it was.
leave()
{
    keys C-c
    type_text "/quit"
    keys Enter
    is_clean 0
}

is_clean()
{
    wait_for "status $1"
    wait_format alternate_on 0
    wait_format cursor_flag 1
    wait_for_file "$BATS_TEST_TMPDIR/after"
    # The first line has the size, which a test may change.
    diff <(tail -n +2 "$BATS_TEST_TMPDIR/before") <(tail -n +2 "$BATS_TEST_TMPDIR/after")
    # Were bracketed paste still on, cat -v would show the brackets.
    paste_text "pasted by hand"
    wait_for "pasted by hand"
    has_not "200~"
}
