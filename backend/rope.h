#ifndef BE_ROPE_H
#define BE_ROPE_H

/* Rotary position embedding. All kinds of scaling in use are linear in the position, so a
 * model has one fixed frequency per pair and one factor for the length of the vectors. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum be_rope_layout {
    BE_ROPE_PAIRS,          /* (0,1) (2,3) ...: as GGUF files of llama store q and k */
    BE_ROPE_HALVES,         /* (0,h) (1,h+1) ...: "NEOX" */
};

enum be_rope_scaling { BE_ROPE_PLAIN, BE_ROPE_LINEAR, BE_ROPE_YARN };

/* What the file says, in its own words. */
struct be_rope_params {
    enum be_rope_layout layout;
    enum be_rope_scaling scaling;
    uint32_t n_rot;         /* dimensions that turn, even */
    uint32_t ctx_orig;      /* positions before it was stretched */
    float base;
    float factor;           /* 1: not stretched */
    float attn_factor;
    float beta_fast, beta_slow, log_mul;    /* yarn only */
};

struct be_rope {
    enum be_rope_layout layout;
    size_t half;            /* pairs */
    double *freq;           /* (half), radians per position */
    double length;          /* cosine and sine are multiplied with it */
};

/* factors is (n_rot / 2) and divides the frequencies (llama 3), or NULL. */
void be_rope_init(struct be_rope *r, const struct be_rope_params *p, const float *factors);
void be_rope_release(struct be_rope *r);

/* Cosines and sines of n positions from pos, (n, 2, half). */
void be_rope_table(const struct be_rope *r, uint32_t pos, size_t n, float *out);

/* Turn one head by the table's row of its position. */
void be_rope_turn(const struct be_rope *r, const float *row, float *x);

#endif
