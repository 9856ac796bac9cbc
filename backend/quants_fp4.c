/* Dequantisation of the types whose four bits choose one of sixteen values, in plain C:
 *   IQ4_NL  d (half), 16 bytes                           32 elements
 *   IQ4_XS  d (half), 2 bytes and 4 bytes of scales, 128 256, in eight parts of 32
 *   MXFP4   e (a power of two), 16 bytes                 32
 *   NVFP4   4 scales (floats of 4 and 3 bits), 32 bytes  64, in four parts of 16
 * In each part the low nibbles come first, then the high ones. The first two have values
 * that are denser around zero; the last two hold floats of two and one bit (OCP
 * Microscaling Formats, E2M1), doubled so that they are integers.
 *
 * NVFP4's scale is unsigned, E4M3 with bias 7; its one NaN counts as zero, as in ggml.
 * The scale of the whole tensor that may go with it is a tensor of its own, not our
 * business. */
#include "config.h"

#include <math.h>

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

const int8_t be_values_iq4[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                   1,    13,   25,  38,  53,  69,  89,  113 };
const int8_t be_values_fp4[16] = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12
};

/* 2 * n elements from n bytes. */
static void be_pick(const uint8_t *q, size_t n, const int8_t *values, float d, float *out)
{
    for (size_t j = 0; j < n; j++) {
        out[j] = d * (float)values[q[j] & 15];
        out[j + n] = d * (float)values[q[j] >> 4];
    }
}

void be_dequant_iq4_nl(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_SUB, p += 18)
        be_pick(p + 2, 16, be_values_iq4, be_half_of(p), out + i);
}

void be_dequant_iq4_xs(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += BE_SUPER, p += 136)
        for (unsigned s = 0; s < 8; s++) {
            int scale = be_scale_iq4(p + 2, p + 4, s) - 32;
            be_pick(p + 8 + 16 * s, 16, be_values_iq4, be_half_of(p) * (float)scale,
                    out + i + BE_SUB * s);
        }
}

void be_dequant_mxfp4(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_SUB, p += 17)
        be_pick(p + 1, 16, be_values_fp4, be_e8m0_half(*p), out + i);
}

/* Half of the number, since the values are doubled. */
static float be_ue4m3_half(uint8_t v)
{
    int exponent = v >> 3 & 15, fraction = v & 7;

    if ((v & 0x7f) == 0x7f)
        return 0;
    return exponent ? ldexpf((float)(8 + fraction), exponent - 11)
                    : ldexpf((float)fraction, -10);
}

void be_dequant_nvfp4(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;

    for (size_t i = 0; i < n; i += 64, p += 36)
        for (size_t s = 0; s < 4; s++)
            be_pick(p + 4 + 8 * s, 8, be_values_fp4, be_ue4m3_half(p[s]),
                    out + i + 16 * s);
}
