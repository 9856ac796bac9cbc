/* Dequantisation against what ggml makes of the same blocks (../shared/quants), for every
 * instruction set of the machine; then the instruction sets against each other on blocks
 * with every kind of scale. A NaN may have any bits, all else must be exact. */
#include "config.h"

#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>

#include "backend/kernels.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"

static const char *const sets[] = { "portable", "avx2", "avx512" };

enum { SETS = sizeof sets / sizeof *sets };

static const uint32_t types[] = {
    GGUF_DT_F32,  GGUF_DT_F16,  GGUF_DT_BF16, GGUF_DT_Q8_0,
    GGUF_DT_Q4_0, GGUF_DT_Q4_1, GGUF_DT_Q5_0, GGUF_DT_Q5_1,
};

enum { TYPES = sizeof types / sizeof *types };

/* NULL, with a notice, when the machine lacks it. */
static const struct be_kernels *find(const char *name)
{
    struct err e = {0};
    const struct be_kernels *k = be_kernels_find(name, &e);
    if (!k)
        print_message("# not tested here: %s\n", e.text);
    return k;
}

static bool same(const float *got, const float *want, size_t n, size_t *at)
{
    for (*at = 0; *at < n; ++*at)
        if (memcmp(&got[*at], &want[*at], sizeof *got) &&
            !(isnan(got[*at]) && isnan(want[*at])))
            return false;
    return true;
}

static uint8_t *unhex(const json_t *j, size_t *n)
{
    const char *s = json_string_value(j);
    assert_non_null(s);
    *n = strlen(s) / 2;
    uint8_t *p = xmalloc(*n);
    for (size_t i = 0; i < *n; i++) {
        unsigned v;
        assert_int_equal(sscanf(s + 2 * i, "%2x", &v), 1);
        p[i] = (uint8_t)v;
    }
    return p;
}

static json_t *load(const char *type)
{
    char path[8192];
    json_error_t je;
    snprintf(path, sizeof path, "%s/quants/%s.json", unit_shared(), type);
    json_t *j = json_load_file(path, 0, &je);
    if (!j)
        fail_msg("%s: %s", path, je.text);
    return j;
}

static void check_vector(json_t *j, const char *blocks, const char *floats, uint32_t type)
{
    const struct gguf_dtype_info *d = gguf_dtype_info(type);
    size_t n_blocks, n_floats, at;
    uint8_t *b = unhex(json_object_get(j, blocks), &n_blocks);
    uint8_t *f = unhex(json_object_get(j, floats), &n_floats);
    size_t n = n_floats / sizeof(float);
    float *want = xmalloc(n_floats), *got = xmalloc(n_floats);

    assert_int_equal(n_blocks, n / d->block * d->bytes);
    memcpy(want, f, n_floats);
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = be_kernels_find(sets[s], NULL);
        if (!k)
            continue;
        memset(got, 0x55, n_floats);
        k->dequant[type](b, got, n);
        if (!same(got, want, n, &at))
            fail_msg("%s %s %s: element %zu is %a, not %a", k->name, d->name, blocks, at,
                     (double)got[at], (double)want[at]);
    }
    free(b);
    free(f);
    free(want);
    free(got);
}

static void vectors_of_ggml_are_met(void **state)
{
    static const char *const names[] = { "f16",  "bf16", "q8_0", "q4_0",
                                         "q4_1", "q5_0", "q5_1" };
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *j = load(names[i]);
        uint32_t type = (uint32_t)json_integer_value(json_object_get(j, "ggml_type"));
        assert_true(be_can_compute(type));
        check_vector(j, "quantized_hex", "dequantized_f32le_hex", type);
        check_vector(j, "random_blocks_hex", "random_dequantized_f32le_hex", type);
        json_decref(j);
    }
    json_t *j = load("source");
    check_vector(j, "f32le_hex", "f32le_hex", GGUF_DT_F32);
    json_decref(j);
}

static void type_table_matches_ggml(void **state)
{
    static const char *const names[] = {
        "bf16",  "f16",     "iq1_m",  "iq1_s",  "iq2_s", "iq2_xs", "iq2_xxs",
        "iq3_s", "iq3_xxs", "iq4_nl", "iq4_xs", "mxfp4", "nvfp4",  "q1_0",
        "q2_0",  "q2_k",    "q3_k",   "q4_0",   "q4_1",  "q4_k",   "q5_0",
        "q5_1",  "q5_k",    "q6_k",   "q8_0",   "tq1_0", "tq2_0",
    };
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *j = load(names[i]);
        uint32_t type = (uint32_t)json_integer_value(json_object_get(j, "ggml_type"));
        const struct gguf_dtype_info *d = gguf_dtype_info(type);
        assert_non_null(d);
        assert_int_equal(strcasecmp(d->name, names[i]), 0);
        assert_int_equal(d->block, json_integer_value(json_object_get(j, "block_size")));
        assert_int_equal(d->bytes, json_integer_value(json_object_get(j, "type_size")));
        json_decref(j);
    }
}

static void removed_and_unknown_types_are_none(void **state)
{
    static const uint32_t gone[] = { 4,  5,  31, 32, 33,   36,        37,
                                     38, 43, 63, 64, 9999, UINT32_MAX };
    int known = 0;
    (void)state;

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        assert_null(gguf_dtype_info(gone[i]));
        assert_false(be_can_compute(gone[i]));
    }
    for (uint32_t t = 0; t < GGUF_DT_LIMIT; t++) {
        const struct gguf_dtype_info *d = gguf_dtype_info(t);
        if (!d)
            continue;
        known++;
        assert_true(d->block > 0 && d->bytes > 0);
    }
    assert_int_equal(known, 35);
    assert_string_equal(gguf_dtype_info(24)->name, "I8");
    assert_string_equal(gguf_dtype_info(28)->name, "F64");
    assert_int_equal(gguf_dtype_info(9)->bytes, 36);
    assert_int_equal(gguf_dtype_info(15)->bytes, 292);
}

/* By another road than the code's: the value from the three fields, through ldexp(). */
static double half(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return h & 0x8000 ? -v : v;
}

static void every_half_is_converted(void **state)
{
    static uint16_t in[65536];
    static float out[65536];
    (void)state;

    for (uint32_t h = 0; h < 65536; h++)
        in[h] = (uint16_t)h;
    for (int s = 0; s < SETS; s++) {
        const struct be_kernels *k = find(sets[s]);
        if (!k)
            continue;
        k->dequant[GGUF_DT_F16](in, out, 65536);
        for (uint32_t h = 0; h < 65536; h++) {
            float want = (float)half((uint16_t)h), one = be_f16_to_f32((uint16_t)h);
            assert_int_equal(isnan(out[h]), isnan(want));
            assert_int_equal(memcmp(&out[h], &one, sizeof one), 0);
            if (!isnan(want))
                assert_int_equal(memcmp(&out[h], &want, sizeof want), 0);
        }
    }
}

static uint32_t next_random(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

/* Random blocks whose scales include zeros of both signs, subnormals, the largest half,
 * infinities and NaNs. The formats begin with the scale, and its minimum where they have
 * one. */
static void fill_blocks(uint8_t *p, size_t n, const struct gguf_dtype_info *d,
                        uint32_t *seed)
{
    static const uint16_t scales[] = {
        0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00, 0x7bff,
        0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfdff, 0x2e66, 0x1234,
    };
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)next_random(seed);
    for (size_t i = 0; i + d->bytes <= n; i += d->bytes)
        for (size_t at = 0; at < 4 && d->block > 1; at += 2)
            if (at == 0 || d->bytes == 20 || d->bytes == 24)
                memcpy(p + i + at,
                       &scales[next_random(seed) % (sizeof scales / sizeof *scales)], 2);
}

static void all_sets_give_the_same_bits(void **state)
{
    enum { MOST = 32 * 40 };
    uint32_t seed = 12345;
    (void)state;

    for (int t = 0; t < TYPES; t++) {
        const struct gguf_dtype_info *d = gguf_dtype_info(types[t]);
        for (size_t n = 0; n <= MOST; n += n < 80 * d->block ? d->block : 7 * d->block) {
            /* Exact sizes on the heap: a sanitizer sees a read or write too far. */
            size_t bytes = n / d->block * d->bytes, at;
            uint8_t *blocks = xmalloc(bytes);
            float *want = xmalloc(n * sizeof(float)), *got = xmalloc(n * sizeof(float));
            fill_blocks(blocks, bytes, d, &seed);
            be_kernels_find("portable", NULL)->dequant[types[t]](blocks, want, n);
            for (int s = 1; s < SETS; s++) {
                const struct be_kernels *k = be_kernels_find(sets[s], NULL);
                if (!k)
                    continue;
                k->dequant[types[t]](blocks, got, n);
                if (!same(got, want, n, &at))
                    fail_msg("%s %s, %zu elements: element %zu is %a, not %a", k->name,
                             d->name, n, at, (double)got[at], (double)want[at]);
            }
            free(blocks);
            free(want);
            free(got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_ggml_are_met),
        cmocka_unit_test(type_table_matches_ggml),
        cmocka_unit_test(removed_and_unknown_types_are_none),
        cmocka_unit_test(every_half_is_converted),
        cmocka_unit_test(all_sets_give_the_same_bits),
    };
    return UNIT_RUN(tests);
}
