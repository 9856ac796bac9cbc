# A conversation on the full screen.
load helpers

@test "the first frame stands at once" {
    start hello
    wait_for "Type a message and press Enter"
    wait_row 23 "demo .*idle"
    wait_for "❯"
    leave
}

@test "an answer appears token by token" {
    start slow
    type_text "go"
    keys Enter
    wait_for "first"
    has_not "third"
    wait_row 23 "writing"
    wait_for "first second third"
    wait_for "idle"
    wait_row 23 "ctx [1-9][0-9]*/4096"
    wait_row 23 "write [0-9.]*/s"
}

@test "roles are marked by words" {
    start hello
    type_text "good morning"
    keys Enter
    wait_for "nice to meet you."
    wait_rows "you" "  good morning"
    wait_rows "demo" "  Hello, it is nice to meet you."
}

@test "thinking stands apart and can be folded" {
    start think
    type_text "answer"
    keys Enter
    wait_for "Forty-two."
    wait_for "▾ thinking · 4 tokens"
    wait_for "│ The user wants a number."
    keys C-o
    wait_for "▸ thinking · 4 tokens"
    has_not "The user wants"
    wait_for "Forty-two."
    type_text "/think"
    keys Enter
    wait_for "│ The user wants a number."
}

@test "--fold-thinking shows one line from the start" {
    start think --fold-thinking
    type_text "answer"
    keys Enter
    wait_for "Forty-two."
    wait_for "▸ thinking · 4 tokens"
    has_not "The user wants"
    type_text "/set fold-thinking off"
    keys Enter
    wait_for "│ The user wants a number."
}

@test "Ctrl-C stops an answer, /continue goes on" {
    start endless
    type_text "go"
    keys Enter
    wait_for "and so on and so on"
    keys C-c
    wait_for "stopped by you"
    wait_for "idle"
    type_text "/continue"
    keys Enter
    wait_gone "stopped by you"
    wait_for "writing"
    keys C-c
    wait_for "stopped by you"
    leave
}

@test "a message typed during an answer is kept" {
    start endless
    type_text "go"
    keys Enter
    wait_for "and so on"
    type_text "and then?"
    keys Enter
    wait_for "an answer is being written (Ctrl-C stops it)"
    wait_row 24 "❯ and then?"
    keys C-c
    wait_for "stopped by you"
    wait_row 24 "❯ and then?"
}

@test "commands work during an answer" {
    start endless
    type_text "go"
    keys Enter
    wait_for "and so on"
    type_text "/set temp"
    keys Enter
    wait_for "temp = 0.8"
    type_text "/quit"
    keys Enter
    is_clean 0
}

@test "PgUp holds the place and counts new lines; End follows again" {
    start lines
    type_text "go"
    keys Enter
    wait_for "line 100"
    wait_for "line 81"
    has_not "line 78"
    keys PageUp
    wait_for "line 60"
    has_not "line 100"
    wait_for "↓ 21 lines below"
    type_text "more"
    keys Enter                  # sending goes to the end
    wait_for "more 1"
    keys PageUp
    wait_for "new lines"
    top=$(row 1)
    wait_row 23 "↓ [0-9]* new lines.*idle"      # all thirty have come
    wait_row 1 "^$top\$"
    keys End
    wait_for "more 30"
    has_not "new lines"
}

@test "Home and the other ways to scroll" {
    start lines
    type_text "go"
    keys Enter
    wait_for "line 100"
    keys Home
    wait_row 1 'Type a message'
    wait_row 22 'line 16$'
    keys C-Down C-Down
    wait_for "line 18"
    keys C-Up
    wait_gone "line 18"
    keys Escape
    wait_for "line 100"
    keys PageUp PageUp PageDown PageDown
    wait_for "line 100"
    has_not "below"
}

@test "/help lists commands and keys" {
    start hello
    type_text "/help"
    keys Enter
    wait_for "Commands"
    wait_for "/set [NAME [VALUE]]"
    wait_for "lines below"
    keys PageDown PageDown
    wait_for "search the history backwards"
    keys End
    wait_for "A message begins with //"
    type_text "/help temp"
    keys Enter
    wait_for "temperature; 0 takes the most likely token"
}

@test "/set changes an option and refuses a wrong one" {
    start hello
    type_text "/set temp 0"
    keys Enter
    wait_for "temp = 0"
    wait_row 24 '^❯ *$'
    type_text "/set temp hot"
    keys Enter
    wait_for "error: "
    wait_row 24 '^❯ *$'
    keys Up
    wait_for "❯ /set temp hot"
}

@test "an unknown command is told and not sent" {
    start hello
    type_text "/nonsense"
    keys Enter
    wait_for "there is no command /nonsense"
    has_not "nice to meet you"
    keys Up
    wait_for "❯ /nonsense"
    # With a second slash it is a message.
    keys C-a
    type_text "/"
    keys Enter
    wait_for "nice to meet you."
    wait_match '^  /nonsense$'
}

@test "/retry answers anew and /new begins anew" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    type_text "/retry"
    keys Enter
    wait_for "The second answer."
    wait_for "demo (answer 2)"
    has_not "nice to meet you."
    type_text "/new"
    keys Enter
    wait_gone "The second answer."
    wait_for "Type a message and press Enter"
    wait_row 23 "ctx 0/4096"
}

@test "leaving tells how to resume, and --resume does" {
    start hello
    type_text "remember me"
    keys Enter
    wait_for "nice to meet you."
    leave
    wait_match '^saved; go on with: vitrine --resume [0-9a-z-]*$'
    close_terminal
    start hello --resume last
    wait_for "remember me"
    wait_for "nice to meet you."
}

@test "what the model sends is shown and never acts" {
    start bytes
    type_text "go"
    keys Enter
    wait_for "abc|"
    wait_for '^[]0;evil^G^[[2J<U+009B>31m�你end'
    wait_row 23 'bad^\[\[31mname'
    [ "$(tm display-message -p '#{pane_title}')" != evil ]
}

@test "wide and combined characters keep their columns" {
    start bytes
    type_text "go"
    keys Enter
    wait_for "abc|"
    # The bar behind each stands where we counted it.
    wait_match '^  |你好|$'
    wait_match $'^  |e\u0301x|$'
    wait_match '^  |👩 *|$'
    wait_match '^  |a      b|$'
    wait_match '^  |<U+202E>abc|$'
}

@test "--ascii draws with ASCII only" {
    start think --ascii
    type_text "answer"
    keys Enter
    wait_for "Forty-two."
    wait_for "- thinking - 4 tokens"
    no_match '[^ -~]'
    wait_row 24 '^>'
}

@test "a locale that is not UTF-8 gets ASCII and spelled text" {
    export LC_ALL=C
    start bytes
    type_text "go"
    keys Enter
    wait_for "abc|"
    wait_for "|<U+4F60><U+597D>|"
    no_match '[^ -~]'
}

@test "/session and /save" {
    start hello
    type_text "/session"
    keys Enter
    wait_for "not saved yet"
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    type_text "/save $BATS_TEST_TMPDIR/copy.jsonl"
    keys Enter
    wait_for "saved to"
    grep -q '"type":"message"' "$BATS_TEST_TMPDIR/copy.jsonl"
    type_text "/save $BATS_TEST_TMPDIR/copy.jsonl"
    keys Enter
    wait_for "error: "
    keys C-u
    type_text "/session"
    keys Enter
    wait_for "/vitrine/sessions/"
}

@test "/system shows, sets and removes" {
    start hello
    type_text "/system be brief"
    keys Enter
    wait_for "the system prompt is set"
    type_text "/system"
    keys Enter
    wait_for "system = be brief"
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    wait_rows "system" "  be brief"
}

@test "a session that was cut is resumed and the cut is told" {
    start hello
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    leave
    close_terminal
    printf '{"type":"message","id":9' >> "$(echo "$HOME"/.local/share/vitrine/sessions/*.jsonl)"
    start hello --resume last
    wait_for "nice to meet you."
    wait_for "torn"
}

@test "the trace tells keys, events and renders" {
    start hello --trace "$BATS_TEST_TMPDIR/trace"
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    grep -q ' key: Enter' "$BATS_TEST_TMPDIR/trace"
    grep -q ' event: token' "$BATS_TEST_TMPDIR/trace"
    grep -q ' render: 80x24' "$BATS_TEST_TMPDIR/trace"
}

@test "an idle screen does not wake up" {
    ! is_sanitized || skip "a sanitizer has a thread of its own that wakes up"
    start hello --trace "$BATS_TEST_TMPDIR/trace"
    type_text "hi"
    keys Enter
    wait_for "nice to meet you."
    wait_for "idle"
    # Two looks at the context switches of a program that should have none between them.
    pid=$(program)
    settled=
    for _ in $(seq 50); do
        before=$(cat /proc/"$pid"/task/*/status | grep -h ctxt_switches)
        sleep 0.2
        after=$(cat /proc/"$pid"/task/*/status | grep -h ctxt_switches)
        [ "$before" != "$after" ] || { settled=yes; break; }
    done
    [ -n "$settled" ]
}

@test "an error is told once and in words" {
    start full
    type_text "a message that is too long for the context of this model"
    keys Enter
    wait_for "error: "
    wait_for "idle"
    wait_row 23 "idle"
    [ "$(screen | grep -c 'error: ')" -eq 1 ]
    type_text "/new"
    keys Enter
    wait_gone "error: "
    type_text "hi"
    keys Enter
    wait_for "error: device lost"
    wait_row 23 "idle"
    [ "$(screen | grep -c 'device lost')" -eq 1 ]
}
