/* Choosing kernels, and the portable ones.
 *
 * The processor is asked once per be_kernels_find(); the answer includes whether the
 * system saves the wide registers. A table is complete: it never borrows a slower
 * function from another, so a result depends on the table's name alone. */
#include "config.h"

#include "backend/kernels.h"

#include <string.h>

#include "backend/kernels_int.h"
#include "base/buf.h"
#include "base/err.h"

#if BE_KERNELS_X86
#include <cpuid.h>
#endif

/* Lanes of the portable dot product: enough for any compiler's vectors. */
enum { BE_LANES = 16 };

static float be_dot(const float *a, const float *b, size_t n)
{
    float s[BE_LANES] = {0};
    size_t i = 0;

    for (; i + BE_LANES <= n; i += BE_LANES)
        for (size_t j = 0; j < BE_LANES; j++)
            s[j] += a[i + j] * b[i + j];
    for (size_t j = 0; i < n; i++, j++)
        s[j] += a[i] * b[i];
    for (size_t half = BE_LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++)
            s[j] += s[j + half];
    return s[0];
}

static void be_dots(const float *w, const float *x, size_t stride, size_t n, size_t count,
                    float *out)
{
    for (size_t t = 0; t < count; t++)
        out[t] = be_dot(w, x + t * stride, n);
}

static void be_tile(const struct be_tile *t)
{
    for (size_t r = 0; r < t->rows; r++)
        be_dots(t->w[r], t->x, t->stride, t->n, t->count, t->out + r * t->count);
}

static void be_axpy(float a, const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static void be_mix(const float *a, const float *x, size_t count, size_t n, float *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t t = 0; t < count; t++)
        be_axpy(a[t], x + t * n, out, n);
}

const struct be_kernels be_kernels_portable = {
    .name = "portable",
    .dot = be_dot,
    .dots = be_dots,
    .tile = be_tile,
    .axpy = be_axpy,
    .mix = be_mix,
    .dequant = {
        [GGUF_DT_F32] = be_dequant_f32,
        [GGUF_DT_F16] = be_dequant_f16,
        [GGUF_DT_BF16] = be_dequant_bf16,
        [GGUF_DT_Q8_0] = be_dequant_q8_0,
        [GGUF_DT_Q4_0] = be_dequant_q4_0,
        [GGUF_DT_Q4_1] = be_dequant_q4_1,
        [GGUF_DT_Q5_0] = be_dequant_q5_0,
        [GGUF_DT_Q5_1] = be_dequant_q5_1,
        [GGUF_DT_Q2_K] = be_dequant_q2_k,
        [GGUF_DT_Q3_K] = be_dequant_q3_k,
        [GGUF_DT_Q4_K] = be_dequant_q4_k,
        [GGUF_DT_Q5_K] = be_dequant_q5_k,
        [GGUF_DT_Q6_K] = be_dequant_q6_k,
        [GGUF_DT_IQ4_XS] = be_dequant_iq4_xs,
        [GGUF_DT_IQ4_NL] = be_dequant_iq4_nl,
        [GGUF_DT_MXFP4] = be_dequant_mxfp4,
        [GGUF_DT_IQ2_XXS] = be_dequant_iq2_xxs,
        [GGUF_DT_IQ2_XS] = be_dequant_iq2_xs,
        [GGUF_DT_IQ2_S] = be_dequant_iq2_s,
        [GGUF_DT_IQ3_XXS] = be_dequant_iq3_xxs,
        [GGUF_DT_IQ3_S] = be_dequant_iq3_s,
        [GGUF_DT_IQ1_S] = be_dequant_iq1_s,
        [GGUF_DT_IQ1_M] = be_dequant_iq1_m,
        BE_DEQUANT_IN_C,
    },
};

static bool be_has_portable(void)
{
    return true;
}

#if BE_KERNELS_X86
/* F16C has no name in older compilers' __builtin_cpu_supports(). */
static bool be_has_avx2(void)
{
    unsigned a, b, c, d;

    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool be_has_avx512(void)
{
    return be_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

/* Best first. */
static const struct {
    const struct be_kernels *table;
    bool (*here)(void);
} be_tables[] = {
#if BE_KERNELS_X86
    { &be_kernels_avx512, be_has_avx512 },
    { &be_kernels_avx2, be_has_avx2 },
#endif
    { &be_kernels_portable, be_has_portable },
};

enum { BE_TABLES = sizeof be_tables / sizeof be_tables[0] };

const struct be_kernels *be_kernels_find(const char *name, struct err *e)
{
    struct buf have = {0};

    for (size_t i = 0; i < BE_TABLES; i++) {
        if (!be_tables[i].here())
            continue;
        if (!name || !strcmp(name, "auto") || !strcmp(name, be_tables[i].table->name)) {
            buf_release(&have);
            return be_tables[i].table;
        }
        buf_addf(&have, " %s", be_tables[i].table->name);
    }
    err_set_kind(e, ERR_USAGE, "this machine has no kernels called \"%s\"; it has auto%s",
                 name, buf_str(&have));
    buf_release(&have);
    return NULL;
}

bool be_can_compute(uint32_t dtype)
{
    return dtype < GGUF_DT_LIMIT && be_kernels_portable.dequant[dtype];
}
