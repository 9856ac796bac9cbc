/* tiktoken.model: Kimi's file and the vectors of its tokenizer, and small files. */
#include "config.h"

#include "tests/unit/kimi.h"

#include <unistd.h>

#include "base/base64.h"

static void kimi_is_recognised(void **state)
{
    size_t n;
    (void)state;
    UNIT_NEEDS_SHARED();
    kimi_open();

    assert_int_equal(tok_count(kimi), 163840);
    assert_string_equal(tok_kind(kimi), "BPE kimi-k2");
    assert_int_equal(tok_special(kimi, "<|open|>"), 163587);
    assert_int_equal(tok_special(kimi, "[EOT]"), 163593);
    assert_int_equal(tok_special(kimi, "<|reserved_token_163700|>"), 163700);
    assert_int_equal(tok_bos(kimi), 163584);
    assert_int_equal(tok_eos(kimi), 163585);
    assert_false(tok_adds_bos(kimi));
    assert_memory_equal(tok_bytes(kimi, 198, &n), "\n", 1);
    assert_int_equal(n, 1);
    tok_bytes(kimi, 163587, &n);
    assert_int_equal(n, 0);
}

static void kimi_tokenize(void **state)
{
    size_t i;
    json_t *c;
    int bad = 0;
    (void)state;
    UNIT_NEEDS_SHARED();
    kimi_open();

    json_array_foreach(json_object_get(kimi_cases, "tokenize"), i, c) {
        const json_t *text = json_object_get(c, "text");
        bool special = json_is_true(json_object_get(c, "allow_special"));
        struct tok_ids ids = {0};
        (special ? tok_encode_special : tok_encode)(kimi, json_string_value(text),
                                                    json_string_length(text), TOK_AT_START,
                                                    &ids);
        bad += !same_ids(json_string_value(json_object_get(c, "name")), &ids,
                         json_object_get(c, "ids"));
        tok_ids_release(&ids);
    }
    print_message("%zu kimi_cases\n", i);
    assert_int_equal(bad, 0);
    assert_true(i >= 42);
}

/* The text of `"QUJDRA" repeated 5000 times`, `30000 spaces followed by "end"`. */
static void make_text(const char *how, struct buf *out)
{
    char part[64];
    int n;

    buf_reset(out);
    if (sscanf(how, "\"%63[^\"]\" repeated %d times", part, &n) == 2)
        while (n--)
            buf_adds(out, part);
    else if (sscanf(how, "%d spaces followed by \"%63[^\"]\"", &n, part) == 2) {
        while (n--)
            buf_addc(out, ' ');
        buf_adds(out, part);
    } else {
        fail_msg("cannot make: %s", how);
    }
}

static void kimi_tokenize_hashes(void **state)
{
    struct buf text = {0}, list = {0};
    size_t i;
    json_t *c;
    (void)state;
    UNIT_NEEDS_SHARED();
    kimi_open();

    json_array_foreach(json_object_get(kimi_cases, "tokenize_hashes"), i, c) {
        const char *want =
            json_string_value(json_object_get(c, "sha256_of_compact_json_id_list"));
        struct tok_ids ids = {0};
        make_text(json_string_value(json_object_get(c, "make")), &text);
        tok_encode(kimi, text.p, text.n, TOK_AT_START, &ids);
        assert_int_equal(ids.n, json_integer_value(json_object_get(c, "count")));
        if (want) {
            char hex[65] = "", cmd[128];
            buf_reset(&list);
            for (size_t k = 0; k < ids.n; k++)
                buf_addf(&list, "%s%d", k ? "," : "[", (int)ids.v[k]);
            buf_adds(&list, "]");
            write_file(kimi_dir, "ids", list.p, list.n);
            snprintf(cmd, sizeof cmd, "sha256sum %s/ids", kimi_dir);
            FILE *f = popen(cmd, "r");
            assert_non_null(f);
            assert_int_equal(fread(hex, 1, 64, f), 64);
            pclose(f);
            remove_file(kimi_dir, "ids");
            assert_string_equal(hex, want);
        }
        tok_ids_release(&ids);
    }
    assert_int_equal(i, 4);
    buf_release(&text);
    buf_release(&list);
}

static void kimi_split(void **state)
{
    struct presplit *p = presplit_family_new("kimi-k2");
    struct tok_work w = {0};
    size_t i, k;
    json_t *c, *piece;
    (void)state;
    if (!unit_shared())
        presplit_free(p);
    UNIT_NEEDS_SHARED();
    kimi_open();

    json_array_foreach(json_object_get(kimi_cases, "split"), i, c) {
        const json_t *text = json_object_get(c, "text");
        presplit_cut(p, json_string_value(text), json_string_length(text), &w);
        json_array_foreach(json_object_get(c, "pieces"), k, piece)
            if (k >= w.cut_n || w.cut[k] != json_string_length(piece))
                fail_msg("piece %zu of %s", k, json_string_value(text));
        assert_int_equal(k, json_string_length(text) ? w.cut_n : 0);
    }
    print_message("%zu kimi_cases\n", i);
    assert_true(i >= 41);
    tok_work_release(&w);
    presplit_free(p);
}

/* A part may begin anywhere in the text; all parts are the text. */
static void long_texts_are_cut_in_parts(void **state)
{
    struct buf text = {0};
    size_t done = 0, at, parts = 0;
    (void)state;

    while (text.n < 24999)
        buf_addc(&text, 'a');
    assert_int_equal(tok_kimi_part(text.p, text.n, &done), text.n);
    while (text.n < 60000)
        buf_addc(&text, 'a');
    done = 0;
    assert_int_equal(tok_kimi_part(text.p, text.n, &done), 25000);
    assert_int_equal(tok_kimi_part(text.p + 25000, text.n - 25000, &done), 25000);
    assert_int_equal(tok_kimi_part(text.p + 50000, text.n - 50000, &done), 10000);
    buf_reset(&text);
    while (text.n < 2 * 500000)
        buf_adds(&text, "\xC3\xA9 ");           /* 666,666 characters */
    done = 0;
    for (at = 0; at < text.n; parts++) {
        size_t n = tok_kimi_part(text.p + at, text.n - at, &done);
        if (parts == 0)
            assert_int_equal(n, 600000);        /* 400,000 characters */
        assert_true(n > 0);
        at += n;
    }
    assert_int_equal(at, text.n);
    assert_int_equal(parts, 2);
    buf_release(&text);
}

/* ---- small files ---- */

/* The 256 bytes as ranks, then more. */
static void small_file(struct buf *out, const char *const *more)
{
    int rank = 0;

    buf_reset(out);
    for (; rank < 256; rank++) {
        char b = (char)rank;
        base64_encode(out, &b, 1);
        buf_addf(out, " %d\n", rank);
    }
    for (; *more; more++, rank++) {
        base64_encode(out, *more, strlen(*more));
        buf_addf(out, " %d\n", rank);
    }
}

static void ranks_are_merged(void **state)
{
    static const char *const more[] = { "ab", "bc", "abc", "aa", NULL };
    const struct hf_config none = {0};
    struct buf text = {0};
    struct tok_ids ids = {0};
    struct err e = {0};
    (void)state;

    small_file(&text, more);
    assert_null(tok_tiktoken_memory(text.p, text.n, "small", &none, NULL, &e));
    assert_non_null(strstr(e.text, "--pre NAME"));
    assert_null(tok_tiktoken_memory(text.p, text.n, "small", &none, "qwen9", &e));
    assert_non_null(strstr(e.text, "qwen9"));
    struct tok *t = tok_tiktoken_memory(text.p, text.n, "small", &none, "qwen2", &e);
    if (!t)
        fail_msg("%s", e.text);
    assert_int_equal(tok_count(t), 260);
    tok_encode(t, "aabc abc\xFF", 9, TOK_AT_START, &ids);
    /* aabc: ab has the lower rank, then abc; " abc" likewise */
    static const int32_t want[] = { 'a', 258, ' ', 258, 255 };
    assert_int_equal(ids.n, 5);
    assert_memory_equal(ids.v, want, sizeof want);
    tok_ids_release(&ids);
    tok_free(t);
    buf_release(&text);
}

static void refused(const char *text, size_t n, const char *why)
{
    const struct hf_config none = {0};
    struct err e = {0};

    assert_null(tok_tiktoken_memory(text, n, "bad", &none, "qwen2", &e));
    assert_int_equal(e.kind, ERR_MODEL);
    if (!strstr(e.text, why))
        fail_msg("not \"%s\" but: %s", why, e.text);
}

static void broken_files_are_refused(void **state)
{
    static const char *const none[] = { NULL };
    static const struct {
        const char *line, *why;
    } bad[] = {
        { "YWI=", "line 257 is not" },
        { "YWI= ", "line 257 is not" },
        { "YWI= x", "line 257 is not" },
        { "YWI= -1", "line 257 is not" },
        { "YWI 256", "line 257 is not" },
        { "!!!! 256", "line 257 is not" },
        { " 256", "line 257 is not" },
        { "YWI= 0", "two lines have the rank 0" },
        { "YWI= 257", "has the rank 257" },
        { "YWI= 99999999999999999999", "line 257 is not" },
    };
    struct buf text = {0};
    (void)state;

    refused("", 0, "0 ranks");
    refused("YQ== 0\n", 7, "1 ranks");
    small_file(&text, none);
    size_t n = text.n;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf_truncate(&text, n);
        buf_adds(&text, bad[i].line);
        refused(text.p, text.n, bad[i].why);
    }
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kimi_is_recognised),
        cmocka_unit_test(kimi_tokenize),
        cmocka_unit_test(kimi_tokenize_hashes),
        cmocka_unit_test(kimi_split),
        cmocka_unit_test(long_texts_are_cut_in_parts),
        cmocka_unit_test(ranks_are_merged),
        cmocka_unit_test(broken_files_are_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, kimi_close);
}
