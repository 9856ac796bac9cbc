#ifndef BE_SELECT_H
#define BE_SELECT_H

/* Finding the front of the order of tokens (higher logit first, lower id among equals)
 * without sorting the rest. Private to the sampler. */

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct be_cand {
    float l;                /* logit */
    float w;                /* weight for be_select_mass() */
    int32_t id;
};

static inline bool be_before(const struct be_cand *a, const struct be_cand *b)
{
    return a->l > b->l || (a->l == b->l && a->id < b->id);
}

/* The k best of row (n, a multiple of 16) that are above -inf, best first. Returns how many
 * there are. */
size_t be_select_best(const float *row, size_t n, size_t k, struct be_cand *out);

/* The last token of the shortest front part whose weights add up to mass; the first if mass
 * is 0, the last of all if they do not suffice. Reorders c; n is at least 1. */
struct be_cand be_select_mass(struct be_cand *c, size_t n, double mass);

#endif
