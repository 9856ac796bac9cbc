/* The GGUF reader on paths: what is no file, and models split over several. */
#include "config.h"

#include "tests/unit/gguf-check.h"

#include <errno.h>

static void what_is_no_file_is_named(void **state)
{
    struct err e = {0};
    char fifo[4096], *dir = scratch_dir();
    (void)state;

    assert_null(gguf_open(dir, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "directory"));
    assert_null(open_in(dir, "absent.gguf", &e));
    assert_non_null(strstr(e.text, "absent.gguf"));
    assert_non_null(strstr(e.text, strerror(ENOENT)));
    snprintf(fifo, sizeof fifo, "%s/fifo.gguf", dir);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_null(gguf_open(fifo, &e));
    assert_non_null(strstr(e.text, "regular file"));
    assert_null(gguf_open("/dev/zero", &e));
    assert_non_null(strstr(e.text, "regular file"));
    write_file(dir, "empty.gguf", "", 0);
    assert_null(open_in(dir, "empty.gguf", &e));
    assert_non_null(strstr(e.text, "0 bytes"));
    remove_file(dir, "empty.gguf");
    remove_file(dir, "fifo.gguf");
    rmdir(dir);
    free(dir);
}

/* ---- split models ---- */

struct part {
    uint16_t no, count;
    int32_t tensors;    /* split.tensors.count */
    const char *tensor; /* the part's own tensor */
};

static void write_part(const char *dir, const char *name, struct part p)
{
    struct gguf_write w = {0};
    struct buf file = {0};

    if (p.no == 0)
        gw_kv_str(&w, "general.architecture", "test");
    gw_kv(&w, "split.no", GGUF_U16, &p.no, 2);
    gw_kv(&w, "split.count", GGUF_U16, &p.count, 2);
    gw_kv(&w, "split.tensors.count", GGUF_I32, &p.tensors, 4);
    gw_tensor(&w, p.tensor, GGUF_DT_F32, 1, (uint64_t[]){ 1 }, p.tensor, 4);
    gw_finish(&w, &file);
    write_file(dir, name, file.p, file.n);
    gw_release(&w);
    buf_release(&file);
}

static const char *const part_names[3] = {
    "m-00001-of-00003.gguf",
    "m-00002-of-00003.gguf",
    "m-00003-of-00003.gguf",
};

static void write_parts(const char *dir)
{
    write_part(dir, part_names[0], (struct part){ 0, 3, 3, "zero" });
    write_part(dir, part_names[1], (struct part){ 1, 3, 3, "one." });
    write_part(dir, part_names[2], (struct part){ 2, 3, 3, "two." });
}

static void refuse_in(const char *dir, const char *name, const char *why)
{
    struct err e = {0};
    struct gguf *g = open_in(dir, name, &e);
    if (g)
        fail_msg("%s was opened, but should say: %s", name, why);
    assert_int_equal(e.kind, ERR_MODEL);
    if (!strstr(e.text, why))
        fail_msg("says \"%s\" instead of: %s", e.text, why);
}

static void any_part_opens_all(void **state)
{
    char *dir = scratch_dir();
    (void)state;

    write_parts(dir);
    for (int i = 0; i < 3; i++) {
        struct err e = {0};
        struct gguf *g = open_in(dir, part_names[i], &e);
        if (!g)
            fail_msg("%s", e.text);
        assert_non_null(strstr(gguf_path(g), part_names[0]));
        assert_int_equal(gguf_shards(g), 3);
        assert_int_equal(gguf_n_tensors(g), 3);
        assert_int_equal(gguf_n_kv(g), 4);
        assert_non_null(gguf_find(g, "general.architecture"));
        assert_memory_equal(gguf_tensor(g, "one.")->data, "one.", 4);
        assert_int_equal(gguf_tensor(g, "zero")->shard, 0);
        assert_int_equal(gguf_tensor(g, "one.")->shard, 1);
        assert_int_equal(gguf_tensor(g, "two.")->shard, 2);
        assert_true(gguf_file_bytes(g) > 3 * 32);
        gw_touch(g);
        gguf_free(g);
    }
    for (int i = 0; i < 3; i++)
        remove_file(dir, part_names[i]);
    rmdir(dir);
    free(dir);
}

static void bad_splits_are_refused(void **state)
{
    char *dir = scratch_dir();
    (void)state;

    write_part(dir, part_names[1], (struct part){ 1, 3, 3, "one." });
    refuse_in(dir, part_names[1], part_names[0]);
    refuse_in(dir, part_names[1], part_names[2]);
    write_part(dir, part_names[1], (struct part){ 1, 200, 3, "one." });
    refuse_in(dir, part_names[1], "is part 2 of 200");
    write_part(dir, part_names[1], (struct part){ 3, 3, 3, "one." });
    refuse_in(dir, part_names[1], "which cannot be");

    write_parts(dir);
    write_part(dir, part_names[1], (struct part){ 2, 3, 3, "one." });
    refuse_in(dir, part_names[0], "not part 2 of 3");
    write_part(dir, part_names[1], (struct part){ 1, 4, 3, "one." });
    refuse_in(dir, part_names[0], "not part 2 of 3");
    write_part(dir, part_names[1], (struct part){ 1, 3, 3, "two." });
    refuse_in(dir, part_names[2], "\"two.\" twice");
    write_file(dir, part_names[1], "GGUF", 4);
    refuse_in(dir, part_names[2], part_names[1]);
    write_parts(dir);
    write_part(dir, part_names[0], (struct part){ 0, 3, 7, "zero" });
    refuse_in(dir, part_names[0], "promises 7 tensors");

    write_part(dir, "renamed.gguf", (struct part){ 0, 3, 3, "zero" });
    refuse_in(dir, "renamed.gguf", "renamed-00002-of-00003.gguf");
    remove_file(dir, "renamed.gguf");
    for (int i = 0; i < 3; i++)
        remove_file(dir, part_names[i]);

    write_part(dir, "m-00002-of-00009.gguf", (struct part){ 0, 1, 1, "zero" });
    struct gguf *g = open_in(dir, "m-00002-of-00009.gguf", NULL);
    assert_non_null(g);
    gguf_free(g);
    remove_file(dir, "m-00002-of-00009.gguf");
    rmdir(dir);
    free(dir);
}

static void a_part_alone_in_memory_is_refused(void **state)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    (void)state;
    gw_kv_u32(&w, "split.count", 2);
    gw_finish(&w, &file);
    refuse(&file, "missing");
    gw_release(&w);
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_file_is_named),
        cmocka_unit_test(any_part_opens_all),
        cmocka_unit_test(bad_splits_are_refused),
        cmocka_unit_test(a_part_alone_in_memory_is_refused),
    };
    return UNIT_RUN(tests);
}
