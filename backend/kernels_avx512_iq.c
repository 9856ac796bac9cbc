/* AVX-512 kernels for the IQ types of fewer than four bits: two entries of a grid (or
 * twice two) are a word, which is shifted by a different count in each lane and so spread
 * over sixteen elements; each lane then looks up its value and takes its sign. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include "backend/kernels_avx512.h"
#include "backend/kernels_x86_k.h"
#include "backend/quants_iq.h"

/* Lane j: two bits of the two entries, still with what is above them. */
BE_AVX512_INLINE __m512i be_twos(uint32_t entries)
{
    return _mm512_srlv_epi32(
        _mm512_set1_epi32((int)entries),
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
}

BE_AVX512_INLINE __m512 be_negate(__m512 v, unsigned where)
{
    return _mm512_mask_xor_ps(v, (__mmask16)where, v, _mm512_set1_ps(-0.0f));
}

BE_AVX512_INLINE __m512 be_iq1_x16(struct be_iq16 u)
{
    __m512 steps = _mm512_setr_ps(-1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2);
    __m512 eighth = be_negate(_mm512_set1_ps(0.125f), u.signs);
    steps = _mm512_permutevar_ps(steps, be_twos(u.a));
    return _mm512_mul_ps(_mm512_add_ps(steps, eighth), _mm512_set1_ps(u.d));
}

BE_AVX512_INLINE __m512 be_iq2_x16(struct be_iq16 u)
{
    __m512 values = _mm512_broadcast_f32x4(_mm_loadu_ps(be_values_iq2));
    values = _mm512_mul_ps(values, _mm512_set1_ps(u.d));
    return be_negate(_mm512_permutevar_ps(values, be_twos(u.a)), u.signs);
}

/* The eight values stand twice, so that the fourth bit of an index does not matter. */
BE_AVX512_INLINE __m512 be_iq3_x16(struct be_iq16 u, const float *eight)
{
    __m512 values = _mm512_broadcast_f32x8(_mm256_loadu_ps(eight));
    __m512i at = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)u.a), 0xff00, (int)u.b);
    at = _mm512_srlv_epi32(
        at, _mm512_setr_epi32(0, 3, 6, 9, 16, 19, 22, 25, 0, 3, 6, 9, 16, 19, 22, 25));
    values = _mm512_mul_ps(values, _mm512_set1_ps(u.d));
    return be_negate(_mm512_permutexvar_ps(at, values), u.signs);
}

/* The block's d. */
BE_AVX512_INLINE float be_d_first(const uint8_t *p)
{
    return _cvtsh_ss(be_u16_at(p));
}

BE_AVX512_INLINE float be_d_iq1_m(const uint8_t *p)
{
    return _cvtsh_ss(be_iq1_m_half(p));
}

BE_AVX512_INLINE struct be_four be_iq2_xxs_64(const uint8_t *p, const float *d,
                                              unsigned k)
{
    return (struct be_four){ { be_iq2_x16(be_iq2_xxs_16(p, *d, 4 * k)),
                               be_iq2_x16(be_iq2_xxs_16(p, *d, 4 * k + 1)),
                               be_iq2_x16(be_iq2_xxs_16(p, *d, 4 * k + 2)),
                               be_iq2_x16(be_iq2_xxs_16(p, *d, 4 * k + 3)) } };
}

BE_AVX512_INLINE struct be_four be_iq2_xs_64(const uint8_t *p, const float *d, unsigned k)
{
    return (struct be_four){ { be_iq2_x16(be_iq2_xs_16(p, *d, 4 * k)),
                               be_iq2_x16(be_iq2_xs_16(p, *d, 4 * k + 1)),
                               be_iq2_x16(be_iq2_xs_16(p, *d, 4 * k + 2)),
                               be_iq2_x16(be_iq2_xs_16(p, *d, 4 * k + 3)) } };
}

BE_AVX512_INLINE struct be_four be_iq2_s_64(const uint8_t *p, const float *d, unsigned k)
{
    return (struct be_four){ { be_iq2_x16(be_iq2_s_16(p, *d, 4 * k)),
                               be_iq2_x16(be_iq2_s_16(p, *d, 4 * k + 1)),
                               be_iq2_x16(be_iq2_s_16(p, *d, 4 * k + 2)),
                               be_iq2_x16(be_iq2_s_16(p, *d, 4 * k + 3)) } };
}

BE_AVX512_INLINE struct be_four be_iq3_xxs_64(const uint8_t *p, const float *d,
                                              unsigned k)
{
    return (struct be_four){
        { be_iq3_x16(be_iq3_xxs_16(p, *d, 4 * k), be_values_iq3_xxs),
          be_iq3_x16(be_iq3_xxs_16(p, *d, 4 * k + 1), be_values_iq3_xxs),
          be_iq3_x16(be_iq3_xxs_16(p, *d, 4 * k + 2), be_values_iq3_xxs),
          be_iq3_x16(be_iq3_xxs_16(p, *d, 4 * k + 3), be_values_iq3_xxs) }
    };
}

BE_AVX512_INLINE struct be_four be_iq3_s_64(const uint8_t *p, const float *d, unsigned k)
{
    return (
        struct be_four){ { be_iq3_x16(be_iq3_s_16(p, *d, 4 * k), be_values_iq3_s),
                           be_iq3_x16(be_iq3_s_16(p, *d, 4 * k + 1), be_values_iq3_s),
                           be_iq3_x16(be_iq3_s_16(p, *d, 4 * k + 2), be_values_iq3_s),
                           be_iq3_x16(be_iq3_s_16(p, *d, 4 * k + 3), be_values_iq3_s) } };
}

BE_AVX512_INLINE struct be_four be_iq1_s_64(const uint8_t *p, const float *d, unsigned k)
{
    return (struct be_four){ { be_iq1_x16(be_iq1_s_16(p, *d, 4 * k)),
                               be_iq1_x16(be_iq1_s_16(p, *d, 4 * k + 1)),
                               be_iq1_x16(be_iq1_s_16(p, *d, 4 * k + 2)),
                               be_iq1_x16(be_iq1_s_16(p, *d, 4 * k + 3)) } };
}

BE_AVX512_INLINE struct be_four be_iq1_m_64(const uint8_t *p, const float *d, unsigned k)
{
    return (struct be_four){ { be_iq1_x16(be_iq1_m_16(p, *d, 4 * k)),
                               be_iq1_x16(be_iq1_m_16(p, *d, 4 * k + 1)),
                               be_iq1_x16(be_iq1_m_16(p, *d, 4 * k + 2)),
                               be_iq1_x16(be_iq1_m_16(p, *d, 4 * k + 3)) } };
}

BE_SUPER_BLOCKS(iq2_xxs, be_d_first, 66)
BE_SUPER_BLOCKS(iq2_xs, be_d_first, 74)
BE_SUPER_BLOCKS(iq2_s, be_d_first, 82)
BE_SUPER_BLOCKS(iq3_xxs, be_d_first, 98)
BE_SUPER_BLOCKS(iq3_s, be_d_first, 110)
BE_SUPER_BLOCKS(iq1_s, be_d_first, 50)
BE_SUPER_BLOCKS(iq1_m, be_d_iq1_m, 56)

#else

typedef int be_no_avx512_here;

#endif
