/* Dequantisation in plain C: the reference that the vector kernels are tested against,
 * and what runs where there are none. Layouts are ggml's.
 *
 * The simple types cut a row into blocks of 32. d and m are IEEE halves:
 *   Q8_0  d, 32 signed bytes                    x = q * d
 *   Q4_0  d, 16 bytes of two nibbles            x = (q - 8) * d
 *   Q4_1  d, m, 16 bytes                        x = q * d + m
 *   Q5_0  d, 32 high bits, 16 bytes             x = (q - 16) * d
 *   Q5_1  d, m, 32 high bits, 16 bytes          x = q * d + m
 * Byte j holds element j in its low and element j + 16 in its high nibble; high bit j
 * belongs to element j.
 *
 * A half times an integer of at most 8 bits is exact in a float. So only the addition of
 * m rounds, and every order of computing gives the same bits, fused or not. */
#include "config.h"

#include "backend/kernels_int.h"

#include <string.h>

enum { BE_BLOCK = 32, BE_HALF = BE_BLOCK / 2 };

float be_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = (h >> 10) & 0x1f, fraction = h & 0x3ff;
    uint32_t bits;
    float f;

    if (exponent == 0) {
        /* Zero and subnormals count in units of 2^-24. */
        f = (float)fraction * 0x1p-24f;
        memcpy(&bits, &f, sizeof bits);
        bits |= sign;
    } else if (exponent == 0x1f) {
        /* A signalling NaN becomes a quiet one, as the hardware does it. */
        bits = sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0);
    } else {
        bits = sign | (exponent + 127 - 15) << 23 | fraction << 13;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float be_half_at(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return be_f16_to_f32(h);
}

void be_dequant_f32(const void *blocks, float *out, size_t n)
{
    if (n)
        memcpy(out, blocks, n * sizeof *out);
}

void be_dequant_f16(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i++)
        out[i] = be_half_at(p + 2 * i);
}

void be_dequant_bf16(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)p[2 * i] << 16 | (uint32_t)p[2 * i + 1] << 24;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

void be_dequant_q8_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 2 + BE_BLOCK) {
        float d = be_half_at(p);
        for (size_t j = 0; j < BE_BLOCK; j++)
            out[i + j] = (float)(int8_t)p[2 + j] * d;
    }
}

void be_dequant_q4_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 2 + BE_HALF) {
        float d = be_half_at(p);
        for (size_t j = 0; j < BE_HALF; j++) {
            out[i + j] = (float)((p[2 + j] & 15) - 8) * d;
            out[i + j + BE_HALF] = (float)((p[2 + j] >> 4) - 8) * d;
        }
    }
}

void be_dequant_q4_1(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 4 + BE_HALF) {
        float d = be_half_at(p), m = be_half_at(p + 2);
        for (size_t j = 0; j < BE_HALF; j++) {
            out[i + j] = (float)(p[4 + j] & 15) * d + m;
            out[i + j + BE_HALF] = (float)(p[4 + j] >> 4) * d + m;
        }
    }
}

/* The 5-bit integers of one block, from its high bits and nibbles. */
static void be_unpack_5(const uint8_t *p, int *q)
{
    uint32_t high;
    memcpy(&high, p, sizeof high);
    for (size_t j = 0; j < BE_HALF; j++) {
        q[j] = (p[4 + j] & 15) | (int)(high >> j & 1) << 4;
        q[j + BE_HALF] = p[4 + j] >> 4 | (int)(high >> (j + BE_HALF) & 1) << 4;
    }
}

void be_dequant_q5_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    int q[BE_BLOCK];
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 6 + BE_HALF) {
        float d = be_half_at(p);
        be_unpack_5(p + 2, q);
        for (size_t j = 0; j < BE_BLOCK; j++)
            out[i + j] = (float)(q[j] - 16) * d;
    }
}

void be_dequant_q5_1(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    int q[BE_BLOCK];
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 8 + BE_HALF) {
        float d = be_half_at(p), m = be_half_at(p + 2);
        be_unpack_5(p + 4, q);
        for (size_t j = 0; j < BE_BLOCK; j++)
            out[i + j] = (float)q[j] * d + m;
    }
}
