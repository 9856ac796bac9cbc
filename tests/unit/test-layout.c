#include "config.h"

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "chat/chat.h"
#include "tui/layout.h"
#include "tui/status.h"
#include "tui/styles.h"

static void panes_fill_the_screen(void **state)
{
    struct tui_panes p;

    (void)state;
    for (int rows = 1; rows < 70; rows++)
        for (int cols = 1; cols < 210; cols += 13)
            for (int want = 0; want < 80; want += 7) {
                tui_layout(rows, cols, want, &p);
                assert_int_equal(p.transcript.rows + p.status.rows + p.input.rows, rows);
                assert_true(p.input.rows >= 1 && p.input.cols == cols);
                assert_true(p.transcript.rows >= 0 && p.status.rows >= 0);
                assert_true(p.input.rows <= (rows / 3 > 1 ? rows / 3 : 1));
                assert_int_equal(p.status.y, p.transcript.rows);
                assert_int_equal(p.input.y + p.input.rows, rows);
            }
}

static void common_sizes(void **state)
{
    struct tui_panes p;

    (void)state;
    tui_layout(24, 80, 1, &p);
    assert_int_equal(p.transcript.rows, 22);
    assert_int_equal(p.status.y, 22);
    assert_int_equal(p.input.y, 23);
    tui_layout(24, 80, 100, &p);
    assert_int_equal(p.input.rows, 8);
    tui_layout(1, 1, 5, &p);
    assert_int_equal(p.input.rows, 1);
    assert_int_equal(p.transcript.rows, 0);
    tui_layout(0, 0, 0, &p);                    /* a terminal that tells no size */
    assert_int_equal(p.input.rows, 1);
    assert_int_equal(p.input.cols, 1);
    assert_int_equal(tui_layout_prompt_cols(80), 2);
    assert_int_equal(tui_layout_prompt_cols(3), 0);
}

static const struct chat_status busy = {
    .state = CHAT_DECODE, .model = "Qwen3-0.6B", .device = "CPU avx512, 2 threads",
    .template_name = "chatml", .ctx = 4096, .ctx_used = 312, .decoded = 17,
    .prefill_tps = 512.4, .decode_tps = 9.87,
};

static void status_says_it_all_when_there_is_room(void **state)
{
    struct buf out = {0};

    (void)state;
    tui_status_text(&busy, 120, TUI_ASCII, &out);
    assert_string_equal(out.p,
                        "Qwen3-0.6B | CPU avx512, 2 threads | chatml | ctx 312/4096 | "
                        "writing 17 | read 512/s write 9.9/s");
    buf_release(&out);
}

static void status_shrinks_in_order(void **state)
{
    struct buf out = {0};

    (void)state;
    tui_status_text(&busy, 60, TUI_ASCII, &out);
    assert_string_equal(out.p, "Qwen3-0.6B | ctx 312/4096 | writing 17");
    for (int cols = 0; cols < 130; cols++)
        for (int cs = TUI_UTF8; cs <= TUI_ASCII; cs++) {
            buf_reset(&out);
            tui_status_text(&busy, cols, (enum tui_charset)cs, &out);
            assert_non_null(strstr(buf_str(&out), "writing 17"));
            if (cols >= 12)
                assert_true(tui_text_width(out.p, out.n, (enum tui_charset)cs) <= cols);
        }
    buf_release(&out);
}

static void status_shows_foreign_bytes(void **state)
{
    struct chat_status st = busy;
    struct buf out = {0};

    (void)state;
    st.model = "bad\x1b[31m\xff";
    tui_status_text(&st, 120, TUI_UTF8, &out);
    assert_null(strchr(out.p, '\x1b'));
    assert_non_null(strstr(out.p, "bad^[[31m"));
    buf_release(&out);
}

static void states_are_words(void **state)
{
    struct chat_status st = { .state = CHAT_PREFILL,
                              .prefill_done = 512,
                              .prefill_total = 2048 };
    struct buf out = {0};

    (void)state;
    tui_status_state(&st, &out);
    assert_string_equal(out.p, "reading 512 of 2048");
    buf_reset(&out);
    tui_status_away(1, 7, 100, TUI_UTF8, &out);
    assert_string_equal(out.p, "\xE2\x86\x93 1 new line");
    buf_reset(&out);
    tui_status_away(0, 100, 100, TUI_ASCII, &out);
    assert_string_equal(out.p, "v 100+ lines below");
    buf_release(&out);
}

static void every_style_has_a_meaning(void **state)
{
    (void)state;
    for (int i = 0; i < TUI_STYLES; i++) {
        assert_non_null(tui_styles[i].name);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tui_styles[i].name, tui_styles[k].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panes_fill_the_screen),
        cmocka_unit_test(common_sizes),
        cmocka_unit_test(status_says_it_all_when_there_is_room),
        cmocka_unit_test(status_shrinks_in_order),
        cmocka_unit_test(status_shows_foreign_bytes),
        cmocka_unit_test(states_are_words),
        cmocka_unit_test(every_style_has_a_meaning),
    };
    return UNIT_RUN(tests);
}
