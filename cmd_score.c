/* `vitrine score`: what the model thinks of a text, a saved conversation or a list of
 * ids, token by token. The ids are given to it one after another (teacher forcing);
 * nothing is sampled. They are evaluated in pieces and printed as they come, so that the
 * logits of all positions never have to be in memory at once. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/sampler.h"
#include "base/err.h"
#include "chat/generate.h"
#include "chat/model.h"
#include "chat/session.h"
#include "cmd.h"
#include "cmd_ids.h"
#include "cmd_text.h"

enum { PIECE = 64 };        /* positions evaluated at once */

struct score {
    const struct chat_settings *set;
    struct chat_model *m;
    struct be_sampler *sampler;
    struct cmd_columns columns;
    double sum;             /* of log-probabilities */
    size_t scored;          /* tokens: all but the first, which nothing comes before */
};

static bool is_json(const struct score *s)
{
    return s->set->json || s->set->jsonl;
}

/* ---- one token ---- */

static void token_text(const struct tok *t, int32_t id, const char **p, size_t *n)
{
    *p = tok_is_special(t, id) ? tok_name(t, id, n) : tok_bytes(t, id, n);
}

static json_t *top_json(const struct be_choice *c)
{
    json_t *list = json_array();

    for (int i = 0; c && i < c->n_top; i++)
        json_array_append_new(list, json_pack("[i, o]", (int)c->top[i].id,
                                              cmd_json_real((double)c->top[i].lp)));
    return list;
}

/* A row can be long and there are many: no JSON values are made of it. */
static void print_logits(const float *row, size_t n)
{
    fputs(",\"logits\":[", stdout);
    for (size_t k = 0; k < n; k++) {
        if (k)
            putchar(',');
        if (isfinite(row[k]))
            printf("%.9g", (double)row[k]);
        else
            fputs("null", stdout);
    }
    putchar(']');
}

static void print_json(struct score *s, size_t i, int32_t id, const struct be_choice *c,
                       const float *after)
{
    json_t *o = json_pack("{s:I, s:i}", "i", (json_int_t)i, "id", (int)id);
    const char *p;
    size_t n;

    token_text(s->m->tok, id, &p, &n);
    cmd_json_bytes(o, "text", "bytes", p, n);
    json_object_set_new(o, "lp", c ? cmd_json_real((double)c->lp) : json_null());
    json_object_set_new(o, "rank", c ? json_integer(c->rank) : json_null());
    json_object_set_new(o, "ent", c ? cmd_json_real((double)c->ent) : json_null());
    json_object_set_new(o, "top", top_json(c));

    printf("%s%s{", i ? "," : "", s->set->json ? "\n" : "");
    json_dumpf(o, stdout, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(9));
    if (s->set->logits)
        print_logits(after, tok_count(s->m->tok));
    putchar('}');
    json_decref(o);
}

static void add_quoted(struct buf *out, const struct tok *t, int32_t id)
{
    const char *p;
    size_t n;

    token_text(t, id, &p, &n);
    buf_addc(out, '\'');
    buf_add(out, p, n);
    buf_addc(out, '\'');
}

static void add_row(struct score *s, size_t i, int32_t id, const struct be_choice *c)
{
    struct cmd_columns *t = &s->columns;
    struct buf text = {0};

    cmd_cellf(t, "%zu", i);
    cmd_cellf(t, "%" PRId32, id);
    add_quoted(&text, s->m->tok, id);
    cmd_cell(t, text.p, text.n);
    buf_reset(&text);
    cmd_cellf(t, c ? "%.4f" : "-", c ? (double)c->lp : 0);
    cmd_cellf(t, c ? "%" PRId32 : "-", c ? c->rank : 0);
    cmd_cellf(t, c ? "%.4f" : "-", c ? (double)c->ent : 0);
    for (int k = 0; c && k < c->n_top; k++) {
        buf_adds(&text, k ? "  " : "");
        add_quoted(&text, s->m->tok, c->top[k].id);
        buf_addf(&text, " %.2f", (double)c->top[k].lp);
    }
    cmd_cell(t, buf_str(&text), text.n);
    buf_release(&text);
}

/* ---- scoring ---- */

/* Row r tells what comes after token at + r: it judges the next one, and *next keeps that
 * until the next one is printed. */
static bool score_piece(struct score *s, const struct tok_ids *ids, size_t at, size_t n,
                        struct be_choice *next, struct err *e)
{
    switch (be_eval(s->m->be, ids->v + at, n, (uint32_t)at, BE_LOGITS_ALL, e)) {
    case BE_OK:
        break;
    case BE_CANCELLED:
        return err_set(e, "scoring was interrupted");
    case BE_FULL:
    case BE_FAILED:
        return false;
    }
    for (size_t r = 0; r < n; r++) {
        const float *row = be_logits(s->m->be, r);
        const struct be_choice *c = at + r ? next : NULL;
        if (c) {
            s->sum += (double)c->lp;
            s->scored++;
        }
        if (is_json(s))
            print_json(s, at + r, ids->v[at + r], c, row);
        else
            add_row(s, at + r, ids->v[at + r], c);
        if (at + r + 1 < ids->n)
            be_score(s->sampler, row, ids->v[at + r + 1], (int)s->set->logprobs, next);
    }
    return true;
}

static bool fits(const struct score *s, const struct tok_ids *ids, struct err *e)
{
    uint32_t ctx = be_info(s->m->be)->ctx;

    if (!ids->n)
        return err_set(e, "there is nothing to score: the text gives no token");
    if (ids->n > ctx)
        return err_set_kind(e, ERR_CONTEXT,
                            "the text needs %zu positions but the context "
                            "holds %" PRIu32 "; choose a larger --ctx or a shorter text",
                            ids->n, ctx);
    return true;
}

static double perplexity(const struct score *s)
{
    return s->scored ? exp(-s->sum / (double)s->scored) : NAN;
}

/* What stands behind the last token of the JSON: always enough to close the value. */
static void print_json_tail(const struct score *s, const struct err *e)
{
    json_t *o = json_pack("{s:I, s:o, s:o}", "scored", (json_int_t)s->scored,
                          "lp", cmd_json_real(s->sum), "perplexity",
                          cmd_json_real(perplexity(s)));

    if (e->text[0])
        json_object_set_new(o, "error", json_string(e->text));
    printf("%s],", s->set->json ? "\n" : "");
    json_dumpf(o, stdout, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(9));
    fputs("}\n", stdout);
    json_decref(o);
}

static void print_text_tail(struct score *s)
{
    cmd_columns_print(&s->columns);
    printf("\n%zu tokens scored, log-probability %.4f", s->scored, s->sum);
    if (s->scored)
        printf(", mean %.6f, perplexity %.6f", s->sum / (double)s->scored, perplexity(s));
    putchar('\n');
}

static bool score_ids(struct score *s, const struct tok_ids *ids, struct err *e)
{
    struct be_choice next = {0};
    bool ok = true;

    if (!fits(s, ids, e))
        return false;
    s->sum = 0;
    s->scored = 0;
    s->columns = (struct cmd_columns){ .width = 7, .align = "rrlrrrl" };
    be_truncate(s->m->be, 0);
    if (is_json(s)) {
        fputs("{\"tokens\":[", stdout);
    } else {
        static const char *const heads[] = {
            "i", "id", "text", "lp", "rank", "ent", "top"
        };
        for (size_t k = 0; k < 7; k++)
            cmd_cellf(&s->columns, "%s", heads[k]);
    }
    for (size_t at = 0; ok && at < ids->n; at += PIECE) {
        size_t n = ids->n - at < PIECE ? ids->n - at : PIECE;
        ok = score_piece(s, ids, at, n, &next, e);
    }
    if (is_json(s))
        print_json_tail(s, e);
    else
        print_text_tail(s);
    cmd_flush();
    return ok;
}

/* ---- what to score ---- */

/* One line of --jsonl: a string, {"hex"}, or a list of ids. */
static bool one_value(void *arg, const json_t *in, struct err *e)
{
    struct score *s = arg;
    struct tok_ids ids = {0};
    struct buf text = {0};
    bool ok;

    if (json_is_array(in)) {
        ok = cmd_ids_from_json(in, s->m->tok, &ids, e);
    } else {
        ok = cmd_json_text(in, &text, e);
        if (ok)
            cmd_ids_raw(s->m->tok, buf_str(&text), text.n, s->set->special, &ids);
    }
    /* Once a line has begun it holds its own error. */
    ok = ok && fits(s, &ids, e);
    if (ok)
        score_ids(s, &ids, e);
    tok_ids_release(&ids);
    buf_release(&text);
    return ok;
}

/* The text of the operand, or its events when it is a session. */
static bool read_input(const char *name, struct buf *text, struct chat_events *events,
                       struct err *e)
{
    static const char mark[] = "{\"type\":\"session\"";
    struct buf found = {0}, notes = {0};
    bool ok;

    if (name && strcmp(name, "-") && access(name, F_OK) &&
        chat_session_find(name, &found, NULL))
        name = found.p;
    ok = cmd_read(name, text, e);
    if (ok && name && text->n > sizeof mark && !memcmp(text->p, mark, sizeof mark - 1)) {
        ok = chat_session_read(name, events, &notes, e);
        cmd_notes(&notes);
    }
    buf_release(&found);
    buf_release(&notes);
    return ok;
}

static bool score_whole(struct score *s, const struct buf *text,
                        const struct chat_events *events, struct err *e)
{
    struct tok_ids ids = {0};
    bool ok = true;

    if (s->set->ids)
        ok = cmd_ids_parse(s->set->ids, strlen(s->set->ids), s->m->tok, &ids, e);
    else if (events->n)
        ok = chat_session_ids(events, s->m, s->set, &ids, e);
    else
        cmd_ids_raw(s->m->tok, buf_str(text), text->n, s->set->special, &ids);
    ok = ok && score_ids(s, &ids, e);
    tok_ids_release(&ids);
    return ok;
}

static int usage(struct cmd_call *c)
{
    if (!cmd_at_most(c, c->set.ids ? 0 : 1))
        return ERR_USAGE;
    if (c->set.json && c->set.jsonl)
        return cmd_usage(c, "--json and --jsonl exclude each other");
    if (c->set.ids && c->set.jsonl)
        return cmd_usage(c, "--ids means nothing with --jsonl, which reads lists of ids");
    if (c->set.logits && !c->set.json && !c->set.jsonl)
        return cmd_usage(c, "--logits needs --json or --jsonl");
    return CMD_OK;
}

int cmd_score(struct cmd_call *c)
{
    const char *name = c->n_args ? c->args[0] : NULL;
    struct score s = { .set = &c->set };
    struct chat_events events = {0};
    struct buf text = {0};
    struct err e = {0};
    int status = usage(c);

    if (status)
        return status;
    if (!c->set.ids && !c->set.jsonl && !read_input(name, &text, &events, &e)) {
        status = cmd_fail(c, &e);
        goto out;
    }
    s.m = chat_model_open(&c->set, events.n ? CHAT_MODEL_CHAT : CHAT_MODEL_RUN,
                          cmd_cancel(), &e);
    if (!s.m) {
        status = cmd_fail(c, &e);
        goto out;
    }
    s.sampler = be_sampler_new(tok_count(s.m->tok));
    if (c->set.jsonl) {
        status = cmd_jsonl(name, one_value, &s, &e);
        if (e.text[0])
            status = cmd_fail(c, &e);
    } else if (!score_whole(&s, &text, &events, &e)) {
        status = cmd_fail(c, &e);
    }
    be_sampler_free(s.sampler);
    chat_model_free(s.m);
out:
    chat_events_release(&events);
    buf_release(&text);
    return status;
}
