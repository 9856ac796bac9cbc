/* Dequantisation of the types with two or three values, or four evenly spaced ones, in
 * plain C. d is a half:
 *   TQ1_0  52 bytes of five base-3 digits (the last four: of four), d  256  (q - 1) * d
 *   TQ2_0  64 bytes of four times two bits, d                          256  (q - 1) * d
 *   Q1_0   d, 16 bytes of bits                                         128  -d or d
 *   Q2_0   d, 16 bytes of four times two bits                          64   (q - 1) * d
 *
 * The digits of a TQ1_0 byte b are those of the fraction b / 256: the first is the
 * integer part of 3 * b / 256, and what is left is the next fraction. */
#include "config.h"

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

/* `digits` rounds over n bytes: the first digits of all, then the second ones. */
static float *be_digits(const uint8_t *p, size_t n, int digits, float d, float *out)
{
    uint8_t power = 1;

    for (int k = 0; k < digits; k++, power = (uint8_t)(power * 3))
        for (size_t j = 0; j < n; j++) {
            uint8_t fraction = (uint8_t)(p[j] * power);
            *out++ = (float)((fraction * 3 >> 8) - 1) * d;
        }
    return out;
}

void be_dequant_tq1_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 54) {
        float d = be_half_of(p + 52);
        out = be_digits(p, 32, 5, d, out);
        out = be_digits(p + 32, 16, 5, d, out);
        out = be_digits(p + 48, 4, 4, d, out);
    }
}

void be_dequant_tq2_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 66) {
        float d = be_half_of(p + 64);
        for (size_t j = 0; j < BE_SUPER; j++) {
            int q = p[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3;
            *out++ = (float)(q - 1) * d;
        }
    }
}

void be_dequant_q1_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += 128, p += 18) {
        float d = be_half_of(p);
        for (size_t j = 0; j < 128; j++)
            *out++ = (float)(2 * (p[2 + j / 8] >> j % 8 & 1) - 1) * d;
    }
}

void be_dequant_q2_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += 64, p += 18) {
        float d = be_half_of(p);
        for (size_t j = 0; j < 64; j++)
            *out++ = (float)((p[2 + j / 4] >> j % 4 * 2 & 3) - 1) * d;
    }
}
