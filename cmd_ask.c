/* `vitrine ask`: one answer on stdout. A chat like any other, without a screen: the same
 * events, the same session file. With --no-chat the prompt is raw text that the model
 * continues; no template, no worker, no session, but the same events again.
 *
 * stdin is read only when no prompt was given and it is no terminal, or for "-": a
 * script's inherited stdin, which may never end, is left alone. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/chat.h"
#include "chat/generate.h"
#include "chat/record.h"
#include "cmd.h"
#include "cmd_ids.h"
#include "cmd_text.h"

struct ask {
    struct cmd_call *call;
    const struct chat_settings *set;
    struct buf prompt;
    bool tty;                       /* stdout is a terminal: foreign bytes are shown */
    struct utf8_stream out, thought;
    char last;                      /* the last byte of the answer; 0: none */
    bool thinking;                  /* stderr is in the middle of thoughts */
    struct buf scratch;
    bool stopped;                   /* a stop event came */
    int status;
};

/* ---- output ---- */

static void put_answer(struct ask *a, const char *p, size_t n)
{
    if (!n)
        return;
    a->last = p[n - 1];
    if (!a->tty) {
        fwrite(p, 1, n, stdout);
        return;
    }
    buf_reset(&a->scratch);
    utf8_stream_feed(&a->out, p, n, &a->scratch);
    fwrite(buf_str(&a->scratch), 1, a->scratch.n, stdout);
}

/* Thoughts are for a person who asked for them with -v: always shown, never sent. */
static void put_thought(struct ask *a, const char *p, size_t n)
{
    if (!a->set->verbose || !n)
        return;
    buf_reset(&a->scratch);
    if (!a->thinking)
        buf_adds(&a->scratch, "thinking: ");
    a->thinking = true;
    utf8_stream_feed(&a->thought, p, n, &a->scratch);
    fwrite(buf_str(&a->scratch), 1, a->scratch.n, stderr);
}

static void end_thoughts(struct ask *a)
{
    if (!a->thinking)
        return;
    a->thinking = false;
    buf_reset(&a->scratch);
    utf8_stream_finish(&a->thought, &a->scratch);
    fprintf(stderr, "%s\n", buf_str(&a->scratch));
}

static void put_token(struct ask *a, const struct chat_event *ev)
{
    for (size_t i = 0; i < ev->token.n_spans; i++) {
        const struct chat_span *s = &ev->token.spans[i];
        const char *p = ev->token.bytes + s->from;
        if (s->ch == CHAT_CH_THINK) {
            put_thought(a, p, s->to - s->from);
        } else if (s->ch == CHAT_CH_RESPONSE) {
            end_thoughts(a);
            put_answer(a, p, s->to - s->from);
        }
    }
}

static void end_answer(struct ask *a)
{
    end_thoughts(a);
    if (a->tty) {
        buf_reset(&a->scratch);
        utf8_stream_finish(&a->out, &a->scratch);
        fwrite(buf_str(&a->scratch), 1, a->scratch.n, stdout);
    }
    /* A text for people and scripts ends its last line; --json has the exact bytes. */
    if (a->last && a->last != '\n')
        putchar('\n');
}

static void stop(struct ask *a, const struct chat_event *ev)
{
    a->stopped = true;
    if (!a->set->json)
        end_answer(a);
    cmd_flush();
    /* A failure comes as an error event or result as well, and is said there. */
    if (ev->stop.why == CHAT_STOP_CONTEXT && ev->stop.tokens) {
        cmd_note("%s", ev->stop.error ? ev->stop.error : "the context is full");
        a->status = ERR_CONTEXT;
    }
    if (a->set->verbose)
        cmd_note("%u tokens, %s; prompt %.1f tok/s, answer %.1f tok/s", ev->stop.tokens,
                 chat_stop_name(ev->stop.why), ev->stop.prefill_tps, ev->stop.decode_tps);
}

/* One event of the turn. */
static void show(struct ask *a, const struct chat_event *ev)
{
    if (a->set->json) {
        buf_reset(&a->scratch);
        chat_event_dump(ev, &a->scratch);
        fwrite(buf_str(&a->scratch), 1, a->scratch.n, stdout);
    } else if (ev->type == CHAT_EV_TOKEN) {
        put_token(a, ev);
    } else if (ev->type == CHAT_EV_TOOL_CALL) {
        cmd_note("the model called the tool %s, and ask runs none",
                 ev->call.name ? ev->call.name : "(unreadable)");
    }
    if (ev->type == CHAT_EV_STOP)
        stop(a, ev);
}

/* ---- a chat ---- */

/* Wait for events or a signal. The wake pipe is readable while events wait. */
static void wait_for_events(const struct chat *c, int signals)
{
    struct pollfd fds[2] = { { .fd = chat_wake_fd(c), .events = POLLIN },
                             { .fd = cmd_signal() ? -1 : signals, .events = POLLIN } };
    poll(fds, 2, -1);
}

/* Show events until the worker is ready for the next request. quiet: it is loading, and
 * what comes is the transcript of a resumed session. */
static void follow(struct ask *a, struct chat *c, int signals, bool quiet)
{
    struct chat_events events = {0};
    bool ready = false;

    while (!ready) {
        wait_for_events(c, signals);
        if (cmd_signal())
            chat_stop(c);
        chat_take(c, &events);
        for (size_t i = 0; i < events.n; i++) {
            struct chat_event *ev = &events.v[i];
            struct err e = {0};
            ready |= ev->type == CHAT_EV_READY;
            if (ev->type == CHAT_EV_NOTICE) {
                cmd_note("%s", ev->note.text);
            } else if (ev->type == CHAT_EV_ERROR) {
                err_set_kind(&e, ev->note.kind, "%s", ev->note.text);
                a->status = cmd_fail(a->call, &e);
            } else if (ev->type <= CHAT_EV_STOP && !quiet) {
                show(a, ev);
            }
        }
        if (events.n && !cmd_flush())
            chat_stop(c);       /* nobody reads the rest */
    }
    chat_events_release(&events);
}

static void ask_chat(struct ask *a)
{
    int signals = cmd_catch_signals();
    struct err e = {0};
    struct chat *c = chat_new(a->set, &e);

    if (!c) {
        a->status = cmd_fail(a->call, &e);
        return;
    }
    follow(a, c, signals, true);
    if (!a->status && !cmd_signal()) {
        if (chat_send(c, buf_str(&a->prompt), a->prompt.n, &e))
            follow(a, c, signals, false);
        else
            a->status = cmd_fail(a->call, &e);
    }
    chat_free(c);
}

/* ---- raw text ---- */

static void emit(void *arg, struct chat_event *ev)
{
    show(arg, ev);
    chat_event_release(ev);
}

/* The events that a session would begin with. */
static void emit_start(struct ask *a, const struct chat_model *m,
                       const struct chat_settings *s)
{
    struct chat_event session = { .type = CHAT_EV_SESSION };
    struct chat_event user = { .type = CHAT_EV_MESSAGE, .message = 1 };
    struct chat_event answer = { .type = CHAT_EV_MESSAGE, .message = 2 };

    session.session = chat_record_new(m, s, NULL);
    emit(a, &session);
    user.msg.role = CHAT_ROLE_USER;
    user.msg.text = xmemdup0(buf_str(&a->prompt), a->prompt.n);
    user.msg.len = a->prompt.n;
    emit(a, &user);
    answer.msg.role = CHAT_ROLE_ASSISTANT;
    answer.msg.parent = 1;
    answer.msg.text = xstrdup("");
    emit(a, &answer);
}

static void ask_raw(struct ask *a)
{
    const struct tmpl_syntax *plain = tmpl_syntax_find("none", NULL);
    struct chat_settings s;
    struct tok_ids ids = {0};
    struct err e = {0};

    cmd_catch_signals();
    chat_settings_copy(&s, a->set);
    chat_choose_seed(&s);
    struct chat_model *m = chat_model_open(&s, CHAT_MODEL_RUN, cmd_cancel(), &e);
    if (m) {
        struct chat_generation g = {
            .model = m, .syntax = plain, .start = TMPL_RESPONSE, .ids = &ids,
            .n_top = (int)s.logprobs, .limit = (uint32_t)s.n, .message = 2,
            .cancel = cmd_cancel(), .emit = emit, .arg = a,
        };
        chat_sampling_from(&s, &g.how);
        cmd_ids_raw(m->tok, buf_str(&a->prompt), a->prompt.n, s.special, &ids);
        emit_start(a, m, &s);
        if (!chat_generate(&g, &e))
            a->status = cmd_fail(a->call, &e);
    } else {
        a->status = cmd_fail(a->call, &e);
    }
    tok_ids_release(&ids);
    chat_model_free(m);
    chat_settings_release(&s);
}

/* ---- the command ---- */

/* The operands, joined by spaces; or stdin. 0 or an exit status. */
static int read_prompt(struct cmd_call *c, struct buf *out)
{
    struct err e = {0};

    if (c->n_args == 1 && !strcmp(c->args[0], "-")) {
        if (!cmd_read("-", out, &e))
            return cmd_fail(c, &e);
    } else if (c->n_args) {
        for (size_t i = 0; i < c->n_args; i++) {
            if (i)
                buf_addc(out, ' ');
            buf_adds(out, c->args[i]);
        }
    } else if (isatty(STDIN_FILENO)) {
        return cmd_usage(c, "what do you want to ask? Give the prompt, or - to type it");
    } else if (!cmd_read(NULL, out, &e)) {
        return cmd_fail(c, &e);
    }
    /* `echo question | vitrine ask`: the last newline ends the line, it is not asked. */
    if (!c->set.no_chat && (!c->n_args || !strcmp(c->args[0], "-")) && out->n &&
        out->p[out->n - 1] == '\n')
        buf_truncate(out, out->n - 1);
    /* A raw text may begin with nothing, when somebody says so in words. */
    return out->n || (c->set.no_chat && c->n_args && strcmp(c->args[0], "-"))
               ? CMD_OK : cmd_usage(c, "the prompt is empty");
}

int cmd_ask(struct cmd_call *c)
{
    struct ask a = { .call = c, .set = &c->set, .tty = isatty(STDOUT_FILENO) };

    if (c->set.special && !c->set.no_chat)
        return cmd_usage(c, "--special needs --no-chat: in a chat, text never becomes a "
                            "special token");
    if (c->set.no_chat && (c->set.system || c->set.resume || c->set.template_name))
        return cmd_usage(
            c, "--no-chat has no messages: --system, --resume and --template mean "
               "nothing with it");
    a.status = read_prompt(c, &a.prompt);
    if (!a.status) {
        if (c->set.no_chat)
            ask_raw(&a);
        else
            ask_chat(&a);
        if (cmd_signal())
            a.status = CMD_SIGNAL + cmd_signal();
    }
    buf_release(&a.prompt);
    buf_release(&a.scratch);
    return a.status;
}
