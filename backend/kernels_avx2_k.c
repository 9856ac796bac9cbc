/* AVX2 kernels for the types with blocks of 256 (layouts: backend/quants_k.c). Each is a
 * function that makes floats of one eighth of a block, 32 elements; since a product of
 * scales and a small integer is exact, they have the bits of the portable ones. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include "backend/kernels_avx2.h"
#include "backend/kernels_x86_k.h"

/* The 16 bytes at p, `by` bits down; what comes from the neighbour is for the caller to
 * mask off. */
BE_AVX2_INLINE __m128i be_down_16(const uint8_t *p, unsigned by)
{
    return _mm_srl_epi16(be_load_16(p), _mm_cvtsi32_si128((int)by));
}

BE_AVX2_INLINE __m128i be_low_pairs(__m128i q)
{
    return _mm_and_si128(q, _mm_set1_epi8(3));
}

/* All ones where bit k of a byte at p is on. */
BE_AVX2_INLINE __m128i be_bit_16(const uint8_t *p, unsigned k)
{
    __m128i bit = _mm_set1_epi8((char)(1u << k));
    return _mm_cmpeq_epi8(_mm_and_si128(be_load_16(p), bit), bit);
}

BE_AVX2_INLINE __m256 be_all(float f)
{
    return _mm256_set1_ps(f);
}

/* q * d where each half has its own d. */
BE_AVX2_INLINE struct be_quad be_scale_16s(__m128i lo, __m128i hi, const float *d)
{
    __m256 d0 = be_all(d[0]), d1 = be_all(d[1]);
    return (struct be_quad){
        { _mm256_mul_ps(be_bytes_to_floats(lo), d0),
          _mm256_mul_ps(be_bytes_to_floats(_mm_srli_si128(lo, 8)), d0),
          _mm256_mul_ps(be_bytes_to_floats(hi), d1),
          _mm256_mul_ps(be_bytes_to_floats(_mm_srli_si128(hi, 8)), d1) }
    };
}

BE_AVX2_INLINE struct be_quad be_q2_k_32(const uint8_t *p, const struct be_scales *s,
                                         unsigned k)
{
    const uint8_t *q = p + 16 + k / 4 * 32;
    __m128i lo = be_low_pairs(be_down_16(q, k % 4 * 2));
    __m128i hi = be_low_pairs(be_down_16(q + 16, k % 4 * 2));
    __m256 d0 = be_all(s->scale[2 * k]), d1 = be_all(s->scale[2 * k + 1]);
    __m256 m0 = be_all(s->min[2 * k]), m1 = be_all(s->min[2 * k + 1]);
    return (struct be_quad){
        { _mm256_fmsub_ps(be_bytes_to_floats(lo), d0, m0),
          _mm256_fmsub_ps(be_bytes_to_floats(_mm_srli_si128(lo, 8)), d0, m0),
          _mm256_fmsub_ps(be_bytes_to_floats(hi), d1, m1),
          _mm256_fmsub_ps(be_bytes_to_floats(_mm_srli_si128(hi, 8)), d1, m1) }
    };
}

/* Two bits are 4 too many where the third bit is off: then all upper bits are set. */
BE_AVX2_INLINE struct be_quad be_q3_k_32(const uint8_t *p, const struct be_scales *s,
                                         unsigned k)
{
    const uint8_t *q = p + 32 + k / 4 * 32;
    __m128i upper = _mm_set1_epi8((char)0xfc);
    __m128i lo = be_low_pairs(be_down_16(q, k % 4 * 2));
    __m128i hi = be_low_pairs(be_down_16(q + 16, k % 4 * 2));
    lo = _mm_or_si128(lo, _mm_andnot_si128(be_bit_16(p, k), upper));
    hi = _mm_or_si128(hi, _mm_andnot_si128(be_bit_16(p + 16, k), upper));
    return be_scale_16s(lo, hi, s->scale + 2 * k);
}

/* x * d + -m and x * d - m are the same. */
BE_AVX2_INLINE struct be_quad be_minus_min(__m128i lo, __m128i hi,
                                           const struct be_scales *s, unsigned k)
{
    return be_scale_add_32(lo, hi, be_all(s->scale[k]), be_all(-s->min[k]));
}

BE_AVX2_INLINE struct be_quad be_q4_k_32(const uint8_t *p, const struct be_scales *s,
                                         unsigned k)
{
    const uint8_t *q = p + 16 + k / 2 * 32;
    return be_minus_min(be_low_nibbles(be_down_16(q, k % 2 * 4)),
                        be_low_nibbles(be_down_16(q + 16, k % 2 * 4)), s, k);
}

BE_AVX2_INLINE struct be_quad be_q5_k_32(const uint8_t *p, const struct be_scales *s,
                                         unsigned k)
{
    const uint8_t *q = p + 48 + k / 2 * 32;
    __m128i fifth = _mm_set1_epi8(16);
    __m128i lo = be_low_nibbles(be_down_16(q, k % 2 * 4));
    __m128i hi = be_low_nibbles(be_down_16(q + 16, k % 2 * 4));
    lo = _mm_or_si128(lo, _mm_and_si128(be_bit_16(p + 16, k), fifth));
    hi = _mm_or_si128(hi, _mm_and_si128(be_bit_16(p + 32, k), fifth));
    return be_minus_min(lo, hi, s, k);
}

BE_AVX2_INLINE __m128i be_q6(const uint8_t *low, const uint8_t *high, unsigned k)
{
    __m128i q = be_low_nibbles(be_down_16(low, k % 4 / 2 * 4));
    __m128i h = be_low_pairs(be_down_16(high, k % 4 * 2));
    return _mm_sub_epi8(_mm_or_si128(q, _mm_slli_epi16(h, 4)), _mm_set1_epi8(32));
}

BE_AVX2_INLINE struct be_quad be_q6_k_32(const uint8_t *p, const struct be_scales *s,
                                         unsigned k)
{
    const uint8_t *low = p + k / 4 * 64 + k % 2 * 32, *high = p + 128 + k / 4 * 32;
    return be_scale_16s(be_q6(low, high, k), be_q6(low + 16, high + 16, k),
                        s->scale + 2 * k);
}

BE_AVX2_INLINE struct be_quad be_iq4_xs_32(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    return be_pick_16(p + 8 + 16 * k, be_values_iq4, be_all(s->scale[k]));
}

BE_SUPER_BLOCKS(q2_k, be_q2_k_scales, 84)
BE_SUPER_BLOCKS(q3_k, be_q3_k_scales, 110)
BE_SUPER_BLOCKS(q4_k, be_q4_k_scales, 144)
BE_SUPER_BLOCKS(q5_k, be_q4_k_scales, 176)
BE_SUPER_BLOCKS(q6_k, be_q6_k_scales, 210)
BE_SUPER_BLOCKS(iq4_xs, be_iq4_xs_scales, 136)

#else

typedef int be_no_avx2_here;

#endif
