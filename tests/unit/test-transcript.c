#include "config.h"

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "tui/transcript.h"
#include "tui/view.h"

/* ---- events ---- */

static bool message(struct tui_transcript *t, int id, enum chat_role role,
                    const char *text)
{
    struct chat_event ev = { .type = CHAT_EV_MESSAGE, .message = id };
    ev.msg.role = role;
    ev.msg.text = (char *)text;
    ev.msg.len = strlen(text);
    return tui_transcript_apply(t, &ev);
}

static uint32_t next_token;
static long long now_us;

static bool token(struct tui_transcript *t, int id, enum chat_channel ch,
                  const char *text)
{
    struct chat_span span = { ch, 0, strlen(text) };
    struct chat_event ev = { .type = CHAT_EV_TOKEN, .message = id };
    ev.token.i = next_token++;
    ev.token.bytes = (char *)text;
    ev.token.len = span.to;
    ev.token.spans = &span;
    ev.token.n_spans = 1;
    ev.token.us = now_us += 100000;
    return tui_transcript_apply(t, &ev);
}

static void stop(struct tui_transcript *t, int id, enum chat_stop why)
{
    struct chat_event ev = { .type = CHAT_EV_STOP, .message = id };
    ev.stop.why = why;
    tui_transcript_apply(t, &ev);
}

static void call(struct tui_transcript *t, int id, char *name, char *arguments, char *raw,
                 char *error)
{
    struct chat_event ev = { .type = CHAT_EV_TOOL_CALL, .message = id };
    ev.call.name = name;
    ev.call.arguments = arguments;
    ev.call.raw = raw;
    ev.call.error = error;
    ev.call.error_at = 7;
    tui_transcript_apply(t, &ev);
}

static void note(struct tui_transcript *t, const char *text)
{
    tui_transcript_note(t, TUI_BLOCK_NOTE, text, strlen(text));
}

/* ---- what is to be seen ---- */

/* The lines of the pane: "|" ends each, labels in [], text with its newline cut. */
static char *look(struct tui_view *v, struct tui_transcript *t)
{
    struct tui_line lines[64];
    struct buf out = {0};

    assert_true(v->rows <= 64);
    int n = tui_view_lines(v, t, lines);
    for (int i = 0; i < n; i++) {
        const struct tui_block *b = &t->v[lines[i].block];
        if (lines[i].kind == TUI_LINE_LABEL) {
            buf_addc(&out, '[');
            tui_block_label(b, TUI_ASCII, &out);
            buf_addc(&out, ']');
        } else if (lines[i].kind == TUI_LINE_TEXT) {
            size_t to = lines[i].to;
            while (to > lines[i].from && strchr(" \n", b->text.p[to - 1]))
                to--;
            buf_add(&out, b->text.p + lines[i].from, to - lines[i].from);
        }
        buf_addc(&out, '|');
    }
    return buf_take(&out);
}

static void see(struct tui_view *v, struct tui_transcript *t, const char *want)
{
    char *got = look(v, t);
    assert_string_equal(got ? got : "", want);
    free(got);
}

/* ---- tests ---- */

static void an_answer_grows_token_by_token(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };

    (void)state;
    message(&t, 1, CHAT_ROLE_USER, "hello\n");
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    see(&v, &t, "[you]|hello||[assistant]|");
    token(&t, 2, CHAT_CH_RESPONSE, " Hi");
    see(&v, &t, "[you]|hello||[assistant]|Hi|");
    token(&t, 2, CHAT_CH_RESPONSE, " you\n\n");
    see(&v, &t, "[you]|hello||[assistant]|Hi you|");
    token(&t, 2, CHAT_CH_RESPONSE, "there");
    stop(&t, 2, CHAT_STOP_END_OF_TURN);
    see(&v, &t, "[you]|hello||[assistant]|Hi you||there|");
    tui_transcript_release(&t);
}

static void thinking_stands_apart_and_folds(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_THINK, "\nLet me ");
    token(&t, 2, CHAT_CH_THINK, "see\n");
    token(&t, 2, CHAT_CH_RESPONSE, "\n\nYes");
    see(&v, &t, "[assistant]|[- thinking - 2 tokens - 0.1 s]|Let me see||Yes|");
    tui_transcript_fold(&t, true);
    see(&v, &t, "[assistant]|[+ thinking - 2 tokens - 0.1 s]|Yes|");
    /* What comes later is folded too, and grows behind its label. */
    stop(&t, 2, CHAT_STOP_EOS);
    message(&t, 3, CHAT_ROLE_ASSISTANT, "");
    token(&t, 3, CHAT_CH_THINK, "hm");
    see(&v, &t, "[assistant]|[+ thinking - 2 tokens - 0.1 s]|Yes||[assistant]|"
                "[+ thinking - 1 token]|");
    tui_transcript_fold(&t, false);
    see(&v, &t,
        "[assistant]|[- thinking - 2 tokens - 0.1 s]|Let me see||Yes||[assistant]|"
        "[- thinking - 1 token]|hm|");
    tui_transcript_release(&t);
}

static void an_empty_thought_is_not_shown(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_THINK, "\n\n");
    token(&t, 2, CHAT_CH_CONTROL, "</think>");
    token(&t, 2, CHAT_CH_RESPONSE, "Yes");
    see(&v, &t, "[assistant]|Yes|");
    tui_transcript_release(&t);
}

static void a_call_is_a_card(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 60 };
    uint32_t i;

    (void)state;
    next_token = 0;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_RESPONSE, "Wait");
    token(&t, 2, CHAT_CH_TOOL, "{\"name\":");
    see(&v, &t, "[assistant]|Wait||[tool call]|{\"name\":|");
    token(&t, 2, CHAT_CH_TOOL, "\"sum\"}");
    call(&t, 2, "sum", "{\"a\":1}", NULL, NULL);
    see(&v, &t, "[assistant]|Wait||[tool call - sum]|{\"a\":1}|");
    assert_true(tui_block_token(&t.v[t.n - 1], 3, &i));
    assert_int_equal(i, 1);             /* the card leads to the raw call's token */

    call(&t, 2, NULL, NULL, "{\"name\"", "a colon is missing");
    see(&v, &t, "[assistant]|Wait||[tool call - sum]|{\"a\":1}||[tool call]|{\"name\"|"
                "error at byte 7: a colon is missing|");
    message(&t, 3, CHAT_ROLE_TOOL, "42");
    assert_int_equal(t.v[t.n - 1].kind, TUI_BLOCK_RESULT);
    tui_transcript_release(&t);
}

static void ends_are_told(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 100 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_RESPONSE, "Once upon a ti");
    stop(&t, 2, CHAT_STOP_USER);
    see(&v, &t,
        "[assistant]|Once upon a ti||stopped by you; /continue goes on, /retry answers "
        "anew|");
    /* It goes on where it was cut, and the note is no longer true. */
    token(&t, 2, CHAT_CH_RESPONSE, "me");
    see(&v, &t, "[assistant]|Once upon a time|");
    stop(&t, 2, CHAT_STOP_EOS);
    see(&v, &t, "[assistant]|Once upon a time|");
    tui_transcript_release(&t);
}

static void a_note_does_not_tear_an_answer(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_RESPONSE, "wor");
    note(&t, "a note");
    note(&t, "another");
    token(&t, 2, CHAT_CH_RESPONSE, "d");
    see(&v, &t, "[assistant]|word||a note|another|");
    tui_transcript_release(&t);
}

static void half_characters_wait_for_their_rest(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_RESPONSE, "a\xe4\xbd");
    see(&v, &t, "[assistant]|a|");
    token(&t, 2, CHAT_CH_RESPONSE, "\xa0");
    see(&v, &t, "[assistant]|a\xe4\xbd\xa0|");
    token(&t, 2, CHAT_CH_RESPONSE, "\xe4");
    stop(&t, 2, CHAT_STOP_EOS);             /* the rest never came: the byte is shown */
    see(&v, &t, "[assistant]|a\xe4\xbd\xa0\xe4|");
    tui_transcript_release(&t);
}

static void every_byte_knows_its_token(void **state)
{
    struct tui_transcript t = {0};
    struct chat_span spans[2] = { { CHAT_CH_THINK, 0, 2 }, { CHAT_CH_RESPONSE, 2, 5 } };
    struct chat_event ev = { .type = CHAT_EV_TOKEN, .message = 2 };
    uint32_t i = 99;

    (void)state;
    next_token = 0;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_THINK, "ab");
    token(&t, 2, CHAT_CH_THINK, "c");
    ev.token.i = 2;             /* ends the thought and begins the answer */
    ev.token.bytes = (char *)"deXYZ";
    ev.token.len = 5;
    ev.token.spans = spans;
    ev.token.n_spans = 2;
    tui_transcript_apply(&t, &ev);
    assert_int_equal(t.n, 3);
    static const uint32_t want[] = { 0, 0, 1, 2, 2 };
    for (size_t at = 0; at < 5; at++) {
        assert_true(tui_block_token(&t.v[1], at, &i));
        assert_int_equal(i, want[at]);
    }
    assert_false(tui_block_token(&t.v[1], 5, &i));
    assert_true(tui_block_token(&t.v[2], 0, &i));
    assert_int_equal(i, 2);
    assert_false(tui_block_token(&t.v[0], 0, &i));
    tui_transcript_release(&t);
}

static void the_name_comes_from_the_session(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 20, .cols = 40 };
    struct chat_event ev = { .type = CHAT_EV_SESSION };
    struct chat_event again = { .type = CHAT_EV_MESSAGE, .message = 3 };

    (void)state;
    ev.session = json_pack("{s:{s:s}}", "model", "name", "Tiny");
    tui_transcript_apply(&t, &ev);
    json_decref(ev.session);
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    again.msg.role = CHAT_ROLE_ASSISTANT;
    again.msg.attempt = 1;
    tui_transcript_apply(&t, &again);
    see(&v, &t, "[Tiny]||[Tiny (answer 2)]|");

    struct chat_event reset = { .type = CHAT_EV_RESET };
    assert_true(tui_transcript_apply(&t, &reset));
    see(&v, &t, "");
    tui_transcript_release(&t);
}

/* ---- moving ---- */

static void fill(struct tui_transcript *t, int lines)
{
    char text[32];
    struct buf b = {0};

    for (int i = 0; i < lines; i++) {
        snprintf(text, sizeof text, "%sline %d", i ? "\n" : "", i);
        buf_adds(&b, text);
    }
    message(t, 1, CHAT_ROLE_USER, buf_str(&b));
    buf_release(&b);
}

static void the_tail_is_followed_until_one_scrolls(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 4, .cols = 40 };

    (void)state;
    fill(&t, 10);
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_RESPONSE, "one");
    see(&v, &t, "line 9||[assistant]|one|");
    token(&t, 2, CHAT_CH_RESPONSE, "\ntwo");
    see(&v, &t, "|[assistant]|one|two|");

    tui_view_scroll(&v, &t, -3);
    see(&v, &t, "line 7|line 8|line 9||");
    assert_int_equal(tui_view_new_rows(&v, &t), 0);
    assert_int_equal(tui_view_rows_below(&v, &t, 100), 3);
    token(&t, 2, CHAT_CH_RESPONSE, "\nthree\nfour");
    note(&t, "hm");
    see(&v, &t, "line 7|line 8|line 9||");
    assert_int_equal(tui_view_new_rows(&v, &t), 4);             /* two, a blank, a note */
    assert_int_equal(tui_view_rows_below(&v, &t, 100), 7);
    assert_int_equal(tui_view_rows_below(&v, &t, 5), 5);

    tui_view_scroll(&v, &t, 100);
    assert_false(v.away);
    see(&v, &t, "three|four||hm|");
    tui_view_top(&v, &t);
    see(&v, &t, "[you]|line 0|line 1|line 2|");
    tui_view_scroll(&v, &t, -1);
    see(&v, &t, "[you]|line 0|line 1|line 2|");
    tui_view_scroll(&v, &t, 2);
    see(&v, &t, "line 1|line 2|line 3|line 4|");
    tui_view_follow(&v);
    see(&v, &t, "three|four||hm|");
    assert_int_equal(tui_view_new_rows(&v, &t), 0);
    tui_transcript_release(&t);
}

static void a_short_text_cannot_be_scrolled(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 10, .cols = 40 };

    (void)state;
    fill(&t, 2);
    tui_view_scroll(&v, &t, -5);
    assert_false(v.away);
    tui_view_top(&v, &t);
    assert_false(v.away);
    see(&v, &t, "[you]|line 0|line 1|");
    tui_transcript_release(&t);
}

static void resizing_keeps_the_place(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = {0};
    struct buf b = {0};

    (void)state;
    for (int i = 0; i < 40; i++)
        buf_addf(&b, "%s%d some words of paragraph %d that wrap when it gets narrow",
                 i ? "\n" : "", i, i);
    message(&t, 1, CHAT_ROLE_USER, b.p);
    message(&t, 2, CHAT_ROLE_USER, b.p);
    tui_view_resize(&v, &t, 5, 100);
    tui_view_scroll(&v, &t, -60);
    struct tui_line first[64];
    tui_view_lines(&v, &t, first);
    size_t block = first[0].block, at = first[0].from;
    for (int cols = 99; cols > 0; cols -= 7) {
        struct tui_line lines[64];
        tui_view_resize(&v, &t, 3, cols);
        assert_true(tui_view_lines(&v, &t, lines) == 3);
        assert_int_equal(lines[0].block, block);
        assert_true(lines[0].from <= at && at < lines[0].to);
    }
    tui_view_resize(&v, &t, 5, 100);
    struct tui_line lines[64];
    tui_view_lines(&v, &t, lines);
    assert_int_equal(lines[0].from, at);
    tui_view_resize(&v, &t, 0, 0);              /* no room at all */
    assert_int_equal(tui_view_lines(&v, &t, lines), 0);
    tui_view_scroll(&v, &t, -3);
    tui_view_scroll(&v, &t, 3);
    buf_release(&b);
    tui_transcript_release(&t);
}

/* Up and down by the same amount comes back, wherever one starts. */
static void scrolling_is_reversible(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 5, .cols = 30 };

    (void)state;
    for (int i = 0; i < 20; i++) {
        char text[80];
        snprintf(text, sizeof text, "%d is a question that is a little longer than a row",
                 i);
        message(&t, 2 * i + 1, CHAT_ROLE_USER, text);
        message(&t, 2 * i + 2, CHAT_ROLE_ASSISTANT, "");
        token(&t, 2 * i + 2, CHAT_CH_THINK, "some thought\nin two lines");
        token(&t, 2 * i + 2, CHAT_CH_RESPONSE, "and an answer");
        if (i % 3 == 0)
            note(&t, "a note");
    }
    tui_view_top(&v, &t);
    char *before = look(&v, &t);
    for (int step = 1; step < 40; step++) {
        tui_view_scroll(&v, &t, step);
        char *there = look(&v, &t);
        tui_view_scroll(&v, &t, -step);
        char *back = look(&v, &t);
        assert_string_equal(back, before);
        assert_string_not_equal(there, before);
        free(there);
        free(back);
    }
    free(before);
    tui_transcript_release(&t);
}

static void folding_while_away_keeps_a_place(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 3, .cols = 40 };

    (void)state;
    message(&t, 2, CHAT_ROLE_ASSISTANT, "");
    token(&t, 2, CHAT_CH_THINK, "1\n2\n3\n4\n5\n6\n7\n8");
    token(&t, 2, CHAT_CH_RESPONSE, "a\nb\nc\nd\ne\nf");
    tui_view_top(&v, &t);
    tui_view_scroll(&v, &t, 5);
    see(&v, &t, "4|5|6|");
    tui_transcript_fold(&t, true);
    see(&v, &t, "[+ thinking - 1 token]|a|b|");
    tui_view_scroll(&v, &t, 1);
    see(&v, &t, "a|b|c|");
    tui_transcript_release(&t);
}

/* A transcript of 100,000 lines: a token costs its own block, a step its own rows.
 * That it stays quick is what this test's own run time shows. */
static void a_long_transcript_stays_usable(void **state)
{
    struct tui_transcript t = {0};
    struct tui_view v = { .rows = 22, .cols = 80 };
    struct tui_line lines[64];

    (void)state;
    message(&t, 1, CHAT_ROLE_ASSISTANT, "");
    for (int i = 0; i < 100000; i++) {
        token(&t, 1, CHAT_CH_RESPONSE, "a line of text that a model has written\n");
        if (i % 10 == 0)
            tui_view_lines(&v, &t, lines);
    }
    assert_int_equal(tui_view_lines(&v, &t, lines), 22);
    tui_view_top(&v, &t);
    for (int i = 0; i < 2000; i++) {
        tui_view_scroll(&v, &t, 20);
        assert_int_equal(tui_view_lines(&v, &t, lines), 22);
    }
    tui_view_resize(&v, &t, 22, 40);
    assert_int_equal(tui_view_lines(&v, &t, lines), 22);
    tui_view_follow(&v);
    assert_int_equal(tui_view_lines(&v, &t, lines), 22);
    tui_transcript_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_grows_token_by_token),
        cmocka_unit_test(thinking_stands_apart_and_folds),
        cmocka_unit_test(an_empty_thought_is_not_shown),
        cmocka_unit_test(a_call_is_a_card),
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(a_note_does_not_tear_an_answer),
        cmocka_unit_test(half_characters_wait_for_their_rest),
        cmocka_unit_test(every_byte_knows_its_token),
        cmocka_unit_test(the_name_comes_from_the_session),
        cmocka_unit_test(the_tail_is_followed_until_one_scrolls),
        cmocka_unit_test(a_short_text_cannot_be_scrolled),
        cmocka_unit_test(resizing_keeps_the_place),
        cmocka_unit_test(scrolling_is_reversible),
        cmocka_unit_test(folding_while_away_keeps_a_place),
        cmocka_unit_test(a_long_transcript_stays_usable),
    };
    return UNIT_RUN(tests);
}
