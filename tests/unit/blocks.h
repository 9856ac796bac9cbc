#ifndef UNIT_BLOCKS_H
#define UNIT_BLOCKS_H

/* Random blocks of every type that can be computed with, for tests: any bits for the
 * elements, and scales that are all finite, or of every kind that there is. */

#include <stdint.h>
#include <string.h>

#include "base/gguf.h"
#include "base/mem.h"

enum blocks { BLOCKS_FINITE, BLOCKS_ODD };

/* Where a block has its halves; -1: nowhere. */
static const struct {
    uint32_t dtype;
    int at[2];
} blocks_halves[] = {
    { GGUF_DT_F16, { 0, -1 } },     { GGUF_DT_BF16, { 0, -1 } },
    { GGUF_DT_Q8_0, { 0, -1 } },    { GGUF_DT_Q4_0, { 0, -1 } },
    { GGUF_DT_Q4_1, { 0, 2 } },     { GGUF_DT_Q5_0, { 0, -1 } },
    { GGUF_DT_Q5_1, { 0, 2 } },     { GGUF_DT_Q2_K, { 80, 82 } },
    { GGUF_DT_Q3_K, { 108, -1 } },  { GGUF_DT_Q4_K, { 0, 2 } },
    { GGUF_DT_Q5_K, { 0, 2 } },     { GGUF_DT_Q6_K, { 208, -1 } },
    { GGUF_DT_IQ2_XXS, { 0, -1 } }, { GGUF_DT_IQ2_XS, { 0, -1 } },
    { GGUF_DT_IQ2_S, { 0, -1 } },   { GGUF_DT_IQ3_XXS, { 0, -1 } },
    { GGUF_DT_IQ3_S, { 0, -1 } },   { GGUF_DT_IQ1_S, { 0, -1 } },
    { GGUF_DT_IQ1_M, { -1, -1 } },  { GGUF_DT_IQ4_NL, { 0, -1 } },
    { GGUF_DT_IQ4_XS, { 0, -1 } },  { GGUF_DT_TQ1_0, { 52, -1 } },
    { GGUF_DT_TQ2_0, { 64, -1 } },  { GGUF_DT_MXFP4, { -1, -1 } },
    { GGUF_DT_NVFP4, { -1, -1 } },  { GGUF_DT_Q1_0, { 0, -1 } },
    { GGUF_DT_Q2_0, { 0, -1 } },
};

enum { BLOCKS_TYPES = sizeof blocks_halves / sizeof *blocks_halves };

static inline uint32_t blocks_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Zeros of both signs, subnormals, the largest, infinities, NaNs, and ordinary ones. */
static inline uint16_t blocks_odd_half(uint32_t *seed)
{
    static const uint16_t odd[] = {
        0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00, 0x7bff,
        0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfdff, 0x2e66, 0x1234,
    };
    return odd[blocks_random(seed) % (sizeof odd / sizeof *odd)];
}

static inline void blocks_set_scale(uint8_t *p, uint32_t dtype, const int *at,
                                    enum blocks kind, uint32_t *seed)
{
    if (kind == BLOCKS_FINITE && dtype == GGUF_DT_MXFP4)
        *p = (uint8_t)(80 + *p % 80);
    if (kind == BLOCKS_FINITE && dtype == GGUF_DT_IQ1_M)
        p[55] &= 0xbf; /* d's upper exponent bit is here */
    for (int k = 0; k < 2; k++) {
        uint16_t h;
        if (at[k] < 0)
            continue;
        memcpy(&h, p + at[k], sizeof h);
        /* The mask takes an exponent bit from F16 and from BF16. */
        h = kind == BLOCKS_FINITE ? h & 0xbbff : blocks_odd_half(seed);
        memcpy(p + at[k], &h, sizeof h);
    }
}

/* n elements in a heap block of the exact size: a sanitizer sees a step beyond. */
static inline uint8_t *blocks_make(uint32_t dtype, size_t n, enum blocks kind,
                                   uint32_t *seed)
{
    const struct gguf_dtype_info *d = gguf_dtype_info(dtype);
    size_t size = n / d->block * d->bytes;
    uint8_t *p = xmalloc(size);

    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(blocks_random(seed) >> 8);
    for (size_t t = 0; t < BLOCKS_TYPES; t++)
        if (blocks_halves[t].dtype == dtype)
            for (size_t i = 0; i < size; i += d->bytes)
                blocks_set_scale(p + i, dtype, blocks_halves[t].at, kind, seed);
    return p;
}

#endif
