/* Position embeddings: the kinds of scaling against llama.cpp behind 200 tokens, through
 * whole models whose metadata gets more keys (tests/vectors/rope-scaling.json), and the
 * exactness of the angles far out. */
#include "config.h"

#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>

#include "backend/backend.h"
#include "backend/rope.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "tests/unit/gguf-write.h"

static json_t *load_vectors(void)
{
    const char *top = getenv("top_srcdir");
    char path[4200];
    json_error_t je;
    json_t *j;

    snprintf(path, sizeof path, "%s/tests/vectors/rope-scaling.json", top ? top : ".");
    j = json_load_file(path, 0, &je);
    if (!j)
        fail_msg("%s: %s", path, je.text);
    return j;
}

static void add_keys(struct gguf_write *w, json_t *keys)
{
    const char *key;
    json_t *v;

    json_object_foreach(keys, key, v) {
        if (json_is_string(v))
            gw_kv_str(w, key, json_string_value(v));
        else if (json_is_integer(v))
            gw_kv_u32(w, key, (uint32_t)json_integer_value(v));
        else
            gw_kv_f32(w, key, (float)json_number_value(v));
    }
    /* the tensors' data must stay where the alignment puts it */
    gw_kv_str(w, "test.padding", "");
    size_t fill = (32 - w->kv.n % 32) % 32;
    w->kv.p[w->kv.n - 8] = (char)fill;
    for (size_t i = 0; i < fill; i++)
        buf_addc(&w->kv, '.');
}

/* The model's file with more keys in front of its own. */
static void read_with_keys(const char *name, json_t *keys, struct buf *out)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    char path[4200], part[65536];
    uint64_t n_kv;
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "%s/models/%s", unit_shared(), name);
    f = fopen(path, "r");
    assert_non_null(f);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(&file, part, n);
    fclose(f);
    add_keys(&w, keys);
    assert_true(file.n > 24);
    memcpy(&n_kv, file.p + 16, sizeof n_kv);
    n_kv += w.n_kv;
    buf_add(out, file.p, 16);
    buf_add(out, &n_kv, sizeof n_kv);
    buf_add(out, w.kv.p, w.kv.n);
    buf_add(out, file.p + 24, file.n - 24);
    buf_release(&file);
    gw_release(&w);
}

static void check_case(json_t *c, const int32_t *ids, size_t n)
{
    const char *name = json_string_value(json_object_get(c, "model")), *at;
    struct buf bytes = {0};
    struct err e = {0};
    json_t *row, *v;
    size_t i;

    read_with_keys(name, json_object_get(c, "keys"), &bytes);
    struct gguf *g = gguf_open_memory(bytes.p, bytes.n, name, &e);
    if (!g)
        fail_msg("%s", e.text);
    struct be_params p = {.gguf = g, .threads = 2, .ctx = 256, .chunk = 48};
    struct be *b = be_open(&p, &e);
    if (!b)
        fail_msg("%s", e.text);
    assert_int_equal(be_eval(b, ids, n, 0, BE_LOGITS_ALL, &e), BE_OK);
    json_object_foreach(json_object_get(c, "at"), at, row) {
        const float *got = be_logits(b, (size_t)atoi(at));
        json_array_foreach(row, i, v)
            if (!(fabs((double)got[i] - json_number_value(v)) < 1e-3))
                fail_msg("%s at %s: logit %zu is %g, not %g", name, at, i, (double)got[i],
                         json_number_value(v));
        assert_int_equal(i, 48);
    }
    be_free(b);
    gguf_free(g);
    buf_release(&bytes);
}

static void scaling_is_llama_cpps(void **state)
{
    int32_t ids[200];
    json_t *j, *c, *v;
    size_t i;
    (void)state;
    UNIT_NEEDS_SHARED();
    j = load_vectors();
    assert_int_equal(json_array_size(json_object_get(j, "ids")), 200);
    json_array_foreach(json_object_get(j, "ids"), i, v)
        ids[i] = (int32_t)json_integer_value(v);
    json_array_foreach(json_object_get(j, "cases"), i, c)
        check_case(c, ids, 200);
    assert_true(i >= 9);
    json_decref(j);
}

static void angles_stay_exact_far_out(void **state)
{
    struct be_rope_params p = {.layout = BE_ROPE_HALVES, .n_rot = 8, .ctx_orig = 4096,
                               .base = 10000, .factor = 1, .attn_factor = 1};
    struct be_rope r;
    float row[8], x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
    uint32_t pos = 10000019;
    (void)state;
    be_rope_init(&r, &p, NULL);
    be_rope_table(&r, pos, 1, row);
    for (int i = 0; i < 4; i++) {
        double angle = pos * pow(10000, -i / 4.0);
        assert_true(fabs(row[i] - cos(angle)) < 1e-6);
        assert_true(fabs(row[4 + i] - sin(angle)) < 1e-6);
    }
    memcpy(y, x, sizeof x);
    be_rope_turn(&r, row, y);
    for (int i = 0; i < 4; i++)         /* turning keeps lengths */
        assert_true(fabsf(hypotf(y[i], y[4 + i]) - hypotf(x[i], x[4 + i])) < 1e-5f);
    be_rope_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_is_llama_cpps),
        cmocka_unit_test(angles_stay_exact_far_out),
    };
    return UNIT_RUN(tests);
}
