#ifndef BE_KERNELS_AVX2_H
#define BE_KERNELS_AVX2_H

/* The pieces that the AVX2 kernels are made of, and that the AVX-512 ones use too: sums,
 * unpacking of nibbles and bits, and the two functions (a row to floats, a row times x)
 * that follow from a function for one block. */

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

#if BE_KERNELS_X86

#include <immintrin.h>
#include <string.h>

#define BE_AVX2 __attribute__((target("avx2,fma,f16c")))
#define BE_AVX2_INLINE \
    static inline __attribute__((target("avx2,fma,f16c"), always_inline))

enum { BE_BLOCK = 32, BE_HALF = BE_BLOCK / 2 };

BE_AVX2_INLINE float be_sum4(__m256 s0, __m256 s1, __m256 s2, __m256 s3)
{
    __m256 s = _mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3));
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    h = _mm_add_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

#define BE_STEP(s, x, i) s = _mm256_fmadd_ps(w0, _mm256_loadu_ps((x) + (i)), s)

BE_AVX2_INLINE __m256 be_half_at(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return _mm256_set1_ps(_cvtsh_ss(h));
}

/* The 32 floats of a block. */
struct be_quad {
    __m256 v[4];
};

BE_AVX2_INLINE __m256 be_bytes_to_floats(__m128i q)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q));
}

/* q * d for the signed bytes of lo and hi. */
BE_AVX2_INLINE struct be_quad be_scale_32(__m128i lo, __m128i hi, __m256 d)
{
    return (struct be_quad){ {
        _mm256_mul_ps(be_bytes_to_floats(lo), d),
        _mm256_mul_ps(be_bytes_to_floats(_mm_srli_si128(lo, 8)), d),
        _mm256_mul_ps(be_bytes_to_floats(hi), d),
        _mm256_mul_ps(be_bytes_to_floats(_mm_srli_si128(hi, 8)), d) } };
}

/* q * d + m. */
BE_AVX2_INLINE struct be_quad be_scale_add_32(__m128i lo, __m128i hi, __m256 d, __m256 m)
{
    return (struct be_quad){ {
        _mm256_fmadd_ps(be_bytes_to_floats(lo), d, m),
        _mm256_fmadd_ps(be_bytes_to_floats(_mm_srli_si128(lo, 8)), d, m),
        _mm256_fmadd_ps(be_bytes_to_floats(hi), d, m),
        _mm256_fmadd_ps(be_bytes_to_floats(_mm_srli_si128(hi, 8)), d, m) } };
}

BE_AVX2_INLINE __m128i be_load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

BE_AVX2_INLINE __m128i be_low_nibbles(__m128i q)
{
    return _mm_and_si128(q, _mm_set1_epi8(15));
}

BE_AVX2_INLINE __m128i be_high_nibbles(__m128i q)
{
    return be_low_nibbles(_mm_srli_epi16(q, 4));
}

/* Sixteen values by nibble. */
BE_AVX2_INLINE struct be_quad be_pick_16(const uint8_t *nibbles, const int8_t *sixteen,
                                         __m256 d)
{
    __m128i q = be_load_16(nibbles), values = _mm_loadu_si128((const __m128i *)sixteen);
    return be_scale_32(_mm_shuffle_epi8(values, be_low_nibbles(q)),
                       _mm_shuffle_epi8(values, be_high_nibbles(q)), d);
}

/* Bit j of the 16 bits at p becomes byte j: all ones or zero. */
BE_AVX2_INLINE __m128i be_bits_to_bytes(const uint8_t *p)
{
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    __m128i each = _mm_set1_epi64x((long long)0x8040201008040201ull);
    __m128i v =
        _mm_shuffle_epi8(_mm_cvtsi32_si128(bits),
                         _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
    return _mm_cmpeq_epi8(_mm_and_si128(v, each), each);
}

/* From a function for an eighth of a block: a row to floats, and its dot product with x
 * in the order of dot(). What scales() reads of a block is passed to each piece;
 * the empty asm keeps it in memory for the dot product, since a broadcast from there is
 * cheaper than the shuffles that compilers take from a register. */
#define BE_PUT_32(name, k) \
    do { \
        struct be_quad u = be_##name##_32(p, &s, k); \
        for (size_t j = 0; j < 4; j++) \
            _mm256_storeu_ps(out + i + 32 * (k) + 8 * j, u.v[j]); \
    } while (0)
#define BE_ADD_32(name, k) \
    do { \
        struct be_quad u = be_##name##_32(p, &s, k); \
        w0 = u.v[0], BE_STEP(s0, x, i + 32 * (k)); \
        w0 = u.v[1], BE_STEP(s1, x, i + 32 * (k) + 8); \
        w0 = u.v[2], BE_STEP(s2, x, i + 32 * (k) + 16); \
        w0 = u.v[3], BE_STEP(s3, x, i + 32 * (k) + 24); \
    } while (0)
#define BE_SUPER_BLOCKS(name, scales, bytes) \
    BE_AVX2 void be_avx2_##name(const void *blocks, float *out, size_t n) \
    { \
        const uint8_t *p = blocks; \
        for (size_t i = 0; i < n; i += BE_SUPER, p += (bytes)) { \
            const __typeof__(scales(p)) s = scales(p); \
            BE_PUT_32(name, 0); BE_PUT_32(name, 1); \
            BE_PUT_32(name, 2); BE_PUT_32(name, 3); \
            BE_PUT_32(name, 4); BE_PUT_32(name, 5); \
            BE_PUT_32(name, 6); BE_PUT_32(name, 7); \
        } \
    } \
    BE_AVX2 float be_avx2_##name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint8_t *p = blocks; \
        __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0; \
        for (size_t i = 0; i < n; i += BE_SUPER, p += (bytes)) { \
            __typeof__(scales(p)) s = scales(p); \
            __asm__("" : "+m"(s)); \
            BE_ADD_32(name, 0); BE_ADD_32(name, 1); \
            BE_ADD_32(name, 2); BE_ADD_32(name, 3); \
            BE_ADD_32(name, 4); BE_ADD_32(name, 5); \
            BE_ADD_32(name, 6); BE_ADD_32(name, 7); \
        } \
        return be_sum4(s0, s1, s2, s3); \
    }

#endif

#endif
