/* Dequantisation against what ggml makes of the same blocks (../shared/quants), for every
 * instruction set of the machine; so with every entry of the IQ types' grids
 * (tests/vectors/iq-codes.json); then the instruction sets against each other on blocks with
 * every kind of scale. A NaN may have any bits, all else must be exact. */
#include "config.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "backend/kernels.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"
#include "tests/unit/blocks.h"

static const char *const sets[] = { "portable", "avx2", "avx512" };

enum { SETS = sizeof sets / sizeof *sets };

/* Those of ../shared/quants. */
static const char *const names[] = {
    "bf16",  "f16",     "iq1_m",  "iq1_s",  "iq2_s", "iq2_xs", "iq2_xxs",
    "iq3_s", "iq3_xxs", "iq4_nl", "iq4_xs", "mxfp4", "nvfp4",  "q1_0",
    "q2_0",  "q2_k",    "q3_k",   "q4_0",   "q4_1",  "q4_k",   "q5_0",
    "q5_1",  "q5_k",    "q6_k",   "q8_0",   "tq1_0", "tq2_0",
};

enum { NAMES = sizeof names / sizeof *names };

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
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t i = 0; i < NAMES; i++) {
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

/* Which of ggml's types this program computes with: all that a tensor of a model has. */
static void every_type_of_models_is_computed(void **state)
{
    (void)state;
    assert_int_equal(BLOCKS_TYPES, NAMES);
    for (size_t i = 0; i < BLOCKS_TYPES; i++)
        assert_true(be_can_compute(blocks_halves[i].dtype));
    assert_true(be_can_compute(GGUF_DT_F32));
    for (uint32_t d = 24; d <= 28; d++)             /* I8 .. F64 */
        assert_false(be_can_compute(d));
    assert_false(be_can_compute(9));                /* Q8_1 and Q8_K: for activations */
    assert_false(be_can_compute(15));
}

static uint32_t type_called(const char *name)
{
    for (uint32_t d = 0; d < GGUF_DT_LIMIT; d++)
        if (gguf_dtype_info(d) && !strcmp(gguf_dtype_info(d)->name, name))
            return d;
    fail_msg("%s is no type", name);
    return 0;
}

static uint64_t hash_floats(const float *x, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n * sizeof *x; i++)
        hash = (hash ^ ((const uint8_t *)x)[i]) * 0x100000001b3u;
    return hash;
}

static void every_entry_of_the_grids_is_met(void **state)
{
    char path[4300], got[17];
    const char *top = getenv("top_srcdir"), *name;
    json_error_t je;
    json_t *j, *t;
    (void)state;

    snprintf(path, sizeof path, "%s/tests/vectors/iq-codes.json", top ? top : ".");
    j = json_load_file(path, 0, &je);
    if (!j)
        fail_msg("%s: %s", path, je.text);
    assert_int_equal(json_object_size(json_object_get(j, "types")), 7);
    json_object_foreach(json_object_get(j, "types"), name, t) {
        size_t n = (size_t)json_integer_value(json_object_get(t, "n")), size;
        uint32_t type = type_called(name);
        uint8_t *blocks = unhex(json_object_get(t, "blocks_hex"), &size);
        float *x = xmalloc(n * sizeof *x);
        assert_int_equal(size, n / 256 * gguf_dtype_info(type)->bytes);
        for (int s = 0; s < SETS; s++) {
            const struct be_kernels *k = be_kernels_find(sets[s], NULL);
            if (!k)
                continue;
            k->dequant[type](blocks, x, n);
            snprintf(got, sizeof got, "%016" PRIx64, hash_floats(x, n));
            assert_string_equal(got, json_string_value(json_object_get(t, "fnv1a")));
        }
        free(blocks);
        free(x);
    }
    json_decref(j);
}

static void type_table_matches_ggml(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t i = 0; i < NAMES; i++) {
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

static void check_sets(uint32_t type, size_t n, enum blocks kind, uint32_t *seed)
{
    uint8_t *blocks = blocks_make(type, n, kind, seed);
    float *want = xmalloc(n * sizeof(float)), *got = xmalloc(n * sizeof(float));
    size_t at;

    be_kernels_find("portable", NULL)->dequant[type](blocks, want, n);
    for (int s = 1; s < SETS; s++) {
        const struct be_kernels *k = be_kernels_find(sets[s], NULL);
        if (!k)
            continue;
        memset(got, 0x55, n * sizeof(float));
        k->dequant[type](blocks, got, n);
        if (!same(got, want, n, &at))
            fail_msg("%s %s, %zu elements: element %zu is %a, not %a", k->name,
                     gguf_dtype_info(type)->name, n, at, (double)got[at],
                     (double)want[at]);
    }
    free(blocks);
    free(want);
    free(got);
}

static void all_sets_give_the_same_bits(void **state)
{
    uint32_t seed = 12345;
    (void)state;

    for (int t = 0; t < BLOCKS_TYPES; t++) {
        uint32_t type = blocks_halves[t].dtype;
        size_t block = gguf_dtype_info(type)->block;
        for (size_t n = 0; n <= 85 * block; n += block) {
            check_sets(type, n, BLOCKS_ODD, &seed);
            check_sets(type, n, BLOCKS_FINITE, &seed);
        }
    }
    for (size_t n = 0; n < 40; n++)
        check_sets(GGUF_DT_F32, n, BLOCKS_ODD, &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_ggml_are_met),
        cmocka_unit_test(every_type_of_models_is_computed),
        cmocka_unit_test(every_entry_of_the_grids_is_met),
        cmocka_unit_test(type_table_matches_ggml),
        cmocka_unit_test(removed_and_unknown_types_are_none),
        cmocka_unit_test(every_half_is_converted),
        cmocka_unit_test(all_sets_give_the_same_bits),
    };
    return UNIT_RUN(tests);
}
