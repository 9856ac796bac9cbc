/* The output syntaxes under any input: runs cover every byte in order and without
 * gaps, calls keep their text, arguments are JSON objects, and the outcome is the same
 * however the text is cut.
 *
 * Input: a byte for the syntax, one for the start and how markers count, then tokens:
 * a byte below 192 is the length of a text that follows, one above picks a special
 * token of the syntax. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "templates/parsed.h"
#include "templates/pyjson.h"
#include "templates/syntax.h"

#define MUST(cond) \
    do { \
        if (!(cond)) \
            abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum feeding { BY_TOKEN, BY_BYTE, BY_THREE };

/* The i-th special token there is for a syntax. */
static const char *token_of(const struct tmpl_syntax *s, size_t i)
{
    static const char *const others[] = { "<|im_end|>",     "</s>",    "<|box|>",
                                          "<|open|>",       "<|sep|>", "<|close|>",
                                          "<|end_of_msg|>", "<" };
    size_t n = 0;

    while (s->inside && s->inside[n])
        n++;
    if (i < s->n_marks)
        return s->marks[i].text;
    i -= s->n_marks;
    if (i < n)
        return s->inside[i];
    return others[(i - n) % (sizeof others / sizeof *others)];
}

/* Every second marker is a control token. */
static bool is_control(const void *arg, const char *name)
{
    (void)arg;
    return strlen(name) % 2;
}

static void check_calls(const struct tmpl_parsed *p)
{
    for (size_t i = 0; i < p->result.n_calls; i++) {
        const struct tmpl_call *c = &p->result.calls[i];
        MUST(c->raw && c->raw[c->raw_len] == '\0' && c->at <= p->text.n);
        MUST(!c->name || *c->name);
        MUST(c->error ? c->error_at <= c->raw_len && *c->error : c->id && c->name);
        if (c->error)
            continue;
        MUST(c->arguments);
        json_t *v = pyjson_load(c->arguments, strlen(c->arguments), PYJSON_STRICT, NULL);
        MUST(json_is_object(v));
        json_decref(v);
    }
}

static void check_runs(const struct tmpl_parsed *p)
{
    uint64_t to = 0;

    for (size_t i = 0; i < p->result.n_runs; i++) {
        const struct tmpl_run *run = &p->result.runs[i];
        MUST(run->from == to && run->to > run->from);
        to = run->to;
    }
    MUST(to == p->text.n);
}

static void feed(const uint8_t *data, size_t size, enum feeding how, struct buf *line)
{
    const struct tmpl_syntax *syn = tmpl_syntax_at(data[0] % tmpl_syntax_count());
    struct tmpl_vocab vocab = { .is_control = is_control };
    struct tmpl_stream *st = tmpl_stream_open(syn, (enum tmpl_channel)(data[1] % 4),
                                              data[1] & 16 ? &vocab : NULL);
    struct tmpl_parsed p = {0};

    if (data[1] & 32)
        tmpl_stream_text_only(st);
    for (size_t at = 2; at < size;) {
        uint8_t c = data[at++];
        if (c >= 192) {
            const char *name = token_of(syn, (c - 192) % 32);
            tmpl_parsed_feed(&p, st, name, c & 32 ? strlen(name) : 0, name);
            continue;
        }
        size_t len = c < size - at ? c : size - at;
        size_t step = how == BY_TOKEN ? len : how == BY_BYTE ? 1 : 3;
        for (size_t k = 0; k < len; k += step) {
            size_t n = step < len - k ? step : len - k;
            char *copy = xmemdup0(data + at + k, n);
            tmpl_parsed_feed(&p, st, copy, n, NULL);
            free(copy);
        }
        at += len;
    }
    tmpl_parsed_finish(&p, st);
    check_runs(&p);
    check_calls(&p);
    tmpl_parsed_write(&p, line);
    for (size_t i = 0; i < p.result.n_runs; i++)
        buf_addf(line, " %d:%zu", (int)p.result.runs[i].channel,
                 (size_t)p.result.runs[i].to);
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf lines[3] = {{0}, {0}, {0}};

    if (size < 2)
        return 0;
    for (int how = BY_TOKEN; how <= BY_THREE; how++)
        feed(data, size, (enum feeding)how, &lines[how]);
    MUST(!strcmp(buf_str(&lines[0]), buf_str(&lines[1])));
    MUST(!strcmp(buf_str(&lines[0]), buf_str(&lines[2])));
    for (int how = BY_TOKEN; how <= BY_THREE; how++)
        buf_release(&lines[how]);
    return 0;
}
