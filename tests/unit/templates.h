#ifndef UNIT_TEMPLATES_H
#define UNIT_TEMPLATES_H

/* For tests of templates: a vocabulary of a few names, JSON with ' for ", and pieces in
 * one line. */

#include "tests/unit/unit.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "templates/pyjson.h"
#include "templates/template.h"

#define N(v) (sizeof(v) / sizeof *(v))
#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }

static inline bool names_have(const void *arg, const char *name)
{
    for (const char *const *p = arg; *p; p++)
        if (!strcmp(*p, name))
            return true;
    return false;
}

static inline size_t names_at(const void *arg, const char *text, size_t len)
{
    size_t best = 0;

    for (const char *const *p = arg; *p; p++) {
        size_t n = strlen(*p);
        if (n > best && n <= len && !memcmp(text, *p, n))
            best = n;
    }
    return best;
}

static inline struct tmpl_vocab vocab_of(const char *const *names)
{
    return (struct tmpl_vocab){
        .has_special = names_have, .arg = names, .special_at = names_at,
    };
}

/* ' stands for ". NULL stays NULL. */
static inline json_t *js(const char *text)
{
    struct pyjson_bad bad = {0};
    struct buf b = {0};

    if (!text)
        return NULL;
    buf_adds(&b, text);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == '\'')
            b.p[i] = '"';
    json_t *v = pyjson_load(buf_str(&b), b.n, PYJSON_NAN | PYJSON_NUMBER_TEXT, &bad);
    if (!v)
        fail_msg("%s at %zu in %s", bad.what, bad.at, text);
    buf_release(&b);
    return v;
}

/* [special] {said 3} and text as it is; with whose: the conversation's in guillemets. */
enum line_how { LINE_PLAIN, LINE_WHOSE };
static inline void add_line(struct buf *b, const struct tmpl_prompt *p, enum line_how how)
{
    size_t span = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct tmpl_piece *piece = &p->v[i];
        if (piece->kind == TMPL_PIECE_SAID) {
            buf_addf(b, "{said %zu}", piece->message);
            continue;
        }
        if (piece->kind == TMPL_PIECE_SPECIAL) {
            buf_addf(b, "[%.*s]", (int)piece->len, p->text.p + piece->at);
            continue;
        }
        for (size_t at = piece->at, to; at < piece->at + piece->len; at = to) {
            while (span < p->n_spans && p->spans[span].to <= at)
                span++;
            bool theirs =
                span == p->n_spans || p->spans[span].origin != TMPL_FROM_TEMPLATE;
            to = span == p->n_spans ? SIZE_MAX : p->spans[span].to;
            if (to > piece->at + piece->len)
                to = piece->at + piece->len;
            buf_adds(b, theirs && how == LINE_WHOSE ? "\u00ab" : "");
            buf_add(b, p->text.p + at, to - at);
            buf_adds(b, theirs && how == LINE_WHOSE ? "\u00bb" : "");
        }
    }
}

#endif
