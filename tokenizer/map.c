/* Two hash tables with open addressing, filled once and never more than half full.
 *
 * The hash has a seed of its own per table: the strings come from a file that anybody may
 * have made, and a file whose tokens all collide must not take minutes to load. Nothing that
 * is visible depends on the seed. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

/* Fold the 128-bit product of two words: every bit of both reaches every bit of the hash. */
static uint64_t map_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t map_seed(const void *p)
{
    uint64_t seed;

    /* Without randomness (an old kernel, a jail) the address has to do. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = map_mix((uintptr_t)p, 0x9E3779B97F4A7C15u);
    return seed | 1;
}

static uint64_t map_word(const char *p, size_t n)
{
    uint64_t w = 0;

    memcpy(&w, p, n < 8 ? n : 8);
    return w;
}

static uint64_t map_hash(uint64_t seed, const char *p, size_t n)
{
    uint64_t h = seed ^ (n * 0x9E3779B97F4A7C15u);

    for (; n > 8; p += 8, n -= 8)
        h = map_mix(map_word(p, 8) ^ h, seed ^ 0xD6E8FEB86659FD93u);
    return map_mix(map_word(p, n) ^ h, seed ^ 0xA0761D6478BD642Fu);
}

static size_t map_slots(size_t n)
{
    size_t slots = 16;

    while (slots < n * 2)
        slots *= 2;
    return slots;
}

void tok_map_init(struct tok_map *m, size_t n)
{
    size_t slots = map_slots(n);

    m->slot = xcalloc(slots, sizeof *m->slot);
    m->mask = slots - 1;
    m->seed = map_seed(m->slot);
}

void tok_map_put(struct tok_map *m, const struct tok_entry *v, int32_t id)
{
    uint64_t h = map_hash(m->seed, v[id].bytes, v[id].bytes_len);
    uint32_t tag = (uint32_t)(h >> 32);

    for (size_t i = h & m->mask;; i = (i + 1) & m->mask) {
        struct tok_map_slot *s = &m->slot[i];
        if (s->id1) {
            const struct tok_entry *have = &v[s->id1 - 1];
            if (s->tag != tag || have->bytes_len != v[id].bytes_len ||
                memcmp(have->bytes, v[id].bytes, v[id].bytes_len) != 0)
                continue;
        }
        *s = (struct tok_map_slot){ .tag = tag, .id1 = (uint32_t)id + 1 };
        return;
    }
}

int32_t tok_map_get(const struct tok_map *m, const struct tok_entry *v, const char *p,
                    size_t n)
{
    uint64_t h = map_hash(m->seed, p, n);
    uint32_t tag = (uint32_t)(h >> 32);

    for (size_t i = h & m->mask; m->slot[i].id1; i = (i + 1) & m->mask) {
        const struct tok_entry *have = &v[m->slot[i].id1 - 1];
        if (m->slot[i].tag == tag && have->bytes_len == n && memcmp(have->bytes, p, n) == 0)
            return (int32_t)(m->slot[i].id1 - 1);
    }
    return -1;
}

void tok_map_release(struct tok_map *m)
{
    free(m->slot);
    *m = (struct tok_map){ 0 };
}

void tok_pairs_init(struct tok_pairs *m, size_t n)
{
    size_t slots = map_slots(n);

    m->slot = xcalloc(slots, sizeof *m->slot);
    m->mask = slots - 1;
    m->seed = map_seed(m->slot);
}

static uint64_t pair_key(int32_t left, int32_t right)
{
    return ((uint64_t)(uint32_t)left + 1) << 32 | (uint32_t)right;
}

void tok_pairs_put(struct tok_pairs *m, int32_t left, int32_t right, uint32_t rank,
                   int32_t id)
{
    uint64_t key = pair_key(left, right);

    for (size_t i = map_mix(key, m->seed) & m->mask;; i = (i + 1) & m->mask) {
        struct tok_pair_slot *s = &m->slot[i];
        if (s->key == key)
            return;                     /* the same merge again: the lower rank stays */
        if (s->key)
            continue;
        *s = (struct tok_pair_slot){ .key = key, .rank = rank, .id = id };
        return;
    }
}

const struct tok_pair_slot *tok_pairs_get(const struct tok_pairs *m, int32_t left,
                                          int32_t right)
{
    uint64_t key = pair_key(left, right);

    for (size_t i = map_mix(key, m->seed) & m->mask; m->slot[i].key; i = (i + 1) & m->mask)
        if (m->slot[i].key == key)
            return &m->slot[i];
    return NULL;
}

void tok_pairs_release(struct tok_pairs *m)
{
    free(m->slot);
    *m = (struct tok_pairs){ 0 };
}
