#ifndef BE_VEC_H
#define BE_VEC_H

/* Four floats at once, and exp() of them: the sampler, softmax and SiLU spend their time
 * there. Written with the compiler's vector type, so that it is fast at any optimisation
 * level and gives the same bits wherever it is inlined. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float be_v4 __attribute__((vector_size(16)));
typedef int32_t be_i4 __attribute__((vector_size(16)));
typedef uint32_t be_u4 __attribute__((vector_size(16)));

static inline be_v4 be_load4(const float *p)
{
    be_v4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void be_store4(float *p, be_v4 v)
{
    memcpy(p, &v, sizeof v);
}

static inline be_v4 be_set4(float x)
{
    return (be_v4){x, x, x, x};
}

/* mask ? a : b, for a mask of all ones or zeros per lane */
static inline be_v4 be_pick4(be_i4 mask, be_v4 a, be_v4 b)
{
    return (be_v4)(((be_i4)a & mask) | ((be_i4)b & ~mask));
}

/* exp(x) within 2e-7 relative for -87 <= x <= 88; 0 below, exp(88) above; NaN gives 0.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer that then
 * stands in the low bits; ln 2 is taken in two parts so that r keeps its digits. The
 * polynomial is the Taylor series to r^7, whose remainder is 5e-9 there. */
static inline be_v4 be_exp4(be_v4 x)
{
    const be_v4 magic = be_set4(12582912.0f);
    be_i4 keep = x >= be_set4(-87.0f);
    be_v4 y = be_pick4(x > be_set4(88.0f), be_set4(88.0f), be_pick4(keep, x, be_set4(0)));
    be_v4 n = y * be_set4(1.44269504f) + magic;
    be_u4 bits = (be_u4)n;
    be_v4 p;

    n -= magic;
    y = y - n * be_set4(0.693359375f) + n * be_set4(2.12194440e-4f);
    p = be_set4(1.0f / 5040) * y + be_set4(1.0f / 720);
    p = p * y + be_set4(1.0f / 120);
    p = p * y + be_set4(1.0f / 24);
    p = p * y + be_set4(1.0f / 6);
    p = p * y + be_set4(0.5f);
    p = p * (y * y) + y + be_set4(1.0f);
    be_v4 scale = (be_v4)((bits + (be_u4){127, 127, 127, 127}) << 23);
    return (be_v4)((be_i4)(p * scale) & keep);
}

static inline float be_exp1(float x)
{
    return be_exp4(be_set4(x))[0];
}

/* x = cap * tanh(x / cap), (n) */
static inline void be_cap(float *x, size_t n, float cap)
{
    for (size_t i = 0; i < n; i += 4) {
        size_t left = n - i < 4 ? n - i : 4;
        be_v4 v = be_set4(0);
        memcpy(&v, x + i, left * sizeof *x);
        v = be_set4(cap) - be_set4(2 * cap) / (be_exp4(v * be_set4(2 / cap)) + be_set4(1));
        memcpy(x + i, &v, left * sizeof *x);
    }
}

static inline int be_any4(be_i4 mask)
{
    uint64_t w[2];
    memcpy(w, &mask, sizeof w);
    return (w[0] | w[1]) != 0;
}

static inline float be_sum4(be_v4 v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

#endif
