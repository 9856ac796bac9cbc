/* Names of tokens, sorted, so that the names that share a beginning stand together.
 * Longest match narrows that range byte by byte; most bytes of a text begin no name and
 * cost one look at first[]. Names are limited in length by who adds them, because a text
 * of n bytes may cost n times the longest name. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void tok_names_add(struct tok_names *s, const char *p, size_t n, int32_t id,
                   unsigned modes)
{
    if (n == 0)
        return;
    MEM_GROW(s->v, s->cap, s->n + 1);
    s->v[s->n++] =
        (struct tok_name){ .p = p, .n = (uint32_t)n, .id = id, .modes = modes };
}

static int tok_name_cmp(const void *a, const void *b)
{
    const struct tok_name *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int c = memcmp(x->p, y->p, n);

    if (c != 0)
        return c;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

void tok_names_sort(struct tok_names *s)
{
    size_t i = 0;

    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, tok_name_cmp);
    for (int b = 0; b < 256; b++) {
        s->first[b] = (uint32_t)i;
        while (i < s->n && (unsigned char)s->v[i].p[0] == b)
            i++;
        s->begins[b] = i > s->first[b];
    }
    s->first[256] = (uint32_t)i;
}

/* The first name in [lo, hi) whose byte at depth is not below b; all are longer than
 * depth and equal before it. */
static size_t tok_names_bound(const struct tok_names *s, size_t lo, size_t hi,
                              size_t depth, int b)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if ((unsigned char)s->v[mid].p[depth] < b)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t tok_names_longest(const struct tok_names *s, unsigned mode, const char *text,
                         size_t len, int32_t *id)
{
    size_t best = 0;

    if (len == 0 || s->n == 0)
        return 0;
    size_t lo = s->first[(unsigned char)text[0]];
    size_t hi = s->first[(unsigned char)text[0] + 1];
    for (size_t depth = 1; lo < hi; depth++) {
        for (; lo < hi && s->v[lo].n == depth; lo++) {
            if (!(s->v[lo].modes & mode))
                continue;
            best = depth; /* of equal names the last counts, as everywhere */
            *id = s->v[lo].id;
        }
        if (depth == len)
            break;
        int b = (unsigned char)text[depth];
        lo = tok_names_bound(s, lo, hi, depth, b);
        hi = tok_names_bound(s, lo, hi, depth, b + 1);
    }
    return best;
}

int32_t tok_names_find(const struct tok_names *s, const char *p, size_t n)
{
    int32_t id = -1;

    return tok_names_longest(s, TOK_IN_SPECIAL, p, n, &id) == n && n > 0 ? id : -1;
}

void tok_names_release(struct tok_names *s)
{
    free(s->v);
    *s = (struct tok_names){0};
}
