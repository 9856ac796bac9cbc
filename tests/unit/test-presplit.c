/* The pieces that the regular expressions cut, against those of the tokenizers that the
 * expressions come from. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "tokenizer/internal.h"

/* One case: lengths of the pieces, and that they are the whole text. */
static bool same_pieces(const struct presplit *p, const char *name,
                        const struct buf *text, const json_t *want, struct tok_work *w)
{
    size_t total = 0;
    bool same;

    w->cut_n = 0;
    if (text->n)
        presplit_cut(p, text->p, text->n, w);
    same = w->cut_n == json_array_size(want);
    for (size_t i = 0; i < w->cut_n; i++) {
        same =
            same && (json_int_t)w->cut[i] == json_integer_value(json_array_get(want, i));
        total += w->cut[i];
    }
    assert_int_equal(total, text->n);
    if (!same) {
        print_message("case %s: got", name);
        for (size_t i = 0; i < w->cut_n && i < 40; i++)
            print_message(" %zu", w->cut[i]);
        print_message("\n");
    }
    return same;
}

static void check_family(const char *family)
{
    char path[256];
    struct presplit *p = presplit_new(family);
    struct tok_work w = { 0 };
    struct buf text = { 0 };
    int bad = 0, seen = 0;
    size_t i;
    json_t *c;

    snprintf(path, sizeof path, "tokenizers/expected/pre/%s.json", family);
    json_t *expected = shared_json(path),
           *corpus = shared_json("tokenizers/corpus/hard.json");
    json_array_foreach(json_object_get(corpus, "cases"), i, c) {
        const char *name = json_string_value(json_object_get(c, "name"));
        json_t *want = json_object_get(json_object_get(expected, "pieces"), name);
        assert_non_null(want);
        case_text(c, &text);
        bad += !same_pieces(p, name, &text, want, &w);
        seen++;
    }
    /* Every name that the list has for the family is known, and is of this family. */
    json_array_foreach(json_object_get(expected, "llama_cpp_pre_names"), i, c) {
        const struct presplit_name *n =
            presplit_find(json_string_value(c), json_string_length(c));
        assert_non_null(n);
        assert_string_equal(n->family, family);
    }
    json_decref(expected);
    json_decref(corpus);
    buf_release(&text);
    tok_work_release(&w);
    presplit_free(p);
    assert_true(seen > 250);
    assert_int_equal(bad, 0);
}

static void gpt_2(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_family("gpt-2");
}

static void llama_bpe(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_family("llama-bpe");
}

static void qwen2(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_family("qwen2");
}

static void pieces_are(const char *family, const char *text, const char *want)
{
    struct presplit *p = presplit_new(family);
    struct tok_work w = { 0 };
    struct buf b = { 0 };
    size_t at = 0;

    presplit_cut(p, text, strlen(text), &w);
    for (size_t i = 0; i < w.cut_n; i++) {
        buf_addf(&b, "%s%.*s", i ? "|" : "", (int)w.cut[i], text + at);
        at += w.cut[i];
    }
    assert_string_equal(b.p, want);
    buf_release(&b);
    tok_work_release(&w);
    presplit_free(p);
}

static void white_space_is_unicodes(void **state)
{
    (void)state;
    pieces_are("gpt-2", "a  b don't 12ab!", "a| | b| don|'t| 12|ab|!");
    pieces_are("qwen2", "I'M 123\n\n x", "I|'M| |1|2|3|\n\n| x");
    pieces_are("llama-bpe", "12345 x\r\n", "123|45| x|\r\n");
    /* U+0085 and U+2003 are white space, U+180E and U+200B are not. */
    pieces_are("gpt-2", "a\xC2\x85\xE2\x80\x83", "a|\xC2\x85\xE2\x80\x83");
    pieces_are("gpt-2", "a\xE1\xA0\x8E!", "a|\xE1\xA0\x8E!");
    pieces_are("gpt-2", "a\xE2\x80\x8B!", "a|\xE2\x80\x8B!");
}

/* No piece is lost and nothing overflows, however long a run is. */
static void long_runs_are_one_piece(void **state)
{
    static const char *const unit[] = { "a", " ", "!", "\n", "\xE4\xBD\xA0", "\xC2\xA0" };
    struct presplit *p = presplit_new("llama-bpe");
    (void)state;

    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
        struct buf text = { 0 };
        struct tok_work w = { 0 };
        while (text.n < 3000000)
            buf_adds(&text, unit[u]);
        presplit_cut(p, text.p, text.n, &w);
        assert_int_equal(w.cut_n, 1);
        assert_int_equal(w.cut[0], text.n);
        tok_work_release(&w);
        buf_release(&text);
    }
    presplit_free(p);
}

static void unknown_names_are_unknown(void **state)
{
    struct buf b = { 0 };
    (void)state;

    assert_null(presplit_find("", 0));
    assert_null(presplit_find("qwen", 4));
    assert_null(presplit_find("default", 7));
    assert_non_null(presplit_find("qwen2x", 5));
    presplit_list(&b);
    assert_non_null(strstr(b.p, "llama-bpe, "));
    assert_non_null(strstr(b.p, "qwen2, "));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt_2),
        cmocka_unit_test(llama_bpe),
        cmocka_unit_test(qwen2),
        cmocka_unit_test(white_space_is_unicodes),
        cmocka_unit_test(long_runs_are_one_piece),
        cmocka_unit_test(unknown_names_are_unknown),
    };
    return UNIT_RUN(tests);
}
