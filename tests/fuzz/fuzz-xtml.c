/* XTML both ways under any input.
 *
 * An input that begins with an even byte is what a model says: a byte for the start and
 * whether markers are text, then tokens as in fuzz-stream. Runs cover every byte in order
 * and without gaps, calls keep their text, and feeding byte by byte gives the same.
 *
 * Any other input is {"messages", "tools", "options"}: what is read prints and reads back
 * as the same; pieces lie one behind the other; the stream takes all of them. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "templates/pyjson.h"
#include "templates/xtml.h"

#define MUST(cond) \
    do { \
        if (!(cond)) \
            abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>", "[EOS]", "<osagent_mode>",
};
#define N_NAMES (sizeof names / sizeof *names)

/* ---- what a model says ---- */

enum feeding { BY_TOKEN, BY_BYTE };

/* What came out: the channel of every byte, and the calls one behind the other. */
struct outcome {
    struct buf channels, calls;
    const char *left;
};

static void take(struct outcome *o, struct tmpl_result *r, uint64_t fed)
{
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct tmpl_run *run = &r->runs[i];
        MUST(run->from == o->channels.n && run->from < run->to && run->to <= fed);
        for (uint64_t k = run->from; k < run->to; k++)
            buf_addc(&o->channels, (char)('0' + run->channel));
    }
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tmpl_call *c = &r->calls[i];
        MUST(c->raw && c->raw_len && c->raw[c->raw_len] == '\0');
        MUST(!c->id == !c->name);
        MUST(c->error ? c->error_at <= c->raw_len : c->name && c->arguments);
        MUST(c->at <= fed && !(c->truncated && !c->error));
        if (c->arguments) {
            json_t *v = pyjson_load(c->arguments, strlen(c->arguments), 0, NULL);
            MUST(json_is_object(v));
            json_decref(v);
        }
        buf_addf(&o->calls, "%s|%s|%s|%s|%s|%zu|%d|", c->id ? c->id : "",
                 c->name ? c->name : "", c->arguments ? c->arguments : "",
                 c->block ? c->block : "", c->error ? c->error : "", c->error_at,
                 c->truncated);
        buf_add(&o->calls, c->raw, c->raw_len);
    }
    tmpl_result_reset(r);
}

static void feed(const uint8_t *data, size_t size, enum feeding how, struct outcome *o)
{
    struct xtml_stream *st = xtml_stream_new((enum tmpl_channel)(data[0] % 4));
    struct tmpl_result r = {0};
    uint64_t fed = 0;

    if (data[0] & 4)
        xtml_stream_markers_in_text(st);
    for (size_t at = 1; at < size;) {
        uint8_t c = data[at++];
        if (c >= 128) {
            const char *name = names[c % N_NAMES];
            size_t len = c & 64 ? strlen(name) : 0;
            fed += len;
            xtml_stream_feed(st, name, len, name, &r);
            take(o, &r, fed);
            continue;
        }
        size_t len = c < size - at ? c : size - at;
        for (size_t k = 0; k < len; k += how == BY_BYTE ? 1 : len) {
            size_t n = how == BY_BYTE ? 1 : len;
            char *copy = xmemdup0(data + at + k, n);
            fed += n;
            xtml_stream_feed(st, copy, n, NULL, &r);
            free(copy);
            take(o, &r, fed);
        }
        at += len;
    }
    xtml_stream_finish(st, &r);
    take(o, &r, fed);
    MUST(o->channels.n == fed);
    o->left = xtml_stream_left(st);
    tmpl_result_release(&r);
    xtml_stream_free(st);
}

static void outcome_release(struct outcome *o)
{
    buf_release(&o->channels);
    buf_release(&o->calls);
}

static void hear(const uint8_t *data, size_t size)
{
    struct outcome a = {0}, b = {0};

    feed(data, size, BY_TOKEN, &a);
    feed(data, size, BY_BYTE, &b);
    MUST(!strcmp(buf_str(&a.channels), buf_str(&b.channels)));
    MUST(a.calls.n == b.calls.n && !strcmp(a.left, b.left));
    MUST(!a.calls.n || !memcmp(a.calls.p, b.calls.p, a.calls.n));
    outcome_release(&a);
    outcome_release(&b);
}

/* ---- a conversation ---- */

static void print_and_read(const json_t *v)
{
    struct buf a = {0}, b = {0};
    json_t *again;

    pyjson_add(&a, v, PYJSON_COMPACT);
    MUST((again = pyjson_load(a.p, a.n, PYJSON_NAN, NULL)));
    pyjson_add(&b, again, PYJSON_COMPACT);
    MUST(a.n == b.n && !memcmp(a.p, b.p, a.n));
    buf_reset(&a);
    buf_reset(&b);
    pyjson_add(&a, v, PYJSON_SPACES | PYJSON_SORT);
    pyjson_add(&b, again, PYJSON_SPACES | PYJSON_SORT);
    MUST(a.n == b.n && !memcmp(a.p, b.p, a.n));
    json_decref(again);
    buf_release(&a);
    buf_release(&b);
}

/* Give the pieces to a stream as a model would: all of them, as one answer. */
static void pieces_to_stream(const struct tmpl_prompt *p)
{
    struct xtml_stream *st = xtml_stream_new(TMPL_CONTROL);
    struct tmpl_result r = {0};
    struct outcome o = {0};
    uint64_t fed = 0;
    size_t at = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct tmpl_piece *piece = &p->v[i];
        const char *s = buf_str(&p->text) + piece->at;
        MUST(piece->at == at);
        at += piece->len;
        fed += piece->len;
        if (piece->kind == TMPL_PIECE_SAID)
            continue;
        char *name = piece->kind == TMPL_PIECE_SPECIAL ? xmemdup0(s, piece->len) : NULL;
        xtml_stream_feed(st, s, piece->len, name, &r);
        free(name);
    }
    MUST(at == p->text.n);
    xtml_stream_finish(st, &r);
    take(&o, &r, fed);
    outcome_release(&o);
    tmpl_result_release(&r);
    xtml_stream_free(st);
}

static void render(const uint8_t *data, size_t size)
{
    json_t *v = pyjson_load((const char *)data, size, PYJSON_NAN, NULL);
    struct tmpl_prompt p = {0};
    struct err e = {0};

    if (!v)
        return;
    print_and_read(v);
    if (xtml_render(json_object_get(v, "messages"), json_object_get(v, "tools"),
                    json_object_get(v, "options"), &p, &e))
        pieces_to_stream(&p);
    else
        MUST(e.kind != ERR_NONE && *e.text);
    tmpl_prompt_release(&p);
    json_decref(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] & 1)
        render(data + 1, size - 1);
    else
        hear(data + 1, size - 1);
    return 0;
}
