/* The append-only twin of the screen. Each line of input is a message or a command; a
 * backslash at its end joins the next line. Input waits while an answer is being
 * written.
 *
 * stdout carries the conversation, stderr what is said about it. Bytes of the model
 * are made visible for a terminal and left as they are for a file. When stdin is no
 * terminal the user's lines are printed too, so that the output is the whole
 * conversation. */
#include "config.h"

#include "tui/tui.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"
#include "chat/chat.h"
#include "tui/commands.h"
#include "tui/signals.h"
#include "tui/transcript.h"
#include "tui/wrap.h"

enum { READ_MAX = 65536, LEAVE_WITHIN_US = 2000000, STATUS_PIPE = 141 };

struct plain {
    struct chat *chat;
    enum tui_charset charset;
    struct chat_events events;
    struct buf in, line;        /* unread input; the lines of a message so far */
    struct buf out;
    bool typed;                 /* stdin is a terminal */
    bool shown;                 /* stdout is one */
    bool prompted, ended, leave;
    bool fold;
    bool busy;                  /* the chat has a job and CHAT_EV_READY did not come */
    bool again;                 /* since CHAT_EV_RESET only what was told before came */
    int told;                   /* the last message told */
    int status;
    int write_errno;            /* why stdout took no more; 0: it does */
    long long leave_us;

    /* the stretch of the answer being printed */
    int channel;                /* enum chat_channel; -1: none */
    bool begun;                 /* something of it was printed */
    bool newline;               /* the output stands at the start of a line */
    struct utf8_stream stream;
    uint32_t think_tokens;
    long long think_from, think_to;
};

/* ---- output ---- */

static void write_out(struct plain *p, int fd, const char *s, size_t n)
{
    if (fd == STDOUT_FILENO && p->write_errno)
        return;
    while (n) {
        ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            struct pollfd w = { .fd = fd, .events = POLLOUT };
            poll(&w, 1, -1);
            continue;
        }
        if (done < 0) {                 /* nobody reads any more */
            if (fd == STDOUT_FILENO) {
                p->leave = true;
                p->status = errno == EPIPE ? STATUS_PIPE : ERR_FAILED;
                p->write_errno = errno;
            }
            return;
        }
        s += done;
        n -= (size_t)done;
    }
}

/* ASCII for a terminal that cannot show more; text is visible already. */
static void spell(struct buf *b)
{
    struct buf ascii = {0};
    struct utf8_cell c;

    for (size_t at = 0; at < b->n; at += c.bytes) {
        tui_cell_next(b->p + at, b->n - at, 0, TUI_ASCII, &c);
        if (c.control)
            buf_add(&ascii, b->p + at, c.bytes);        /* newline, tab */
        else
            tui_cell_text(&ascii, b->p + at, &c, TUI_ASCII);
    }
    buf_release(b);
    *b = ascii;
}

/* Print p->out to fd and empty it. */
static void flush(struct plain *p, int fd)
{
    if (p->charset == TUI_ASCII && isatty(fd))
        spell(&p->out);
    write_out(p, fd, buf_str(&p->out), p->out.n);
    buf_reset(&p->out);
}

static void add_foreign(struct plain *p, int fd, const char *s, size_t n)
{
    if (isatty(fd))
        utf8_visible(&p->out, s, n, UTF8_LINES);
    else
        buf_add(&p->out, s, n);
}

/* What waits in p->out goes first: it is of stdout, and the line that ends. */
static void end_line(struct plain *p)
{
    if (!p->newline)
        buf_addc(&p->out, '\n');
    flush(p, STDOUT_FILENO);
    p->newline = true;
    p->prompted = false;
}

/* "who: text", a line of its own or several. */
static void say(struct plain *p, int fd, const char *who, const char *text, size_t n)
{
    end_line(p);
    while (n && text[n - 1] == '\n')
        n--;
    buf_addf(&p->out, "%s%s", who, *who ? ": " : "");
    add_foreign(p, fd, text, n);
    buf_addc(&p->out, '\n');
    flush(p, fd);
}

static void note(struct plain *p, const char *who, const char *text)
{
    say(p, STDERR_FILENO, who, text, strlen(text));
}

/* ---- the answer ---- */

static const char *channel_word(int ch)
{
    return ch == CHAT_CH_THINK  ? "thinking"
           : ch == CHAT_CH_TOOL ? "tool call"
                                : "assistant";
}

static void end_stretch(struct plain *p)
{
    if (p->channel == CHAT_CH_THINK && p->fold && p->think_tokens) {
        buf_addf(&p->out, "thinking: %u tokens, %.1f s\n", (unsigned)p->think_tokens,
                 (double)(p->think_to - p->think_from) / 1e6);
        flush(p, STDOUT_FILENO);
    } else if (p->begun) {
        if (p->shown) {
            utf8_stream_finish(&p->stream, &p->out);
            flush(p, STDOUT_FILENO);
        }
        end_line(p);
    }
    p->channel = -1;
    p->begun = false;
    p->think_tokens = 0;
}

static void print_span(struct plain *p, int ch, const char *s, size_t n, long long us)
{
    if (ch != p->channel) {
        end_stretch(p);
        p->channel = ch;
        p->think_from = us;
    }
    p->think_to = us;
    p->think_tokens++;
    if (ch == CHAT_CH_THINK && p->fold)
        return;
    while (!p->begun && n && (*s == '\n' || *s == '\r'))
        s++, n--;
    if (!n)
        return;
    if (!p->begun) {
        end_line(p);
        buf_addf(&p->out, "%s: ", channel_word(ch));
    }
    p->begun = true;
    if (p->shown)
        utf8_stream_feed(&p->stream, s, n, &p->out);
    else
        buf_add(&p->out, s, n);
    if (p->out.n)
        p->newline = p->out.p[p->out.n - 1] == '\n';
}

static void print_token(struct plain *p, const struct chat_event *ev)
{
    for (size_t i = 0; i < ev->token.n_spans; i++) {
        const struct chat_span *span = &ev->token.spans[i];
        if (span->ch != CHAT_CH_CONTROL)
            print_span(p, span->ch, ev->token.bytes + span->from, span->to - span->from,
                       ev->token.us);
    }
}

static void print_call(struct plain *p, const struct chat_event *ev)
{
    struct buf text = {0};

    if (ev->call.name)
        buf_addf(&text, "%s ", ev->call.name);
    if (ev->call.arguments || ev->call.raw)
        buf_adds(&text, ev->call.arguments ? ev->call.arguments : ev->call.raw);
    if (ev->call.error)
        buf_addf(&text, " (error at byte %zu: %s)", ev->call.error_at, ev->call.error);
    say(p, STDOUT_FILENO, ev->type == CHAT_EV_TOOL_CALL ? "tool call" : "tool result",
        buf_str(&text), text.n);
    buf_release(&text);
}

static void print_message(struct plain *p, const struct chat_event *ev)
{
    static const char *const words[] = { [CHAT_ROLE_SYSTEM] = "system",
                                         [CHAT_ROLE_USER] = "you",
                                         [CHAT_ROLE_ASSISTANT] = "assistant",
                                         [CHAT_ROLE_TOOL] = "tool" };

    /* What was typed at the prompt stands there already. */
    if (ev->msg.len && !(p->busy && p->typed && ev->msg.role == CHAT_ROLE_USER))
        say(p, STDOUT_FILENO, words[ev->msg.role], ev->msg.text, ev->msg.len);
}

static void print_stop(struct plain *p, const struct chat_event *ev)
{
    const char *text = tui_stop_text(ev->stop.why);

    /* An error is told when the job ends. */
    if (text && !ev->stop.error)
        note(p, "note", text);
}

/* After a reset the whole transcript comes again, but paper cannot be wiped: what stands
 * there is skipped. A reset with nothing behind it begins a new conversation. */
static bool is_told(struct plain *p, const struct chat_event *ev)
{
    if (ev->type == CHAT_EV_RESET) {
        p->again = true;
    } else if (ev->type == CHAT_EV_READY && p->again) {
        if (p->told)
            note(p, "note", "a new conversation");
        p->again = false;
        p->told = 0;
    } else if (ev->message) {
        if (p->again && ev->message <= p->told)
            return true;
        p->again = false;
        p->told = ev->message > p->told ? ev->message : p->told;
    }
    return false;
}

static void print_event(struct plain *p, const struct chat_event *ev)
{
    if (is_told(p, ev))
        return;
    if (ev->type == CHAT_EV_TOKEN) {
        print_token(p, ev);
        return;
    }
    if (ev->type == CHAT_EV_STATUS || ev->type == CHAT_EV_PROMPT ||
        ev->type == CHAT_EV_SESSION)
        return;
    flush(p, STDOUT_FILENO);
    end_stretch(p);
    switch (ev->type) {
    case CHAT_EV_MESSAGE:
        print_message(p, ev);
        break;
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        print_call(p, ev);
        break;
    case CHAT_EV_STOP:
        print_stop(p, ev);
        break;
    case CHAT_EV_NOTICE:
        note(p, "note", ev->note.text);
        break;
    case CHAT_EV_ERROR:
        note(p, "error", ev->note.text);
        if (!p->typed)
            p->status = (int)ev->note.kind;
        break;
    case CHAT_EV_READY:
        p->busy = false;
        break;
    default:
        break;
    }
}

static void take_events(struct plain *p)
{
    chat_take(p->chat, &p->events);
    for (size_t i = 0; i < p->events.n && !p->leave; i++)
        print_event(p, &p->events.v[i]);
    flush(p, STDOUT_FILENO);
    chat_events_reset(&p->events);
}

/* ---- input ---- */

static void run_line(struct plain *p, const char *line, size_t n)
{
    struct buf out = {0};
    struct err e = {0};
    bool ok;

    if (!n)
        return;
    if (tui_line_is_command(line, n)) {
        struct tui_call call = { .chat = p->chat, .out = &out };
        ok = tui_command_run(line, n, &call, &e);
        if (ok && out.n)
            say(p, STDOUT_FILENO, "", out.p, out.n);
        if (call.effects & TUI_EFFECT_LEAVE)
            p->leave = true;
        if (call.effects & (TUI_EFFECT_FOLD | TUI_EFFECT_FOLD_ON | TUI_EFFECT_FOLD_OFF)) {
            p->fold = call.effects & TUI_EFFECT_FOLD ? !p->fold
                                                     : call.effects & TUI_EFFECT_FOLD_ON;
            note(p, "note", p->fold ? "thinking is told in one line from now on"
                                    : "thinking is shown from now on");
        }
        p->busy = call.effects & TUI_EFFECT_JOB;
    } else {
        const char *text = tui_line_message(line, &n);
        ok = chat_send(p->chat, text, n, &e);
        p->busy = ok;
    }
    if (!ok) {
        note(p, "error", e.text);
        if (!p->typed)
            p->status = (int)e.kind;
    }
    buf_release(&out);
}

/* Take the next line of the input, if there is a whole one. */
static bool take_line(struct plain *p)
{
    const char *nl = p->in.n ? memchr(p->in.p, '\n', p->in.n) : NULL;
    size_t n = nl ? (size_t)(nl - p->in.p) : p->in.n;

    if (!nl && !(p->ended && p->in.n))
        return false;
    p->newline = p->newline || p->typed;        /* the terminal echoed the newline */
    p->prompted = false;
    size_t keep = n && p->in.p[n - 1] == '\r' ? n - 1 : n;
    bool more = nl && keep && p->in.p[keep - 1] == '\\';
    buf_add(&p->line, p->in.p, more ? keep - 1 : keep);
    if (more)
        buf_addc(&p->line, '\n');
    buf_cut(&p->in, 0, nl ? n + 1 : n);
    if (more)
        return true;
    struct buf line = p->line;
    p->line = (struct buf){0};
    run_line(p, buf_str(&line), line.n);
    buf_release(&line);
    return true;
}

static void read_input(struct plain *p)
{
    buf_reserve(&p->in, READ_MAX);
    ssize_t n = read(STDIN_FILENO, p->in.p + p->in.n, READ_MAX);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        p->ended = true;
        return;
    }
    p->in.n += (size_t)n;
    p->in.p[p->in.n] = '\0';
}

static void prompt(struct plain *p)
{
    const char *word = p->line.n ? "... " : "you: ";

    if (!p->typed || p->prompted)
        return;
    write_out(p, p->shown ? STDOUT_FILENO : STDERR_FILENO, word, strlen(word));
    p->newline = !p->shown;
    p->prompted = true;
}

/* ---- the loop ---- */

static void interrupt(struct plain *p)
{
    long long now = log_now_us();

    if (!p->typed || (!p->busy && p->leave_us && now - p->leave_us < LEAVE_WITHIN_US)) {
        p->leave = true;
        p->status = 128 + SIGINT;
    } else if (p->busy) {
        chat_stop(p->chat);
    } else {
        p->leave_us = now;
        buf_reset(&p->line);
        note(p, "note", "Ctrl-C again leaves; so does Ctrl-D");
    }
}

static void take_signals(struct plain *p)
{
    unsigned came = tui_signals_take();

    if (came & (TUI_SIG_TERMINATE | TUI_SIG_HANGUP)) {
        p->leave = true;
        p->status = 128 + (came & TUI_SIG_TERMINATE ? SIGTERM : SIGHUP);
    } else if (came & TUI_SIG_INTERRUPT) {
        interrupt(p);
    }
}

static void wait_and_take(struct plain *p)
{
    struct pollfd fds[] = {
        { .fd = tui_signals_fd(), .events = POLLIN },
        { .fd = chat_wake_fd(p->chat), .events = POLLIN },
        { .fd = STDIN_FILENO, .events = POLLIN },
    };

    if (poll(fds, p->busy || p->ended ? 2 : 3, -1) < 0)
        return;
    if (fds[0].revents)
        take_signals(p);
    if (fds[1].revents)
        take_events(p);
    if (fds[2].revents && !p->busy && !p->ended && !p->leave)
        read_input(p);
}

static void say_goodbye(struct plain *p)
{
    struct chat_status st;
    struct buf text = {0};

    chat_status(p->chat, &st);
    if (st.session_path && !p->write_errno) {
        buf_addf(&text, "saved; go on with: vitrine --resume %s", st.session_id);
        note(p, "note", text.p);
    }
    buf_release(&text);
}

int tui_plain(struct chat *c, const struct chat_settings *s, struct err *e)
{
    /* The load that the caller waited for ends with an event like any other job. */
    struct plain p = { .chat = c, .channel = -1, .newline = true, .busy = true,
                       .fold = s->fold_thinking, .typed = isatty(STDIN_FILENO),
                       .shown = isatty(STDOUT_FILENO) };

    setlocale(LC_CTYPE, "");
    if (s->ascii || strcmp(nl_langinfo(CODESET), "UTF-8"))
        p.charset = TUI_ASCII;
    unsigned signals = TUI_SIG_INTERRUPT | TUI_SIG_TERMINATE | TUI_SIG_HANGUP;
    if (!tui_signals_start(signals, NULL, e))
        return ERR_FAILED;
    take_events(&p);
    while (!p.leave) {
        if (!p.busy) {
            if (take_line(&p))
                continue;
            if (p.ended)
                break;
            prompt(&p);
        }
        wait_and_take(&p);
    }
    chat_stop(c);
    end_line(&p);
    say_goodbye(&p);
    tui_signals_stop();
    if (p.write_errno && p.write_errno != EPIPE)
        err_set(e, "cannot write to standard output: %s", strerror(p.write_errno));
    chat_events_release(&p.events);
    buf_release(&p.in);
    buf_release(&p.line);
    buf_release(&p.out);
    return p.status;
}
