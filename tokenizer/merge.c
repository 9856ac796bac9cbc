/* Merging, the heart of both kinds of BPE: symbols stand in a row, the pair that comes
 * first in the model's order becomes one symbol, until no pair is left that merges.
 *
 * A word has a few symbols; there the whole row is searched for the next pair, without
 * any bookkeeping. A long row (a line of thirty thousand letters without a space, a whole
 * text for SentencePiece) is a linked list with a heap of candidate pairs. A candidate is
 * not removed when one of its symbols was merged away: it is recognised when it comes up,
 * because its length is no longer that of the two symbols. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MERGE_SHORT = 24 };

struct merge_cand {
    uint64_t key; /* order, then place: order << 32 | left */
    int32_t right, id;
    uint32_t len;
};

void tok_work_sym(struct tok_work *w, size_t at, size_t len, int32_t id)
{
    MEM_GROW(w->sym, w->sym_cap, w->n + 1);
    w->sym[w->n++] =
        (struct merge_sym){ .at = (uint32_t)at, .len = (uint32_t)len, .id = id };
}

void tok_work_release(struct tok_work *w)
{
    presplit_work_release(w);
    free(w->sym);
    free(w->heap);
    free(w->cut);
    free(w->cut2);
    buf_release(&w->text);
    buf_release(&w->norm);
    buf_release(&w->known);
    *w = (struct tok_work){0};
}

static void merge_short(const struct tok *t, const char *text, struct tok_work *w,
                        merge_find *find)
{
    struct merge_pair pair[MERGE_SHORT]; /* pair[i] is of symbols i and i + 1 */
    struct merge_sym *sym = w->sym;
    size_t n = w->n;

    for (size_t i = 0; i + 1 < n; i++)
        pair[i] = find(t, text, &sym[i], &sym[i + 1]);
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (pair[i].id >= 0 && (best == n || pair[i].order < pair[best].order))
                best = i;
        if (best == n)
            break;
        sym[best].len += sym[best + 1].len;
        sym[best].id = pair[best].id;
        n--;
        memmove(&sym[best + 1], &sym[best + 2], (n - best - 1) * sizeof *sym);
        if (best + 1 < n) {
            memmove(&pair[best + 1], &pair[best + 2], (n - best - 2) * sizeof *pair);
            pair[best] = find(t, text, &sym[best], &sym[best + 1]);
        }
        if (best > 0)
            pair[best - 1] = find(t, text, &sym[best - 1], &sym[best]);
    }
    w->n = n;
}

static void merge_push(struct tok_work *w, struct merge_cand c)
{
    MEM_GROW(w->heap, w->heap_cap, w->heap_n + 1);
    size_t i = w->heap_n++;
    while (i > 0 && w->heap[(i - 1) / 2].key > c.key) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = c;
}

static struct merge_cand merge_pop(struct tok_work *w)
{
    struct merge_cand top = w->heap[0], last = w->heap[--w->heap_n];
    size_t i = 0;

    for (;;) {
        size_t kid = 2 * i + 1;
        if (kid >= w->heap_n)
            break;
        if (kid + 1 < w->heap_n && w->heap[kid + 1].key < w->heap[kid].key)
            kid++;
        if (w->heap[kid].key >= last.key)
            break;
        w->heap[i] = w->heap[kid];
        i = kid;
    }
    if (w->heap_n)
        w->heap[i] = last;
    return top;
}

static void merge_try(const struct tok *t, const char *text, struct tok_work *w,
                      merge_find *find, int32_t left)
{
    int32_t right = left < 0 ? -1 : w->sym[left].next;

    if (right < 0)
        return;
    struct merge_pair p = find(t, text, &w->sym[left], &w->sym[right]);
    if (p.id >= 0)
        merge_push(w,
                   (struct merge_cand){ .key = (uint64_t)p.order << 32 | (uint32_t)left,
                                        .right = right,
                                        .id = p.id,
                                        .len = w->sym[left].len + w->sym[right].len });
}

static void merge_long(const struct tok *t, const char *text, struct tok_work *w,
                       merge_find *find)
{
    int32_t n = (int32_t)w->n;

    for (int32_t i = 0; i < n; i++) {
        w->sym[i].prev = i - 1;
        w->sym[i].next = i + 1 < n ? i + 1 : -1;
    }
    w->heap_n = 0;
    for (int32_t i = 0; i < n; i++)
        merge_try(t, text, w, find, i);
    while (w->heap_n) {
        struct merge_cand c = merge_pop(w);
        int32_t left = (int32_t)(uint32_t)c.key;
        struct merge_sym *l = &w->sym[left], *r = &w->sym[c.right];
        if (l->len == 0 || r->len == 0 || l->len + r->len != c.len)
            continue;
        l->len = c.len;
        l->id = c.id;
        l->next = r->next;
        r->len = 0;
        if (l->next >= 0)
            w->sym[l->next].prev = left;
        merge_try(t, text, w, find, l->prev);
        merge_try(t, text, w, find, left);
    }
    size_t kept = 0;
    for (int32_t i = 0; i >= 0; i = w->sym[i].next)
        w->sym[kept++] = w->sym[i];
    w->n = kept;
}

void tok_merge(const struct tok *t, const char *text, struct tok_work *w,
               merge_find *find)
{
    if (w->n < 2)
        return;
    if (w->n <= MERGE_SHORT)
        merge_short(t, text, w, find);
    else
        merge_long(t, text, w, find);
}

struct merge_pair merge_find_pair(const struct tok *t, const char *text,
                                  const struct merge_sym *l, const struct merge_sym *r)
{
    const struct tok_pair_slot *p =
        l->id < 0 || r->id < 0 ? NULL : tok_pairs_get(&t->pairs, l->id, r->id);

    (void)text;
    return p ? (struct merge_pair){ .order = p->rank, .id = p->id }
             : (struct merge_pair){ .id = -1 };
}
