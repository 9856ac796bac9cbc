/* Angles are computed in double from the position, never by repeated turning, so position
 * 100000 is as exact as position 1.
 *
 * yarn (Peng et al. 2023, arXiv:2309.00071; conventions of llama.cpp): pairs that turn often
 * within the original context keep their frequency, those that do not turn once are slowed
 * by the factor, between them there is a ramp; and attention gets a little sharper by
 * 1 + 0.1 ln(factor). A file with yarn_log_multiplier m divides that by 1 + 0.1 m ln(factor). */
#include "config.h"

#include "backend/rope.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* The pair that turns `turns` times within the original context. */
static double be_yarn_pair(const struct be_rope_params *p, double turns)
{
    return p->n_rot * log(p->ctx_orig / (turns * 2 * M_PI)) / (2 * log((double)p->base));
}

/* 1 for pairs that keep their frequency, 0 for those that are slowed. */
static double be_yarn_keep(const struct be_rope_params *p, size_t pair)
{
    double low = floor(be_yarn_pair(p, (double)p->beta_fast));
    double high = ceil(be_yarn_pair(p, (double)p->beta_slow));

    low = fmax(0, low);
    high = fmin(p->n_rot - 1.0, high);
    double y = ((double)pair - low) / fmax(0.001, high - low);
    return 1 - fmin(1, fmax(0, y));
}

static double be_yarn_length(double factor, double mul)
{
    return factor <= 1 ? 1 : 1 + 0.1 * mul * log(factor);
}

void be_rope_init(struct be_rope *r, const struct be_rope_params *p, const float *factors)
{
    double factor = (double)p->factor;
    bool yarn = p->scaling == BE_ROPE_YARN;

    r->layout = p->layout;
    r->half = p->n_rot / 2;
    r->freq = xcalloc(r->half, sizeof *r->freq);
    for (size_t i = 0; i < r->half; i++) {
        double f = pow((double)p->base, -2.0 * (double)i / p->n_rot);
        if (factors)
            f /= (double)factors[i];
        double keep = yarn ? be_yarn_keep(p, i) : 0;
        r->freq[i] = f / factor * (1 - keep) + f * keep;
    }
    r->length = (double)p->attn_factor;
    if (yarn)
        r->length *= be_yarn_length(factor, 1) / be_yarn_length(factor, (double)p->log_mul);
}

void be_rope_release(struct be_rope *r)
{
    free(r->freq);
    *r = (struct be_rope){0};
}

void be_rope_table(const struct be_rope *r, uint32_t pos, size_t n, float *out)
{
    for (size_t t = 0; t < n; t++, out += 2 * r->half)
        for (size_t i = 0; i < r->half; i++) {
            double angle = ((double)pos + (double)t) * r->freq[i];
            out[i] = (float)(cos(angle) * r->length);
            out[r->half + i] = (float)(sin(angle) * r->length);
        }
}

void be_rope_turn(const struct be_rope *r, const float *row, float *x)
{
    const float *c = row, *s = row + r->half;

    for (size_t i = 0; i < r->half; i++) {
        float *a = r->layout == BE_ROPE_PAIRS ? x + 2 * i : x + i;
        float *b = r->layout == BE_ROPE_PAIRS ? a + 1 : a + r->half;
        float p = *a, q = *b;
        *a = p * c[i] - q * s[i];
        *b = p * s[i] + q * c[i];
    }
}
