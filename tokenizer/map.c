/* Two hash tables with open addressing, filled once and never more than three quarters
 * full.
 *
 * The hash has a seed of its own per table: the strings come from a file that anybody may
 * have made, and a file whose tokens all collide must not take minutes to load. Nothing
 * that is visible depends on the seed. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

/* Fold the 128-bit product of two words: every bit of both reaches the whole hash. */
static uint64_t map_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t tok_hash_seed(const void *p)
{
    uint64_t seed;

    /* Without randomness (an old kernel, a jail) the address has to do. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = map_mix((uintptr_t)p, 0x9E3779B97F4A7C15u);
    return seed | 1;
}

static uint64_t map_load(const char *p, size_t n)
{
    uint64_t w = 0;

    memcpy(&w, p, n);
    return w;
}

/* Up to 8 bytes as a number; different bytes of one length are different numbers. */
static uint64_t map_word(const char *p, size_t n)
{
    if (n == 8)
        return map_load(p, 8);
    if (n >= 4)
        return map_load(p, 4) | map_load(p + n - 4, 4) << 32;
    if (n == 0)
        return 0;
    return (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
           (uint64_t)(unsigned char)p[n - 1] << 16;
}

uint64_t tok_hash(uint64_t seed, const char *p, size_t n)
{
    uint64_t h = seed;

    for (; n > 8; p += 8, n -= 8)
        h = map_mix(map_load(p, 8) ^ h, seed ^ 0xD6E8FEB86659FD93u);
    return map_mix(map_word(p, n) ^ h, seed ^ 0xA0761D6478BD642Fu);
}

/* Most tokens are no longer than 8 bytes. They stand in the slot itself, and a look-up
 * touches one line of memory, which is what it costs. */
static struct tok_map_slot map_key(const struct tok_map *m, const char *p, size_t n,
                                   size_t *at)
{
    struct tok_map_slot key = { .len = (uint32_t)n };

    if (n <= 8) {
        key.word = map_word(p, n);
        *at = map_mix(key.word ^ m->seed, m->seed ^ (0xA0761D6478BD642Fu + n));
    } else {
        key.word = tok_hash(m->seed ^ n, p, n);
        *at = key.word;
    }
    return key;
}

static bool map_same(const struct tok_map_slot *s, const struct tok_map_slot *key,
                     const struct tok_entry *v, const char *p)
{
    return s->word == key->word && s->len == key->len &&
           (key->len <= 8 || memcmp(v[s->id1 - 1].bytes, p, key->len) == 0);
}

static size_t map_slots(size_t n)
{
    size_t slots = 16;

    while (slots < n + n / 3)
        slots *= 2;
    return slots;
}

void tok_map_init(struct tok_map *m, size_t n)
{
    size_t slots = map_slots(n);

    m->slot = xcalloc(slots, sizeof *m->slot);
    m->mask = slots - 1;
    m->seed = tok_hash_seed(m->slot);
}

static void map_put_now(struct tok_map *m, const struct tok_entry *v, int32_t id)
{
    size_t i;
    struct tok_map_slot key = map_key(m, v[id].bytes, v[id].bytes_len, &i);

    for (i &= m->mask; m->slot[i].id1; i = (i + 1) & m->mask)
        if (map_same(&m->slot[i], &key, v, v[id].bytes))
            break; /* the same bytes again: the last token counts */
    key.id1 = (uint32_t)id + 1;
    m->slot[i] = key;
}

void tok_map_soon(const struct tok_map *m, const char *p, size_t n)
{
    size_t i;

    map_key(m, p, n, &i);
    __builtin_prefetch(&m->slot[i & m->mask], 1);
}

void tok_map_flush(struct tok_map *m, const struct tok_entry *v)
{
    for (int i = 0; i < m->n_late; i++)
        map_put_now(m, v, m->late[i]);
    m->n_late = 0;
}

/* The table is larger than the caches and every put meets another line of it. Waiting for
 * sixteen at a time halves the time that a vocabulary takes to load. */
void tok_map_put(struct tok_map *m, const struct tok_entry *v, int32_t id)
{
    tok_map_soon(m, v[id].bytes, v[id].bytes_len);
    m->late[m->n_late++] = id;
    if (m->n_late == TOK_BATCH)
        tok_map_flush(m, v);
}

int32_t tok_map_get(const struct tok_map *m, const struct tok_entry *v, const char *p,
                    size_t n)
{
    size_t i;
    struct tok_map_slot key = map_key(m, p, n, &i);

    for (i &= m->mask; m->slot[i].id1; i = (i + 1) & m->mask)
        if (map_same(&m->slot[i], &key, v, p))
            return (int32_t)(m->slot[i].id1 - 1);
    return -1;
}

void tok_map_release(struct tok_map *m)
{
    free(m->slot);
    *m = (struct tok_map){0};
}

void tok_pairs_init(struct tok_pairs *m, size_t n)
{
    size_t slots = map_slots(n);

    m->slot = xcalloc(slots, sizeof *m->slot);
    m->mask = slots - 1;
    m->seed = tok_hash_seed(m->slot);
}

static uint64_t pair_key(int32_t left, int32_t right)
{
    return ((uint64_t)(uint32_t)left + 1) << 32 | (uint32_t)right;
}

static bool pairs_put(struct tok_pairs *m, const struct tok_pair_slot *new)
{
    for (size_t i = map_mix(new->key, m->seed) & m->mask;; i = (i + 1) & m->mask) {
        struct tok_pair_slot *s = &m->slot[i];
        if (s->key == new->key)
            return false; /* the same merge again: the lower rank stays */
        if (s->key)
            continue;
        *s = *new;
        return true;
    }
}

static void pairs_grow(struct tok_pairs *m)
{
    struct tok_pair_slot *old = m->slot;
    size_t slots = m->mask + 1;

    m->slot = xcalloc(2 * slots, sizeof *m->slot);
    m->mask = 2 * slots - 1;
    for (size_t i = 0; i < slots; i++)
        if (old[i].key)
            pairs_put(m, &old[i]);
    free(old);
}

void tok_pairs_put(struct tok_pairs *m, int32_t left, int32_t right, uint32_t rank,
                   int32_t id)
{
    struct tok_pair_slot new = { .key = pair_key(left, right), .rank = rank, .id = id };

    m->n += pairs_put(m, &new);
    if (m->n >= (m->mask + 1) / 4 * 3)
        pairs_grow(m);
}

void tok_pairs_soon(const struct tok_pairs *m, int32_t left, int32_t right)
{
    __builtin_prefetch(&m->slot[map_mix(pair_key(left, right), m->seed) & m->mask], 1);
}

const struct tok_pair_slot *tok_pairs_get(const struct tok_pairs *m, int32_t left,
                                          int32_t right)
{
    uint64_t key = pair_key(left, right);

    for (size_t i = map_mix(key, m->seed) & m->mask; m->slot[i].key;
         i = (i + 1) & m->mask)
        if (m->slot[i].key == key)
            return &m->slot[i];
    return NULL;
}

void tok_pairs_release(struct tok_pairs *m)
{
    free(m->slot);
    *m = (struct tok_pairs){0};
}
