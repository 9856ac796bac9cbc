#include "config.h"

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "tui/edit.h"
#include "tui/wrap.h"

/* The rows of s, shown as "row|row|row", newlines as $. */
static char *rows_of(const char *s, int cols, enum tui_wrap_mode mode,
                     enum tui_charset cs)
{
    struct tui_rows r = {0};
    struct buf out = {0};
    size_t n = strlen(s);

    tui_rows_extend(&r, s, n, 0, cols, mode, cs);
    for (size_t i = 0; i < r.n; i++) {
        size_t to = i + 1 < r.n ? r.start[i + 1] : n;
        if (i)
            buf_addc(&out, '|');
        for (size_t k = r.start[i]; k < to; k++)
            buf_addc(&out, s[k] == '\n' ? '$' : s[k]);
    }
    tui_rows_release(&r);
    return buf_take(&out);
}

static void check(const char *s, int cols, enum tui_wrap_mode mode, const char *want)
{
    char *got = rows_of(s, cols, mode, TUI_UTF8);
    assert_string_equal(got ? got : "", want);
    free(got);
}

static void words_wrap_at_blanks(void **state)
{
    (void)state;
    check("the quick brown fox", 10, TUI_WRAP_WORDS, "the quick |brown fox");
    check("the quick  brown", 9, TUI_WRAP_WORDS, "the quick  |brown");
    check("the quick\nbrown", 9, TUI_WRAP_WORDS, "the quick$|brown");
    check("the quick \nbrown", 9, TUI_WRAP_WORDS, "the quick $|brown");
    check("a\n\nb", 9, TUI_WRAP_WORDS, "a$|$|b");
    check("", 9, TUI_WRAP_WORDS, "");
    check("x", 1, TUI_WRAP_WORDS, "x");
    check("abc de", 1, TUI_WRAP_WORDS, "a|b|c |d|e");
}

static void long_words_are_cut(void **state)
{
    (void)state;
    check("abcdefghij", 4, TUI_WRAP_WORDS, "abcd|efgh|ij");
    check("ab cdefghij", 4, TUI_WRAP_WORDS, "ab |cdef|ghij");
}

static void wide_characters_stay_whole(void **state)
{
    (void)state;
    check("\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0", 4, TUI_WRAP_WORDS,
          "\xe4\xbd\xa0\xe5\xa5\xbd|\xe4\xbd\xa0");
    check("a\xe4\xbd\xa0\xe5\xa5\xbd", 4, TUI_WRAP_WORDS, "a\xe4\xbd\xa0|\xe5\xa5\xbd");
    /* Too wide for the pane: still a row of its own, and an end. */
    check("\xe4\xbd\xa0\xe5\xa5\xbd", 1, TUI_WRAP_WORDS, "\xe4\xbd\xa0|\xe5\xa5\xbd");
    /* A combining mark stays with its letter. */
    check("ab\xcc\x88" "c", 2, TUI_WRAP_CHARS, "ab\xcc\x88|c");
}

static void editing_has_a_row_for_the_cursor(void **state)
{
    (void)state;
    check("", 5, TUI_WRAP_CHARS, "");
    check("ab\n", 5, TUI_WRAP_CHARS, "ab$|");
    check("abcdefg", 5, TUI_WRAP_CHARS, "abcde|fg");
    check("ab cdefg", 5, TUI_WRAP_CHARS, "ab cd|efg");
}

static void controls_and_tabs_have_their_width(void **state)
{
    struct utf8_cell c;
    struct buf out = {0};

    (void)state;
    tui_cell_next("\t", 1, 3, TUI_UTF8, &c);
    assert_int_equal(c.width, 5);
    tui_cell_text(&out, "\t", &c, TUI_UTF8);
    assert_string_equal(out.p, "     ");
    buf_reset(&out);
    tui_cell_next("\x1b[0m", 4, 0, TUI_UTF8, &c);
    assert_int_equal(c.width, 2);
    tui_cell_text(&out, "\x1b[0m", &c, TUI_UTF8);
    assert_string_equal(out.p, "^[");
    buf_release(&out);
    assert_int_equal(tui_text_width("a\tb", 3, TUI_UTF8), 9);
    /* Half a character at the end is a bad byte, never an endless loop. */
    assert_int_equal(tui_text_width("a\xe4\xbd", 3, TUI_UTF8), 3);
}

static void ascii_spells_what_it_cannot_show(void **state)
{
    struct utf8_cell c;
    struct buf out = {0};
    const char *s = "e\xcc\x81";            /* e + combining acute */

    (void)state;
    assert_int_equal(tui_cell_next(s, 3, 0, TUI_ASCII, &c), 3);
    tui_cell_text(&out, s, &c, TUI_ASCII);
    assert_string_equal(out.p, "e<U+0301>");
    assert_int_equal(c.width, 9);
    buf_reset(&out);
    tui_cell_next("\xff", 1, 0, TUI_ASCII, &c);
    tui_cell_text(&out, "\xff", &c, TUI_ASCII);
    assert_string_equal(out.p, "?");
    buf_release(&out);
}

/* A text that grows byte by byte gives the rows of the whole text. */
static void rows_of_a_stream_are_rows_of_the_text(void **state)
{
    static const char s[] =
        "The  quick \xe4\xbd\xa0\xe5\xa5\xbd brown\n\n fox\tjumps over "
        "e\xcc\x81\xcc\x81 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 "
        "the-lazy-dog-and-its-friends   \nend \x1b[1m x";
    size_t n = sizeof s - 1;

    (void)state;
    for (int cols = 1; cols < 24; cols++)
        for (int mode = TUI_WRAP_WORDS; mode <= TUI_WRAP_CHARS; mode++) {
            struct tui_rows whole = {0}, grown = {0};
            tui_rows_extend(&whole, s, n, 0, cols, (enum tui_wrap_mode)mode, TUI_UTF8);
            for (size_t i = 1; i <= n; i++)
                tui_rows_extend(&grown, s, utf8_complete(s, i), 0, cols,
                                (enum tui_wrap_mode)mode, TUI_UTF8);
            assert_int_equal(grown.n, whole.n);
            for (size_t i = 0; i < whole.n; i++)
                assert_int_equal(grown.start[i], whole.start[i]);
            tui_rows_release(&whole);
            tui_rows_release(&grown);
        }
}

static void no_row_is_wider_than_the_pane(void **state)
{
    static const char s[] =
        "The quick \xe4\xbd\xa0\xe5\xa5\xbd brown\tfox e\xcc\x81 \xf0\x9f\x98"
        "\x80 jumps \x1b over";
    size_t n = sizeof s - 1;

    (void)state;
    for (int cols = 8; cols < 30; cols++) {
        struct tui_rows r = {0};
        tui_rows_extend(&r, s, n, 0, cols, TUI_WRAP_CHARS, TUI_UTF8);
        for (size_t i = 0; i < r.n; i++) {
            size_t to = i + 1 < r.n ? r.start[i + 1] : n;
            assert_true(tui_text_width(s + r.start[i], to - r.start[i], TUI_UTF8) <=
                        cols);
        }
        tui_rows_release(&r);
    }
}

/* ---- the edited text ---- */

static void cursor(const char *s, size_t at, int cols, int rows, int row, int col)
{
    struct tui_edit_view v = {0};

    tui_edit_layout(&v, s, strlen(s), at, cols, TUI_UTF8);
    tui_edit_scroll(&v, rows);
    assert_int_equal(v.cursor_row, row);
    assert_int_equal(v.cursor_col, col);
    tui_rows_release(&v.rows);
}

static void the_cursor_stands_on_its_column(void **state)
{
    (void)state;
    cursor("", 0, 5, 3, 0, 0);
    cursor("abc", 3, 5, 3, 0, 3);
    cursor("abcde", 5, 5, 3, 1, 0);             /* behind a full row */
    cursor("abcde\nx", 5, 5, 3, 0, 4);          /* on the newline of a full row */
    cursor("a\n", 2, 5, 3, 1, 0);
    cursor("\xe4\xbd\xa0" "b", 3, 5, 3, 0, 2);
    cursor("a\nb\nc\nd", 7, 5, 2, 1, 1);        /* scrolled */
    cursor("a\nb\nc\nd", 0, 5, 2, 0, 0);
    cursor("abc", 3, 1, 1, 0, 0);
}

static void lines_are_found(void **state)
{
    const char *s = "hello\nhi\nworld";
    size_t n = strlen(s);

    (void)state;
    assert_int_equal(tui_edit_line_start(s, 7), 6);
    assert_int_equal(tui_edit_line_end(s, n, 7), 8);
    assert_int_equal(tui_edit_up(s, 13, 4, TUI_UTF8), 8);       /* a shorter line */
    assert_int_equal(tui_edit_up(s, 8, 4, TUI_UTF8), 4);
    assert_int_equal(tui_edit_up(s, 3, 3, TUI_UTF8), 3);        /* no line above */
    assert_int_equal(tui_edit_down(s, n, 4, 4, TUI_UTF8), 8);
    assert_int_equal(tui_edit_down(s, n, 7, 4, TUI_UTF8), 13);
    assert_int_equal(tui_edit_down(s, n, 10, 4, TUI_UTF8), 10);
}

static void steps_are_clusters(void **state)
{
    const char *s = "a\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7" "e\xcc\x81";

    (void)state;
    assert_int_equal(tui_edit_right(s, strlen(s), 1), 12);
    assert_int_equal(tui_edit_left(s, 12), 1);
    assert_int_equal(tui_edit_left(s, 15), 12);
    assert_int_equal(tui_edit_left(s, 0), 0);
    assert_int_equal(tui_edit_right(s, 15, 15), 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_wrap_at_blanks),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(wide_characters_stay_whole),
        cmocka_unit_test(editing_has_a_row_for_the_cursor),
        cmocka_unit_test(controls_and_tabs_have_their_width),
        cmocka_unit_test(ascii_spells_what_it_cannot_show),
        cmocka_unit_test(rows_of_a_stream_are_rows_of_the_text),
        cmocka_unit_test(no_row_is_wider_than_the_pane),
        cmocka_unit_test(the_cursor_stands_on_its_column),
        cmocka_unit_test(lines_are_found),
        cmocka_unit_test(steps_are_clusters),
    };
    return UNIT_RUN(tests);
}
