/* What keys and signals do. Nothing here draws: handlers change the state and set what
 * is to be done in t->todo. */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tui/bindings.h"
#include "tui/commands.h"
#include "tui/external.h"
#include "tui/input.h"
#include "tui/screen.h"
#include "tui/signals.h"
#include "tui/tui_int.h"

enum { LEAVE_WITHIN_US = 2000000 };

void tui_say(struct tui *t, enum tui_block_kind kind, const char *text, size_t n)
{
    tui_transcript_note(&t->transcript, kind, text, n);
    tui_view_show(&t->view, &t->transcript, t->transcript.n - 1);
    t->todo |= TUI_TODO_DRAW;
}

void tui_hint(struct tui *t, const char *fmt, ...)
{
    va_list ap;

    buf_reset(&t->hint);
    va_start(ap, fmt);
    buf_vaddf(&t->hint, fmt, ap);
    va_end(ap);
    t->todo |= TUI_TODO_DRAW;
}

bool tui_is_busy(struct tui *t)
{
    struct chat_status st;

    chat_status(t->chat, &st);
    return t->waiting || st.state == CHAT_PREFILL || st.state == CHAT_DECODE ||
           st.state == CHAT_LOADING;
}

static bool is_empty(void)
{
    size_t n, at;

    tui_input_text(&n, &at);
    return n == 0;
}

/* ---- the terminal lent out ---- */

static void come_back(struct tui *t)
{
    tui_screen_resume();
    t->todo |= TUI_TODO_MEASURE | TUI_TODO_REPAINT | TUI_TODO_DRAW;
}

void tui_suspend(struct tui *t)
{
    tui_screen_pause();
    tui_signals_suspend();
    come_back(t);
}

void tui_take_again(struct tui *t)
{
    tui_screen_pause();
    come_back(t);
}

static void edit_elsewhere(struct tui *t, const char *text, size_t n)
{
    struct buf out = {0};
    struct err e = {0};

    tui_screen_pause();
    bool ok = tui_external_edit(text, n, &out, &e);
    come_back(t);
    if (ok)
        tui_input_set(buf_str(&out), out.n);
    else
        tui_say(t, TUI_BLOCK_ERROR, e.text, strlen(e.text));
    buf_release(&out);
}

/* ---- sending ---- */

static void remember(struct tui *t)
{
    struct err e = {0};

    if (!tui_input_done(&e))
        tui_say(t, TUI_BLOCK_ERROR, e.text, strlen(e.text));
}

static void fold(struct tui *t, bool on)
{
    tui_transcript_fold(&t->transcript, on);
    t->todo |= TUI_TODO_DRAW;
}

static void take_effects(struct tui *t, unsigned effects)
{
    if (effects & TUI_EFFECT_LEAVE)
        t->leave = true;
    if (effects & TUI_EFFECT_JOB)
        t->waiting = true;
    if (effects & TUI_EFFECT_FOLD)
        fold(t, !t->transcript.fold);
    if (effects & TUI_EFFECT_FOLD_ON)
        fold(t, true);
    if (effects & TUI_EFFECT_FOLD_OFF)
        fold(t, false);
    if (effects & TUI_EFFECT_EDIT)
        edit_elsewhere(t, "", 0);
}

/* As in a shell, a line that failed is one key (Up) away, and the next one can be typed. */
static void run_command(struct tui *t, const char *line, size_t n)
{
    struct buf out = {0};
    struct tui_call call = { .chat = t->chat, .keys = true, .out = &out };
    struct err e = {0};

    bool ok = tui_command_run(line, n, &call, &e);
    remember(t);
    if (!ok) {
        tui_say(t, TUI_BLOCK_ERROR, e.text, strlen(e.text));
    } else {
        if (out.n)
            tui_say(t, TUI_BLOCK_NOTE, out.p, out.n);
        take_effects(t, call.effects);
    }
    buf_release(&out);
}

static void send(struct tui *t)
{
    size_t n, at, len;
    const char *line = tui_input_text(&n, &at);
    struct err e = {0};

    tui_view_follow(&t->view);
    t->todo |= TUI_TODO_DRAW;
    if (strspn(line, " \t\n") == n)
        return;
    if (tui_line_is_command(line, n)) {
        run_command(t, line, n);
        return;
    }
    struct chat_status st;
    chat_status(t->chat, &st);
    if (st.state == CHAT_LOADING) {
        tui_hint(t, "a model is being loaded; Enter sends the message after that");
        return;
    }
    len = n;
    const char *text = tui_line_message(line, &len);
    if (!chat_send(t->chat, text, len, &e)) {
        tui_hint(t, "%s", e.text);
        return;
    }
    t->waiting = true;
    remember(t);
}

/* ---- completion ---- */

/* The candidates in the status line, as many as fit. */
static void show_candidates(struct tui *t, const struct tui_completion *c)
{
    struct buf list = {0};
    size_t i = 0;

    for (; i < c->n; i++) {
        int cols = tui_text_width(buf_str(&list), list.n, t->charset) + 2 +
                   tui_text_width(c->v[i], strlen(c->v[i]), t->charset);
        if (i > 0 && cols > t->cols - 14)
            break;
        buf_addf(&list, "%s%s", i ? "  " : "", c->v[i]);
    }
    if (i < c->n)
        buf_addf(&list, "  and %zu more", c->n - i);
    tui_hint(t, "%s", list.p);
    buf_release(&list);
}

static void complete(struct tui *t)
{
    size_t n, at;
    const char *line = tui_input_text(&n, &at);
    struct tui_completion c;
    struct buf text = {0};

    tui_complete(line, at, &c);
    size_t common = tui_completion_common(&c);
    if (c.n) {
        buf_add(&text, c.v[0], common);
        if (c.n == 1)
            buf_adds(&text, c.after);
        tui_input_replace(c.from, buf_str(&text), text.n);
    }
    if (c.n > 1)
        show_candidates(t, &c);
    else if (!c.n && tui_line_is_command(line, n))
        tui_hint(t, "nothing to complete here");
    buf_release(&text);
    tui_completion_release(&c);
}

/* ---- leaving and stopping ---- */

void tui_interrupt(struct tui *t)
{
    long long now = log_now_us();

    tui_input_abort();
    if (tui_is_busy(t)) {
        chat_stop(t->chat);
        tui_hint(t, "stopping");
        t->stopping = true;
    } else if (!is_empty()) {
        tui_input_clear();
    } else if (t->leave_us && now - t->leave_us < LEAVE_WITHIN_US) {
        t->leave = true;
        return;
    } else {
        t->leave_us = now;
        tui_hint(t, "Ctrl-C again leaves; so does Ctrl-D");
        return;
    }
    t->leave_us = 0;
}

/* ---- keys ---- */

static void paste(struct tui *t, const struct tui_key *k)
{
    size_t lines = 1;

    tui_input_insert(k->bytes, k->n);
    for (size_t i = 0; i < k->n; i++)
        lines += k->bytes[i] == '\n';
    if (lines > 1)
        tui_hint(t, "pasted %zu lines, %zu bytes; Enter sends", lines, k->n);
}

static void scroll(struct tui *t, long rows)
{
    tui_view_scroll(&t->view, &t->transcript, rows);
}

static long page(const struct tui *t)
{
    return t->view.rows > 2 ? t->view.rows - 1 : 1;
}

/* Keys that mean one thing on an empty line and another for the editor. Returns
 * whether they were meant for us. */
static bool act_when_empty(struct tui *t, enum tui_action a)
{
    if (a == TUI_ACT_BOTTOM && tui_input_wants_escape() && !t->view.away)
        return false;
    if (a != TUI_ACT_END_OF_FILE && a != TUI_ACT_HOME && a != TUI_ACT_END)
        return true;
    if (!is_empty())
        return false;
    if (a == TUI_ACT_END_OF_FILE)
        t->leave = true;
    else if (a == TUI_ACT_HOME)
        tui_view_top(&t->view, &t->transcript);
    else
        tui_view_follow(&t->view);
    return true;
}

static void act(struct tui *t, enum tui_action a)
{
    size_t n, at;
    const char *text;

    switch (a) {
    case TUI_ACT_EDITOR:
    case TUI_ACT_END_OF_FILE:
    case TUI_ACT_HOME:
    case TUI_ACT_END:
        break;
    case TUI_ACT_SEND: send(t); break;
    case TUI_ACT_NEWLINE: tui_input_insert("\n", 1); break;
    case TUI_ACT_COMPLETE: complete(t); break;
    case TUI_ACT_UP: tui_input_up(); break;
    case TUI_ACT_DOWN: tui_input_down(); break;
    case TUI_ACT_HISTORY_FIRST: tui_input_history_first(); break;
    case TUI_ACT_HISTORY_LAST: tui_input_history_last(); break;
    case TUI_ACT_INTERRUPT: tui_interrupt(t); break;
    case TUI_ACT_SUSPEND: tui_suspend(t); break;
    case TUI_ACT_QUIT_SIGNAL: raise(SIGQUIT); break;
    case TUI_ACT_REDRAW: t->todo |= TUI_TODO_MEASURE | TUI_TODO_REPAINT; break;
    case TUI_ACT_FOLD: fold(t, !t->transcript.fold); break;
    case TUI_ACT_PAGE_UP: scroll(t, -page(t)); break;
    case TUI_ACT_PAGE_DOWN: scroll(t, page(t)); break;
    case TUI_ACT_LINE_UP: scroll(t, -1); break;
    case TUI_ACT_LINE_DOWN: scroll(t, 1); break;
    case TUI_ACT_TOP: tui_view_top(&t->view, &t->transcript); break;
    case TUI_ACT_BOTTOM: tui_view_follow(&t->view); break;
    case TUI_ACT_SEARCH_TAKE: tui_input_end_search(TUI_INPUT_TAKE); break;
    case TUI_ACT_SEARCH_LEAVE: tui_input_end_search(TUI_INPUT_LEAVE); break;
    case TUI_ACT_SEARCH_SEND:
        tui_input_end_search(TUI_INPUT_TAKE);
        send(t);
        break;
    case TUI_ACT_EXTERNAL:
        text = tui_input_text(&n, &at);
        edit_elsewhere(t, text, n);
        break;
    }
}

static void trace(const struct tui_key *k)
{
    struct buf name = {0};

    tui_key_name(k, &name);
    log_line("key", "%s, %zu bytes", name.p, k->n);
    buf_release(&name);
}

void tui_key_pressed(struct tui *t, const struct tui_key *k)
{
    enum tui_where where = tui_input_is_searching() ? TUI_IN_SEARCH : TUI_IN_CHAT;

    if (log_on())
        trace(k);
    buf_reset(&t->hint);
    t->todo |= TUI_TODO_DRAW;
    if (k->code == TUI_KEY_PASTE) {
        paste(t, k);
        return;
    }
    const struct tui_binding *b =
        tui_input_takes_any() ? NULL : tui_binding_find(where, k);
    if (!b || b->action != TUI_ACT_INTERRUPT)
        t->leave_us = 0;
    if (b && act_when_empty(t, b->action))
        act(t, b->action);
    else
        act(t, tui_input_key(k));
}
