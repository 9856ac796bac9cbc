/* AVX-512 kernels for the types with blocks of 256 (layouts: backend/quants_k.c). Each is
 * a function that makes floats of a quarter of a block, 64 elements in four vectors.
 *
 * Up to 32 values per sub-block are looked up, as in kernels_avx512.c: computed once from
 * the scales, then chosen by the low bits of each element's number. The bits are those of
 * the portable functions, because the products are exact. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include "backend/kernels_avx512.h"
#include "backend/kernels_x86_k.h"

/* 16 bytes at p as integers, by bits down. */
BE_AVX512_INLINE __m512i be_wide_16(const uint8_t *p, unsigned by)
{
    __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm512_srlv_epi32(q, _mm512_set1_epi32((int)by));
}

BE_AVX512_INLINE __m512 be_all(float f)
{
    return _mm512_set1_ps(f);
}

/* Two bits choose within each four lanes. */
BE_AVX512_INLINE __m512 be_q2_k_16(const uint8_t *q, unsigned by,
                                   const struct be_scales *s, unsigned k)
{
    __m512 steps = _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    __m512 values = _mm512_fmsub_ps(steps, be_all(s->scale[k]), be_all(s->min[k]));
    return _mm512_permutevar_ps(values, be_wide_16(q, by));
}

BE_AVX512_INLINE struct be_four be_q2_k_64(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    const uint8_t *q = p + 16 + k / 2 * 32;
    unsigned by = k % 2 * 4;
    return (struct be_four){
        { be_q2_k_16(q, by, s, 4 * k), be_q2_k_16(q + 16, by, s, 4 * k + 1),
          be_q2_k_16(q, by + 2, s, 4 * k + 2), be_q2_k_16(q + 16, by + 2, s, 4 * k + 3) }
    };
}

/* The third bit of element j is bit `bit` of byte j of high. The values stand twice, so
 * that the fourth bit of an index does not matter. */
BE_AVX512_INLINE __m512 be_q3_k_16(const uint8_t *q, unsigned by, const uint8_t *high,
                                   unsigned bit, float scale)
{
    __m512 steps = _mm512_setr_ps(-4, -3, -2, -1, 0, 1, 2, 3, -4, -3, -2, -1, 0, 1, 2, 3);
    __m512i two = _mm512_set1_epi32(3);
    __m512i h = _mm512_slli_epi32(be_wide_16(high, bit), 2);
    /* where two: q, elsewhere: h */
    __m512i at = _mm512_ternarylogic_epi32(two, be_wide_16(q, by), h, 0xca);
    return _mm512_permutexvar_ps(at, _mm512_mul_ps(steps, be_all(scale)));
}

BE_AVX512_INLINE struct be_four be_q3_k_64(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    const uint8_t *q = p + 32 + k / 2 * 32;
    unsigned by = k % 2 * 4;
    return (struct be_four){ { be_q3_k_16(q, by, p, 2 * k, s->scale[4 * k]),
                               be_q3_k_16(q + 16, by, p + 16, 2 * k, s->scale[4 * k + 1]),
                               be_q3_k_16(q, by + 2, p, 2 * k + 1, s->scale[4 * k + 2]),
                               be_q3_k_16(q + 16, by + 2, p + 16, 2 * k + 1,
                                          s->scale[4 * k + 3]) } };
}

BE_AVX512_INLINE struct be_four be_q4_k_64(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    const uint8_t *q = p + 16 + k * 32;
    __m512 steps = be_count_from(0);
    __m512 lo = _mm512_fmsub_ps(steps, be_all(s->scale[2 * k]), be_all(s->min[2 * k]));
    __m512 hi =
        _mm512_fmsub_ps(steps, be_all(s->scale[2 * k + 1]), be_all(s->min[2 * k + 1]));
    return (struct be_four){ { _mm512_permutexvar_ps(be_wide_16(q, 0), lo),
                               _mm512_permutexvar_ps(be_wide_16(q + 16, 0), lo),
                               _mm512_permutexvar_ps(be_wide_16(q, 4), hi),
                               _mm512_permutexvar_ps(be_wide_16(q + 16, 4), hi) } };
}

/* Bit k of the 32 bytes at high as the fifth of the nibbles at q: numbers below 32. */
BE_AVX512_INLINE __m256i be_q5_32(const uint8_t *q, const uint8_t *high, unsigned k)
{
    __m256i n = _mm256_loadu_si256((const __m256i *)q);
    __m256i h = _mm256_loadu_si256((const __m256i *)high);
    __mmask32 on = _mm256_test_epi8_mask(h, _mm256_set1_epi8((char)(1u << k)));
    n = _mm256_srl_epi16(n, _mm_cvtsi32_si128((int)(k % 2 * 4)));
    n = _mm256_and_si256(n, _mm256_set1_epi8(15));
    return _mm256_mask_add_epi8(n, on, n, _mm256_set1_epi8(16));
}

BE_AVX512_INLINE struct be_pair be_q5_k_32(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    __m256i q = be_q5_32(p + 48 + k / 2 * 32, p + 16, k);
    __m512 d = be_all(s->scale[k]), m = be_all(s->min[k]);
    __m512 lower = _mm512_fmsub_ps(be_count_from(0), d, m);
    __m512 upper = _mm512_fmsub_ps(be_count_from(16), d, m);
    __m512i lo = _mm512_cvtepu8_epi32(_mm256_castsi256_si128(q));
    __m512i hi = _mm512_cvtepu8_epi32(_mm256_extracti128_si256(q, 1));
    return (struct be_pair){ _mm512_permutex2var_ps(lower, lo, upper),
                             _mm512_permutex2var_ps(lower, hi, upper) };
}

BE_AVX512_INLINE struct be_four be_q5_k_64(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    struct be_pair a = be_q5_k_32(p, s, 2 * k), b = be_q5_k_32(p, s, 2 * k + 1);
    return (struct be_four){ { a.lo, a.hi, b.lo, b.hi } };
}

BE_AVX512_INLINE __m512 be_q6_k_16(__m128i q, float scale)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q)), be_all(scale));
}

/* 64 values would be four lookups: here they are computed. */
BE_AVX512_INLINE struct be_four be_q6_k_64(const uint8_t *p, const struct be_scales *s,
                                           unsigned k)
{
    __m512i low = _mm512_loadu_si512(p + k / 2 * 64), q;
    __m256i high = _mm256_loadu_si256((const __m256i *)(p + 128 + k / 2 * 32));
    const float *d = s->scale + 4 * k;

    low = _mm512_srl_epi16(low, _mm_cvtsi32_si128((int)(k % 2 * 4)));
    high = _mm256_srl_epi16(high, _mm_cvtsi32_si128((int)(k % 2 * 4)));
    q = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_slli_epi16(high, 4)),
                           _mm256_slli_epi16(high, 2), 1);
    q = _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi8(15)),
                        _mm512_and_si512(q, _mm512_set1_epi8(0x30)));
    q = _mm512_sub_epi8(q, _mm512_set1_epi8(32));
    return (struct be_four){ { be_q6_k_16(_mm512_castsi512_si128(q), d[0]),
                               be_q6_k_16(_mm512_extracti32x4_epi32(q, 1), d[1]),
                               be_q6_k_16(_mm512_extracti32x4_epi32(q, 2), d[2]),
                               be_q6_k_16(_mm512_extracti32x4_epi32(q, 3), d[3]) } };
}

BE_AVX512_INLINE struct be_four be_iq4_xs_64(const uint8_t *p, const struct be_scales *s,
                                             unsigned k)
{
    __m512 values = be_values_of(be_values_iq4);
    struct be_pair a, b;
    a = be_pick_16(p + 8 + 32 * k, _mm512_mul_ps(values, be_all(s->scale[2 * k])));
    b = be_pick_16(p + 24 + 32 * k, _mm512_mul_ps(values, be_all(s->scale[2 * k + 1])));
    return (struct be_four){ { a.lo, a.hi, b.lo, b.hi } };
}

BE_SUPER_BLOCKS(q2_k, be_q2_k_scales, 84)
BE_SUPER_BLOCKS(q3_k, be_q3_k_scales, 110)
BE_SUPER_BLOCKS(q4_k, be_q4_k_scales, 144)
BE_SUPER_BLOCKS(q5_k, be_q4_k_scales, 176)
BE_SUPER_BLOCKS(q6_k, be_q6_k_scales, 210)
BE_SUPER_BLOCKS(iq4_xs, be_iq4_xs_scales, 136)

#else

typedef int be_no_avx512_here;

#endif
