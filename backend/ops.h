#ifndef BE_OPS_H
#define BE_OPS_H

/* What a device kind must do, and the struct be that all kinds share. Private to backend/.
 *
 * The generic part (backend.c) keeps the ids of every position, cuts long evaluations into
 * chunks, owns the logits and does be_sync(). A device sees one chunk at a time: it must
 * finish before it returns, and when it does not return BE_OK its cache must still be good
 * for the positions before the chunk. */

#include "backend/backend.h"

enum be_how {
    BE_HOW_OPEN,            /* ready to evaluate */
    BE_HOW_PROBE,           /* info and plan only: no cache, no threads */
};

/* One chunk: ids at pos .. pos + n - 1. Logits are wanted of the last `rows` positions:
 * 0, 1 or n; logits is (rows, n_vocab). */
struct be_step {
    const int32_t *ids;
    size_t n;
    uint32_t pos;
    size_t rows;
    float *logits;
};

struct be_ops {
    const char *name;
    /* Fill b->info, b->dev and b->fingerprint. On failure free() is still called. */
    bool (*open)(struct be *b, const struct be_params *p, enum be_how how, struct err *e);
    void (*free)(struct be *b);
    enum be_status (*eval)(struct be *b, const struct be_step *s, struct err *e);
    void (*truncate)(struct be *b, uint32_t pos);
    void (*plan)(const struct be *b, struct be_plan *out);
    /* The device's own part of a snapshot of the positions before b->pos; restore gets
     * it back for pos positions and must check its size. */
    void (*save)(const struct be *b, struct buf *out);
    bool (*restore)(struct be *b, const uint8_t *p, size_t n, uint32_t pos, struct err *e);
    const struct be_vocab *(*vocab)(const struct be *b);    /* may be NULL */
};

extern const struct be_ops be_cpu_ops;
extern const struct be_ops be_fake_ops;

struct be {
    const struct be_ops *ops;
    void *dev;                  /* the device's own state */
    enum be_how how;
    struct be_info info;
    uint64_t fingerprint;       /* of the model: a snapshot goes back only into its like */
    const char *kv_type;
    const atomic_bool *cancel;  /* set by another thread; may be NULL */
    size_t chunk;               /* the most positions that a step may have */
    size_t pace;                /* how many it has now */
    bool paced;                 /* they follow the speed */

    int32_t *ids;               /* (pos), what the cache holds */
    size_t ids_cap;
    uint32_t pos;

    float *logits;              /* (rows, n_vocab) of the last call */
    size_t logits_cap, rows;

    char **texts;               /* strings that info points to */
    size_t n_texts, texts_cap;
};

/* Give a string to b; it lives as long as b does. */
const char *be_keep(struct be *b, char *text);
const char *be_keepf(struct be *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool be_cancelled(const struct be *b)
{
    return b->cancel && atomic_load_explicit(b->cancel, memory_order_relaxed);
}

/* Bytes a new allocation may take: MemAvailable, or less in a cgroup with a limit. */
uint64_t be_free_memory(void);
/* "12.3 GiB" into out. */
const char *be_size(char out[32], uint64_t bytes);

#define BE_HASH_START UINT64_C(0xcbf29ce484222325)
/* A running 64-bit hash, for fingerprints and checks, not for security. */
uint64_t be_hash(uint64_t h, const void *p, size_t n);

#endif
