/* Dequantisation of the K types in plain C. A block has 256 elements in sub-blocks of 16
 * or 32, whose small integer scales (and minima) are multiplied by the block's halves d
 * (and m):
 *   Q2_K  16 bytes: scale in the low, minimum in the high nibble; 64 bytes; d, m
 *   Q3_K  32 bytes of third bits; 64 bytes; 12 bytes of scales; d
 *   Q4_K  d, m; 12 bytes of scales and minima; 128 bytes of nibbles
 *   Q5_K  d, m; 12 bytes of scales and minima; 32 bytes of fifth bits; 128 bytes
 *   Q6_K  128 bytes of nibbles; 64 bytes of upper bits; 16 signed bytes of scales; d
 * x = d * scale * q - m * minimum, or without the last. Two bits of one byte belong to
 * elements that are 32 apart, and so do the two nibbles of a byte (64 apart in Q6_K).
 *
 * A half times a scale times a q has at most 24 bits: exact in a float. So, again, only
 * the subtraction rounds, and every order of computing gives the same bits. */
#include "config.h"

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

void be_dequant_q2_k(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 84) {
        float d = be_half_of(p + 80), m = be_half_of(p + 82);
        for (size_t j = 0; j < BE_SUPER; j++) {
            uint8_t s = p[j / 16];
            int q = p[16 + j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3;
            *out++ = d * (float)(s & 15) * (float)q - m * (float)(s >> 4);
        }
    }
}

void be_dequant_q3_k(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    uint32_t words[4];
    uint8_t scale[16];

    for (size_t i = 0; i < n; i += BE_SUPER, p += 110) {
        float d = be_half_of(p + 108);
        be_scales_k3(p + 96, words);
        memcpy(scale, words, sizeof scale);
        for (size_t j = 0; j < BE_SUPER; j++) {
            int q = p[32 + j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3;
            int below = p[j % 32] >> j / 32 & 1 ? 0 : 4;
            *out++ = d * (float)(scale[j / 16] - 32) * (float)(q - below);
        }
    }
}

void be_dequant_q4_k(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    uint32_t words[4];
    uint8_t scale[16];

    for (size_t i = 0; i < n; i += BE_SUPER, p += 144) {
        float d = be_half_of(p), m = be_half_of(p + 2);
        be_scales_k4(p + 4, words);
        memcpy(scale, words, sizeof scale);
        for (size_t s = 0; s < 8; s++) {
            const uint8_t *q = p + 16 + s / 2 * BE_SUB;
            float ds = d * (float)scale[s], ms = m * (float)scale[8 + s];
            for (size_t j = 0; j < BE_SUB; j++)
                *out++ = ds * (float)(q[j] >> s % 2 * 4 & 15) - ms;
        }
    }
}

void be_dequant_q5_k(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    uint32_t words[4];
    uint8_t scale[16];

    for (size_t i = 0; i < n; i += BE_SUPER, p += 176) {
        float d = be_half_of(p), m = be_half_of(p + 2);
        be_scales_k4(p + 4, words);
        memcpy(scale, words, sizeof scale);
        for (size_t s = 0; s < 8; s++) {
            const uint8_t *high = p + 16, *low = p + 48 + s / 2 * BE_SUB;
            float ds = d * (float)scale[s], ms = m * (float)scale[8 + s];
            for (size_t j = 0; j < BE_SUB; j++) {
                int q = (low[j] >> s % 2 * 4 & 15) | (high[j] >> s & 1) << 4;
                *out++ = ds * (float)q - ms;
            }
        }
    }
}

void be_dequant_q6_k(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 210) {
        float d = be_half_of(p + 208);
        for (size_t s = 0; s < 8; s++) {
            const uint8_t *low = p + s / 4 * 64 + s % 2 * BE_SUB;
            const uint8_t *high = p + 128 + s / 4 * BE_SUB;
            for (size_t j = 0; j < BE_SUB; j++) {
                int q = (low[j] >> s % 4 / 2 * 4 & 15) | (high[j] >> s % 4 * 2 & 3) << 4;
                int8_t scale = (int8_t)p[192 + s * 2 + j / 16];
                *out++ = d * (float)scale * (float)(q - 32);
            }
        }
    }
}
