# Typing, pasting, history and completion.
load helpers

@test "Ctrl-J and Alt-Enter start a new line, Enter sends" {
    start hello
    type_text "one"
    keys C-j
    type_text "two"
    keys M-Enter
    type_text "three"
    wait_for "three"
    wait_row 22 '^❯ one$'
    wait_row 23 '^  two$'
    has_not "nice to meet you"
    keys Enter
    wait_for "nice to meet you."
    wait_rows "  one" "  two" "  three"
}

@test "a paste of several lines is not submitted" {
    start hello
    paste_text $'first\nsecond\nthird\n'
    wait_for "pasted 4 lines"
    wait_for "❯ first"
    wait_for "  second"
    has_not "nice to meet you"
    keys Enter
    wait_for "nice to meet you."
}

@test "a paste cannot end itself and type" {
    start hello
    paste_text $'harmless\e[201~/quit\rnot harmless'
    wait_for "not harmless"
    wait_for 'harmless^[[201~/quit'
    has_not "status 0"
    has_not "nice to meet you"
}

@test "control characters in a paste are shown" {
    start hello
    paste_text $'a\x03b\x04c\x1b[31md'
    wait_for 'a^Cb^Dc^[[31md'
}

@test "a paste of a megabyte arrives whole" {
    start big
    head -c 1000000 /dev/zero | tr '\0' 'x' > "$BATS_TEST_TMPDIR/big"
    printf 'END' >> "$BATS_TEST_TMPDIR/big"
    tm load-buffer -b paste "$BATS_TEST_TMPDIR/big"
    tm paste-buffer -p -b paste
    wait_for "xEND"
    keys Enter
    wait_for "nice to meet you."
    leave
    file=$(echo "$HOME"/.local/share/vitrine/sessions/*.jsonl)
    grep -q 'x\{1000\}END"' "$file"
    [ "$(grep '"role":"user"' "$file" | tr -cd x | wc -c)" -ge 1000000 ]
}

@test "the input grows to a third of the screen and then scrolls" {
    start hello
    paste_text "$(seq 1 20)"
    wait_for "20"
    wait_row 16 "pasted 20 lines"
    wait_row 24 '^  20$'
    wait_row 17 '^  13$'
    keys C-c
    wait_gone "20"
    wait_row 23 demo
}

@test "Up and Down move inside a text of several lines" {
    start hello
    type_text "aaa"
    keys C-j
    type_text "bbb"
    keys Up
    type_text "X"
    wait_for "aaaX"
    keys Down
    type_text "Y"
    wait_for "bbbY"
}

@test "history keeps a prompt whole and gives the draft back" {
    start hello
    type_text "one"
    keys C-j
    type_text "two"
    keys Enter
    wait_for "nice to meet you."
    type_text "my draft"
    keys Up
    wait_gone "my draft"
    wait_row 23 '^❯ one$'
    wait_row 24 '^  two$'
    keys Down
    wait_for "my draft"
    leave
    grep -qx 'one\\ntwo' "$HOME/.local/state/vitrine/history"
    [ "$(stat -c %a "$HOME/.local/state/vitrine/history")" = 600 ]
}

@test "history outlives the program; a leading space is not kept" {
    start hello
    type_text "remember this"
    keys Enter
    wait_for "nice to meet you."
    type_text " but not this"
    keys Enter
    wait_for "The second answer."
    leave
    close_terminal
    start hello
    keys Up
    wait_for "/quit"
    keys Up
    wait_for "❯ remember this"
    run -1 grep "but not this" "$HOME/.local/state/vitrine/history"
}

@test "--private keeps no history and no session" {
    start hello --private
    type_text "a secret"
    keys Enter
    wait_for "nice to meet you."
    leave
    run -1 grep -r "a secret" "$HOME"
    has_not "saved; go on"
}

@test "Ctrl-R searches the history" {
    start hello
    type_text "alpha one"
    keys Enter
    wait_for "nice to meet you."
    type_text "beta two"
    keys Enter
    wait_for "The second answer."
    type_text "draft"
    keys C-r
    wait_for "i-search"
    type_text "alp"
    wait_for "alp': alpha one"
    keys Escape
    wait_for "❯ alpha one"
    keys C-c
    keys C-r
    type_text "two"
    wait_for "two': beta two"
    keys C-g
    wait_gone "i-search"
    keys C-r
    type_text "two"
    wait_for "two': beta two"
    keys Enter
    wait_for "The third answer."
}

@test "Tab completes commands, options and values" {
    start hello
    type_text "/he"
    keys Tab
    wait_for "❯ /help"
    keys C-u
    type_text "/s"
    keys Tab
    wait_for "save  session  set  system"
    type_text "et fold"
    keys Tab
    wait_for "❯ /set fold-thinking"
    type_text "o"
    keys Tab
    wait_for "off  on"
}

@test "Tab completes file names" {
    mkdir "$BATS_TEST_TMPDIR/models"
    touch "$BATS_TEST_TMPDIR/models/a model.gguf"
    start hello
    type_text "/model $BATS_TEST_TMPDIR/mod"
    keys Tab
    wait_for "/models/"
    keys Tab
    wait_for "/models/a model.gguf"
}

@test "the Emacs keys work" {
    start hello
    type_text "hello wide world"
    keys C-a C-d
    wait_for "❯ ello wide"
    keys C-e BSpace
    wait_for "❯ ello wide worl"
    keys M-b M-d
    wait_for "❯ ello wide"
    keys C-w
    wait_for "❯ ello"
    keys C-y
    wait_gone "❯ ello  "
    wait_for "❯ ello wide"
    keys C-a C-k
    wait_gone "ello"
    keys C-y C-a C-f C-t
    wait_for "❯ lelo"
    keys C-_
    wait_for "❯ ello"
    keys C-e C-u
    wait_gone "ello"
    keys C-y C-b C-b C-h
    keys C-c
    type_text "next"
    wait_for "❯ next"
}

@test "C-v inserts a key as it is" {
    start hello
    keys C-v C-c
    wait_for "❯ ^C"
    keys C-v Escape
    wait_for "❯ ^C^["
    keys BSpace BSpace
    wait_gone "^"
}

@test "editing goes by clusters and columns" {
    start hello
    type_text "a你e"
    type_text $'\u0301'
    type_text $'b\U0001F469\u200d\U0001F467c'
    wait_format cursor_x 10             # 2 + 1 2 1 1 2 1
    keys BSpace BSpace
    wait_format cursor_x 7
    keys Left Left
    wait_format cursor_x 5
    keys Left
    wait_format cursor_x 3
    keys Delete
    wait_for $'❯ ae\u0301b'
    keys BSpace BSpace BSpace
    wait_for $'❯ e\u0301b'
    keys Delete
    wait_for "❯ b"
}

@test "long lines wrap and the cursor follows" {
    start_sized 40 10 hello
    type_text "$(printf 'x%.0s' $(seq 1 38))"
    wait_format cursor_y 9
    wait_format cursor_x 2
    type_text "yz"
    wait_for "yz"
    keys BSpace BSpace BSpace
    wait_format cursor_x 39
    keys C-a
    wait_format cursor_x 2
}

@test "Ctrl-C clears the line; twice on an empty one leaves" {
    start hello
    type_text "some text"
    wait_for "some text"
    keys C-c
    wait_gone "some text"
    keys C-c
    wait_for "Ctrl-C again leaves"
    keys x
    wait_gone "Ctrl-C again leaves"
    keys BSpace C-c
    wait_for "Ctrl-C again leaves"
    keys C-c
    is_clean 0
}

@test "Ctrl-D deletes in a text and leaves on an empty line" {
    start hello
    type_text "ab"
    keys C-a C-d
    wait_for "❯ b"
    keys C-d C-d
    is_clean 0
}

@test "C-x C-e and /edit open the editor" {
    cat > "$BATS_TEST_TMPDIR/editor" <<'EOF'
#!/bin/sh
printf ' and more\nin two lines\n' >> "$1"
EOF
    chmod +x "$BATS_TEST_TMPDIR/editor"
    export EDITOR=$BATS_TEST_TMPDIR/editor
    start hello
    type_text "text"
    keys C-x C-e
    wait_for "❯ text and more"
    wait_for "  in two lines"
    keys C-c
    type_text "/edit"
    keys Enter
    wait_for "❯  and more"
    EDITOR=false
    keys C-c
    leave
}

@test "inputrc is read" {
    printf '"\\C-xh": "macro text"\nset editing-mode emacs\n' > "$HOME/.inputrc"
    start hello
    keys C-x h
    wait_for "❯ macro text"
}

@test "vi mode works" {
    echo 'set editing-mode vi' > "$HOME/.inputrc"
    start hello
    type_text "hello world"
    keys Escape
    type_text "bx0x"
    wait_for "❯ ello orld"
    type_text "A!"
    wait_for "❯ ello orld!"
}
