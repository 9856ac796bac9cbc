/* The loop of the full screen. There is one place that waits: poll() on the terminal,
 * the chat's wake pipe and the signal pipe. Whatever comes changes the state; a frame
 * is drawn when something to be seen changed, at most once in FRAME_US, so a thousand
 * small tokens cost sixty frames. With nothing to do nothing wakes us.
 *
 * The transcript keeps no truth of its own: it is what the events said since the last
 * CHAT_EV_RESET. */
#include "config.h"

#include "tui/tui.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/paths.h"
#include "tui/input.h"
#include "tui/screen.h"
#include "tui/signals.h"
#include "tui/tui_int.h"

enum { FRAME_US = 16000, READ_MAX = 65536, ESCAPE_MS = 25, ESCAPE_MS_MAX = 2000 };

/* ---- what comes in ---- */

static void greet(struct tui *t)
{
    static const char text[] =
        "Type a message and press Enter. /help lists commands and keys.";

    if (!t->transcript.n)
        tui_transcript_note(&t->transcript, TUI_BLOCK_NOTE, text, sizeof text - 1);
}

static void end_turn(struct tui *t)
{
    t->waiting = false;
    if (t->stopping)
        buf_reset(&t->hint);
    t->stopping = false;
}

static void take_events(struct tui *t)
{
    chat_take(t->chat, &t->events);
    for (size_t i = 0; i < t->events.n; i++) {
        const struct chat_event *ev = &t->events.v[i];
        if (ev->type == CHAT_EV_RESET)
            tui_view_follow(&t->view);
        if (ev->type == CHAT_EV_READY)
            end_turn(t);
        tui_transcript_apply(&t->transcript, ev);
        if (ev->type == CHAT_EV_READY)
            greet(t);
    }
    if (t->events.n)
        t->todo |= TUI_TODO_DRAW;
    chat_events_reset(&t->events);
}

static void take_keys(struct tui *t, enum tui_keys_time time)
{
    struct tui_key k;

    while (!t->leave && tui_keys_next(&t->keys, time, &k))
        tui_key_pressed(t, &k);
}

static void read_terminal(struct tui *t)
{
    static char bytes[READ_MAX];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {               /* the terminal went away */
        t->leave = true;
        t->status_code = 128 + SIGHUP;
        return;
    }
    t->key_us = log_now_us();
    tui_keys_feed(&t->keys, bytes, (size_t)n);
    take_keys(t, TUI_KEYS_BUSY);
}

static void take_signals(struct tui *t)
{
    unsigned came = tui_signals_take();

    if (came & (TUI_SIG_TERMINATE | TUI_SIG_HANGUP)) {
        t->leave = true;
        t->status_code = 128 + (came & TUI_SIG_TERMINATE ? SIGTERM : SIGHUP);
    }
    if (came & TUI_SIG_INTERRUPT) {
        tui_interrupt(t);
        if (t->leave && !t->status_code)
            t->status_code = 128 + SIGINT;
    }
    if (came & TUI_SIG_SUSPEND)
        tui_suspend(t);
    if (came & TUI_SIG_CONTINUE)
        tui_take_again(t);
    if (came & TUI_SIG_RESIZE)
        t->todo |= TUI_TODO_MEASURE | TUI_TODO_DRAW;
}

/* ---- waiting ---- */

/* Milliseconds to wait at most; -1 for ever. */
static int patience(const struct tui *t)
{
    long long now = log_now_us(), until = LLONG_MAX;

    if (t->todo)
        until = t->frame_us + FRAME_US;
    if (tui_keys_waits(&t->keys) && t->key_us + t->escape_ms * 1000LL < until)
        until = t->key_us + t->escape_ms * 1000LL;
    if (until == LLONG_MAX)
        return -1;
    return until > now ? (int)((until - now + 999) / 1000) : 0;
}

static void wait_and_take(struct tui *t)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        /* While a frame is due, what the model says waits for it: one look for each frame
         * instead of one for each token. */
        { .fd = t->todo ? -1 : chat_wake_fd(t->chat), .events = POLLIN },
        { .fd = tui_signals_fd(), .events = POLLIN },
    };

    if (poll(fds, 3, patience(t)) < 0) {
        if (errno != EINTR)
            t->leave = true;
        return;
    }
    if (fds[2].revents)
        take_signals(t);
    if (fds[1].revents)
        take_events(t);
    if (fds[0].revents && !t->leave)
        read_terminal(t);
    else if (tui_keys_waits(&t->keys) &&
             log_now_us() - t->key_us >= t->escape_ms * 1000LL)
        take_keys(t, TUI_KEYS_QUIET);
}

static void draw_if_due(struct tui *t)
{
    if (!t->todo || log_now_us() - t->frame_us < FRAME_US)
        return;
    /* What a terminal makes of its content when its size changes, nobody knows. */
    if (t->todo & TUI_TODO_MEASURE && tui_screen_measure(&t->rows, &t->cols))
        t->todo |= TUI_TODO_REPAINT;
    take_events(t);
    if (t->todo & TUI_TODO_REPAINT)
        tui_screen_repaint();
    t->todo = 0;
    tui_draw_frame(t);
    t->frame_us = log_now_us();
}

/* ---- start and end ---- */

static enum tui_screen_color choose_color(const struct chat_settings *s)
{
    const char *no = getenv("NO_COLOR");

    if (s->color && !strcmp(s->color, "always"))
        return TUI_SCREEN_COLOR;
    if ((s->color && !strcmp(s->color, "never")) || (no && *no))
        return TUI_SCREEN_MONO;
    return TUI_SCREEN_COLOR;
}

static int escape_delay(void)
{
    const char *s = getenv("ESCDELAY");
    char *end;
    long ms = s ? strtol(s, &end, 10) : ESCAPE_MS;

    if (s && (end == s || *end || ms < 1 || ms > ESCAPE_MS_MAX))
        ms = ESCAPE_MS;
    return (int)ms;
}

/* A history that cannot be kept is worth a word and no more. */
static void start_input(struct tui *t, const struct chat_settings *s)
{
    struct buf dir = {0}, file = {0};
    struct err e = {0};
    bool ok = s->private_session ||
              (path_xdg(&dir, PATH_STATE, NULL, &e) && path_make_dirs(dir.p, &e) &&
               path_xdg(&file, PATH_STATE, "history", &e));

    if (!tui_input_start(ok && file.n ? file.p : NULL, t->charset, &e) || !ok)
        tui_transcript_note(&t->transcript, TUI_BLOCK_ERROR, e.text, strlen(e.text));
    buf_release(&dir);
    buf_release(&file);
}

static void release(struct tui *t)
{
    tui_transcript_release(&t->transcript);
    tui_keys_release(&t->keys);
    tui_rows_release(&t->edit.rows);
    chat_events_release(&t->events);
    buf_release(&t->hint);
    buf_release(&t->mark);
    buf_release(&t->status);
    free(t->lines);
}

static void say_goodbye(struct tui *t)
{
    struct chat_status st;

    chat_status(t->chat, &st);
    if (st.session_path)
        printf("saved; go on with: vitrine --resume %s\n", st.session_id);
    fflush(stdout);
}

int tui_run(struct chat *c, const struct chat_settings *s, struct err *e)
{
    /* The load that the caller waited for ends with an event like any other job. */
    struct tui t = { .chat = c, .escape_ms = escape_delay(), .waiting = true };

    setlocale(LC_CTYPE, "");
    if (s->ascii || strcmp(nl_langinfo(CODESET), "UTF-8"))
        t.charset = TUI_ASCII;
    t.view.charset = t.charset;
    t.transcript.fold = s->fold_thinking;
    unsigned signals = TUI_SIG_RESIZE | TUI_SIG_SUSPEND | TUI_SIG_CONTINUE |
                       TUI_SIG_INTERRUPT | TUI_SIG_TERMINATE | TUI_SIG_HANGUP;
    if (!tui_signals_start(signals, tui_screen_rescue, e))
        return ERR_FAILED;
    start_input(&t, s);
    if (tui_screen_start(choose_color(s), e)) {
        t.todo = TUI_TODO_MEASURE | TUI_TODO_DRAW;
        draw_if_due(&t);
        while (!t.leave) {
            wait_and_take(&t);
            draw_if_due(&t);
        }
        chat_stop(c);
        tui_screen_stop();
        say_goodbye(&t);
    } else {
        t.status_code = ERR_FAILED;
    }
    tui_input_stop();
    tui_signals_stop();
    release(&t);
    return t.status_code;
}
