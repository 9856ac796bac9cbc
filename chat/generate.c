/* Tokens are held until every byte of them has a channel, because the router may have to
 * see "nk>" before it knows what "<thi" was. Bytes of the answer are numbered from its
 * start; a token is a range of them, a router's run too, and a token event leaves when runs
 * cover its range. Only tokens whose bytes may be part of a tag ever wait. */
#include "config.h"

#include "chat/generate.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/options.h"

struct chat_held {
    struct be_choice choice;
    uint64_t from, to;
    long long us;
};

struct chat_answer {
    struct chat_generation *g;
    struct be_sampler *sampler;
    struct tmpl_stream *stream;
    struct tmpl_result result;
    struct buf bytes;               /* of the held tokens; bytes.p[0] is number base */
    uint64_t base, end;             /* stream numbers */
    struct chat_held *held;
    size_t n_held, cap_held;
    size_t run_at;                  /* first run that may still matter */
    size_t call_at;
    uint32_t i;                     /* number of the next token event */
    uint32_t n_prompt, sampled;
    long long started_us;
};

void chat_sampling_from(const struct chat_settings *s, struct be_sampling *how)
{
    *how = (struct be_sampling){
        .temp = (float)s->temp,
        .top_k = (int)s->top_k,
        .top_p = (float)s->top_p,
        .min_p = (float)s->min_p,
        .repeat_penalty = (float)s->repeat_penalty,
        .repeat_last = (int)s->repeat_last,
        .seed = (uint64_t)s->seed,
    };
}

static void chat_emit(struct chat_answer *a, struct chat_event *ev)
{
    ev->message = a->g->message;
    a->g->emit(a->g->arg, ev);
}

/* Feed one token to the router; its name must be NUL-terminated there. */
static void chat_feed(struct chat_answer *a, int32_t id, const char **text, size_t *len)
{
    const char *special;
    *text = chat_token_text(a->g->model->tok, id, len, &special);
    char *name = special ? xmemdup0(*text, *len) : NULL;
    tmpl_feed(a->stream, *text, *len, name, &a->result);
    free(name);
}

/* Build the spans of a token from the runs that cover it. False: not decided yet. */
static bool chat_cover(struct chat_answer *a, const struct chat_held *h,
                       struct chat_event *ev)
{
    const struct tmpl_result *r = &a->result;
    size_t cap = 0;

    if (r->n_runs == 0 || r->runs[r->n_runs - 1].to < h->to)
        return h->from == h->to;
    while (a->run_at < r->n_runs && r->runs[a->run_at].to <= h->from)
        a->run_at++;
    for (size_t k = a->run_at; k < r->n_runs && r->runs[k].from < h->to; k++) {
        uint64_t from = r->runs[k].from > h->from ? r->runs[k].from : h->from;
        uint64_t to = r->runs[k].to < h->to ? r->runs[k].to : h->to;
        enum chat_channel ch = (enum chat_channel)r->runs[k].channel;
        struct chat_span *last = ev->token.n_spans ? &ev->token.spans[ev->token.n_spans - 1]
                                                   : NULL;
        if (to <= from)
            continue;
        if (last && last->ch == ch) {
            last->to = (size_t)(to - h->from);
            continue;
        }
        MEM_GROW(ev->token.spans, cap, ev->token.n_spans + 1);
        ev->token.spans[ev->token.n_spans++] =
            (struct chat_span){ ch, (size_t)(from - h->from), (size_t)(to - h->from) };
    }
    return true;
}

/* Emit every held token that is decided, and the calls that end before the next one. */
static void chat_release_held(struct chat_answer *a)
{
    size_t done = 0;

    for (; done < a->n_held; done++) {
        struct chat_held *h = &a->held[done];
        struct chat_event ev = { .type = CHAT_EV_TOKEN };
        if (!chat_cover(a, h, &ev))
            break;
        ev.token.i = a->i++;
        ev.token.id = h->choice.id;
        ev.token.len = (size_t)(h->to - h->from);
        ev.token.bytes = xmemdup0(buf_str(&a->bytes) + (h->from - a->base), ev.token.len);
        ev.token.lp = h->choice.lp;
        ev.token.rank = h->choice.rank;
        ev.token.ent = h->choice.ent;
        ev.token.n_top = (size_t)h->choice.n_top;
        ev.token.top = xcalloc(ev.token.n_top, sizeof *ev.token.top);
        for (size_t k = 0; k < ev.token.n_top; k++)
            ev.token.top[k] = (struct chat_top){ h->choice.top[k].id, h->choice.top[k].lp };
        ev.token.us = h->us;
        chat_emit(a, &ev);
    }
    if (done) {
        uint64_t keep = a->held[done - 1].to;
        buf_cut(&a->bytes, 0, (size_t)(keep - a->base));
        a->base = keep;
        memmove(a->held, a->held + done, (a->n_held - done) * sizeof *a->held);
        a->n_held -= done;
    }
    if (a->run_at == a->result.n_runs)
        a->result.n_runs = a->run_at = 0;
    for (; a->call_at < a->result.n_calls; a->call_at++) {
        const struct tmpl_call *c = &a->result.calls[a->call_at];
        struct chat_event ev = { .type = CHAT_EV_TOOL_CALL };
        ev.call.id = c->id ? xstrdup(c->id) : NULL;
        ev.call.name = c->name ? xstrdup(c->name) : NULL;
        ev.call.arguments = c->arguments ? xstrdup(c->arguments) : NULL;
        ev.call.raw = c->raw ? xmemdup0(c->raw, c->raw_len) : NULL;
        ev.call.error = c->error ? xstrdup(c->error) : NULL;
        ev.call.error_at = c->error_at;
        chat_emit(a, &ev);
    }
}

/* An answer that goes on: bring the router to where it was; nothing is emitted again. */
static void chat_replay_said(struct chat_answer *a)
{
    const struct chat_generation *g = a->g;
    const char *text;
    size_t len;

    for (size_t k = g->ids->n - g->said; k < g->ids->n; k++) {
        chat_feed(a, g->ids->v[k], &text, &len);
        a->end += len;
    }
    a->base = a->end;
    a->i = (uint32_t)g->said;
    a->call_at = a->result.n_calls;
}

static void chat_take_token(struct chat_answer *a, const struct be_choice *choice)
{
    const char *text;
    size_t len;

    chat_feed(a, choice->id, &text, &len);
    MEM_GROW(a->held, a->cap_held, a->n_held + 1);
    a->held[a->n_held++] = (struct chat_held){ *choice, a->end, a->end + len,
                                               log_now_us() - a->started_us };
    buf_add(&a->bytes, text, len);
    a->end += len;
    a->sampled++;
    chat_release_held(a);
}

static bool chat_cancelled(const struct chat_generation *g)
{
    return g->cancel && atomic_load_explicit(g->cancel, memory_order_relaxed);
}

/* Sample until the answer ends; says why in g->why. */
static bool chat_decode(struct chat_answer *a, struct err *e)
{
    struct chat_generation *g = a->g;
    struct be *be = g->model->be;
    const uint32_t ctx = be_info(be)->ctx;
    struct be_choice choice;

    for (;;) {
        if (chat_cancelled(g)) {
            g->why = CHAT_STOP_USER;
            return true;
        }
        be_sample(a->sampler, &g->how, be_logits(be, 0), g->ids->v, g->ids->n,
                  (uint32_t)g->ids->n, g->attempt, g->n_top, &choice);
        bool end = tok_is_end(g->model->tok, choice.id);
        chat_take_token(a, &choice);
        if (g->progress)
            g->progress(g->arg, 0, 0, a->sampled);
        if (end) {
            g->why = choice.id == tok_eos(g->model->tok) ? CHAT_STOP_EOS
                                                         : CHAT_STOP_END_OF_TURN;
            return true;
        }
        tok_ids_add(g->ids, choice.id);
        if (g->limit && a->sampled >= g->limit) {
            g->why = CHAT_STOP_LENGTH;
            return true;
        }
        if (g->ids->n >= ctx) {
            g->why = CHAT_STOP_CONTEXT;
            return true;
        }
        switch (be_eval(be, &g->ids->v[g->ids->n - 1], 1, (uint32_t)g->ids->n - 1,
                        BE_LOGITS_LAST, e)) {
        case BE_OK:
            break;
        case BE_CANCELLED:
            g->why = CHAT_STOP_USER;
            return true;
        case BE_FULL:
            g->why = CHAT_STOP_CONTEXT;
            return true;
        case BE_FAILED:
            g->why = CHAT_STOP_ERROR;
            return false;
        }
    }
}

/* Why the prompt leaves what was evaluated at this place. */
static const char *chat_why(const struct chat_generation *g, size_t at)
{
    const char *why = "the prompt differs from what was evaluated";

    if (g->diverged)
        return g->diverged;
    for (size_t i = 0; i < g->n_whys; i++)
        if (g->whys[i].at <= at)
            why = g->whys[i].why;
    return why;
}

static void chat_emit_prompt(struct chat_answer *a)
{
    struct chat_generation *g = a->g;
    struct be *be = g->model->be;
    uint32_t have = be_pos(be), same = 0;

    while (same < have && same < g->ids->n && be_ids(be)[same] == g->ids->v[same])
        same++;
    struct chat_event ev = { .type = CHAT_EV_PROMPT };
    ev.prompt.tokens = (uint32_t)g->ids->n;
    ev.prompt.think_off = g->think_off;
    /* The last id is always computed, so that its logits are there. */
    ev.prompt.reused = same == g->ids->n && same ? same - 1 : same;
    if (same < have) {
        ev.prompt.diverged_at = same;
        ev.prompt.why = xstrdup(chat_why(g, same));
    }
    chat_emit(a, &ev);
}

static void chat_prefill_progress(void *arg, uint32_t done, uint32_t total)
{
    struct chat_generation *g = arg;
    if (g->progress)
        g->progress(g->arg, done, total, 0);
}

static bool chat_prefill(struct chat_answer *a, struct err *e)
{
    struct chat_generation *g = a->g;

    chat_emit_prompt(a);
    switch (be_sync(g->model->be, g->ids->v, g->ids->n, &g->reused, chat_prefill_progress, g,
                    e)) {
    case BE_OK:
        return true;
    case BE_CANCELLED:
        g->why = CHAT_STOP_USER;
        return true;
    case BE_FULL:
    case BE_FAILED:
        break;
    }
    g->why = CHAT_STOP_ERROR;
    return false;
}

static void chat_emit_stop(struct chat_answer *a, const struct err *e)
{
    struct chat_generation *g = a->g;
    struct chat_event ev = { .type = CHAT_EV_STOP };
    uint32_t read = a->n_prompt > g->reused ? a->n_prompt - g->reused : 0;
    uint32_t evals = a->sampled ? a->sampled - 1 : 0;   /* the first came with the prompt */

    ev.stop.why = g->why;
    ev.stop.tokens = a->sampled;
    ev.stop.prefill_tps = g->prefill_s > 0 ? read / g->prefill_s : 0;
    ev.stop.decode_tps = g->decode_s > 0 && evals ? evals / g->decode_s : 0;
    if (e && e->kind != ERR_NONE)
        ev.stop.error = xstrdup(e->text);
    else if (g->why == CHAT_STOP_CONTEXT) {
        struct buf b = {0};
        buf_addf(&b, "the context is full: %zu of %u positions; start anew with /new, or "
                     "choose a larger --ctx", g->ids->n, be_info(g->model->be)->ctx);
        ev.stop.error = buf_take(&b);
    }
    chat_emit(a, &ev);
}

static bool chat_check_fits(const struct chat_generation *g, struct err *e)
{
    uint32_t ctx = be_info(g->model->be)->ctx;

    if (g->ids->n == 0)
        return err_set(e, "the prompt is empty and this model has no beginning-of-text token; "
                          "say something first");
    if (g->ids->n >= ctx)
        return err_set_kind(e, ERR_CONTEXT,
                            "the prompt needs %zu positions but the context holds %u and must "
                            "leave room for an answer; shorten it, start anew with /new, or "
                            "choose a larger --ctx", g->ids->n, ctx);
    return true;
}

bool chat_generate(struct chat_generation *g, struct err *e)
{
    struct chat_answer a = { .g = g, .n_prompt = (uint32_t)g->ids->n,
                             .started_us = log_now_us() };
    struct err failure = {0};
    long long t0 = a.started_us, t1 = t0;
    bool ok = chat_check_fits(g, &failure);

    if (!ok) {
        g->why = failure.kind == ERR_CONTEXT ? CHAT_STOP_CONTEXT : CHAT_STOP_ERROR;
    } else {
        g->why = CHAT_STOP_ERROR;
        a.sampler = be_sampler_new(be_info(g->model->be)->n_vocab);
        a.stream = tmpl_stream_open(g->syntax, g->start, &g->model->vocab);
        chat_replay_said(&a);
        ok = chat_prefill(&a, &failure);
        t1 = log_now_us();
        if (ok && g->why != CHAT_STOP_USER)
            ok = chat_decode(&a, &failure);
        tmpl_finish(a.stream, &a.result);
        chat_release_held(&a);
    }
    g->prefill_s = (double)(t1 - t0) / 1e6;
    g->decode_s = (double)(log_now_us() - t1) / 1e6;
    chat_emit_stop(&a, ok ? NULL : &failure);
    if (!ok && e)
        *e = failure;

    be_sampler_free(a.sampler);
    if (a.stream)
        tmpl_stream_free(a.stream);
    tmpl_result_release(&a.result);
    buf_release(&a.bytes);
    free(a.held);
    return ok;
}
