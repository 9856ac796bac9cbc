#ifndef BE_QUANTS_INT_H
#define BE_QUANTS_INT_H

/* What the formats of quantised rows share, for the portable code and the vector kernels:
 * scales that are packed oddly, and the tables of values. Bytes are little-endian, like
 * the machines we run on. */

#include <stdint.h>
#include <string.h>

#include "backend/kernels.h"

enum {
    BE_SUPER = 256, /* elements of the large blocks */
    BE_SUB = 32,    /* of the parts that mostly have their own scale */
};

/* The values of IQ4_NL and IQ4_XS, and those of the FP4 numbers, doubled. */
extern const int8_t be_values_iq4[16], be_values_fp4[16];

static inline float be_half_of(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return be_f16_to_f32(h);
}

static inline uint16_t be_u16_at(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t be_u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Scales and minima of Q4_K and Q5_K, 6 bits each: 12 bytes at p are three words a, b, c
 * of four bytes. a and b hold the lower six bits of the first four scales and of the
 * first four minima; the other four have four bits in c and their upper two in the rest
 * of a and b. out: the bytes of eight scales, then of eight minima. */
static inline void be_scales_k4(const uint8_t *p, uint32_t out[4])
{
    uint32_t a = be_u32_at(p), b = be_u32_at(p + 4), c = be_u32_at(p + 8);
    out[0] = a & 0x3f3f3f3f;
    out[1] = (c & 0x0f0f0f0f) | (a >> 6 & 0x03030303) << 4;
    out[2] = b & 0x3f3f3f3f;
    out[3] = (c >> 4 & 0x0f0f0f0f) | (b >> 6 & 0x03030303) << 4;
}

/* The sixteen scales of Q3_K, 6 bits each and 32 too large: nibbles in the first two of
 * three words, upper bits in the third. out: their bytes. */
static inline void be_scales_k3(const uint8_t *p, uint32_t out[4])
{
    uint32_t a = be_u32_at(p), b = be_u32_at(p + 4), c = be_u32_at(p + 8);
    out[0] = (a & 0x0f0f0f0f) | (c & 0x03030303) << 4;
    out[1] = (b & 0x0f0f0f0f) | (c >> 2 & 0x03030303) << 4;
    out[2] = (a >> 4 & 0x0f0f0f0f) | (c >> 4 & 0x03030303) << 4;
    out[3] = (b >> 4 & 0x0f0f0f0f) | (c >> 6 & 0x03030303) << 4;
}

/* The scale of sub-block i of IQ4_XS, 32 too large: nibble i at low, two bits at high. */
static inline int be_scale_iq4(const uint8_t *high, const uint8_t *low, unsigned i)
{
    return (low[i / 2] >> 4 * (i % 2) & 15) | (be_u16_at(high) >> 2 * i & 3) << 4;
}

/* Half of 2^(e - 127), since the FP4 values are doubled: the two smallest are
 * subnormal. */
static inline float be_e8m0_half(uint8_t e)
{
    uint32_t bits = e < 2 ? 0x200000u << e : (uint32_t)(e - 1) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

#endif
