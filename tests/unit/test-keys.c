#include "config.h"

#include "tests/unit/unit.h"

#include "tui/bindings.h"
#include "tui/keys.h"

/* Names of all keys in the bytes, a paste as "paste(text)". */
static void read_keys(struct tui_keys *k, enum tui_keys_time t, struct buf *out)
{
    struct tui_key key;

    while (tui_keys_next(k, t, &key)) {
        if (out->n)
            buf_addc(out, ' ');
        tui_key_name(&key, out);
        if (key.code == TUI_KEY_PASTE) {
            buf_addc(out, '(');
            buf_add(out, key.bytes, key.n);
            buf_addc(out, ')');
        }
    }
}

static void check_n(const char *bytes, size_t n, const char *want)
{
    struct buf got = {0};

    /* Whole, and byte by byte: the same keys. */
    for (size_t step = n; step > 0; step = step > 1 ? 1 : 0) {
        struct tui_keys k = {0};
        buf_reset(&got);
        for (size_t at = 0; at < n; at += step) {
            tui_keys_feed(&k, bytes + at, step);
            read_keys(&k, TUI_KEYS_BUSY, &got);
        }
        read_keys(&k, TUI_KEYS_QUIET, &got);
        assert_false(tui_keys_waits(&k));
        assert_string_equal(buf_str(&got), want);
        tui_keys_release(&k);
    }
    buf_release(&got);
}

static void check(const char *bytes, const char *want)
{
    check_n(bytes, strlen(bytes), want);
}

static void characters(void **state)
{
    (void)state;
    check("aB", "a B");
    check("\xc3\xa4\xf0\x9f\x98\x80x", "\xc3\xa4 \xf0\x9f\x98\x80 x");
    check("\x01\x0a\x0d\x09\x7f\x08", "Ctrl-A Ctrl-J Enter Tab Backspace Ctrl-H");
    check("\xff" "a", "\xEF\xBF\xBD a");
    check("\xe4\xbd", "\xEF\xBF\xBD \xEF\xBF\xBD");
    check_n("\0", 1, "Ctrl-@");
    check("\x1f\x1c", "Ctrl-_ Ctrl-\\");
}

static void sequences(void **state)
{
    (void)state;
    check("\x1b[A\x1b[B\x1b[C\x1b[D", "Up Down Right Left");
    check("\x1bOA\x1bOP", "Up F1");
    check("\x1b[5~\x1b[6~\x1b[3~\x1b[1~\x1b[4~", "PgUp PgDn Delete Home End");
    check("\x1b[1;5A\x1b[1;2B\x1b[1;3C", "Ctrl-Up Shift-Down Alt-Right");
    check("\x1b[5;5~", "Ctrl-PgUp");
    check("\x1b[15~\x1b[24~\x1b[[A", "F5 F12 F1");
    check("\x1b[Z", "Shift-Tab");
    check("\x1b[13;2u\x1b[27;5;13~\x1b[106;5u", "Shift-Enter Ctrl-Enter Ctrl-J");
    check("\x1b[97u", "a");
    check("\x1b[97:65;5:1u", "Ctrl-A");
    check("\x1b\r\x1b" "b\x1b\x7f", "Alt-Enter Alt-b Alt-Backspace");
    check("\x1b\x1b[A", "Alt-Up");
    check("\x1b\xc3\xa4", "Alt-\xc3\xa4");
    check("\x1b[999~x\x1b[?1;2cy", "unknown x unknown y");
    check("\x1b[I", "unknown");
}

static void a_lone_escape_is_a_key(void **state)
{
    struct tui_keys k = {0};
    struct tui_key key;

    (void)state;
    check("\x1b", "Esc");
    check("\x1b[", "Alt-[");
    check("\x1bO", "Alt-O");
    check("\x1b[1;", "unknown");
    check("\x1b\x1b\x1b" "a", "Esc Esc Alt-a");

    tui_keys_feed(&k, "\x1b", 1);
    assert_false(tui_keys_next(&k, TUI_KEYS_BUSY, &key));
    assert_true(tui_keys_waits(&k));
    assert_true(tui_keys_next(&k, TUI_KEYS_QUIET, &key));
    assert_int_equal(key.code, TUI_KEY_ESC);
    tui_keys_release(&k);
}

static void the_editor_gets_bytes_it_knows(void **state)
{
    struct tui_keys k = {0};
    struct tui_key key;

    (void)state;
    tui_keys_feed(&k, "\x1b[102;3u\x1b[97;5u\x1b[49;5u\x1b[1;5C", 29);
    assert_true(tui_keys_next(&k, TUI_KEYS_BUSY, &key));        /* Alt-f */
    assert_int_equal(key.n, 2);
    assert_memory_equal(key.bytes, "\x1b" "f", 2);
    assert_true(tui_keys_next(&k, TUI_KEYS_BUSY, &key));        /* Ctrl-A */
    assert_int_equal(key.n, 1);
    assert_memory_equal(key.bytes, "\x01", 1);
    assert_true(tui_keys_next(&k, TUI_KEYS_BUSY, &key));    /* Ctrl-1: no old form */
    assert_int_equal(key.n, 0);
    assert_true(tui_keys_next(&k, TUI_KEYS_BUSY, &key));
    assert_int_equal(key.n, 6);
    tui_keys_release(&k);
}

static void pastes(void **state)
{
    (void)state;
    check("\x1b[200~a\rb\r\nc\n\x1b[201~x", "paste(a\nb\nc\n) x");
    check("\x1b[200~\x1b[201~", "paste()");
    check("\x1b[200~\x03\x04\x1b[A\x1b[201~", "paste(\x03\x04\x1b[A)");
    check_n("\x1b[200~a\0b\x1b[201~", 15, "paste(a\xEF\xBF\xBD" "b)");
    check("x\x1b[201~y", "x unknown y");
}

/* A page that hides an end marker in its text must not get the rest typed. */
static void a_paste_cannot_end_itself(void **state)
{
    (void)state;
    check("\x1b[200~one\x1b[201~/quit\r\x1b[201~z", "paste(one\x1b[201~/quit\n) z");
}

static void an_open_paste_waits_without_a_clock(void **state)
{
    struct tui_keys k = {0};
    struct tui_key key;

    (void)state;
    tui_keys_feed(&k, "\x1b[200~abc", 9);
    assert_false(tui_keys_next(&k, TUI_KEYS_BUSY, &key));
    assert_false(tui_keys_waits(&k));
    assert_false(tui_keys_next(&k, TUI_KEYS_QUIET, &key));
    tui_keys_feed(&k, "\x1b[201~", 6);
    assert_false(tui_keys_next(&k, TUI_KEYS_BUSY, &key));
    assert_true(tui_keys_waits(&k));
    assert_true(tui_keys_next(&k, TUI_KEYS_QUIET, &key));
    assert_int_equal(key.n, 3);
    tui_keys_release(&k);
}

static void a_paste_may_be_large(void **state)
{
    struct tui_keys k = {0};
    struct tui_key key;
    enum { CHUNK = 4096, CHUNKS = 512 };
    char chunk[CHUNK];

    (void)state;
    memset(chunk, 'x', sizeof chunk);
    tui_keys_feed(&k, "\x1b[200~", 6);
    for (int i = 0; i < CHUNKS; i++) {
        tui_keys_feed(&k, chunk, sizeof chunk);
        assert_false(tui_keys_next(&k, TUI_KEYS_BUSY, &key));
    }
    tui_keys_feed(&k, "\x1b[201~q", 7);
    assert_true(tui_keys_next(&k, TUI_KEYS_QUIET, &key));
    assert_int_equal(key.n, (size_t)CHUNK * CHUNKS);
    assert_true(tui_keys_next(&k, TUI_KEYS_QUIET, &key));
    assert_int_equal(key.code, 'q');
    tui_keys_release(&k);
}

static void bytes_of_any_kind_come_to_an_end(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct tui_keys k = {0};
        struct tui_key key;
        for (int i = 0; i < 40; i++) {
            static const char pool[] = "\x1b\x1b\x1b[[O0123;~uA\xc3\xa4\xff\r\n?<M:";
            seed = seed * 1103515245u + 12345u;
            tui_keys_feed(&k, &pool[(seed >> 16) % (sizeof pool - 1)], 1);
            if (seed & 0x1000)
                while (tui_keys_next(&k, TUI_KEYS_BUSY, &key))
                    ;
        }
        tui_keys_feed(&k, "\x1b[201~", 6);      /* in case a paste was opened */
        while (tui_keys_next(&k, TUI_KEYS_QUIET, &key))
            assert_true(key.n <= 64 || key.code == TUI_KEY_PASTE);
        assert_false(tui_keys_waits(&k));
        tui_keys_release(&k);
    }
}

static void every_binding_names_a_key(void **state)
{
    struct tui_key k;

    (void)state;
    for (size_t i = 0; i < tui_binding_count(); i++) {
        const struct tui_binding *b = tui_binding_at(i);
        if (b->action == TUI_ACT_EDITOR)
            continue;
        assert_true(tui_key_parse(b->key, &k));
        assert_ptr_equal(tui_binding_find(b->where, &k), b);    /* and no key twice */
    }
    assert_false(tui_key_parse("Ctrl-", &k));
    assert_false(tui_key_parse("Nothing", &k));
    assert_true(tui_key_parse("a", &k));
    assert_null(tui_binding_find(TUI_IN_CHAT, &k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters),
        cmocka_unit_test(sequences),
        cmocka_unit_test(a_lone_escape_is_a_key),
        cmocka_unit_test(the_editor_gets_bytes_it_knows),
        cmocka_unit_test(pastes),
        cmocka_unit_test(a_paste_cannot_end_itself),
        cmocka_unit_test(an_open_paste_waits_without_a_clock),
        cmocka_unit_test(a_paste_may_be_large),
        cmocka_unit_test(bytes_of_any_kind_come_to_an_end),
        cmocka_unit_test(every_binding_names_a_key),
    };
    return UNIT_RUN(tests);
}
