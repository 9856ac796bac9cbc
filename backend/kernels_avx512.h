#ifndef BE_KERNELS_AVX512_H
#define BE_KERNELS_AVX512_H

/* The pieces that the AVX-512 kernels are made of: sums, looking up sixteen values, and
 * the two functions (a row to floats, a row times x) that follow from a function for one
 * block. */

#include "backend/kernels_int.h"
#include "backend/quants_int.h"

#if BE_KERNELS_X86

#include <immintrin.h>
#include <string.h>

#define BE_FEATURES      "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq"
#define BE_AVX512        __attribute__((target(BE_FEATURES)))
#define BE_AVX512_INLINE static inline __attribute__((target(BE_FEATURES), always_inline))

enum { BE_BLOCK = 32, BE_HALF = BE_BLOCK / 2 };

BE_AVX512_INLINE float be_sum4(__m512 s0, __m512 s1, __m512 s2, __m512 s3)
{
    __m512 s = _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
    __m256 q = _mm256_add_ps(_mm512_castps512_ps256(s), _mm512_extractf32x8_ps(s, 1));
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(q), _mm256_extractf128_ps(q, 1));
    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    h = _mm_add_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

#define BE_STEP(s, x, i) s = _mm512_fmadd_ps(w0, _mm512_loadu_ps((x) + (i)), s)

BE_AVX512_INLINE __m512 be_half_at(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return _mm512_set1_ps(_cvtsh_ss(h));
}

/* The 32 floats of a block. */
struct be_pair {
    __m512 lo, hi;
};

/* from, from + 1, ... */
BE_AVX512_INLINE __m512 be_count_from(float from)
{
    return _mm512_add_ps(_mm512_set1_ps(from), _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8,
                                                              9, 10, 11, 12, 13, 14, 15));
}

BE_AVX512_INLINE __m512 be_values_of(const int8_t *sixteen)
{
    __m128i v = _mm_loadu_si128((const __m128i *)sixteen);
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(v));
}

/* Low nibbles first, then high ones. */
BE_AVX512_INLINE struct be_pair be_pick_16(const uint8_t *nibbles, __m512 values)
{
    __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)nibbles));
    return (struct be_pair){ _mm512_permutexvar_ps(q, values),
                             _mm512_permutexvar_ps(_mm512_srli_epi32(q, 4), values) };
}

struct be_four {
    __m512 v[4];
};

/* From a function for a quarter of a block: a row to floats, and its dot product with x
 * in the order of dot(). What scales() reads of a block is passed to each piece;
 * the empty asm keeps it in memory for the dot product, since a broadcast from there is
 * cheaper than the shuffles that compilers take from a register. */
#define BE_PUT_64(name, k) \
    do { \
        struct be_four u = be_##name##_64(p, &s, k); \
        for (size_t j = 0; j < 4; j++) \
            _mm512_storeu_ps(out + i + 64 * (k) + 16 * j, u.v[j]); \
    } while (0)
#define BE_ADD_64(name, k) \
    do { \
        struct be_four u = be_##name##_64(p, &s, k); \
        w0 = u.v[0], BE_STEP(s0, x, i + 64 * (k)); \
        w0 = u.v[1], BE_STEP(s1, x, i + 64 * (k) + 16); \
        w0 = u.v[2], BE_STEP(s2, x, i + 64 * (k) + 32); \
        w0 = u.v[3], BE_STEP(s3, x, i + 64 * (k) + 48); \
    } while (0)
#define BE_SUPER_BLOCKS(name, scales, bytes) \
    BE_AVX512 void be_avx512_##name(const void *blocks, float *out, size_t n) \
    { \
        const uint8_t *p = blocks; \
        for (size_t i = 0; i < n; i += BE_SUPER, p += (bytes)) { \
            const __typeof__(scales(p)) s = scales(p); \
            BE_PUT_64(name, 0); \
            BE_PUT_64(name, 1); \
            BE_PUT_64(name, 2); \
            BE_PUT_64(name, 3); \
        } \
    } \
    BE_AVX512 float be_avx512_##name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint8_t *p = blocks; \
        __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0; \
        for (size_t i = 0; i < n; i += BE_SUPER, p += (bytes)) { \
            __typeof__(scales(p)) s = scales(p); \
            __asm__("" : "+m"(s)); \
            BE_ADD_64(name, 0); \
            BE_ADD_64(name, 1); \
            BE_ADD_64(name, 2); \
            BE_ADD_64(name, 3); \
        } \
        return be_sum4(s0, s1, s2, s3); \
    }

#endif

#endif
