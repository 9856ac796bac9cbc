#ifndef BE_QUANTS_IQ_H
#define BE_QUANTS_IQ_H

/* The IQ types of fewer than four bits: four or eight elements at a time are one entry of
 * a grid, which lists the combinations of values they may have; their signs are apart. d
 * is a half; a part is 32 elements, a group the elements of one entry:
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
 * Here are the grids and what unpacks 16 elements, for the portable code and the
 * kernels. */

#include <stdint.h>

#include "backend/quants_int.h"

enum {
    BE_GRID_IQ2_XXS = 256,
    BE_GRID_IQ2_XS = 512,
    BE_GRID_IQ2_S = 1024,
    BE_GRID_IQ3_XXS = 256,
    BE_GRID_IQ3_S = 512,
    BE_GRID_IQ1 = 2048,
};

/* An entry is its group's values as numbers, the first element in the lowest bits: eight
 * of two bits (IQ1, IQ2) or four of three bits (IQ3). */
extern const uint16_t be_grid_iq2_xxs[BE_GRID_IQ2_XXS], be_grid_iq2_xs[BE_GRID_IQ2_XS],
    be_grid_iq2_s[BE_GRID_IQ2_S], be_grid_iq3_xxs[BE_GRID_IQ3_XXS],
    be_grid_iq3_s[BE_GRID_IQ3_S], be_grid_iq1[BE_GRID_IQ1];

/* What the numbers of the signed types stand for; those of IQ1 are one too large. */
extern const float be_values_iq2[4], be_values_iq3_xxs[8], be_values_iq3_s[8];

/* Sixteen elements. The entries: two of eight in a, or two of four in a and two in b, the
 * second 16 bits up. A bit of signs says "minus", or, with IQ1, "shifted down". */
struct be_iq16 {
    uint32_t a, b;
    unsigned signs;
    float d;
};

/* The eighth of each sign from the seven: 14 bits become 16. */
static inline unsigned be_signs_16(unsigned s)
{
    unsigned signs = (s & 0x7f) | (s & 0x3f80) << 1;
    unsigned odd = signs ^ signs >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return signs | (odd & 0x101) << 7;
}

static inline uint32_t be_two(const uint16_t *grid, unsigned first, unsigned second)
{
    return grid[first] | (uint32_t)grid[second] << 16;
}

/* Elements 16 g onwards of the block at p, whose d is given. */
static inline struct be_iq16 be_iq2_xxs_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 + g / 2 * 8 + g % 2 * 2;
    uint32_t word = be_u32_at(p + 6 + g / 2 * 8);
    return (struct be_iq16){ be_two(be_grid_iq2_xxs, q[0], q[1]), 0,
                             be_signs_16(word >> g % 2 * 14 & 0x3fff),
                             d * (0.5f + (float)(word >> 28)) * 0.25f };
}

static inline struct be_iq16 be_iq2_xs_16(const uint8_t *p, float d, unsigned g)
{
    unsigned w = be_u16_at(p + 2 + 4 * g), v = be_u16_at(p + 4 + 4 * g);
    unsigned scale = p[66 + g / 2] >> g % 2 * 4 & 15;
    return (struct be_iq16){ be_two(be_grid_iq2_xs, w & 511, v & 511), 0,
                             be_signs_16(w >> 9 | v >> 9 << 7),
                             d * (0.5f + (float)scale) * 0.25f };
}

static inline struct be_iq16 be_iq2_s_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 + 2 * g;
    unsigned high = p[66 + g / 2] >> g % 2 * 4, scale = p[74 + g / 2] >> g % 2 * 4 & 15;
    return (struct be_iq16){
        be_two(be_grid_iq2_s, q[0] | (high & 3) << 8, q[1] | (high >> 2 & 3) << 8), 0,
        be_u16_at(p + 34 + 2 * g), d * (0.5f + (float)scale) * 0.25f
    };
}

static inline struct be_iq16 be_iq3_xxs_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 + 4 * g;
    uint32_t word = be_u32_at(p + 66 + g / 2 * 4);
    return (struct be_iq16){ be_two(be_grid_iq3_xxs, q[0], q[1]),
                             be_two(be_grid_iq3_xxs, q[2], q[3]),
                             be_signs_16(word >> g % 2 * 14 & 0x3fff),
                             d * (0.5f + (float)(word >> 28)) * 0.5f };
}

static inline struct be_iq16 be_iq3_s_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 + 4 * g;
    unsigned high = (unsigned)(p[66 + g / 2] >> g % 2 * 4) << 8;
    unsigned scale = p[106 + g / 4] >> g % 4 / 2 * 4 & 15;
    return (struct be_iq16){
        be_two(be_grid_iq3_s, q[0] | (high & 256), q[1] | (high >> 1 & 256)),
        be_two(be_grid_iq3_s, q[2] | (high >> 2 & 256), q[3] | (high >> 3 & 256)),
        be_u16_at(p + 74 + 2 * g), d * (float)(1 + 2 * scale)
    };
}

static inline struct be_iq16 be_iq1_s_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 + 2 * g;
    unsigned word = be_u16_at(p + 34 + g / 2 * 2), high = word >> g % 2 * 6;
    return (struct be_iq16){
        be_two(be_grid_iq1, q[0] | (high & 7) << 8, q[1] | (high >> 3 & 7) << 8), 0,
        word >> 15 ? 0xffff : 0, d * (float)(2 * (word >> 12 & 7) + 1)
    };
}

static inline uint16_t be_iq1_m_half(const uint8_t *p)
{
    return (uint16_t)(be_u16_at(p + 48) >> 12 | (be_u16_at(p + 50) >> 12) << 4 |
                      (be_u16_at(p + 52) >> 12) << 8 | (be_u16_at(p + 54) >> 12) << 12);
}

static inline struct be_iq16 be_iq1_m_16(const uint8_t *p, float d, unsigned g)
{
    const uint8_t *q = p + 2 * g;
    unsigned high = p[32 + g], scale = be_u16_at(p + 48 + g / 4 * 2) >> g % 4 * 3 & 7;
    return (struct be_iq16){
        be_two(be_grid_iq1, q[0] | (high & 7) << 8, q[1] | (high >> 4 & 7) << 8), 0,
        (high & 8 ? 0xff : 0) | (high & 128 ? 0xff00 : 0), d * (float)(2 * scale + 1)
    };
}

#endif
