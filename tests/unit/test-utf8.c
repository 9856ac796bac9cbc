#include "config.h"

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "base/utf8.h"

static void one(const char *s, size_t bytes, int width)
{
    struct utf8_cell c;
    assert_int_equal(utf8_next(s, strlen(s), &c), bytes);
    assert_int_equal(c.width, width);
}

static void clusters_have_their_width(void **state)
{
    (void)state;
    one("a", 1, 1);
    one("ab", 1, 1);
    one("\xc3\xa4", 2, 1);                                    /* ä */
    one("a\xcc\x88z", 3, 1);                                  /* a + combining diaeresis */
    one("\xe4\xbd\xa0", 3, 2);                                /* 你 */
    one("\xf0\x9f\x98\x80", 4, 2);                            /* grinning face */
    one("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7", 18, 2);
    one("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa" "x", 8, 2);        /* flag */
    one("\xe2\x9d\xa4\xef\xb8\x8f", 6, 2);                    /* heart + VS16 */
    one("\x1b[31m", 1, 2);                                    /* ^[ */
    one("\xe2\x80\xae", 3, 8);                                /* <U+202E> */
    one("\xff", 1, 1);
}

static void half_characters_wait(void **state)
{
    struct utf8_cell c;
    (void)state;
    assert_int_equal(utf8_next("\xf0\x9f\x98", 3, &c), 0);
    assert_int_equal(utf8_complete("ab\xf0\x9f\x98", 5), 2);
    assert_int_equal(utf8_complete("ab\xe4\xbd\xa0", 5), 5);
    assert_int_equal(utf8_complete("\x80\x80\x80\x80", 4), 4);
    assert_false(utf8_valid("\xed\xa0\x80", 3));              /* surrogate */
    assert_false(utf8_valid("\xc0\x80", 2));                  /* overlong */
    assert_false(utf8_valid("\xf4\x90\x80\x80", 4));          /* above U+10FFFF */
}

static void controls_are_shown(void **state)
{
    struct buf b = {0};
    (void)state;
    utf8_visible(&b, "a\x1b]0;x\x07\n\tb\x7f\xc2\x9b\xff", 14, UTF8_LINES);
    assert_string_equal(b.p, "a^[]0;x^G\n\tb^?<U+009B>\xEF\xBF\xBD");
    buf_reset(&b);
    utf8_visible(&b, "a\nb", 3, UTF8_ONE_LINE);
    assert_string_equal(b.p, "a^Jb");
    buf_release(&b);
}

static void a_stream_may_be_cut_anywhere(void **state)
{
    const char *s = "x\xe4\xbd\xa0\xf0\x9f\x98\x80\xff\xc2\x9b-\xf0\x9f";
    size_t n = strlen(s);
    struct buf whole = {0};
    (void)state;
    utf8_visible(&whole, s, n, UTF8_LINES);
    for (size_t cut = 0; cut <= n; cut++) {
        struct buf out = {0};
        struct utf8_stream st = {0};
        utf8_stream_feed(&st, s, cut, &out);
        utf8_stream_feed(&st, s + cut, n - cut, &out);
        utf8_stream_finish(&st, &out);
        assert_string_equal(out.p, whole.p);
        buf_release(&out);
    }
    buf_release(&whole);
}

static void stepping_left_finds_clusters(void **state)
{
    const char *s = "ab\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xe4\xbd\xa0" "a\xcc\x88";
    size_t at = strlen(s);
    (void)state;
    assert_int_equal(utf8_prev(s, at), 3);
    assert_int_equal(utf8_prev(s, at - 3), 3);
    assert_int_equal(utf8_prev(s, at - 6), 8);
    assert_int_equal(utf8_prev(s, 2), 1);
    assert_int_equal(utf8_prev(s, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_have_their_width),
        cmocka_unit_test(half_characters_wait),
        cmocka_unit_test(controls_are_shown),
        cmocka_unit_test(a_stream_may_be_cut_anywhere),
        cmocka_unit_test(stepping_left_finds_clusters),
    };
    return UNIT_RUN(tests);
}
