/* The GGUF reader on files built in memory: what was written is read back, typed reading,
 * every prefix of a file, alignments, and a large file. */
#include "config.h"

#include "tests/unit/gguf-check.h"

#include <math.h>

/* ---- reading ---- */

static void check_scalars(const struct gguf *g)
{
    uint32_t u = 0;
    float f = 0;
    bool b = false;
    struct gguf_str s;

    assert_true(gguf_get_u32(g, "u8", &u, NULL) && u == 255);
    assert_true(gguf_get_u32(g, "u16", &u, NULL) && u == 0x8001);
    assert_true(gguf_get_u32(g, "i16", &u, NULL) && u == 1);
    assert_true(gguf_get_u32(g, "u32", &u, NULL) && u == 4294967295u);
    assert_true(gguf_get_u32(g, "i32", &u, NULL) && u == 7);
    assert_true(gguf_get_u32(g, "u64", &u, NULL) && u == 5);
    assert_true(gguf_get_f32(g, "f32", &f, NULL) && f == 1.5f);
    assert_true(gguf_get_f32(g, "f64", &f, NULL) && f == 0.25f);
    assert_true(gguf_get_bool(g, "yes", &b, NULL) && b);
    assert_true(gguf_get_bool(g, "no", &b, NULL) && !b);
    assert_true(gguf_get_str(g, "general.architecture", &s, NULL));
    assert_true(s.n == 4 && !memcmp(s.p, "test", 4));
    assert_true(gguf_get_str(g, "empty", &s, NULL) && s.n == 0);
}

static void check_arrays(const struct gguf *g)
{
    const struct gguf_kv *kv = gguf_find(g, "words");
    size_t at = 0;

    assert_non_null(kv);
    assert_true(kv->array && kv->type == GGUF_STRING && kv->n == 3);
    assert_int_equal(gguf_next_str(kv, &at).n, 3);
    assert_int_equal(gguf_next_str(kv, &at).n, 0);
    struct gguf_str s = gguf_next_str(kv, &at);
    assert_true(s.n == 3 && !memcmp(s.p, "a\0b", 3));
    assert_int_equal(at, kv->size);

    kv = gguf_find(g, "ints");
    assert_true(kv->array && kv->type == GGUF_I32 && kv->n == 3 && kv->size == 12);
    assert_int_equal(gguf_u32_at(kv, 0), 7);
    assert_int_equal(gguf_u32_at(kv, 1), UINT32_MAX);
    assert_int_equal(gguf_u32_at(kv, 2), INT32_MAX);
    kv = gguf_find(g, "floats");
    assert_true(gguf_f32_at(kv, 0) == 1.5f && signbit(gguf_f32_at(kv, 1)));
    kv = gguf_find(g, "none");
    assert_true(kv->array && kv->n == 0 && kv->size == 0);
    assert_int_equal(gguf_find(g, "no words")->size, 0);
}

static void check_tensors(const struct gguf *g)
{
    const struct gguf_tensor *t = gguf_tensor_at(g, 0);

    assert_int_equal(gguf_n_tensors(g), 3);
    assert_string_equal(t->name, "b.weight");
    assert_true(t->n_dims == 3 && t->ne[0] == 64 && t->ne[1] == 3 && t->ne[2] == 2 &&
                t->ne[3] == 1 && t->size == 64 * 3 * 2 * 4 && t->shard == 0);
    assert_ptr_equal(gguf_tensor(g, "b.weight"), t);
    t = gguf_tensor(g, "a.weight");
    assert_true(t->n_dims == 2 && t->ne[2] == 1 && t->size == 3 * 2 * 34);
    t = gguf_tensor(g, "c");
    assert_memory_equal(t->data, "\x00\x3c", 2);
    assert_null(gguf_tensor(g, "a.weigh"));
    assert_null(gguf_tensor(g, ""));
}

static void a_file_is_read_back(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        struct gguf_write w = { .version = version };
        struct buf file = {0};
        struct err e = {0};
        void *block;

        gw_everything(&w);
        gw_finish(&w, &file);
        struct gguf *g = open_exact(file.p, file.n, &block, &e);
        if (!g)
            fail_msg("%s", e.text);
        assert_string_equal(gguf_path(g), "memory.gguf");
        assert_int_equal(gguf_file_bytes(g), file.n);
        assert_int_equal(gguf_shards(g), 1);
        assert_int_equal(gguf_version(g), version);
        assert_int_equal(gguf_n_kv(g), w.n_kv);
        assert_true(gguf_kv_at(g, 1)->key.n == 2 && !gguf_kv_at(g, 1)->array);
        assert_null(gguf_find(g, "u"));
        check_scalars(g);
        check_arrays(g);
        check_tensors(g);
        gw_touch(g);
        gguf_free(g);
        free(block);
        gw_release(&w);
        buf_release(&file);
    }
}

static void wrong_types_are_named(void **state)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    struct err e = {0};
    void *block;
    uint32_t u = 42;
    float f = 42;
    bool b = true;
    struct gguf_str s = {0};
    (void)state;

    gw_everything(&w);
    gw_kv(&w, "1e300", GGUF_F64, &(double){ 1e300 }, 8);
    gw_kv(&w, "2^32", GGUF_U64, "\0\0\0\0\1\0\0\0", 8);
    gw_finish(&w, &file);
    struct gguf *g = open_exact(file.p, file.n, &block, &e);
    assert_non_null(g);

    static const char *const no_u32[] = {
        "i8", "huge", "2^32", "i64", "f32", "yes", "empty", "ints",
    };
    for (size_t i = 0; i < sizeof no_u32 / sizeof *no_u32; i++) {
        e = (struct err){0};
        assert_false(gguf_get_u32(g, no_u32[i], &u, &e));
        assert_int_equal(e.kind, ERR_MODEL);
        assert_non_null(strstr(e.text, no_u32[i]));
        assert_non_null(strstr(e.text, "memory.gguf"));
        assert_false(gguf_opt_u32(g, no_u32[i], &u, NULL));
    }
    assert_false(gguf_get_f32(g, "u32", &f, &e) || gguf_opt_f32(g, "floats", &f, &e) ||
                 gguf_get_f32(g, "1e300", &f, &e));
    assert_false(gguf_get_bool(g, "u8", &b, &e) || gguf_opt_bool(g, "empty", &b, &e));
    assert_false(gguf_get_str(g, "words", &s, &e) || gguf_opt_str(g, "u8", &s, &e));

    assert_false(gguf_get_u32(g, "absent.key", &u, &e));
    assert_non_null(strstr(e.text, "absent.key"));
    assert_non_null(strstr(e.text, "missing"));
    assert_false(gguf_get_f32(g, "absent", &f, NULL) ||
                 gguf_get_bool(g, "absent", &b, NULL) ||
                 gguf_get_str(g, "absent", &s, NULL));
    assert_true(
        gguf_opt_u32(g, "absent", &u, NULL) && gguf_opt_f32(g, "absent", &f, NULL) &&
        gguf_opt_bool(g, "absent", &b, NULL) && gguf_opt_str(g, "absent", &s, NULL));
    assert_true(u == 42 && f == 42 && b && !s.p);

    gguf_free(g);
    free(block);
    gw_release(&w);
    buf_release(&file);
}

static void every_cut_is_refused(void **state)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    (void)state;

    gw_everything(&w);
    gw_finish(&w, &file);
    for (size_t n = 0; n < file.n; n++) {
        struct buf part = { .p = file.p, .n = n };
        refuse(&part, n ? "incomplete" : "empty");
    }
    struct buf part = { .p = file.p, .n = file.n - 1 };
    char both[128];
    snprintf(both, sizeof both, "has %zu bytes but needs %zu", file.n - 1, file.n);
    refuse(&part, both);
    gw_release(&w);
    buf_release(&file);
}

static void alignment_is_honoured(void **state)
{
    static const uint32_t good[] = { 8, 16, 64, 4096 };
    static const uint32_t bad[] = { 0, 1, 4, 13, 48, 0x80000001u, UINT32_MAX };
    uint64_t ne = 5;
    struct buf file = {0};
    (void)state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct gguf_write w = { .align = good[i] };
        void *block;
        gw_kv_u32(&w, "general.alignment", good[i]);
        gw_tensor(&w, "x", GGUF_DT_F32, 1, &ne, "aaaabbbbccccddddeeee", 20);
        gw_tensor(&w, "y", GGUF_DT_F32, 1, &ne, "AAAABBBBCCCCDDDDEEEE", 20);
        gw_finish(&w, &file);
        struct gguf *g = open_exact(file.p, file.n, &block, NULL);
        assert_non_null(g);
        assert_memory_equal(gguf_tensor(g, "x")->data, "aaaa", 4);
        assert_memory_equal(gguf_tensor(g, "y")->data, "AAAA", 4);
        gguf_free(g);
        free(block);
        gw_release(&w);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gguf_write w = {0};
        gw_kv_u32(&w, "general.alignment", bad[i]);
        gw_tensor(&w, "x", GGUF_DT_F32, 1, &ne, NULL, 20);
        gw_finish(&w, &file);
        refuse(&file, "general.alignment");
        gw_release(&w);
    }
    struct gguf_write w = {0};
    gw_kv_str(&w, "general.alignment", "32");
    gw_finish(&w, &file);
    refuse(&file, "general.alignment");
    gw_release(&w);
    buf_release(&file);
}

/* ---- size and time ---- */

/* A big vocabulary and many keys and tensors, all names with one long beginning: reading
 * in quadratic time would take minutes. */
static void large_files_are_read_quickly(void **state)
{
    enum { MANY = 60000, WORDS = 300000 };
    struct gguf_write w = {0};
    struct buf file = {0};
    struct err e = {0};
    char name[96];
    (void)state;

    gw_kv_array(&w, "tokenizer.ggml.tokens", GGUF_STRING, WORDS);
    for (int i = 0; i < WORDS; i++)
        gw_str(&w.kv, "token", 5);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%060d.%d", 0, i * 7919 % MANY);
        gw_kv_u32(&w, name, (uint32_t)i);
        gw_tensor(&w, name, GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    }
    gw_finish(&w, &file);
    double before = seconds();
    struct gguf *g = gguf_open_memory(file.p, file.n, "large", &e);
    if (!g)
        fail_msg("%s", e.text);
    for (size_t i = 0; i < MANY; i++)
        assert_non_null(gguf_tensor(g, gguf_tensor_at(g, i)->name));
    assert_true(seconds() - before < 5);
    gguf_free(g);
    gw_release(&w);
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_back),
        cmocka_unit_test(wrong_types_are_named),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(alignment_is_honoured),
        cmocka_unit_test(large_files_are_read_quickly),
    };
    return UNIT_RUN(tests);
}
