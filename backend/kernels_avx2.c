/* Kernels for AVX2 with FMA and F16C (Haswell and Zen, and later). Only these functions
 * are compiled for it; the rest of the program runs on any processor.
 *
 * A dot product keeps four sums of eight lanes, since a fused multiply-add takes four
 * cycles and two begin in each. Element i goes to sum (i / 8) % 4, lane i % 8, whatever
 * is computed beside it; dots() walks three columns at once, so that a weight is loaded
 * once for three. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include <immintrin.h>
#include <string.h>

#define BE_AVX2 __attribute__((target("avx2,fma,f16c")))
#define BE_AVX2_INLINE \
    static inline __attribute__((target("avx2,fma,f16c"), always_inline))

enum { BE_BLOCK = 32, BE_HALF = BE_BLOCK / 2 };

/* ---- dot products ---- */

/* Lanes below left are on. Loading at 8 - left from eight on and eight off. */
static const int32_t be_mask_source[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };

BE_AVX2_INLINE __m256i be_mask(size_t left)
{
    return _mm256_loadu_si256((const __m256i *)(be_mask_source + 8 - left));
}

BE_AVX2_INLINE float be_sum4(__m256 s0, __m256 s1, __m256 s2, __m256 s3)
{
    __m256 s = _mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3));
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    h = _mm_add_ss(h, _mm_movehdup_ps(h));
    return _mm_cvtss_f32(h);
}

#define BE_STEP(s, x, i) s = _mm256_fmadd_ps(w0, _mm256_loadu_ps((x) + (i)), s)
#define BE_TAIL(s, x)    s = _mm256_fmadd_ps(w0, _mm256_maskload_ps((x) + i, m), s)

BE_AVX2 static float be_dot(const float *w, const float *x, size_t n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        w0 = _mm256_loadu_ps(w + i), BE_STEP(s0, x, i);
        w0 = _mm256_loadu_ps(w + i + 8), BE_STEP(s1, x, i + 8);
        w0 = _mm256_loadu_ps(w + i + 16), BE_STEP(s2, x, i + 16);
        w0 = _mm256_loadu_ps(w + i + 24), BE_STEP(s3, x, i + 24);
    }
    if (i + 8 <= n)
        w0 = _mm256_loadu_ps(w + i), BE_STEP(s0, x, i), i += 8;
    if (i + 8 <= n)
        w0 = _mm256_loadu_ps(w + i), BE_STEP(s1, x, i), i += 8;
    if (i + 8 <= n)
        w0 = _mm256_loadu_ps(w + i), BE_STEP(s2, x, i), i += 8;
    if (i < n) {
        __m256i m = be_mask(n - i);
        w0 = _mm256_maskload_ps(w + i, m);
        BE_TAIL(s3, x);
    }
    return be_sum4(s0, s1, s2, s3);
}

BE_AVX2 static void be_dot_3(const float *w, const float *x, size_t stride, size_t n,
                             float *out)
{
    const float *y = x + stride, *z = y + stride;
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
    __m256 t0 = s0, t1 = s0, t2 = s0, t3 = s0, u0 = s0, u1 = s0, u2 = s0, u3 = s0;
    size_t i = 0;

#define BE_STEP_3(s, t, u, k) \
    (w0 = _mm256_loadu_ps(w + (k)), BE_STEP(s, x, k), BE_STEP(t, y, k), BE_STEP(u, z, k))

    for (; i + 32 <= n; i += 32) {
        BE_STEP_3(s0, t0, u0, i);
        BE_STEP_3(s1, t1, u1, i + 8);
        BE_STEP_3(s2, t2, u2, i + 16);
        BE_STEP_3(s3, t3, u3, i + 24);
    }
    if (i + 8 <= n)
        BE_STEP_3(s0, t0, u0, i), i += 8;
    if (i + 8 <= n)
        BE_STEP_3(s1, t1, u1, i), i += 8;
    if (i + 8 <= n)
        BE_STEP_3(s2, t2, u2, i), i += 8;
    if (i < n) {
        __m256i m = be_mask(n - i);
        w0 = _mm256_maskload_ps(w + i, m);
        BE_TAIL(s3, x), BE_TAIL(t3, y), BE_TAIL(u3, z);
    }
    out[0] = be_sum4(s0, s1, s2, s3);
    out[1] = be_sum4(t0, t1, t2, t3);
    out[2] = be_sum4(u0, u1, u2, u3);
}

static void be_dots(const float *w, const float *x, size_t stride, size_t n, size_t count,
                    float *out)
{
    size_t t = 0;
    for (; t + 3 <= count; t += 3)
        be_dot_3(w, x + t * stride, stride, n, out + t);
    for (; t < count; t++)
        out[t] = be_dot(w, x + t * stride, n);
}

/* Sixteen registers hold the sums of three dot products, so more rows at once win
 * nothing. */
static void be_tile(const struct be_tile *t)
{
    for (size_t r = 0; r < t->rows; r++)
        be_dots(t->w[r], t->x, t->stride, t->n, t->count, t->out + r * t->count);
}

BE_AVX2 static void be_axpy(float a, const float *x, float *y, size_t n)
{
    __m256 va = _mm256_set1_ps(a);
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(
            y + i, _mm256_fmadd_ps(va, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
    if (i < n) {
        __m256i m = be_mask(n - i);
        __m256 s = _mm256_fmadd_ps(va, _mm256_maskload_ps(x + i, m),
                                   _mm256_maskload_ps(y + i, m));
        _mm256_maskstore_ps(y + i, m, s);
    }
}

/* ---- dequantisation ---- */

BE_AVX2_INLINE __m256 be_half_at(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof h);
    return _mm256_set1_ps(_cvtsh_ss(h));
}

BE_AVX2_INLINE __m256 be_widen_f16(__m128i h)
{
    return _mm256_cvtph_ps(h);
}

BE_AVX2_INLINE __m256 be_widen_bf16(__m128i h)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* Eight at a time; a last part goes through a buffer that has room for eight. */
#define BE_WIDEN(name, widen) \
    BE_AVX2 static void name(const void *blocks, float *out, size_t n) \
    { \
        const uint16_t *p = blocks; \
        size_t i = 0; \
        for (; i + 8 <= n; i += 8) \
            _mm256_storeu_ps(out + i, widen(_mm_loadu_si128((const __m128i *)(p + i)))); \
        if (i < n) { \
            uint16_t in[8] = {0}; \
            float last[8]; \
            memcpy(in, p + i, (n - i) * sizeof *in); \
            _mm256_storeu_ps(last, widen(_mm_loadu_si128((const __m128i *)in))); \
            memcpy(out + i, last, (n - i) * sizeof *last); \
        } \
    }

BE_WIDEN(be_f16, be_widen_f16)
BE_WIDEN(be_bf16, be_widen_bf16)

BE_AVX2_INLINE __m256 be_bytes_to_floats(__m128i q)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q));
}

/* out = q * d for the 16 signed bytes of q. */
BE_AVX2_INLINE void be_scale_16(__m128i q, __m256 d, float *out)
{
    _mm256_storeu_ps(out, _mm256_mul_ps(be_bytes_to_floats(q), d));
    _mm256_storeu_ps(out + 8, _mm256_mul_ps(be_bytes_to_floats(_mm_srli_si128(q, 8)), d));
}

/* out = q * d + m. */
BE_AVX2_INLINE void be_scale_add_16(__m128i q, __m256 d, __m256 m, float *out)
{
    _mm256_storeu_ps(out, _mm256_fmadd_ps(be_bytes_to_floats(q), d, m));
    _mm256_storeu_ps(out + 8,
                     _mm256_fmadd_ps(be_bytes_to_floats(_mm_srli_si128(q, 8)), d, m));
}

BE_AVX2_INLINE __m128i be_low_nibbles(__m128i q)
{
    return _mm_and_si128(q, _mm_set1_epi8(15));
}

BE_AVX2_INLINE __m128i be_high_nibbles(__m128i q)
{
    return be_low_nibbles(_mm_srli_epi16(q, 4));
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

BE_AVX2 static void be_q8_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 2 + BE_BLOCK) {
        __m256 d = be_half_at(p);
        be_scale_16(_mm_loadu_si128((const __m128i *)(p + 2)), d, out + i);
        be_scale_16(_mm_loadu_si128((const __m128i *)(p + 2 + BE_HALF)), d,
                    out + i + BE_HALF);
    }
}

BE_AVX2 static void be_q4_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    __m128i eight = _mm_set1_epi8(8);
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 2 + BE_HALF) {
        __m256 d = be_half_at(p);
        __m128i q = _mm_loadu_si128((const __m128i *)(p + 2));
        be_scale_16(_mm_sub_epi8(be_low_nibbles(q), eight), d, out + i);
        be_scale_16(_mm_sub_epi8(be_high_nibbles(q), eight), d, out + i + BE_HALF);
    }
}

BE_AVX2 static void be_q4_1(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 4 + BE_HALF) {
        __m256 d = be_half_at(p), m = be_half_at(p + 2);
        __m128i q = _mm_loadu_si128((const __m128i *)(p + 4));
        be_scale_add_16(be_low_nibbles(q), d, m, out + i);
        be_scale_add_16(be_high_nibbles(q), d, m, out + i + BE_HALF);
    }
}

/* q - 16 is q when the high bit is on and q with all upper bits set when it is off. */
BE_AVX2 static void be_q5_0(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    __m128i upper = _mm_set1_epi8((char)0xf0);
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 6 + BE_HALF) {
        __m256 d = be_half_at(p);
        __m128i q = _mm_loadu_si128((const __m128i *)(p + 6));
        __m128i lo = _mm_andnot_si128(be_bits_to_bytes(p + 2), upper);
        __m128i hi = _mm_andnot_si128(be_bits_to_bytes(p + 4), upper);
        be_scale_16(_mm_or_si128(be_low_nibbles(q), lo), d, out + i);
        be_scale_16(_mm_or_si128(be_high_nibbles(q), hi), d, out + i + BE_HALF);
    }
}

BE_AVX2 static void be_q5_1(const void *blocks, float *out, size_t n)
{
    const uint8_t *p = blocks;
    __m128i fifth = _mm_set1_epi8(16);
    for (size_t i = 0; i < n; i += BE_BLOCK, p += 8 + BE_HALF) {
        __m256 d = be_half_at(p), m = be_half_at(p + 2);
        __m128i q = _mm_loadu_si128((const __m128i *)(p + 8));
        __m128i lo = _mm_and_si128(be_bits_to_bytes(p + 4), fifth);
        __m128i hi = _mm_and_si128(be_bits_to_bytes(p + 6), fifth);
        be_scale_add_16(_mm_or_si128(be_low_nibbles(q), lo), d, m, out + i);
        be_scale_add_16(_mm_or_si128(be_high_nibbles(q), hi), d, m, out + i + BE_HALF);
    }
}

const struct be_kernels be_kernels_avx2 = {
    .name = "avx2",
    .dot = be_dot,
    .dots = be_dots,
    .tile = be_tile,
    .axpy = be_axpy,
    .dequant = {
        [GGUF_DT_F32] = be_dequant_f32,
        [GGUF_DT_F16] = be_f16,
        [GGUF_DT_BF16] = be_bf16,
        [GGUF_DT_Q8_0] = be_q8_0,
        [GGUF_DT_Q4_0] = be_q4_0,
        [GGUF_DT_Q4_1] = be_q4_1,
        [GGUF_DT_Q5_0] = be_q5_0,
        [GGUF_DT_Q5_1] = be_q5_1,
    },
};

#else

typedef int be_no_avx2_here;

#endif
