/* Dequantisation of the IQ types of fewer than four bits, in plain C. Four or eight elements
 * at a time are one entry of a grid (backend/quants_iq.h), and have their signs apart. d is
 * a half; a part is 32 elements, a group the elements of one entry:
 *   IQ2_XXS  d; eight parts of 4 bytes of entries and a word: signs 4 x 7, scale 4
 *   IQ2_XS   d; 32 words of 16: entry 9, signs 7; 8 bytes of two scales each
 *   IQ2_S    d; 32 bytes of entries, 32 of signs, 8 of entries' upper bits; 8 of scales
 *   IQ3_XXS  d; 64 bytes of entries; 8 words: signs 4 x 7, scale 4
 *   IQ3_S    d; 64 bytes of entries, 8 of their upper bits, 32 of signs; 4 of scales
 *   IQ1_S    d; 32 bytes of entries; 8 words of 16: upper bits 4 x 3, scale 3, shift 1
 *   IQ1_M    32 bytes of entries; 16 of upper bits 2 x 3 and shifts 2 x 1; 4 words of 16:
 *            scales 4 x 3, and in the upper four bits of each a quarter of d
 * Seven signs stand for eight: the number of minus signs is even. The shift of the 1-bit
 * types moves the values -1, 0, 1 an eighth up or down.
 *
 * All products are exact in a float, so the order of multiplying does not matter. */
#include "config.h"

#include "backend/kernels_int.h"
#include "backend/quants_int.h"
#include "backend/quants_iq.h"

/* The eighth sign from the seven. */
static unsigned be_signs_8(unsigned seven)
{
    unsigned odd = seven ^ seven >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return seven | (odd & 1) << 7;
}

/* Eight elements of two bits each, with signs. */
static float *be_put_iq2(uint16_t entry, unsigned signs, float d, float *out)
{
    static const float values[4] = { 8, 25, 43, 0 };

    for (int j = 0; j < 8; j++) {
        float v = d * values[entry >> 2 * j & 3];
        *out++ = signs >> j & 1 ? -v : v;
    }
    return out;
}

void be_dequant_iq2_xxs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 66)
        for (size_t part = 0; part < 8; part++) {
            const uint8_t *q = p + 2 + 8 * part;
            uint32_t word = be_u32_at(q + 4);
            float d = be_half_of(p) * (0.5f + (float)(word >> 28)) * 0.25f;
            for (size_t g = 0; g < 4; g++)
                out = be_put_iq2(be_grid_iq2_xxs[q[g]], be_signs_8(word >> 7 * g & 127), d,
                                 out);
        }
}

void be_dequant_iq2_xs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 74)
        for (size_t g = 0; g < 32; g++) {
            unsigned word = be_u16_at(p + 2 + 2 * g);
            unsigned scale = p[66 + g / 4] >> g % 4 / 2 * 4 & 15;
            float d = be_half_of(p) * (0.5f + (float)scale) * 0.25f;
            out = be_put_iq2(be_grid_iq2_xs[word & 511], be_signs_8(word >> 9), d, out);
        }
}

void be_dequant_iq2_s(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 82)
        for (size_t g = 0; g < 32; g++) {
            unsigned entry = p[2 + g] | (p[66 + g / 4] >> g % 4 * 2 & 3u) << 8;
            unsigned scale = p[74 + g / 4] >> g % 4 / 2 * 4 & 15;
            float d = be_half_of(p) * (0.5f + (float)scale) * 0.25f;
            out = be_put_iq2(be_grid_iq2_s[entry], p[34 + g], d, out);
        }
}

/* Four elements of three bits each, with signs. */
static float *be_put_iq3(const float *values, uint16_t entry, unsigned signs, float d,
                         float *out)
{
    for (int j = 0; j < 4; j++) {
        float v = d * values[entry >> 3 * j & 7];
        *out++ = signs >> j & 1 ? -v : v;
    }
    return out;
}

void be_dequant_iq3_xxs(const void *blocks, float *out, size_t n)
{
    static const float values[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 98)
        for (size_t g = 0; g < 64; g++) {
            uint32_t word = be_u32_at(p + 66 + g / 8 * 4);
            unsigned signs = be_signs_8(word >> g % 8 / 2 * 7 & 127) >> g % 2 * 4;
            float d = be_half_of(p) * (0.5f + (float)(word >> 28)) * 0.5f;
            out = be_put_iq3(values, be_grid_iq3_xxs[p[2 + g]], signs, d, out);
        }
}

void be_dequant_iq3_s(const void *blocks, float *out, size_t n)
{
    static const float values[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 110)
        for (size_t g = 0; g < 64; g++) {
            unsigned entry = p[2 + g] | (p[66 + g / 8] >> g % 8 & 1u) << 8;
            unsigned signs = p[74 + g / 2] >> g % 2 * 4;
            unsigned scale = p[106 + g / 16] >> g % 16 / 8 * 4 & 15;
            float d = be_half_of(p) * (float)(1 + 2 * scale);
            out = be_put_iq3(values, be_grid_iq3_s[entry], signs, d, out);
        }
}

/* Eight elements -1, 0 or 1 and the shift. */
static float *be_put_iq1(unsigned entry, bool down, float d, float *out)
{
    float shift = down ? -1.125f : -0.875f;

    for (int j = 0; j < 8; j++)
        *out++ = d * ((float)(be_grid_iq1[entry] >> 2 * j & 3) + shift);
    return out;
}

void be_dequant_iq1_s(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 50)
        for (size_t g = 0; g < 32; g++) {
            unsigned word = be_u16_at(p + 34 + g / 4 * 2);
            unsigned entry = p[2 + g] | (word >> g % 4 * 3 & 7) << 8;
            float d = be_half_of(p) * (float)(2 * (word >> 12 & 7) + 1);
            out = be_put_iq1(entry, word >> 15, d, out);
        }
}

void be_dequant_iq1_m(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 56) {
        unsigned half = 0;
        for (size_t k = 0; k < 4; k++)
            half |= (unsigned)(be_u16_at(p + 48 + 2 * k) >> 12) << 4 * k;
        for (size_t g = 0; g < 32; g++) {
            unsigned high = p[32 + g / 2] >> g % 2 * 4;
            unsigned scale = be_u16_at(p + 48 + g / 8 * 2) >> g % 8 / 2 * 3 & 7;
            float d = be_f16_to_f32((uint16_t)half) * (float)(2 * scale + 1);
            out = be_put_iq1(p[g] | (high & 7) << 8, high & 8, d, out);
        }
    }
}
