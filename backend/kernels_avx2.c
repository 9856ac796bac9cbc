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

#include "backend/kernels_avx2.h"
#include "backend/kernels_x86_k.h"

/* ---- dot products ---- */

/* Lanes below left are on. Loading at 8 - left from eight on and eight off. */
static const int32_t be_mask_source[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };

BE_AVX2_INLINE __m256i be_mask(size_t left)
{
    return _mm256_loadu_si256((const __m256i *)(be_mask_source + 8 - left));
}

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

/* Columns i .. of all rows, summed in registers: 32, 8 or the last few at a time. */
BE_AVX2 static void be_mix(const float *a, const float *x, size_t count, size_t n,
                           float *out)
{
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
        for (size_t t = 0; t < count; t++) {
            const float *p = x + t * n + i;
            w0 = _mm256_set1_ps(a[t]);
            BE_STEP(s0, p, 0), BE_STEP(s1, p, 8), BE_STEP(s2, p, 16), BE_STEP(s3, p, 24);
        }
        _mm256_storeu_ps(out + i, s0), _mm256_storeu_ps(out + i + 8, s1);
        _mm256_storeu_ps(out + i + 16, s2), _mm256_storeu_ps(out + i + 24, s3);
    }
    for (; i < n; i += 8) {
        __m256i m = be_mask(n - i < 8 ? n - i : 8);
        __m256 s0 = _mm256_setzero_ps(), w0;
        for (size_t t = 0; t < count; t++) {
            w0 = _mm256_set1_ps(a[t]);
            BE_TAIL(s0, x + t * n);
        }
        _mm256_maskstore_ps(out + i, m, s0);
    }
}

/* ---- dequantisation ---- */

BE_AVX2_INLINE __m256 be_widen_f16(__m128i h)
{
    return _mm256_cvtph_ps(h);
}

BE_AVX2_INLINE __m256 be_widen_bf16(__m128i h)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* The last 1 to 7 halves of a row go through a buffer that has room for eight. */
BE_AVX2_INLINE __m128i be_last_halves(const uint16_t *p, size_t n)
{
    uint16_t in[8] = {0};
    memcpy(in, p, n * sizeof *in);
    return _mm_loadu_si128((const __m128i *)in);
}

/* A row of halves to floats, and its dot product with x in the order of be_dot(). */
#define BE_WIDEN(name, widen) \
    BE_AVX2 static void name(const void *blocks, float *out, size_t n) \
    { \
        const uint16_t *p = blocks; \
        size_t i = 0; \
        for (; i + 8 <= n; i += 8) \
            _mm256_storeu_ps(out + i, widen(_mm_loadu_si128((const __m128i *)(p + i)))); \
        if (i < n) \
            _mm256_maskstore_ps(out + i, be_mask(n - i), \
                                widen(be_last_halves(p + i, n - i))); \
    } \
    BE_AVX2 static float name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint16_t *p = blocks; \
        __m256 s[4] = { _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), \
                        _mm256_setzero_ps() }, w0; \
        size_t i = 0; \
        for (; i + 32 <= n; i += 32) \
            for (size_t k = 0; k < 4; k++) { \
                w0 = widen(_mm_loadu_si128((const __m128i *)(p + i + 8 * k))); \
                BE_STEP(s[k], x, i + 8 * k); \
            } \
        for (size_t k = 0; i + 8 <= n; k++, i += 8) { \
            w0 = widen(_mm_loadu_si128((const __m128i *)(p + i))); \
            BE_STEP(s[k], x, i); \
        } \
        if (i < n) { \
            __m256i m = be_mask(n - i); \
            w0 = widen(be_last_halves(p + i, n - i)); \
            BE_TAIL(s[3], x); \
        } \
        return be_sum4(s[0], s[1], s[2], s[3]); \
    }

BE_WIDEN(be_f16, be_widen_f16)
BE_WIDEN(be_bf16, be_widen_bf16)

BE_AVX2_INLINE struct be_quad be_q8_0_block(const uint8_t *p)
{
    return be_scale_32(be_load_16(p + 2), be_load_16(p + 2 + BE_HALF), be_half_at(p));
}

BE_AVX2_INLINE struct be_quad be_q4_0_block(const uint8_t *p)
{
    __m128i q = be_load_16(p + 2), eight = _mm_set1_epi8(8);
    return be_scale_32(_mm_sub_epi8(be_low_nibbles(q), eight),
                       _mm_sub_epi8(be_high_nibbles(q), eight), be_half_at(p));
}

BE_AVX2_INLINE struct be_quad be_q4_1_block(const uint8_t *p)
{
    __m128i q = be_load_16(p + 4);
    return be_scale_add_32(be_low_nibbles(q), be_high_nibbles(q), be_half_at(p),
                           be_half_at(p + 2));
}

/* q - 16 is q when the high bit is on and q with all upper bits set when it is off. */
BE_AVX2_INLINE struct be_quad be_q5_0_block(const uint8_t *p)
{
    __m128i q = be_load_16(p + 6), upper = _mm_set1_epi8((char)0xf0);
    __m128i lo = _mm_andnot_si128(be_bits_to_bytes(p + 2), upper);
    __m128i hi = _mm_andnot_si128(be_bits_to_bytes(p + 4), upper);
    return be_scale_32(_mm_or_si128(be_low_nibbles(q), lo),
                       _mm_or_si128(be_high_nibbles(q), hi), be_half_at(p));
}

BE_AVX2_INLINE struct be_quad be_q5_1_block(const uint8_t *p)
{
    __m128i q = be_load_16(p + 8), fifth = _mm_set1_epi8(16);
    __m128i lo = _mm_and_si128(be_bits_to_bytes(p + 4), fifth);
    __m128i hi = _mm_and_si128(be_bits_to_bytes(p + 6), fifth);
    return be_scale_add_32(_mm_or_si128(be_low_nibbles(q), lo),
                           _mm_or_si128(be_high_nibbles(q), hi), be_half_at(p),
                           be_half_at(p + 2));
}

BE_AVX2_INLINE struct be_quad be_iq4_nl_block(const uint8_t *p)
{
    return be_pick_16(p + 2, be_values_iq4, be_half_at(p));
}

BE_AVX2_INLINE struct be_quad be_mxfp4_block(const uint8_t *p)
{
    return be_pick_16(p + 1, be_values_fp4, _mm256_set1_ps(be_e8m0_half(*p)));
}

/* From a function for one block of so many bytes: a row to floats, and its dot product
 * with x in the order of be_dot(), the floats never leaving the registers. */
#define BE_BLOCKS(name, bytes) \
    BE_AVX2 static void name(const void *blocks, float *out, size_t n) \
    { \
        const uint8_t *p = blocks; \
        for (size_t i = 0; i < n; i += BE_BLOCK, p += (bytes)) { \
            struct be_quad u = name##_block(p); \
            for (size_t k = 0; k < 4; k++) \
                _mm256_storeu_ps(out + i + 8 * k, u.v[k]); \
        } \
    } \
    BE_AVX2 static float name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint8_t *p = blocks; \
        __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0; \
        for (size_t i = 0; i < n; i += BE_BLOCK, p += (bytes)) { \
            struct be_quad u = name##_block(p); \
            w0 = u.v[0], BE_STEP(s0, x, i); \
            w0 = u.v[1], BE_STEP(s1, x, i + 8); \
            w0 = u.v[2], BE_STEP(s2, x, i + 16); \
            w0 = u.v[3], BE_STEP(s3, x, i + 24); \
        } \
        return be_sum4(s0, s1, s2, s3); \
    }

BE_BLOCKS(be_q8_0, 34)
BE_BLOCKS(be_q4_0, 18)
BE_BLOCKS(be_q4_1, 20)
BE_BLOCKS(be_q5_0, 22)
BE_BLOCKS(be_q5_1, 24)
BE_BLOCKS(be_iq4_nl, 18)
BE_BLOCKS(be_mxfp4, 17)

const struct be_kernels be_kernels_avx2 = {
    .name = "avx2",
    .dot = be_dot,
    .dots = be_dots,
    .tile = be_tile,
    .axpy = be_axpy,
    .mix = be_mix,
    .dequant = {
        [GGUF_DT_F32] = be_dequant_f32,
        [GGUF_DT_F16] = be_f16,
        [GGUF_DT_BF16] = be_bf16,
        [GGUF_DT_Q8_0] = be_q8_0,
        [GGUF_DT_Q4_0] = be_q4_0,
        [GGUF_DT_Q4_1] = be_q4_1,
        [GGUF_DT_Q5_0] = be_q5_0,
        [GGUF_DT_Q5_1] = be_q5_1,
        [GGUF_DT_Q2_K] = be_avx2_q2_k,
        [GGUF_DT_Q3_K] = be_avx2_q3_k,
        [GGUF_DT_Q4_K] = be_avx2_q4_k,
        [GGUF_DT_Q5_K] = be_avx2_q5_k,
        [GGUF_DT_Q6_K] = be_avx2_q6_k,
        [GGUF_DT_IQ4_XS] = be_avx2_iq4_xs,
        [GGUF_DT_IQ4_NL] = be_iq4_nl,
        [GGUF_DT_MXFP4] = be_mxfp4,
        [GGUF_DT_IQ2_XXS] = be_avx2_iq2_xxs,
        [GGUF_DT_IQ2_XS] = be_avx2_iq2_xs,
        [GGUF_DT_IQ2_S] = be_avx2_iq2_s,
        [GGUF_DT_IQ3_XXS] = be_avx2_iq3_xxs,
        [GGUF_DT_IQ3_S] = be_avx2_iq3_s,
        [GGUF_DT_IQ1_S] = be_avx2_iq1_s,
        [GGUF_DT_IQ1_M] = be_avx2_iq1_m,
        BE_DEQUANT_IN_C,
    },
    .dot_blocks = {
        [GGUF_DT_F16] = be_f16_dot,
        [GGUF_DT_BF16] = be_bf16_dot,
        [GGUF_DT_Q8_0] = be_q8_0_dot,
        [GGUF_DT_Q4_0] = be_q4_0_dot,
        [GGUF_DT_Q4_1] = be_q4_1_dot,
        [GGUF_DT_Q5_0] = be_q5_0_dot,
        [GGUF_DT_Q5_1] = be_q5_1_dot,
        [GGUF_DT_Q2_K] = be_avx2_q2_k_dot,
        [GGUF_DT_Q3_K] = be_avx2_q3_k_dot,
        [GGUF_DT_Q4_K] = be_avx2_q4_k_dot,
        [GGUF_DT_Q5_K] = be_avx2_q5_k_dot,
        [GGUF_DT_Q6_K] = be_avx2_q6_k_dot,
        [GGUF_DT_IQ4_XS] = be_avx2_iq4_xs_dot,
        [GGUF_DT_IQ4_NL] = be_iq4_nl_dot,
        [GGUF_DT_IQ2_XXS] = be_avx2_iq2_xxs_dot,
        [GGUF_DT_IQ2_XS] = be_avx2_iq2_xs_dot,
        [GGUF_DT_IQ2_S] = be_avx2_iq2_s_dot,
        [GGUF_DT_IQ3_XXS] = be_avx2_iq3_xxs_dot,
        [GGUF_DT_IQ3_S] = be_avx2_iq3_s_dot,
        [GGUF_DT_IQ1_S] = be_avx2_iq1_s_dot,
        [GGUF_DT_IQ1_M] = be_avx2_iq1_m_dot,
        [GGUF_DT_MXFP4] = be_mxfp4_dot,
    },
};

#else

typedef int be_no_avx2_here;

#endif
