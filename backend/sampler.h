#ifndef BE_SAMPLER_H
#define BE_SAMPLER_H

/* Sampler: one row of logits to one token, and the evidence for it.
 *
 * The evidence (lp, rank, entropy, top) is the model's: from the full logits at temperature
 * 1, before any penalty or cut, in every mode. It comes from the same passes over the row
 * that the choice needs.
 *
 * Random numbers are a function of (seed, position, attempt) and of nothing else, so the
 * choice at a position does not depend on what was sampled before it was forked, on the
 * cache or on the thread count. */

#include <stddef.h>
#include <stdint.h>

enum { BE_TOP_MAX = 64 };

struct be_sampling {
    float temp;             /* 0: greedy, the lowest id among equals */
    int top_k;              /* 0: off */
    float top_p;            /* 1: off */
    float min_p;            /* 0: off; relative to the most likely token */
    float repeat_penalty;   /* 1: off; applied to the last repeat_last ids */
    int repeat_last;        /* 64 */
    uint64_t seed;
};

struct be_top {
    int32_t id;
    float lp;               /* nats */
};

/* One token and what the model thought of it. */
struct be_choice {
    int32_t id;
    float lp;               /* log-probability, nats */
    int32_t rank;           /* 0: the most likely; ties go to the lower id */
    float ent;              /* entropy of the whole distribution, nats */
    int n_top;
    struct be_top top[BE_TOP_MAX];  /* most likely first */
};

struct be_sampler;          /* scratch for one vocabulary size; no state between calls */

struct be_sampler *be_sampler_new(size_t n_vocab);
void be_sampler_free(struct be_sampler *s);

/* Choose from logits (n_vocab). recent are the ids before this position, newest last.
 * NaN logits count as -inf; a row without any finite value gives id 0 with lp -inf. */
void be_sample(struct be_sampler *s, const struct be_sampling *how, const float *logits,
               const int32_t *recent, size_t n_recent, uint32_t pos, uint32_t attempt,
               int n_top, struct be_choice *out);

/* The evidence for a token that is given (teacher forcing). */
void be_score(struct be_sampler *s, const float *logits, int32_t id, int n_top,
              struct be_choice *out);

#endif
