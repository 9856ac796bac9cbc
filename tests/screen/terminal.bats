# The terminal: sizes, colours, signals, and that it is given back.
load helpers

@test "40x10 and 200x60" {
    start_sized 40 10 hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    wait_row 9 "demo.*ctx.*idle"
    resize 200 60
    wait_format window_width 200
    wait_for "fake · chatml"
    wait_row 59 "demo · fake · chatml · ctx .*idle"
    wait_for "nice to meet you."
    leave
}

@test "any size down to 1x1 survives" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    for size in "10 3" "5 2" "2 2" "1 1" "3 1" "300 100" "80 24"; do
        # shellcheck disable=SC2086
        resize $size
        type_text "x"
    done
    wait_for "❯ xxxxxxx"
    wait_for "nice to meet you."
    leave
}

@test "resizing keeps the place" {
    start lines
    type_text "go"
    keys Enter
    wait_for "line 100"
    keys PageUp PageUp
    wait_for "line 40"
    first=$(row 1)
    resize 50 20
    wait_format window_width 50
    wait_row 19 "below"
    wait_row 1 "^$first\$"
    resize 120 40
    wait_format window_width 120
    wait_row 39 "below"
    wait_row 1 "^$first\$"
}

@test "Ctrl-Z suspends and fg comes back" {
    terminal 80 24 "exec bash --norc --noprofile -i"
    keys "stty -a > ~/before; $VITRINE --device fake:$scripts/hello.jsonl" Enter
    wait_for "idle"
    type_text "half a line"
    wait_for "❯ half a line"
    keys C-z
    wait_for "Stopped"
    wait_format alternate_on 0
    has_not "idle"
    keys "stty -a | diff ~/before - && echo sa''me" Enter
    wait_for "same"
    resize 70 20
    keys "fg" Enter
    wait_for "❯ half a line"
    wait_format alternate_on 1
    wait_row 19 "idle"
    keys C-u
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    type_text "/quit"
    keys Enter
    wait_format alternate_on 0
    keys "echo le''ft" Enter
    wait_for "left"
}

@test "stopped by somebody else, it takes the terminal again" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    kill -STOP "$(program)"
    stty sane < "$(tm display-message -p '#{pane_tty}')"
    printf 'GARBAGE' > "$(tm display-message -p '#{pane_tty}')"
    wait_for "GARBAGE"
    kill -CONT "$(program)"
    wait_gone "GARBAGE"
    wait_for "nice to meet you."
    type_text "still raw"
    keys C-j
    wait_rows "❯ still raw" "$(printf '')"
    leave
}

@test "SIGTERM and SIGHUP give the terminal back" {
    start hello
    kill -TERM "$(program)"
    is_clean 143
    close_terminal
    start hello
    kill -HUP "$(program)"
    is_clean 129
}

@test "SIGTERM during an answer keeps what was said" {
    start endless
    type_text "go"
    keys Enter
    wait_for "and so on and"
    kill -TERM "$(program)"
    is_clean 143
    tail -n 1 "$HOME"/.local/share/vitrine/sessions/*.jsonl | grep -q '"type":"stop".*"why":"user"'
}

@test "SIGINT works like Ctrl-C" {
    start endless
    type_text "go"
    keys Enter
    wait_for "and so on"
    kill -INT "$(program)"
    wait_for "stopped by you"
    kill -INT "$(program)"
    wait_for "Ctrl-C again leaves"
    kill -INT "$(program)"
    is_clean 130
}

@test "fatal signals give the terminal back" {
    is_sanitized && skip "the sanitizer has its own end for these"
    for signal in SEGV BUS ABRT QUIT; do
        start hello
        kill -$signal "$(program)"
        is_clean $((128 + $(kill -l $signal)))
        close_terminal
        rm "$BATS_TEST_TMPDIR/after"
    done
}

@test "Ctrl-backslash ends at once" {
    is_sanitized && skip "the sanitizer has its own end for this"
    start hello
    keys 'C-\'
    is_clean 131
}

has_color()
{
    screen -e | grep -qE $'\e\\[([0-9]+;)*3[0-7]m'
}

has_bold()
{
    screen -e | grep -q $'\e\\[1m'
}

@test "colours by default, none with NO_COLOR or --color=never" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    eventually "a colour" has_color
    close_terminal
    export NO_COLOR=1
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    no_match $'\e\\[([0-9]+;)*(3|4|9|10)[0-7]m' -e
    eventually "bold names, which are no colour" has_bold
    close_terminal
    unset NO_COLOR
    start hello --color=never
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    no_match $'\e\\[([0-9]+;)*(3|4|9|10)[0-7]m' -e
}

@test "Ctrl-L paints over what others wrote" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    printf 'GARBAGE' > "$(tm display-message -p '#{pane_tty}')"
    wait_for "GARBAGE"
    keys C-l
    wait_gone "GARBAGE"
    wait_for "nice to meet you."
}

@test "a dumb terminal gets plain text" {
    terminal 80 24 "TERM=dumb $VITRINE --device fake:$scripts/hello.jsonl; exec cat -v"
    wait_for "you:"
    wait_format alternate_on 0
    type_text "hi"
    keys Enter
    wait_for "assistant: Hello, it is nice to meet you."
    keys C-d
    wait_for "saved; go on"
}

@test "the terminal going away ends the program" {
    start hello
    pid=$(program)
    close_terminal
    for _ in $(seq 200); do
        kill -0 "$pid" 2> /dev/null || return 0
        sleep 0.05
    done
    false
}
