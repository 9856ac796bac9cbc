/* Texts that were encoded before, and their ids. A chat sends the whole conversation
 * every turn, and all of it but the end is what it was; so the time a turn takes is that
 * of its new text.
 *
 * What is kept is the text itself, compared byte by byte, in a hash table whose entries
 * are also in a row by when they were used last. When there is more than the limit, those
 * that were not used for the longest time go. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Shorter texts are encoded sooner than they are found. */
enum { CACHE_LEAST = 32 };

struct cache_entry {
    struct cache_entry *next;   /* with the same slot */
    struct cache_entry *newer, *older;
    uint64_t hash;
    enum tok_place place;
    size_t n_span, n_ids, len;
    struct tok_span *span;      /* these three behind the entry */
    int32_t *id;
    char *text;
};

struct tok_cache {
    const struct tok *t;
    struct cache_entry **slot;
    size_t mask, n;
    struct cache_entry *newest, *oldest;
    size_t limit, used;
    uint64_t seed;
    struct tok_cache_stats stats;
};

struct tok_cache *tok_cache_new(const struct tok *t, size_t limit)
{
    struct tok_cache *c = xcalloc(1, sizeof *c);

    c->t = t;
    c->limit = limit;
    c->mask = 63;
    c->slot = xcalloc(c->mask + 1, sizeof *c->slot);
    c->seed = tok_hash_seed(c);
    return c;
}

void tok_cache_free(struct tok_cache *c)
{
    if (!c)
        return;
    for (struct cache_entry *x = c->newest, *older; x; x = older) {
        older = x->older;
        free(x);
    }
    free(c->slot);
    free(c);
}

struct tok_cache_stats tok_cache_stats(const struct tok_cache *c)
{
    return c->stats;
}

static size_t cache_size(const struct cache_entry *x)
{
    return sizeof *x + x->n_span * sizeof *x->span + x->n_ids * sizeof *x->id + x->len;
}

static void cache_unlink(struct tok_cache *c, struct cache_entry *x)
{
    *(x->newer ? &x->newer->older : &c->newest) = x->older;
    *(x->older ? &x->older->newer : &c->oldest) = x->newer;
}

static void cache_to_front(struct tok_cache *c, struct cache_entry *x)
{
    x->newer = NULL;
    x->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = x;
    c->newest = x;
}

static void cache_drop(struct tok_cache *c, struct cache_entry *x)
{
    struct cache_entry **p = &c->slot[x->hash & c->mask];

    while (*p != x)
        p = &(*p)->next;
    *p = x->next;
    cache_unlink(c, x);
    c->used -= cache_size(x);
    c->n--;
    free(x);
}

static void cache_grow(struct tok_cache *c)
{
    size_t mask = 2 * c->mask + 1;
    struct cache_entry **slot = xcalloc(mask + 1, sizeof *slot);

    for (struct cache_entry *x = c->newest; x; x = x->older) {
        x->next = slot[x->hash & mask];
        slot[x->hash & mask] = x;
    }
    free(c->slot);
    c->slot = slot;
    c->mask = mask;
}

static bool cache_same(const struct cache_entry *x, const struct cache_entry *key)
{
    if (x->hash != key->hash || x->len != key->len || x->place != key->place ||
        x->n_span != key->n_span || memcmp(x->text, key->text, x->len) != 0)
        return false;
    for (size_t i = 0; i < x->n_span; i++)
        if (x->span[i].len != key->span[i].len || x->span[i].kind != key->span[i].kind)
            return false;
    return true;
}

static void cache_put(struct tok_cache *c, const struct cache_entry *key,
                      const int32_t *id, size_t n_ids)
{
    struct cache_entry size = *key;

    size.n_ids = n_ids;
    if (cache_size(&size) > c->limit / 2)
        return;
    while (c->oldest && c->used + cache_size(&size) > c->limit)
        cache_drop(c, c->oldest);
    struct cache_entry *x = xmalloc(cache_size(&size));
    *x = size;
    x->span = (struct tok_span *)(x + 1);
    x->id = (int32_t *)(x->span + x->n_span);
    x->text = (char *)(x->id + x->n_ids);
    memcpy(x->span, key->span, x->n_span * sizeof *x->span);
    if (n_ids)
        memcpy(x->id, id, n_ids * sizeof *x->id);
    memcpy(x->text, key->text, x->len);
    if (c->n++ > c->mask)
        cache_grow(c);
    x->next = c->slot[x->hash & c->mask];
    c->slot[x->hash & c->mask] = x;
    cache_to_front(c, x);
    c->used += cache_size(x);
}

void tok_cache_encode(struct tok_cache *c, const char *text, const struct tok_span *span,
                      size_t n, enum tok_place place, struct tok_ids *out)
{
    struct cache_entry key = {
        .place = place, .n_span = n, .span = (struct tok_span *)span, .text = (char *)text
    };
    size_t before = out->n;

    for (size_t i = 0; i < n; i++)
        key.len += span[i].len;
    if (key.len < CACHE_LEAST) {
        tok_encode_spans(c->t, text, span, n, place, out);
        return;
    }
    key.hash = tok_hash(c->seed, text, key.len);
    struct cache_entry *x = c->slot[key.hash & c->mask];
    while (x && !cache_same(x, &key))
        x = x->next;
    if (x) {
        for (size_t i = 0; i < x->n_ids; i++)
            tok_ids_add(out, x->id[i]);
        cache_unlink(c, x);
        cache_to_front(c, x);
        c->stats.hits++;
        return;
    }
    tok_encode_spans(c->t, text, span, n, place, out);
    c->stats.misses++;
    c->stats.bytes_encoded += key.len;
    cache_put(c, &key, out->v ? out->v + before : NULL, out->n - before);
}
