/* The router under any input: its runs cover every byte in order and without gaps, its calls
 * keep their text, and feeding byte by byte gives the same as feeding by token.
 *
 * Input: a byte for the template, one for the start, then tokens: a byte below 128 is the
 * length of a text that follows, one above picks a special token. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "templates/template.h"

#define MUST(cond) \
    do { \
        if (!(cond)) \
            abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<|python_tag|>", "<|eot_id|>",
};
#define N_NAMES (sizeof names / sizeof *names)

enum feeding { BY_TOKEN, BY_BYTE };

/* What came out: the channel of every byte, and the calls one behind the other. */
struct outcome {
    struct buf channels, calls;
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
        MUST(c->id && c->raw && c->raw[c->raw_len] == '\0');
        MUST(c->error ? c->error_at <= c->raw_len : c->name && c->arguments);
        MUST(c->at <= fed);
        buf_addf(&o->calls, "%s|%s|%s|%s|%zu|", c->id, c->name ? c->name : "",
                 c->arguments ? c->arguments : "", c->error ? c->error : "", c->error_at);
        buf_add(&o->calls, c->raw, c->raw_len);
    }
    tmpl_result_reset(r);
}

static void feed(const uint8_t *data, size_t size, enum feeding how, struct outcome *o)
{
    struct tmpl_stream *st = tmpl_stream_new(tmpl_at(data[0] % tmpl_count()),
                                             (enum tmpl_channel)(data[1] % 4));
    struct tmpl_result r = {0};
    uint64_t fed = 0;

    for (size_t at = 2; at < size;) {
        uint8_t c = data[at++];
        if (c >= 128) {
            const char *name = names[c % N_NAMES];
            size_t len = c & 64 ? strlen(name) : 0;
            fed += len;
            tmpl_feed(st, name, len, name, &r);
            take(o, &r, fed);
            continue;
        }
        size_t len = c < size - at ? c : size - at;
        for (size_t k = 0; k < len; k += how == BY_BYTE ? 1 : len) {
            size_t n = how == BY_BYTE ? 1 : len;
            char *copy = xmemdup0(data + at + k, n);
            fed += n;
            tmpl_feed(st, copy, n, NULL, &r);
            free(copy);
            take(o, &r, fed);
        }
        at += len;
    }
    tmpl_finish(st, &r);
    take(o, &r, fed);
    MUST(o->channels.n == fed);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome a = {0}, b = {0};

    if (size < 2)
        return 0;
    feed(data, size, BY_TOKEN, &a);
    feed(data, size, BY_BYTE, &b);
    MUST(!strcmp(buf_str(&a.channels), buf_str(&b.channels)));
    MUST(a.calls.n == b.calls.n);
    MUST(!a.calls.n || !memcmp(a.calls.p, b.calls.p, a.calls.n));
    buf_release(&a.channels);
    buf_release(&a.calls);
    buf_release(&b.channels);
    buf_release(&b.calls);
    return 0;
}
