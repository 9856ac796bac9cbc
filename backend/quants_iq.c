/* Dequantisation of the IQ types of fewer than four bits, in plain C. Four or eight
 * elements at a time are one entry of a grid, and have their signs apart; the layouts are
 * unpacked in backend/quants_iq.h, 16 elements at a time.
 *
 * All products are exact in a float, so the order of multiplying does not matter. Signs
 * are multiplied with: as branches they would be mispredicted half of the time. */
#include "config.h"

#include "backend/quants_iq.h"

#include "backend/kernels_int.h"

const float be_values_iq2[4] = { 8, 25, 43, 0 };
const float be_values_iq3_xxs[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
const float be_values_iq3_s[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };

static inline float be_sign(unsigned signs, int j)
{
    return (float)(1 - 2 * (int)(signs >> j & 1));
}

/* Sixteen elements of two bits. */
static inline void be_put_iq2(const struct be_iq16 *u, float *out)
{
    for (int j = 0; j < 16; j++)
        out[j] = u->d * be_values_iq2[u->a >> 2 * j & 3] * be_sign(u->signs, j);
}

/* Sixteen elements of three bits. */
static inline void be_put_iq3(const struct be_iq16 *u, const float *values, float *out)
{
    for (int j = 0; j < 16; j++) {
        uint32_t pair = j < 8 ? u->a : u->b;
        out[j] =
            u->d * values[pair >> (j % 8 * 3 + j % 8 / 4 * 4) & 7] * be_sign(u->signs, j);
    }
}

/* Sixteen elements -1, 0 or 1, and an eighth. */
static inline void be_put_iq1(const struct be_iq16 *u, float *out)
{
    for (int j = 0; j < 16; j++)
        out[j] = u->d * ((float)(u->a >> 2 * j & 3) - 1 + 0.125f * be_sign(u->signs, j));
}

void be_dequant_iq2_xxs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 66)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq2_xxs_16(p, be_half_of(p), g);
            be_put_iq2(&u, out);
        }
}

void be_dequant_iq2_xs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 74)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq2_xs_16(p, be_half_of(p), g);
            be_put_iq2(&u, out);
        }
}

void be_dequant_iq2_s(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 82)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq2_s_16(p, be_half_of(p), g);
            be_put_iq2(&u, out);
        }
}

void be_dequant_iq3_xxs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 98)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq3_xxs_16(p, be_half_of(p), g);
            be_put_iq3(&u, be_values_iq3_xxs, out);
        }
}

void be_dequant_iq3_s(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 110)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq3_s_16(p, be_half_of(p), g);
            be_put_iq3(&u, be_values_iq3_s, out);
        }
}

void be_dequant_iq1_s(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 50)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq1_s_16(p, be_half_of(p), g);
            be_put_iq1(&u, out);
        }
}

void be_dequant_iq1_m(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 56)
        for (unsigned g = 0; g < 16; g++, out += 16) {
            struct be_iq16 u = be_iq1_m_16(p, be_f16_to_f32(be_iq1_m_half(p)), g);
            be_put_iq1(&u, out);
        }
}
