/* The pieces that the regular expressions cut, against those of the tokenizers that the
 * expressions come from. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "base/log.h"
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
    struct presplit *p = presplit_family_new(family);
    struct tok_work w = {0};
    struct buf text = {0};
    int bad = 0, seen = 0;
    size_t i;
    json_t *c;

    snprintf(path, sizeof path, "tokenizers/expected/pre/%s.json", family);
    json_t *expected = shared_json(path),
           *corpus = shared_json("tokenizers/corpus/hard.json");
    json_array_foreach(json_object_get(corpus, "cases"), i, c)
    {
        const char *name = json_string_value(json_object_get(c, "name"));
        json_t *want = json_object_get(json_object_get(expected, "pieces"), name);
        assert_non_null(want);
        case_text(c, &text);
        bad += !same_pieces(p, name, &text, want, &w);
        seen++;
    }
    /* Every name that the list has for the family is known, and is of this family. */
    json_array_foreach(json_object_get(expected, "llama_cpp_pre_names"), i, c)
    {
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

/* One test for each family that the shared data has pieces of. */
static const char *const with_pieces[] = {
    "bailingmoe", "deepseek-v3", "exaone-moe", "gpt-2",    "gpt-4o",
    "kimi-k2",    "llama-bpe",   "minicpm5",   "qwen2",    "qwen35",
    "seed-coder", "smollm",      "tekken",     "tiny_aya",
};

static void pieces_of_all_families(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof with_pieces / sizeof *with_pieces; i++) {
        print_message("family %s\n", with_pieces[i]);
        check_family(with_pieces[i]);
    }
}

static void pieces_are(const char *family, const char *text, const char *want)
{
    struct presplit *p = presplit_family_new(family);
    struct tok_work w = {0};
    struct buf b = {0};
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
    pieces_are("gpt-4o", "camelCase HTTPServer DON'T", "camel|Case| HTTPServer| DON'T");
    pieces_are("qwen35",
               "a\xCC\x81"
               "b",
               "a\xCC\x81"
               "b");
    pieces_are("superbpe", "ab 1234567 c", "ab |1|234|567| c");
    pieces_are("tiny_aya", "12345 123x", "12|345| |123|x");
    pieces_are("afmoe", "1234567", "1|234|567");
    pieces_are("chameleon", "a  b\tc", "a|  |b|\t|c");
    /* U+0085 and U+2003 are white space, U+180E and U+200B are not. */
    pieces_are("gpt-2", "a\xC2\x85\xE2\x80\x83", "a|\xC2\x85\xE2\x80\x83");
    pieces_are("gpt-2", "a\xE1\xA0\x8E!", "a|\xE1\xA0\x8E!");
    pieces_are("gpt-2", "a\xE2\x80\x8B!", "a|\xE2\x80\x8B!");
}

static void behaves(enum presplit_behavior behavior, bool invert, const char *text,
                    const char *want)
{
    struct presplit *p = presplit_new(PRESPLIT_FOREIGN);
    struct tok_work w = {0};
    struct err e = {0};
    struct buf b = {0};

    assert_true(presplit_add(p, "-", 1, behavior, invert, &e));
    presplit_cut(p, text, strlen(text), &w);
    for (size_t i = 0; i < w.cut_n; i++) {
        size_t n = w.cut[i] & ~PRESPLIT_DROPPED;
        if (n == w.cut[i])
            buf_addf(&b, "%s%.*s", b.n ? "|" : "", (int)n, text);
        text += n;
    }
    assert_string_equal(buf_str(&b), want);
    buf_release(&b);
    tok_work_release(&w);
    presplit_free(p);
}

/* As Hugging Face's documentation shows it for "the-final--countdown". */
static void behaviors_are_those_of_tokenizer_json(void **state)
{
    static const char text[] = "the-final--countdown";
    (void)state;

    behaves(PRESPLIT_REMOVED, false, text, "the|final|countdown");
    behaves(PRESPLIT_ISOLATED, false, text, "the|-|final|-|-|countdown");
    behaves(PRESPLIT_WITH_PREVIOUS, false, text, "the-|final-|-|countdown");
    behaves(PRESPLIT_WITH_NEXT, false, text, "the|-final|-|-countdown");
    behaves(PRESPLIT_CONTIGUOUS, false, text, "the|-|final|--|countdown");
    behaves(PRESPLIT_REMOVED, true, text, "-|-|-");
    behaves(PRESPLIT_WITH_NEXT, false, "-a-", "-a|-");
    behaves(PRESPLIT_WITH_PREVIOUS, false, "--a", "-|-|a");
}

static void spells(const char *re, const char *want)
{
    struct err e = {0};
    struct buf b = {0};

    assert_true(presplit_spell(&b, re, strlen(re), &e));
    assert_string_equal(buf_str(&b), want);
    buf_release(&b);
}

static void cannot_be_spelled(const char *re, const char *why)
{
    struct err e = {0};
    struct presplit *p = presplit_new(PRESPLIT_FOREIGN);

    assert_false(presplit_add(p, re, strlen(re), PRESPLIT_ISOLATED, false, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    if (!strstr(e.text, why))
        fail_msg("%s", e.text);
    presplit_free(p);
}

static void expressions_are_spelled_for_pcre2(void **state)
{
    (void)state;

    spells("[^\\s\\p{L}]+|\\p{N}{1,3}", "[^\\t-\\r\\x{85}\\p{Z}\\p{L}]+|\\p{N}{1,3}");
    spells("[\\p{Han}]+", "[\\p{sc:Han}]+");
    spells("\\P{Latin}\\pL\\p{Lu}", "\\P{sc:Latin}\\pL\\p{Lu}");
    spells("[a-z&&[^x]]*", "(?:(?=[^x])[a-z])*");
    spells("[a-z&&[^x]&&[^y]]", "(?:(?=[^x])(?=[^y])[a-z])");
    spells("[]a]", "[]a]");
    spells("[[:alpha:]]", "[[:alpha:]]");
    cannot_be_spelled("((((", "missing closing parenthesis");
    cannot_be_spelled("[a", "closing bracket");
    cannot_be_spelled("[a[b]]", "a class inside a class");
    cannot_be_spelled("[a&&b]", "without a class");
    cannot_be_spelled("[^a&&[b]]", "intersection");
    cannot_be_spelled("a\\", "backslash");
    cannot_be_spelled("[\\S]", "between brackets");
    cannot_be_spelled("[a&&[a&&[a&&[a&&[a&&[a&&[b]]]]]]]", "nested too deep");
    cannot_be_spelled("\\p{Nonsense}", "wrong");
}

/* An expression that would run for ever is told that nothing matches. */
static void evil_expressions_come_to_an_end(void **state)
{
    struct presplit *p = presplit_new(PRESPLIT_FOREIGN);
    struct tok_work w = {0};
    struct buf text = {0};
    struct err e = {0};
    (void)state;

    assert_true(presplit_add(p, "(a+)+$", 6, PRESPLIT_ISOLATED, false, &e));
    for (int i = 0; i < 2000; i++)
        buf_addc(&text, 'a');
    buf_addc(&text, 'b');
    presplit_cut(p, text.p, text.n, &w);
    assert_int_equal(w.cut_n, 1);
    assert_int_equal(w.cut[0], text.n);
    buf_release(&text);
    tok_work_release(&w);
    presplit_free(p);
}

/* No family takes the square of the length: long runs, and what makes them end badly. */
static void no_family_is_slow(void **state)
{
    static const char *const unit[] = {
        "a",  "A",  " ",  "1",   "!",        "\n", "\xE4\xBD\xA0", "\xCC\x81", "\xC2\xA0",
        "a ", "1 ", "'s", " \n", "\xC2\xBD", "-a", "a\xCC\x81",    "<|",       "IMG"
    };
    static const char *const tail[] = { "", "x", "\xE4\xBD\xA0", "1", " ", "\n" };
    const char *last = "";
    (void)state;

    for (size_t i = 0; presplit_name_at(i); i++) {
        const char *family = presplit_name_at(i)->family;
        if (strcmp(family, last) == 0)
            continue;
        struct presplit *p = presplit_family_new(family);
        last = family;
        for (size_t u = 0; u < sizeof unit / sizeof *unit * 6; u++) {
            struct buf text = {0};
            struct tok_work w = {0};
            size_t total = 0;
            while (text.n < 50000)
                buf_adds(&text, unit[u / 6]);
            buf_adds(&text, tail[u % 6]);
            long long t0 = log_now_us();
            presplit_cut(p, text.p, text.n, &w);
            long long us = log_now_us() - t0;
            if (us > 2000000)
                fail_msg("%s: \"%s\" and \"%s\" take %lld ms", family, unit[u / 6],
                         tail[u % 6], us / 1000);
            for (size_t k = 0; k < w.cut_n; k++)
                total += w.cut[k];
            assert_int_equal(total, text.n);
            tok_work_release(&w);
            buf_release(&text);
        }
        presplit_free(p);
    }
}

/* No piece is lost and nothing overflows, however long a run is. */
static void long_runs_are_one_piece(void **state)
{
    static const char *const unit[] = { "a", " ", "!", "\n", "\xE4\xBD\xA0", "\xC2\xA0" };
    struct presplit *p = presplit_family_new("llama-bpe");
    (void)state;

    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
        struct buf text = {0};
        struct tok_work w = {0};
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
    struct buf b = {0};
    (void)state;

    assert_null(presplit_find("", 0));
    assert_null(presplit_find("qwen", 4));
    assert_non_null(presplit_find("qwen2x", 5));
    presplit_list(&b);
    assert_non_null(strstr(b.p, "llama-bpe, "));
    assert_non_null(strstr(b.p, "qwen2, "));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_all_families),
        cmocka_unit_test(white_space_is_unicodes),
        cmocka_unit_test(behaviors_are_those_of_tokenizer_json),
        cmocka_unit_test(expressions_are_spelled_for_pcre2),
        cmocka_unit_test(evil_expressions_come_to_an_end),
        cmocka_unit_test(no_family_is_slow),
        cmocka_unit_test(long_runs_are_one_piece),
        cmocka_unit_test(unknown_names_are_unknown),
    };
    return UNIT_RUN(tests);
}
