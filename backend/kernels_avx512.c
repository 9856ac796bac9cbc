/* Kernels for AVX-512 (F, BW, VL, DQ: Skylake-X and Zen 4, and later).
 *
 * A dot product keeps four sums of sixteen lanes: element i goes to sum (i / 16) % 4,
 * lane i % 16. dots() walks four columns at once: sixteen sums, and each weight loaded
 * once; tile() two rows and three columns: five loads for six multiply-adds.
 *
 * The 4- and 5-bit types are table lookups: all sixteen (or twice sixteen) values a block
 * can hold are computed once from its scale, then a permutation picks by nibble. It looks
 * at the lowest four bits of an index only, so nibbles need no mask. */
#include "config.h"

#include "backend/kernels_int.h"

#if BE_KERNELS_X86

#include "backend/kernels_avx512.h"
#include "backend/kernels_x86_k.h"

/* ---- dot products ---- */

BE_AVX512_INLINE __mmask16 be_mask(size_t left)
{
    return (__mmask16)((1u << left) - 1);
}

#define BE_TAIL(s, x)    s = _mm512_fmadd_ps(w0, _mm512_maskz_loadu_ps(m, (x) + i), s)

BE_AVX512 static float be_dot(const float *w, const float *x, size_t n)
{
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
    size_t i = 0;

    for (; i + 64 <= n; i += 64) {
        w0 = _mm512_loadu_ps(w + i), BE_STEP(s0, x, i);
        w0 = _mm512_loadu_ps(w + i + 16), BE_STEP(s1, x, i + 16);
        w0 = _mm512_loadu_ps(w + i + 32), BE_STEP(s2, x, i + 32);
        w0 = _mm512_loadu_ps(w + i + 48), BE_STEP(s3, x, i + 48);
    }
    if (i + 16 <= n)
        w0 = _mm512_loadu_ps(w + i), BE_STEP(s0, x, i), i += 16;
    if (i + 16 <= n)
        w0 = _mm512_loadu_ps(w + i), BE_STEP(s1, x, i), i += 16;
    if (i + 16 <= n)
        w0 = _mm512_loadu_ps(w + i), BE_STEP(s2, x, i), i += 16;
    if (i < n) {
        __mmask16 m = be_mask(n - i);
        w0 = _mm512_maskz_loadu_ps(m, w + i);
        BE_TAIL(s3, x);
    }
    return be_sum4(s0, s1, s2, s3);
}

BE_AVX512 static void be_dot_4(const float *w, const float *x, size_t stride, size_t n,
                               float *out)
{
    const float *y = x + stride, *z = y + stride, *v = z + stride;
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
    __m512 t0 = s0, t1 = s0, t2 = s0, t3 = s0, u0 = s0, u1 = s0, u2 = s0, u3 = s0;
    __m512 r0 = s0, r1 = s0, r2 = s0, r3 = s0;
    size_t i = 0;

#define BE_STEP_4(s, t, u, r, k) \
    (w0 = _mm512_loadu_ps(w + (k)), BE_STEP(s, x, k), BE_STEP(t, y, k), \
     BE_STEP(u, z, k), BE_STEP(r, v, k))

    for (; i + 64 <= n; i += 64) {
        BE_STEP_4(s0, t0, u0, r0, i);
        BE_STEP_4(s1, t1, u1, r1, i + 16);
        BE_STEP_4(s2, t2, u2, r2, i + 32);
        BE_STEP_4(s3, t3, u3, r3, i + 48);
    }
    if (i + 16 <= n)
        BE_STEP_4(s0, t0, u0, r0, i), i += 16;
    if (i + 16 <= n)
        BE_STEP_4(s1, t1, u1, r1, i), i += 16;
    if (i + 16 <= n)
        BE_STEP_4(s2, t2, u2, r2, i), i += 16;
    if (i < n) {
        __mmask16 m = be_mask(n - i);
        w0 = _mm512_maskz_loadu_ps(m, w + i);
        BE_TAIL(s3, x), BE_TAIL(t3, y), BE_TAIL(u3, z), BE_TAIL(r3, v);
    }
    out[0] = be_sum4(s0, s1, s2, s3);
    out[1] = be_sum4(t0, t1, t2, t3);
    out[2] = be_sum4(u0, u1, u2, u3);
    out[3] = be_sum4(r0, r1, r2, r3);
}

static void be_dots(const float *w, const float *x, size_t stride, size_t n, size_t count,
                    float *out)
{
    size_t t = 0;
    for (; t + 4 <= count; t += 4)
        be_dot_4(w, x + t * stride, stride, n, out + t);
    for (; t < count; t++)
        out[t] = be_dot(w, x + t * stride, n);
}

/* The dot products of two rows and three columns: 24 sums in registers. Letters are the
 * pairs, a to c for the first row and d to f for the second; numbers the four sums. */
BE_AVX512 static void be_tile_2x3(const float *const *w, const float *x, size_t stride,
                                  size_t n, float *out, size_t out_stride)
{
    const float *p = w[0], *q = w[1], *y = x + stride, *z = y + stride;
    __m512 a0 = _mm512_setzero_ps(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0;
    __m512 b3 = a0, c0 = a0, c1 = a0, c2 = a0, c3 = a0, d0 = a0, d1 = a0, d2 = a0;
    __m512 d3 = a0, e0 = a0, e1 = a0, e2 = a0, e3 = a0, f0 = a0, f1 = a0, f2 = a0;
    __m512 f3 = a0, w0, w1, v;
    __mmask16 m;
    size_t i = 0;

#define BE_FMA(s, u) s = _mm512_fmadd_ps(u, v, s)
#define BE_PAIRS(load, k) \
    (w0 = load(p), w1 = load(q), \
     v = load(x), BE_FMA(a##k, w0), BE_FMA(d##k, w1), \
     v = load(y), BE_FMA(b##k, w0), BE_FMA(e##k, w1), \
     v = load(z), BE_FMA(c##k, w0), BE_FMA(f##k, w1))
#define BE_AT_0(u)   _mm512_loadu_ps((u) + i)
#define BE_AT_1(u)   _mm512_loadu_ps((u) + i + 16)
#define BE_AT_2(u)   _mm512_loadu_ps((u) + i + 32)
#define BE_AT_3(u)   _mm512_loadu_ps((u) + i + 48)
#define BE_AT_END(u) _mm512_maskz_loadu_ps(m, (u) + i)

    for (; i + 64 <= n; i += 64) {
        BE_PAIRS(BE_AT_0, 0);
        BE_PAIRS(BE_AT_1, 1);
        BE_PAIRS(BE_AT_2, 2);
        BE_PAIRS(BE_AT_3, 3);
    }
    if (i + 16 <= n)
        BE_PAIRS(BE_AT_0, 0), i += 16;
    if (i + 16 <= n)
        BE_PAIRS(BE_AT_0, 1), i += 16;
    if (i + 16 <= n)
        BE_PAIRS(BE_AT_0, 2), i += 16;
    if (i < n) {
        m = be_mask(n - i);
        BE_PAIRS(BE_AT_END, 3);
    }
    out[0] = be_sum4(a0, a1, a2, a3);
    out[1] = be_sum4(b0, b1, b2, b3);
    out[2] = be_sum4(c0, c1, c2, c3);
    out += out_stride;
    out[0] = be_sum4(d0, d1, d2, d3);
    out[1] = be_sum4(e0, e1, e2, e3);
    out[2] = be_sum4(f0, f1, f2, f3);
}

/* Three columns stay in the first-level cache while all rows pass. */
static void be_tile(const struct be_tile *t)
{
    size_t full = t->count / 3 * 3, last = t->rows & ~(size_t)1;

    for (size_t c = 0; c < full; c += 3)
        for (size_t r = 0; r < last; r += 2)
            be_tile_2x3(t->w + r, t->x + c * t->stride, t->stride, t->n,
                        t->out + r * t->count + c, t->count);
    for (size_t r = 0; r < last && full < t->count; r++)
        be_dots(t->w[r], t->x + full * t->stride, t->stride, t->n, t->count - full,
                t->out + r * t->count + full);
    if (last < t->rows)
        be_dots(t->w[last], t->x, t->stride, t->n, t->count, t->out + last * t->count);
}

BE_AVX512 static void be_axpy(float a, const float *x, float *y, size_t n)
{
    __m512 va = _mm512_set1_ps(a);
    size_t i = 0;

    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(
            y + i, _mm512_fmadd_ps(va, _mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)));
    if (i < n) {
        __mmask16 m = be_mask(n - i);
        __m512 s = _mm512_fmadd_ps(va, _mm512_maskz_loadu_ps(m, x + i),
                                   _mm512_maskz_loadu_ps(m, y + i));
        _mm512_mask_storeu_ps(y + i, m, s);
    }
}

/* Columns i .. of all rows, summed in registers: 64, 16 or the last few at a time. */
BE_AVX512 static void be_mix(const float *a, const float *x, size_t count, size_t n,
                             float *out)
{
    size_t i = 0;

    for (; i + 64 <= n; i += 64) {
        __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0;
        for (size_t t = 0; t < count; t++) {
            const float *p = x + t * n + i;
            w0 = _mm512_set1_ps(a[t]);
            BE_STEP(s0, p, 0), BE_STEP(s1, p, 16), BE_STEP(s2, p, 32), BE_STEP(s3, p, 48);
        }
        _mm512_storeu_ps(out + i, s0), _mm512_storeu_ps(out + i + 16, s1);
        _mm512_storeu_ps(out + i + 32, s2), _mm512_storeu_ps(out + i + 48, s3);
    }
    for (; i < n; i += 16) {
        __mmask16 m = n - i < 16 ? be_mask(n - i) : (__mmask16)0xffff;
        __m512 s0 = _mm512_setzero_ps(), w0;
        for (size_t t = 0; t < count; t++) {
            w0 = _mm512_set1_ps(a[t]);
            BE_TAIL(s0, x + t * n);
        }
        _mm512_mask_storeu_ps(out + i, m, s0);
    }
}

/* ---- dequantisation ---- */

BE_AVX512_INLINE __m512 be_widen_f16(__m256i h)
{
    return _mm512_cvtph_ps(h);
}

BE_AVX512_INLINE __m512 be_widen_bf16(__m256i h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* A row of halves to floats, and its dot product with x in the order of be_dot(). */
#define BE_WIDEN(name, widen) \
    BE_AVX512 static void name(const void *blocks, float *out, size_t n) \
    { \
        const uint16_t *p = blocks; \
        size_t i = 0; \
        for (; i + 16 <= n; i += 16) \
            _mm512_storeu_ps(out + i, \
                             widen(_mm256_loadu_si256((const __m256i *)(p + i)))); \
        if (i < n) { \
            __mmask16 m = be_mask(n - i); \
            _mm512_mask_storeu_ps(out + i, m, \
                                  widen(_mm256_maskz_loadu_epi16(m, p + i))); \
        } \
    } \
    BE_AVX512 static float name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint16_t *p = blocks; \
        __m512 s[4] = { _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), \
                        _mm512_setzero_ps() }, w0; \
        size_t i = 0; \
        for (; i + 64 <= n; i += 64) \
            for (size_t k = 0; k < 4; k++) { \
                w0 = widen(_mm256_loadu_si256((const __m256i *)(p + i + 16 * k))); \
                BE_STEP(s[k], x, i + 16 * k); \
            } \
        for (size_t k = 0; i + 16 <= n; k++, i += 16) { \
            w0 = widen(_mm256_loadu_si256((const __m256i *)(p + i))); \
            BE_STEP(s[k], x, i); \
        } \
        if (i < n) { \
            __mmask16 m = be_mask(n - i); \
            w0 = widen(_mm256_maskz_loadu_epi16(m, p + i)); \
            BE_TAIL(s[3], x); \
        } \
        return be_sum4(s[0], s[1], s[2], s[3]); \
    }

BE_WIDEN(be_f16, be_widen_f16)
BE_WIDEN(be_bf16, be_widen_bf16)

BE_AVX512_INLINE __m512 be_widen_i8(const uint8_t *p)
{
    __m128i q = _mm_loadu_si128((const __m128i *)p);
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q));
}

BE_AVX512_INLINE struct be_pair be_q8_0_block(const uint8_t *p)
{
    __m512 d = be_half_at(p);
    return (struct be_pair){ _mm512_mul_ps(be_widen_i8(p + 2), d),
                             _mm512_mul_ps(be_widen_i8(p + 2 + BE_HALF), d) };
}

/* The same where bit j says whether element j comes from the upper sixteen values. */
BE_AVX512_INLINE struct be_pair be_pick_32(const uint8_t *bits, const uint8_t *nibbles,
                                           __m512 lower, __m512 upper)
{
    uint32_t high;
    memcpy(&high, bits, sizeof high);
    __m512i q = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)nibbles));
    __m512i r = _mm512_srli_epi32(q, 4);
    __m512 lo = _mm512_permutexvar_ps(q, lower), hi = _mm512_permutexvar_ps(r, lower);
    return (struct be_pair){
        _mm512_mask_permutexvar_ps(lo, (__mmask16)high, q, upper),
        _mm512_mask_permutexvar_ps(hi, (__mmask16)(high >> 16), r, upper) };
}

BE_AVX512_INLINE struct be_pair be_q4_0_block(const uint8_t *p)
{
    return be_pick_16(p + 2, _mm512_mul_ps(be_count_from(-8), be_half_at(p)));
}

BE_AVX512_INLINE struct be_pair be_q4_1_block(const uint8_t *p)
{
    return be_pick_16(p + 4, _mm512_fmadd_ps(be_count_from(0), be_half_at(p),
                                             be_half_at(p + 2)));
}

BE_AVX512_INLINE struct be_pair be_q5_0_block(const uint8_t *p)
{
    __m512 d = be_half_at(p);
    return be_pick_32(p + 2, p + 6, _mm512_mul_ps(be_count_from(-16), d),
                      _mm512_mul_ps(be_count_from(0), d));
}

BE_AVX512_INLINE struct be_pair be_q5_1_block(const uint8_t *p)
{
    __m512 d = be_half_at(p), m = be_half_at(p + 2);
    return be_pick_32(p + 4, p + 8, _mm512_fmadd_ps(be_count_from(0), d, m),
                      _mm512_fmadd_ps(be_count_from(16), d, m));
}

BE_AVX512_INLINE struct be_pair be_iq4_nl_block(const uint8_t *p)
{
    return be_pick_16(p + 2, _mm512_mul_ps(be_values_of(be_values_iq4), be_half_at(p)));
}

BE_AVX512_INLINE struct be_pair be_mxfp4_block(const uint8_t *p)
{
    __m512 d = _mm512_set1_ps(be_e8m0_half(*p));
    return be_pick_16(p + 1, _mm512_mul_ps(be_values_of(be_values_fp4), d));
}

/* From a function for one block of so many bytes: a row to floats, and its dot product
 * with x in the order of be_dot(), the floats never leaving the registers. */
#define BE_BLOCKS(name, bytes) \
    BE_AVX512 static void name(const void *blocks, float *out, size_t n) \
    { \
        const uint8_t *p = blocks; \
        for (size_t i = 0; i < n; i += BE_BLOCK, p += (bytes)) { \
            struct be_pair v = name##_block(p); \
            _mm512_storeu_ps(out + i, v.lo); \
            _mm512_storeu_ps(out + i + BE_HALF, v.hi); \
        } \
    } \
    BE_AVX512 static float name##_dot(const void *blocks, const float *x, size_t n) \
    { \
        const uint8_t *p = blocks; \
        __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, w0; \
        size_t i = 0; \
        for (; i + 2 * BE_BLOCK <= n; i += 2 * BE_BLOCK, p += 2 * (bytes)) { \
            struct be_pair v = name##_block(p), u = name##_block(p + (bytes)); \
            w0 = v.lo, BE_STEP(s0, x, i); \
            w0 = v.hi, BE_STEP(s1, x, i + 16); \
            w0 = u.lo, BE_STEP(s2, x, i + 32); \
            w0 = u.hi, BE_STEP(s3, x, i + 48); \
        } \
        if (i < n) { \
            struct be_pair v = name##_block(p); \
            w0 = v.lo, BE_STEP(s0, x, i); \
            w0 = v.hi, BE_STEP(s1, x, i + 16); \
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

const struct be_kernels be_kernels_avx512 = {
    .name = "avx512",
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
        [GGUF_DT_Q2_K] = be_avx512_q2_k,
        [GGUF_DT_Q3_K] = be_avx512_q3_k,
        [GGUF_DT_Q4_K] = be_avx512_q4_k,
        [GGUF_DT_Q5_K] = be_avx512_q5_k,
        [GGUF_DT_Q6_K] = be_avx512_q6_k,
        [GGUF_DT_IQ4_XS] = be_avx512_iq4_xs,
        [GGUF_DT_IQ4_NL] = be_iq4_nl,
        [GGUF_DT_MXFP4] = be_mxfp4,
        [GGUF_DT_IQ2_XXS] = be_avx512_iq2_xxs,
        [GGUF_DT_IQ2_XS] = be_avx512_iq2_xs,
        [GGUF_DT_IQ2_S] = be_avx512_iq2_s,
        [GGUF_DT_IQ3_XXS] = be_avx512_iq3_xxs,
        [GGUF_DT_IQ3_S] = be_avx512_iq3_s,
        [GGUF_DT_IQ1_S] = be_avx512_iq1_s,
        [GGUF_DT_IQ1_M] = be_avx512_iq1_m,
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
        [GGUF_DT_Q2_K] = be_avx512_q2_k_dot,
        [GGUF_DT_Q3_K] = be_avx512_q3_k_dot,
        [GGUF_DT_Q4_K] = be_avx512_q4_k_dot,
        [GGUF_DT_Q5_K] = be_avx512_q5_k_dot,
        [GGUF_DT_Q6_K] = be_avx512_q6_k_dot,
        [GGUF_DT_IQ4_XS] = be_avx512_iq4_xs_dot,
        [GGUF_DT_IQ4_NL] = be_iq4_nl_dot,
        [GGUF_DT_IQ2_XXS] = be_avx512_iq2_xxs_dot,
        [GGUF_DT_IQ2_XS] = be_avx512_iq2_xs_dot,
        [GGUF_DT_IQ2_S] = be_avx512_iq2_s_dot,
        [GGUF_DT_IQ3_XXS] = be_avx512_iq3_xxs_dot,
        [GGUF_DT_IQ3_S] = be_avx512_iq3_s_dot,
        [GGUF_DT_IQ1_S] = be_avx512_iq1_s_dot,
        [GGUF_DT_IQ1_M] = be_avx512_iq1_m_dot,
        [GGUF_DT_MXFP4] = be_mxfp4_dot,
    },
};

#else

typedef int be_no_avx512_here;

#endif
