/* Dot products and axpy of every instruction set against sums in double precision, at all
 * small sizes and some larger ones; dots(), tile() and dot_blocks against dot() bit for
 * bit; and that nothing outside the vectors is read (exact heap blocks, for the
 * sanitizers) or written. */
#include "config.h"

#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

#include "backend/kernels.h"
#include "base/err.h"
#include "base/mem.h"
#include "tests/unit/blocks.h"

static const char *const sets[] = { "portable", "avx2", "avx512" };

enum { SETS = sizeof sets / sizeof *sets };

static const size_t large[] = { 127, 128, 129, 288, 511, 512, 1000, 1376, 4096, 4099 };

enum { SIZES = 71 + sizeof large / sizeof *large };

static size_t size_at(size_t i)
{
    return i < 71 ? i : large[i - 71];
}

static const struct be_kernels *find(const char *name)
{
    struct err e = {0};
    const struct be_kernels *k = be_kernels_find(name, &e);
    if (!k)
        print_message("# not tested here: %s\n", e.text);
    return k;
}

static uint32_t seed = 2463534242u;

static float random_float(float scale)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return ((float)seed / 4294967296.0f - 0.5f) * scale;
}

static float *random_vector(size_t n, float scale)
{
    float *v = xmalloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = random_float(scale);
    return v;
}

/* Any order of summing n products stays within n roundings of the sum of their sizes. */
static void check_dot(const char *name, float got, const float *a, const float *b,
                      size_t n)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)a[i] * b[i];
        size += fabs((double)a[i] * b[i]);
    }
    double bound =
        ((double)n + 1) * ((double)FLT_EPSILON / 2 * size + (double)FLT_TRUE_MIN);
    if (!(fabs(got - sum) <= bound))
        fail_msg("%s, %zu elements: %a is not within %a of %a", name, n, (double)got,
                 bound, sum);
}

static void dot_is_near_the_exact_sum(void **state)
{
    static const float scales[] = { 1, 1e-22f, 1e18f, 1e-38f, 3e-42f };
    (void)state;

    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t z = 0; k && z < sizeof scales / sizeof *scales; z++)
            for (size_t i = 0; i < SIZES; i++) {
                size_t n = size_at(i);
                float *a = random_vector(n, scales[z]), *b = random_vector(n, 1);
                check_dot(k->name, k->dot(a, b, n), a, b, n);
                free(a);
                free(b);
            }
    }
}

/* Every element counts once: vectors with a single one at each place. */
static void dot_counts_each_element_once(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t n = 1; k && n <= 200; n++) {
            float *a = xcalloc(n, sizeof *a), *b = random_vector(n, 4);
            for (size_t i = 0; i < n; i++) {
                a[i] = 1;
                if (k->dot(a, b, n) != b[i])
                    fail_msg("%s: element %zu of %zu", k->name, i, n);
                a[i] = 0;
            }
            free(a);
            free(b);
        }
    }
}

static void odd_values_come_through(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t n = 1; k && n <= 130; n++) {
            float *a = random_vector(n, 1), *b = random_vector(n, 1), y;
            for (size_t i = 0; i < n; i++) {
                float old = a[i];
                b[i] = 1;
                a[i] = NAN;
                assert_true(isnan(k->dot(a, b, n)));
                a[i] = -INFINITY;
                y = k->dot(a, b, n);
                assert_true(isinf(y) && y < 0);
                a[i] = old;
            }
            free(a);
            free(b);
        }
        if (k) {
            float big[2] = { FLT_MAX, FLT_MAX }, two[2] = { 2, 2 },
                  tiny[2] = { 0x1p-149f, 0 };
            assert_true(isinf(k->dot(big, two, 2)));
            assert_true(k->dot(tiny, two, 2) == 0x1p-148f);
            assert_true(k->dot(big, two, 0) == 0);
        }
    }
}

static void dots_has_the_bits_of_dot(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t i = 0; k && i < SIZES; i++) {
            size_t n = size_at(i);
            for (size_t count = 0; count <= 13; count++) {
                size_t stride = n + count % 3;
                size_t all = count ? (count - 1) * stride + n : 0;
                float *w = random_vector(n, 2), *x = random_vector(all, 2);
                float *out = xmalloc((count + 1) * sizeof *out);
                out[count] = 77;
                k->dots(w, x, stride, n, count, out);
                for (size_t t = 0; t < count; t++) {
                    float one = k->dot(w, x + t * stride, n);
                    if (memcmp(&one, &out[t], sizeof one))
                        fail_msg("%s: column %zu of %zu, %zu elements: %a, not %a",
                                 k->name, t, count, n, (double)out[t], (double)one);
                }
                assert_true(out[count] == 77);
                free(w);
                free(x);
                free(out);
            }
        }
    }
}

static void dot_blocks_has_the_bits_of_dot(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (uint32_t dtype = 0; k && dtype < GGUF_DT_LIMIT; dtype++) {
            if (!k->dot_blocks[dtype])
                continue;
            assert_non_null(k->dequant[dtype]);
            size_t block = gguf_dtype_info(dtype)->block;
            for (size_t n = 0; n <= 12 * block + 100; n += block) {
                uint8_t *p = blocks_make(dtype, n, BLOCKS_FINITE, &seed);
                float *x = random_vector(n, 2), *w = xmalloc(n * sizeof *w);
                k->dequant[dtype](p, w, n);
                float two = k->dot(w, x, n), one = k->dot_blocks[dtype](p, x, n);
                if (memcmp(&one, &two, sizeof one))
                    fail_msg("%s %s, %zu elements: %a, not %a", k->name,
                             gguf_dtype_info(dtype)->name, n, (double)one, (double)two);
                assert_true(isfinite(one));
                free(p);
                free(x);
                free(w);
            }
        }
    }
}

/* NaNs and infinities in the blocks or in x come through as in the two steps. */
static void dot_blocks_keeps_odd_values(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (uint32_t dtype = 0; k && dtype < GGUF_DT_LIMIT; dtype++) {
            if (!k->dot_blocks[dtype])
                continue;
            size_t block = gguf_dtype_info(dtype)->block, n = block > 1 ? block : 70;
            for (int round = 0; round < 200; round++) {
                uint8_t *p = blocks_make(dtype, n, BLOCKS_ODD, &seed);
                float *x = random_vector(n, round % 2 ? 2 : 0x1p-130f);
                float *w = xmalloc(n * sizeof *w);
                if (round % 5 == 4)
                    x[(size_t)round % n] = round % 2 ? NAN : INFINITY;
                k->dequant[dtype](p, w, n);
                float two = k->dot(w, x, n), one = k->dot_blocks[dtype](p, x, n);
                if (memcmp(&one, &two, sizeof one) && !(isnan(one) && isnan(two)))
                    fail_msg("%s %s: %a, not %a", k->name, gguf_dtype_info(dtype)->name,
                             (double)one, (double)two);
                free(p);
                free(x);
                free(w);
            }
        }
    }
}

/* The types that files mostly have must not take the detour by memory. */
static void common_types_are_fused(void **state)
{
    static const uint32_t fused[] = {
        GGUF_DT_F16,  GGUF_DT_BF16, GGUF_DT_Q8_0,   GGUF_DT_Q4_0,   GGUF_DT_Q4_1,
        GGUF_DT_Q5_0, GGUF_DT_Q5_1, GGUF_DT_Q2_K,   GGUF_DT_Q3_K,   GGUF_DT_Q4_K,
        GGUF_DT_Q5_K, GGUF_DT_Q6_K, GGUF_DT_IQ4_NL, GGUF_DT_IQ4_XS, GGUF_DT_MXFP4,
        GGUF_DT_IQ3_S, GGUF_DT_IQ3_XXS, GGUF_DT_IQ2_S, GGUF_DT_IQ2_XS, GGUF_DT_IQ2_XXS,
    };
    (void)state;
    for (int s = 1; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t i = 0; k && i < sizeof fused / sizeof *fused; i++)
            assert_non_null(k->dot_blocks[fused[i]]);
    }
}

static void mix_has_the_bits_of_axpy(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t n = 0; k && n <= 150; n++)
            for (size_t count = 0; count <= 9; count += 1 + count / 3) {
                float *a = random_vector(count, 1), *x = random_vector(count * n, 2);
                float *one = xmalloc((n + 1) * sizeof *one), *y = xcalloc(n, sizeof *y);
                one[n] = 77;
                k->mix(a, x, count, n, one);
                for (size_t t = 0; t < count; t++)
                    k->axpy(a[t], x + t * n, y, n);
                if (memcmp(one, y, n * sizeof *y))
                    fail_msg("%s: %zu rows of %zu", k->name, count, n);
                assert_true(one[n] == 77);
                free(a);
                free(x);
                free(one);
                free(y);
            }
    }
}

static void tile_has_the_bits_of_dot(void **state)
{
    enum { ROWS = 5, COUNT = 8 };
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t i = 0; k && i < SIZES; i++)
            for (size_t rows = 0; rows <= ROWS; rows++)
                for (size_t count = 0; count <= COUNT; count++) {
                    size_t n = size_at(i), stride = n + rows % 2;
                    size_t all = count ? (count - 1) * stride + n : 0;
                    float *w[ROWS], *x = random_vector(all, 2);
                    float *out = xmalloc((rows * count + 1) * sizeof *out);
                    for (size_t r = 0; r < rows; r++)
                        w[r] = random_vector(n, 2);
                    out[rows * count] = 77;
                    k->tile(&(struct be_tile){ (const float *const *)w, x, out, rows,
                                               count, n, stride });
                    for (size_t r = 0; r < rows; r++)
                        for (size_t t = 0; t < count; t++) {
                            float one = k->dot(w[r], x + t * stride, n);
                            if (memcmp(&one, &out[r * count + t], sizeof one))
                                fail_msg(
                                    "%s: row %zu of %zu, column %zu of %zu, %zu elements",
                                    k->name, r, rows, t, count, n);
                        }
                    assert_true(out[rows * count] == 77);
                    for (size_t r = 0; r < rows; r++)
                        free(w[r]);
                    free(x);
                    free(out);
                }
    }
}

static void axpy_adds_to_each_element(void **state)
{
    (void)state;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        for (size_t i = 0; k && i < SIZES; i++) {
            size_t n = size_at(i);
            float a = random_float(3), *x = random_vector(n, 1), *y = random_vector(n, 1);
            float *z = xmalloc((n + 1) * sizeof *z);
            memcpy(z, y, n * sizeof *z);
            z[n] = 77;
            k->axpy(a, x, z, n);
            for (size_t j = 0; j < n; j++) {
                float apart = y[j] + a * x[j], fused = fmaf(a, x[j], y[j]);
                if (z[j] != apart && z[j] != fused)
                    fail_msg("%s: element %zu of %zu", k->name, j, n);
            }
            assert_true(z[n] == 77);
            free(x);
            free(y);
            free(z);
        }
        if (k) {
            float x[20], y[20];
            for (int j = 0; j < 20; j++)
                x[j] = j == 18 ? NAN : j == 3 ? INFINITY : 0x1p-149f, y[j] = 0;
            k->axpy(1, x, y, 20);
            assert_true(isnan(y[18]) && isinf(y[3]) && y[19] == 0x1p-149f &&
                        y[0] == 0x1p-149f);
        }
    }
}

static void names_choose_the_table(void **state)
{
    struct err e = {0};
    (void)state;

    assert_string_equal(be_kernels_find("portable", NULL)->name, "portable");
    assert_non_null(be_kernels_find("auto", NULL));
    assert_ptr_equal(be_kernels_find(NULL, NULL), be_kernels_find("auto", NULL));
    assert_null(be_kernels_find("sse9", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "sse9"));
    assert_non_null(strstr(e.text, "portable"));
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        if (!k)
            continue;
        assert_string_equal(k->name, sets[s]);
        for (uint32_t t = 0; t < GGUF_DT_LIMIT; t++)
            assert_int_equal(k->dequant[t] != NULL, be_can_compute(t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_choose_the_table),
        cmocka_unit_test(dot_is_near_the_exact_sum),
        cmocka_unit_test(dot_counts_each_element_once),
        cmocka_unit_test(odd_values_come_through),
        cmocka_unit_test(dots_has_the_bits_of_dot),
        cmocka_unit_test(mix_has_the_bits_of_axpy),
        cmocka_unit_test(tile_has_the_bits_of_dot),
        cmocka_unit_test(dot_blocks_has_the_bits_of_dot),
        cmocka_unit_test(dot_blocks_keeps_odd_values),
        cmocka_unit_test(common_types_are_fused),
        cmocka_unit_test(axpy_adds_to_each_element),
    };
    return UNIT_RUN(tests);
}
