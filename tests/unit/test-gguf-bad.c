/* The GGUF reader on one file for each fault, on what is no GGUF at all, on the hostile
 * files of ../shared, and on a second of random damage. */
#include "config.h"

#include "tests/unit/gguf-check.h"

#include <jansson.h>

/* ---- one fault each ---- */

/* One tensor whose entry is given field by field. */
static void refuse_tensor(uint32_t dims, const uint64_t *ne, uint32_t dtype,
                          uint64_t offset, const char *why)
{
    struct gguf_write w = {0};
    struct buf file = {0};

    gw_tensor(&w, "good", GGUF_DT_F32, 1, (uint64_t[]){ 64 }, NULL, 256);
    gw_str(&w.info, "bad", 3);
    gw_u32(&w.info, dims);
    for (uint32_t i = 0; i < dims && i < 8; i++)
        gw_u64(&w.info, ne[i]);
    gw_u32(&w.info, dtype);
    gw_u64(&w.info, offset);
    w.n_tensors++;
    gw_finish(&w, &file);
    refuse(&file, why);
    gw_release(&w);
    buf_release(&file);
}

static void bad_tensors_are_refused(void **state)
{
    const uint64_t big = UINT64_C(1) << 32, most = UINT64_MAX;
    (void)state;

    refuse_tensor(0, NULL, 0, 0, "0 dimensions");
    refuse_tensor(5, (uint64_t[]){ 1, 1, 1, 1, 1 }, 0, 0, "5 dimensions");
    refuse_tensor(UINT32_MAX, (uint64_t[8]){ 1, 1, 1, 1, 1, 1, 1, 1 }, 0, 0,
                  "4294967295 dim");
    refuse_tensor(1, (uint64_t[]){0}, 0, 0, "impossible shape");
    refuse_tensor(2, (uint64_t[]){ 32, 0 }, 0, 0, "impossible shape");
    refuse_tensor(2, (uint64_t[]){ big, big }, 0, 0, "impossible shape");
    refuse_tensor(4, (uint64_t[]){ 1, big, 2, big }, 0, 0, "impossible shape");
    refuse_tensor(1, (uint64_t[]){ most }, 0, 0, "impossible shape");
    refuse_tensor(1, (uint64_t[]){ INT64_MAX / 2 }, 28, 0, "2^64 bytes");
    refuse_tensor(1, (uint64_t[]){ 1 }, 4, 0, "type 4");
    refuse_tensor(1, (uint64_t[]){ 1 }, 36, 0, "type 36");
    refuse_tensor(1, (uint64_t[]){ 1 }, 43, 0, "type 43");
    refuse_tensor(1, (uint64_t[]){ 1 }, UINT32_MAX, 0, "type 4294967295");
    refuse_tensor(1, (uint64_t[]){ 33 }, GGUF_DT_Q4_0, 0, "blocks of 32");
    refuse_tensor(2, (uint64_t[]){ 16, 2 }, GGUF_DT_Q8_0, 0, "blocks of 32");
    refuse_tensor(1, (uint64_t[]){ 128 }, 12, 0, "blocks of 256");
    refuse_tensor(1, (uint64_t[]){ 1 }, 0, 1, "not a multiple of 32");
    refuse_tensor(1, (uint64_t[]){ 64 }, 0, 32, "incomplete");
    refuse_tensor(1, (uint64_t[]){ 1 }, 0, 1 << 20, "incomplete");
    refuse_tensor(1, (uint64_t[]){ 1 }, 0, most - 31, "past the end");
    refuse_tensor(1, (uint64_t[]){ INT64_MAX / 4 }, 0, most / 2 + 1, "past the end");
}

static void bad_names_are_refused(void **state)
{
    struct gguf_write w = {0};
    struct buf file = {0}, name = {0};
    (void)state;

    gw_tensor(&w, "twice", GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    gw_tensor(&w, "other", GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    gw_tensor(&w, "twice", GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    gw_finish(&w, &file);
    refuse(&file, "\"twice\" twice");
    gw_release(&w);

    gw_kv_u32(&w, "same", 1);
    gw_kv_u32(&w, "samer", 1);
    gw_kv_u32(&w, "same", 1);
    gw_finish(&w, &file);
    refuse(&file, "\"same\" twice");
    gw_release(&w);

    gw_tensor(&w, "a.b", GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    w.info.p[9] = '\0';
    gw_finish(&w, &file);
    refuse(&file, "NUL");
    gw_release(&w);

    for (int i = 0; i < 65535; i++)
        buf_addc(&name, 'x');
    gw_tensor(&w, name.p, GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    gw_finish(&w, &file);
    struct gguf *g = gguf_open_memory(file.p, file.n, "long", NULL);
    assert_non_null(g);
    assert_non_null(gguf_tensor(g, name.p));
    gguf_free(g);
    gw_release(&w);
    buf_addc(&name, 'x');
    gw_tensor(&w, name.p, GGUF_DT_F32, 1, (uint64_t[]){ 1 }, NULL, 4);
    gw_finish(&w, &file);
    refuse(&file, "65536 bytes");
    gw_release(&w);
    buf_release(&name);
    buf_release(&file);
}

/* One key "k" whose value bytes are given; then a harmless one. */
static void refuse_value(uint32_t type, const void *p, size_t n, const char *why)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    gw_kv(&w, "k", type, p, n);
    gw_kv_u32(&w, "last", 1);
    gw_finish(&w, &file);
    refuse(&file, why);
    gw_release(&w);
    buf_release(&file);
}

/* An array of n elements, where the file holds 64 bytes of them. */
static void refuse_array(uint32_t type, uint64_t n, const char *why)
{
    struct buf b = {0};
    char zeros[64] = {0};
    gw_u32(&b, type);
    gw_u64(&b, n);
    buf_add(&b, zeros, sizeof zeros);
    refuse_value(GGUF_ARRAY, b.p, b.n, why);
    buf_release(&b);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    refuse_value(13, "\0\0\0\0", 4, "unknown type");
    refuse_value(UINT32_MAX, "\0\0\0\0", 4, "unknown type");
    refuse_value(GGUF_BOOL, "\x02", 1, "holds 2");
    refuse_value(GGUF_STRING, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "a string of");
    refuse_value(GGUF_STRING, "\0\0\0\0\0\0\0\x80", 8, "a string of");
    refuse_array(GGUF_ARRAY, 1, "array of arrays");
    refuse_array(GGUF_ARRAY, 0, "array of arrays");
    refuse_array(13, 0, "unknown type");
    refuse_array(GGUF_U8, UINT64_MAX, "18446744073709551615 values");
    refuse_array(GGUF_F64, (UINT64_C(1) << 61) + 1, "values");
    refuse_array(GGUF_U16, 1000, "1000 values");
    refuse_array(GGUF_STRING, UINT64_MAX, "values");
    refuse_array(GGUF_STRING, UINT64_C(1) << 40, "values");
}

static void bad_headers_are_refused(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
        size_t n;
        const char *why;
    } faults[] = {
        { 0, "GGUE", 4, "not a GGUF file" },
        { 4, "\0\0\0\0", 4, "version 0" },
        { 4, "\1\0\0\0", 4, "too old" },
        { 4, "\4\0\0\0", 4, "version 4" },
        { 4, "\0\0\0\3", 4, "big-endian" },
        { 8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "tensors" },
        { 8, "\0\0\0\0\0\0\0\1", 8, "tensors" },
        { 8, "\0\0\0\2\0\0\0\0", 8, "tensors" },
        { 16, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "metadata keys" },
        { 16, "\0\0\0\2\0\0\0\0", 8, "metadata keys" },
    };
    struct gguf_write w = {0};
    struct buf file = {0};
    (void)state;

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        gw_everything(&w);
        gw_finish(&w, &file);
        memcpy(file.p + faults[i].at, faults[i].bytes, faults[i].n);
        refuse(&file, faults[i].why);
        gw_release(&w);
    }
    buf_release(&file);
}

/* ---- what is no GGUF ---- */

static void foreign_files_are_recognised(void **state)
{
    static const struct {
        const char *bytes;
        size_t n; /* 0: strlen */
        const char *why;
    } files[] = {
        { "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", 0,
          "LFS" },
        { "<!DOCTYPE html><html><body>Sign in</body></html>", 0, "HTML" },
        { "\n\n  <HTML lang=en>", 0, "HTML" },
        { "\xef\xbb\xbf<!doctype HTML>", 0, "HTML" },
        { "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "gzip" },
        { "PK\3\4\x14\0\0\0", 8, "zip" },
        { "\x28\xb5\x2f\xfd\0\0\0\0", 8, "zstd" },
        { "\xfd\x37zXZ\0\0", 7, "xz" },
        { "BZh91AY", 0, "bzip2" },
        { "\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", 27, "safetensors" },
        { "\x80\2}q\0.", 6, "pickle" },
        { "\x80\4\x95\0\0", 5, "pickle" },
        { "lmgg\1\0\0\0", 8, "ggml" },
        { "fmgg\1\0\0\0", 8, "ggmf" },
        { "tjgg\3\0\0\0", 8, "ggjt" },
        { "FUGG\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, "big-endian" },
        { "{\"error\":\"Invalid username or password.\"}", 0, "JSON" },
        { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32,
          "zeros" },
        { "G", 1, "incomplete" },
        { "GGUF\3\0\0\0", 8, "incomplete" },
        { "hello", 0, "68 65 6c 6c" },
        { "x", 1, "78 00 00 00" },
    };
    struct buf file = {0};
    (void)state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        buf_reset(&file);
        buf_add(&file, files[i].bytes, files[i].n ? files[i].n : strlen(files[i].bytes));
        refuse(&file, files[i].why);
    }
    buf_release(&file);
}

/* ---- hostile files ---- */

/* Container-level verdicts of ../shared/bad-files. The other hostile files are sound as
 * containers; whoever reads a model or a vocabulary out of them refuses those. */
static const char *const bad_containers[] = {
    "empty.gguf",
    "bad-magic.gguf",
    "version-0.gguf",
    "version-1.gguf",
    "n-tensors-max.gguf",
    "n-tensors-2e56.gguf",
    "n-tensors-big.gguf",
    "n-kv-one-more.gguf",
    "key-len-max.gguf",
    "type-unknown.gguf",
    "string-len-2e63.gguf",
    "array-n-overflow.gguf",
    "array-nested.gguf",
    "align-0.gguf",
    "align-13.gguf",
    "align-2e31.gguf",
    "tensor-name-len.gguf",
    "tensor-duplicate.gguf",
    "ndims-0.gguf",
    "ndims-max.gguf",
    "dims-wrap-to-0.gguf",
    "type-9999.gguf",
    "type-removed.gguf",
    "block-odd.gguf",
    "offset-unaligned.gguf",
    "offset-past-end.gguf",
    "cut-1-byte.gguf",
    "cut-half.gguf",
    "cut-in-metadata.gguf",
    "split-missing.gguf",
    "ok.safetensors",
};

static bool is_bad_container(const char *file)
{
    for (size_t i = 0; i < sizeof bad_containers / sizeof *bad_containers; i++)
        if (!strcmp(file, bad_containers[i]))
            return true;
    return !strncmp(file, "st-", 3) || !strncmp(file, "dir-", 4);
}

static void hostile_files_get_their_verdict(void **state)
{
    char path[8192];
    json_error_t je;
    size_t i;
    json_t *list, *entry;
    (void)state;
    UNIT_NEEDS_SHARED();

    snprintf(path, sizeof path, "%s/bad-files/manifest.json", unit_shared());
    list = json_load_file(path, 0, &je);
    assert_non_null(list);
    json_array_foreach (list, i, entry) {
        const char *file = json_string_value(json_object_get(entry, "file"));
        struct err e = {0};
        snprintf(path, sizeof path, "%s/bad-files/%s", unit_shared(), file);
        struct gguf *g = gguf_open(path, &e);
        if (is_bad_container(file)) {
            if (g)
                fail_msg("%s was opened", file);
            assert_int_equal(e.kind, ERR_MODEL);
            assert_non_null(strstr(e.text, file));
        } else if (!g) {
            fail_msg("%s", e.text);
        } else {
            gw_touch(g);
        }
        gguf_free(g);
    }
    json_decref(list);
}

static uint32_t next_random(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

/* Change up to four places: mostly in the head, where the structure is; sometimes cut. */
static size_t damage(uint8_t *p, size_t n, size_t head, uint32_t *seed)
{
    static const uint64_t odd[] = {
        0, 1, 2, 127, 128, 255, INT32_MAX, UINT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32,
        UINT64_C(1) << 61, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 7, UINT64_MAX,
    };
    uint32_t changes = 1 + next_random(seed) % 4;
    while (changes--) {
        size_t at = next_random(seed) % (next_random(seed) % 8 ? head : n);
        size_t width = (size_t)1 << next_random(seed) % 4;
        uint64_t v = next_random(seed) % 2
                         ? odd[next_random(seed) % (sizeof odd / sizeof *odd)]
                         : next_random(seed);
        memcpy(p + at, &v, width < n - at ? width : n - at);
    }
    return next_random(seed) % 8 ? n : next_random(seed) % (n + 1);
}

static size_t slurp(const char *path, uint8_t **p)
{
    struct stat st;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    size_t n = (size_t)st.st_size;
    *p = xmalloc(n);
    assert_int_equal(fread(*p, 1, n, f), n);
    fclose(f);
    return n;
}

/* The sequence is the same in every run; the clock only says how far it goes. */
static void damage_for(const uint8_t *good, size_t n, size_t head, double limit)
{
    uint32_t seed = 20240229;
    unsigned opened = 0, refused = 0;
    double end = seconds() + limit;

    do {
        uint8_t *bad = xmalloc(n);
        struct err e = {0};
        memcpy(bad, good, n);
        size_t left = damage(bad, n, head, &seed);
        uint8_t *exact = xmalloc(left);
        memcpy(exact, bad, left);
        struct gguf *g = gguf_open_memory(exact, left, "damaged", &e);
        if (g)
            gw_touch(g);
        else
            assert_true(e.kind == ERR_MODEL && strlen(e.text) > 10);
        g ? opened++ : refused++;
        gguf_free(g);
        free(exact);
        free(bad);
    } while (seconds() < end);
    assert_true(opened > 0 && refused > 0);
}

static void random_damage_never_crashes(void **state)
{
    struct gguf_write w = {0};
    struct buf file = {0};
    char path[8192];
    (void)state;

    gw_everything(&w);
    gw_finish(&w, &file);
    damage_for((const uint8_t *)file.p, file.n, w.kv.n + w.info.n + 24, 0.4);
    gw_release(&w);
    buf_release(&file);
    if (unit_shared()) {
        uint8_t *p;
        snprintf(path, sizeof path, "%s/bad-files/ok.gguf", unit_shared());
        size_t n = slurp(path, &p);
        damage_for(p, n, n < 8000 ? n : 8000, 0.6);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_tensors_are_refused),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(foreign_files_are_recognised),
        cmocka_unit_test(hostile_files_get_their_verdict),
        cmocka_unit_test(random_damage_never_crashes),
    };
    return UNIT_RUN(tests);
}
