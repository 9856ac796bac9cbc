#ifndef BE_KERNELS_X86_K_H
#define BE_KERNELS_X86_K_H

/* What the AVX2 and AVX-512 kernels for blocks of 256 share: the scales of a block as
 * floats, already times its d, and the list of functions. */

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

#if BE_KERNELS_X86

#include <immintrin.h>

#define BE_X86_K_INLINE \
    static inline __attribute__((target("avx2,fma,f16c"), always_inline))

be_dequant_fn be_avx2_q2_k, be_avx2_q3_k, be_avx2_q4_k, be_avx2_q5_k, be_avx2_q6_k,
    be_avx2_iq4_xs, be_avx2_iq2_xxs, be_avx2_iq2_xs, be_avx2_iq2_s, be_avx2_iq3_xxs,
    be_avx2_iq3_s, be_avx2_iq1_s, be_avx2_iq1_m;
be_dot_blocks_fn be_avx2_q2_k_dot, be_avx2_q3_k_dot, be_avx2_q4_k_dot, be_avx2_q5_k_dot,
    be_avx2_q6_k_dot, be_avx2_iq4_xs_dot, be_avx2_iq2_xxs_dot, be_avx2_iq2_xs_dot,
    be_avx2_iq2_s_dot, be_avx2_iq3_xxs_dot, be_avx2_iq3_s_dot, be_avx2_iq1_s_dot,
    be_avx2_iq1_m_dot;
be_dequant_fn be_avx512_q2_k, be_avx512_q3_k, be_avx512_q4_k, be_avx512_q5_k,
    be_avx512_q6_k, be_avx512_iq4_xs, be_avx512_iq2_xxs, be_avx512_iq2_xs,
    be_avx512_iq2_s, be_avx512_iq3_xxs, be_avx512_iq3_s, be_avx512_iq1_s, be_avx512_iq1_m;
be_dot_blocks_fn be_avx512_q2_k_dot, be_avx512_q3_k_dot, be_avx512_q4_k_dot,
    be_avx512_q5_k_dot, be_avx512_q6_k_dot, be_avx512_iq4_xs_dot, be_avx512_iq2_xxs_dot,
    be_avx512_iq2_xs_dot, be_avx512_iq2_s_dot, be_avx512_iq3_xxs_dot, be_avx512_iq3_s_dot,
    be_avx512_iq1_s_dot, be_avx512_iq1_m_dot;

/* One for each sub-block of 16 or 32: x = scale * q - min. */
struct be_scales {
    float scale[16], min[16];
};

BE_X86_K_INLINE __m256 be_half_x8(const uint8_t *p)
{
    return _mm256_set1_ps(_cvtsh_ss(be_u16_at(p)));
}

/* out[i] = d * byte i, signed, for eight bytes. */
BE_X86_K_INLINE void be_put_x8(__m128i bytes, __m256 d, float *out)
{
    _mm256_storeu_ps(out,
                     _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))));
}

BE_X86_K_INLINE void be_put_x16(__m128i bytes, __m256 d, float *out)
{
    be_put_x8(bytes, d, out);
    be_put_x8(_mm_unpackhi_epi64(bytes, bytes), d, out + 8);
}

BE_X86_K_INLINE __m128i be_words(const uint32_t w[4])
{
    return _mm_set_epi32((int)w[3], (int)w[2], (int)w[1], (int)w[0]);
}

BE_X86_K_INLINE struct be_scales be_q2_k_scales(const uint8_t *p)
{
    struct be_scales s;
    __m128i b = _mm_loadu_si128((const __m128i *)p), low = _mm_set1_epi8(15);
    be_put_x16(_mm_and_si128(b, low), be_half_x8(p + 80), s.scale);
    be_put_x16(_mm_and_si128(_mm_srli_epi16(b, 4), low), be_half_x8(p + 82), s.min);
    return s;
}

BE_X86_K_INLINE struct be_scales be_q3_k_scales(const uint8_t *p)
{
    struct be_scales s;
    uint32_t w[4];
    be_scales_k3(p + 96, w);
    be_put_x16(_mm_sub_epi8(be_words(w), _mm_set1_epi8(32)), be_half_x8(p + 108),
               s.scale);
    return s;
}

/* The same in Q5_K. */
BE_X86_K_INLINE struct be_scales be_q4_k_scales(const uint8_t *p)
{
    struct be_scales s;
    uint32_t w[4];
    be_scales_k4(p + 4, w);
    __m128i b = be_words(w);
    be_put_x8(b, be_half_x8(p), s.scale);
    be_put_x8(_mm_unpackhi_epi64(b, b), be_half_x8(p + 2), s.min);
    return s;
}

BE_X86_K_INLINE struct be_scales be_q6_k_scales(const uint8_t *p)
{
    struct be_scales s;
    be_put_x16(_mm_loadu_si128((const __m128i *)(p + 192)), be_half_x8(p + 208), s.scale);
    return s;
}

/* be_scale_iq4() of all eight. */
BE_X86_K_INLINE struct be_scales be_iq4_xs_scales(const uint8_t *p)
{
    struct be_scales s;
    __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(be_u16_at(p + 2)),
                                     _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32((int)be_u32_at(p + 4)),
                                    _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    high = _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4);
    low = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)), high);
    low = _mm256_sub_epi32(low, _mm256_set1_epi32(32));
    _mm256_storeu_ps(s.scale, _mm256_mul_ps(be_half_x8(p), _mm256_cvtepi32_ps(low)));
    return s;
}

#endif

#endif
