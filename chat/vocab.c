/* The names of special tokens, sorted, so that the longest one that a text begins with is
 * found by bisection: let s be the text and p the last name that is not behind it. Every
 * name that s begins with is one that p begins with, or p itself; so each name knows the
 * longest other one that it begins with, and this chain holds the answer.
 *
 * Tokens that stand in ordinary text (runs of white space, words that were added) are
 * none of a template's markers: they belong to the text around them. */
#include "config.h"

#include "chat/vocab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct vocab_name {
    const char *p;          /* (n), in the tokenizer */
    size_t n;
    ptrdiff_t shorter;      /* the longest name that this one begins with; -1: none */
};

struct chat_vocab {
    const struct tok *tok;
    struct vocab_name *v;   /* (n) sorted */
    size_t n, cap;
    bool begins[256];
};

static bool vocab_is_marker(const struct tok *t, int32_t id, const char *name, size_t n)
{
    size_t bytes;

    if (!n || !tok_is_special(t, id))
        return false;
    tok_bytes(t, id, &bytes);
    return !bytes || (n > 2 && ((name[0] == '<' && name[n - 1] == '>') ||
                                (name[0] == '[' && name[n - 1] == ']')));
}

static int vocab_compare(const struct vocab_name *a, const char *p, size_t n)
{
    int c = memcmp(a->p, p, a->n < n ? a->n : n);

    return c ? c : a->n < n ? -1 : a->n > n;
}

static int vocab_order(const void *a, const void *b)
{
    const struct vocab_name *y = b;

    return vocab_compare(a, y->p, y->n);
}

static bool vocab_begins(const char *s, size_t n, const struct vocab_name *name)
{
    return name->n <= n && !memcmp(s, name->p, name->n);
}

struct chat_vocab *chat_vocab_new(const struct tok *t)
{
    struct chat_vocab *v = xcalloc(1, sizeof *v);

    v->tok = t;
    for (size_t id = 0; id < tok_count(t); id++) {
        size_t n;
        const char *name = tok_name(t, (int32_t)id, &n);
        if (!vocab_is_marker(t, (int32_t)id, name, n))
            continue;
        MEM_GROW(v->v, v->cap, v->n + 1);
        v->v[v->n++] = (struct vocab_name){ name, n, -1 };
        v->begins[(unsigned char)*name] = true;
    }
    if (v->n)
        qsort(v->v, v->n, sizeof *v->v, vocab_order);
    for (size_t i = 1; i < v->n; i++) {
        ptrdiff_t k = (ptrdiff_t)i - 1;
        while (k >= 0 && (!vocab_begins(v->v[i].p, v->v[i].n, &v->v[k]) ||
                          v->v[k].n == v->v[i].n))
            k = v->v[k].shorter;
        v->v[i].shorter = k;
    }
    return v;
}

void chat_vocab_free(struct chat_vocab *v)
{
    if (!v)
        return;
    free(v->v);
    free(v);
}

static size_t vocab_special_at(const void *arg, const char *text, size_t len)
{
    const struct chat_vocab *v = arg;
    size_t lo = 0, hi = v->n;

    if (!len || !v->begins[(unsigned char)*text])
        return 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (vocab_compare(&v->v[mid], text, len) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (ptrdiff_t k = (ptrdiff_t)lo - 1; k >= 0; k = v->v[k].shorter)
        if (vocab_begins(text, len, &v->v[k]))
            return v->v[k].n;
    return 0;
}

static bool vocab_has_special(const void *arg, const char *name)
{
    const struct chat_vocab *v = arg;

    return tok_special(v->tok, name) >= 0;
}

const char *chat_token_text(const struct tok *t, int32_t id, size_t *len,
                            const char **special)
{
    const char *text = tok_bytes(t, id, len);

    *special = NULL;
    if (*len == 0 && tok_is_special(t, id)) {
        *special = tok_name(t, id, len);
        return *special;
    }
    return text;
}

/* As chat_token_text() has it. */
static bool vocab_is_control(const void *arg, const char *name)
{
    const struct chat_vocab *v = arg;
    int32_t id = tok_special(v->tok, name);
    size_t len = 0;

    if (id >= 0)
        tok_bytes(v->tok, id, &len);
    return id >= 0 && !len;
}

struct tmpl_vocab chat_vocab_tmpl(const struct chat_vocab *v)
{
    return (struct tmpl_vocab){
        .has_special = vocab_has_special, .arg = v, .special_at = vocab_special_at,
        .is_control = vocab_is_control,
    };
}
