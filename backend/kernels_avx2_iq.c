/* AVX2 kernels for the IQ types of fewer than four bits: two entries of a grid are one
 * word, which is shifted by a different count in each lane and so spread over eight
 * elements; each lane then looks up its value and takes its sign. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include "backend/kernels_avx2.h"
#include "backend/kernels_x86_k.h"
#include "backend/quants_iq.h"

/* Bit j of signs as the sign of lane j. */
BE_AVX2_INLINE __m256 be_signs_x8(unsigned signs)
{
    __m256i s = _mm256_sllv_epi32(_mm256_set1_epi32((int)signs),
                                  _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
    return _mm256_and_ps(_mm256_castsi256_ps(s), _mm256_set1_ps(-0.0f));
}

/* Lane j: two bits of entry, still with what is above them. */
BE_AVX2_INLINE __m256i be_twos(uint32_t entry)
{
    return _mm256_srlv_epi32(_mm256_set1_epi32((int)entry),
                             _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
}

BE_AVX2_INLINE __m256 be_iq2_x8(uint32_t entry, unsigned signs, __m256 values)
{
    return _mm256_xor_ps(_mm256_permutevar_ps(values, be_twos(entry)),
                         be_signs_x8(signs));
}

BE_AVX2_INLINE __m256 be_iq3_x8(uint32_t entries, unsigned signs, __m256 values)
{
    __m256i at = _mm256_srlv_epi32(_mm256_set1_epi32((int)entries),
                                   _mm256_setr_epi32(0, 3, 6, 9, 16, 19, 22, 25));
    return _mm256_xor_ps(_mm256_permutevar8x32_ps(values, at), be_signs_x8(signs));
}

/* -1, 0, 1 and the eighth, whose sign is the opposite of "down". */
BE_AVX2_INLINE __m256 be_iq1_x8(uint32_t entry, unsigned down, __m256 d)
{
    __m256 steps = _mm256_setr_ps(-1, 0, 1, 2, -1, 0, 1, 2);
    __m256 eighth = _mm256_xor_ps(_mm256_set1_ps(0.125f), be_signs_x8(down));
    steps = _mm256_permutevar_ps(steps, be_twos(entry));
    return _mm256_mul_ps(_mm256_add_ps(steps, eighth), d);
}

BE_AVX2_INLINE struct be_quad be_iq1_32(struct be_iq16 u, struct be_iq16 v)
{
    __m256 du = _mm256_set1_ps(u.d), dv = _mm256_set1_ps(v.d);
    return (struct be_quad){
        { be_iq1_x8(u.a, u.signs, du), be_iq1_x8(u.a >> 16, u.signs >> 8, du),
          be_iq1_x8(v.a, v.signs, dv), be_iq1_x8(v.a >> 16, v.signs >> 8, dv) }
    };
}

BE_AVX2_INLINE struct be_quad be_iq2_32(struct be_iq16 u, struct be_iq16 v)
{
    __m256 values = _mm256_broadcast_ps((const __m128 *)be_values_iq2);
    __m256 du = _mm256_mul_ps(values, _mm256_set1_ps(u.d));
    __m256 dv = _mm256_mul_ps(values, _mm256_set1_ps(v.d));
    return (struct be_quad){
        { be_iq2_x8(u.a, u.signs, du), be_iq2_x8(u.a >> 16, u.signs >> 8, du),
          be_iq2_x8(v.a, v.signs, dv), be_iq2_x8(v.a >> 16, v.signs >> 8, dv) }
    };
}

BE_AVX2_INLINE struct be_quad be_iq3_32(struct be_iq16 u, struct be_iq16 v,
                                        const float *eight)
{
    __m256 values = _mm256_loadu_ps(eight);
    __m256 du = _mm256_mul_ps(values, _mm256_set1_ps(u.d));
    __m256 dv = _mm256_mul_ps(values, _mm256_set1_ps(v.d));
    return (struct be_quad){
        { be_iq3_x8(u.a, u.signs, du), be_iq3_x8(u.b, u.signs >> 8, du),
          be_iq3_x8(v.a, v.signs, dv), be_iq3_x8(v.b, v.signs >> 8, dv) }
    };
}

/* The block's d. */
BE_AVX2_INLINE float be_d_first(const uint8_t *p)
{
    return _cvtsh_ss(be_u16_at(p));
}

BE_AVX2_INLINE float be_d_iq1_m(const uint8_t *p)
{
    return _cvtsh_ss(be_iq1_m_half(p));
}

BE_AVX2_INLINE struct be_quad be_iq2_xxs_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq2_32(be_iq2_xxs_16(p, *d, 2 * k), be_iq2_xxs_16(p, *d, 2 * k + 1));
}

BE_AVX2_INLINE struct be_quad be_iq2_xs_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq2_32(be_iq2_xs_16(p, *d, 2 * k), be_iq2_xs_16(p, *d, 2 * k + 1));
}

BE_AVX2_INLINE struct be_quad be_iq2_s_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq2_32(be_iq2_s_16(p, *d, 2 * k), be_iq2_s_16(p, *d, 2 * k + 1));
}

BE_AVX2_INLINE struct be_quad be_iq3_xxs_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq3_32(be_iq3_xxs_16(p, *d, 2 * k), be_iq3_xxs_16(p, *d, 2 * k + 1),
                     be_values_iq3_xxs);
}

BE_AVX2_INLINE struct be_quad be_iq3_s_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq3_32(be_iq3_s_16(p, *d, 2 * k), be_iq3_s_16(p, *d, 2 * k + 1),
                     be_values_iq3_s);
}

BE_AVX2_INLINE struct be_quad be_iq1_s_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq1_32(be_iq1_s_16(p, *d, 2 * k), be_iq1_s_16(p, *d, 2 * k + 1));
}

BE_AVX2_INLINE struct be_quad be_iq1_m_32(const uint8_t *p, const float *d, unsigned k)
{
    return be_iq1_32(be_iq1_m_16(p, *d, 2 * k), be_iq1_m_16(p, *d, 2 * k + 1));
}

BE_SUPER_BLOCKS(iq2_xxs, be_d_first, 66)
BE_SUPER_BLOCKS(iq2_xs, be_d_first, 74)
BE_SUPER_BLOCKS(iq2_s, be_d_first, 82)
BE_SUPER_BLOCKS(iq3_xxs, be_d_first, 98)
BE_SUPER_BLOCKS(iq3_s, be_d_first, 110)
BE_SUPER_BLOCKS(iq1_s, be_d_first, 50)
BE_SUPER_BLOCKS(iq1_m, be_d_iq1_m, 56)

#else

typedef int be_no_avx2_here;

#endif
