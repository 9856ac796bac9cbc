/* JSON as Python reads and prints it. What is expected was printed by Python 3.11. */
#include "config.h"

#include "tests/unit/unit.h"

#include <locale.h>

#include "base/buf.h"
#include "templates/pyjson.h"

#define NUMBERS PYJSON_NUMBER_TEXT

static const struct {
    const char *in, *out;
    unsigned read, print;
} good[] = {
    { "null", "null", 0, 0 },
    { " [true,\tfalse\r\n, {} ] ", "[true,false,{}]", 0, 0 },
    { "[1,{\"a\":[],\"b\":{}}]", "[1, {\"a\": [], \"b\": {}}]", 0, PYJSON_SPACES },
    { "{\"b\":1,\"a\":{\"d\":1,\"c\":2}}", "{\"b\":1,\"a\":{\"d\":1,\"c\":2}}", 0, 0 },
    { "{\"b\":1,\"a\":[{\"d\":1,\"c\":2}],\"B\":0,\"\":0}",
      "{\"\":0,\"B\":0,\"a\":[{\"c\":2,\"d\":1}],\"b\":1}", 0, PYJSON_SORT },
    { "{\"\\ud83d\\ude80\":1,\"\\uffee\":2,\"\xc3\xa9\":3,\"z\":4}",
      "{\"z\":4,\"\xc3\xa9\":3,\"\xef\xbf\xae\":2,\"\xf0\x9f\x9a\x80\":1}", 0,
      PYJSON_SORT },
    { "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", 0, 0 },
    { "\"\\u00e9 \\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u0000\\u001F \x7f \\u2028\"",
      "\"\xc3\xa9 \\\" \\\\ / \\b\\f\\n\\r\\t \\u0000\\u001f \x7f \xe2\x80\xa8\"", 0, 0 },
    { "[0,-0,7,-12,1234567890123456789]", "[0,0,7,-12,1234567890123456789]", 0, 0 },
    { "[9223372036854775808,-10000000000000000000000]",
      "[9223372036854775808,-10000000000000000000000]", 0, 0 },
    { "[1.0,1.50,-0.0,1e2,1E-7,0.0001,0.00001]",
      "[1.0,1.5,-0.0,100.0,1e-07,0.0001,1e-05]", 0, 0 },
    { "[1e15,1e16,123456789012345680.0,1e22,1.5e300]",
      "[1000000000000000.0,1e+16,1.2345678901234568e+17,1e+22,1.5e+300]", 0, 0 },
    { "[0.1,0.30000000000000004,9007199254740993.0,5e-324,1.7976931348623157e308]",
      "[0.1,0.30000000000000004,9007199254740992.0,5e-324,1.7976931348623157e+308]", 0,
      0 },
    { "[5.684341886080801486968994140625E-14,1e-999,1e999,-1e999]",
      "[5.684341886080802e-14,0.0,Infinity,-Infinity]", 0, 0 },
    { "1e00000000000000000000000000000000005", "100000.0", 0, 0 },
    { "[NaN,Infinity,-Infinity]", "[NaN,Infinity,-Infinity]", PYJSON_NAN, 0 },
    { "[1.0,1.50,-0,1E2,1e+05,12345678901234567890123]",
      "[1.0, 1.50, -0, 1E2, 1e+05, 12345678901234567890123]", NUMBERS, PYJSON_SPACES },
};

static void what_python_prints(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct pyjson_bad bad = {0};
        struct buf out = {0};
        json_t *v = pyjson_load(good[i].in, strlen(good[i].in), good[i].read, &bad);
        if (!v)
            fail_msg("%s: %s at %zu", good[i].in, bad.what, bad.at);
        pyjson_add(&out, v, good[i].print);
        if (strcmp(out.p, good[i].out))
            fail_msg("%s\n  have %s\n  want %s", good[i].in, out.p, good[i].out);
        buf_release(&out);
        json_decref(v);
    }
}

static const struct {
    const char *in;
    size_t at;
} broken[] = {
    { "", 0 },              { " ", 1 },             { "nul", 0 },
    { "nullx", 4 },         { "1 2", 2 },           { "[1", 2 },
    { "[1,]", 3 },          { "[1 2]", 3 },         { "{\"a\":1,}", 7 },
    { "{a:1}", 1 },         { "{\"a\" 1}", 5 },     { "{\"a\":}", 5 },
    { "01", 1 },            { "-", 1 },             { "1.", 2 },
    { ".5", 0 },            { "1e", 2 },            { "+1", 0 },
    { "1.e3", 2 },          { "NaN", 0 },           { "-Infinity", 1 },
    { "\"a", 2 },           { "\"\n\"", 1 },        { "\"\\x\"", 2 },
    { "\"\\u12g4\"", 3 },   { "\"\\ud83d\"", 7 },   { "\"\\ude80\"", 7 },
    { "\"\\ud83d\\u0041\"", 9 },                    { "\"\xff\"", 1 },
    { "\"\xc3\"", 1 },      { "\xef\xbb\xbf" "1", 0 }, { "{\"\\u0000\":1}", 1 },
    { "'a'", 0 },
};

static void what_is_no_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct pyjson_bad bad = {0};
        if (pyjson_load(broken[i].in, strlen(broken[i].in), 0, &bad))
            fail_msg("%s is no JSON", broken[i].in);
        assert_non_null(bad.what);
        if (bad.at != broken[i].at)
            fail_msg("%s: %s at %zu", broken[i].in, bad.what, bad.at);
    }
}

static void depth_has_a_limit(void **state)
{
    enum { N = 200000 };
    char *text = malloc(N);
    struct pyjson_bad bad = {0};

    (void)state;
    memset(text, '[', N);
    assert_null(pyjson_load(text, N, 0, &bad));
    assert_int_equal(bad.at, 500);
    memset(text + 500, ']', 500);
    json_t *v = pyjson_load(text, 1000, 0, &bad);
    assert_non_null(v);
    json_decref(v);
    free(text);
}

static void numbers_are_told_from_text(void **state)
{
    const char *text = "[1,1.5,12345678901234567890,\"1\",\"\"]";
    json_t *v = pyjson_load(text, strlen(text), 0, NULL);

    (void)state;
    assert_non_null(v);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pyjson_is_number(json_array_get(v, i)), i < 3);
        assert_int_equal(pyjson_is_string(json_array_get(v, i)), i >= 3);
    }
    assert_false(pyjson_is_number(NULL) || pyjson_is_string(NULL));
    json_decref(v);
}

static void the_locale_does_not_matter(void **state)
{
    struct buf out = {0};
    bool there = setlocale(LC_NUMERIC, "de_DE.UTF-8") ||
                 setlocale(LC_NUMERIC, "fr_FR.UTF-8");

    (void)state;
    if (!there) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    json_t *v = pyjson_load("1.25", 4, 0, NULL);
    pyjson_add(&out, v, 0);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(out.p, "1.25");
    buf_release(&out);
    json_decref(v);
}

static void bad_bytes_become_a_replacement(void **state)
{
    struct buf out = {0};

    (void)state;
    pyjson_add_string(&out, "a\xff\0b\xc3", 5);
    assert_string_equal(out.p, "\"a\xef\xbf\xbd\\u0000b\xef\xbf\xbd\"");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_python_prints),
        cmocka_unit_test(what_is_no_json),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(numbers_are_told_from_text),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(bad_bytes_become_a_replacement),
    };
    return UNIT_RUN(tests);
}
