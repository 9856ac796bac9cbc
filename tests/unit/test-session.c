#include "config.h"

#include "tests/unit/home.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "chat/session.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#define HEAD "{\"type\":\"session\",\"version\":1,\"id\":\"x\",\"model\":{\"name\":\"m\"}}\n"
#define ASK "{\"type\":\"message\",\"id\":1,\"parent\":null,\"role\":\"user\",\"content\":\"hi\\nyou\"}\n"

static size_t count(const char *path, struct buf *notes)
{
    struct chat_events evs = {0};
    struct err e = {0};
    if (!chat_session_read(path, &evs, notes, &e))
        fail_msg("%s", e.text);
    size_t n = evs.n;
    chat_events_release(&evs);
    return n;
}

static void a_file_may_be_torn_anywhere(void **state)
{
    const char *whole = HEAD ASK;
    size_t first = strlen(HEAD);
    char path[200];
    (void)state;

    snprintf(path, sizeof path, "%s/torn.jsonl", home);
    for (size_t cut = first; cut <= strlen(whole); cut++) {
        struct buf notes = {0};
        char *part = strndup(whole, cut);
        put(path, part);
        /* A line without its newline counts when it is whole all the same. */
        size_t n = count(path, &notes);
        assert_int_equal(n, cut + 1 >= strlen(whole) ? 2 : 1);
        if (cut > first && n == 1)
            assert_non_null(strstr(notes.p, "torn"));
        buf_release(&notes);
        free(part);
    }
}

static void going_on_after_a_torn_line_loses_nothing(void **state)
{
    struct chat_event ev = { .type = CHAT_EV_STOP, .message = 1 };
    struct buf notes = {0};
    struct err e = {0};
    char path[200];
    (void)state;

    snprintf(path, sizeof path, "%s/goon.jsonl", home);
    put(path, HEAD ASK "{\"type\":\"tok");
    struct chat_session *s = chat_session_append(path, &e);
    assert_non_null(s);
    /* A second writer is kept out. */
    assert_null(chat_session_append(path, &e));
    assert_non_null(strstr(e.text, "open in another"));
    assert_true(chat_session_write(s, &ev, true, &e));
    chat_session_close(s);
    assert_int_equal(count(path, &notes), 3);
    assert_non_null(strstr(notes.p, "line 3"));
    buf_release(&notes);
}

static void unknown_events_and_fields_are_skipped(void **state)
{
    struct buf notes = {0};
    char path[200];
    (void)state;

    snprintf(path, sizeof path, "%s/new.jsonl", home);
    put(path, HEAD "{\"type\":\"hologram\",\"x\":1}\nnot json\n" ASK);
    assert_int_equal(count(path, &notes), 2);
    assert_non_null(strstr(notes.p, "1 events of kinds"));
    assert_non_null(strstr(notes.p, "line 3: not JSON"));
    buf_release(&notes);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = { "", "hello\n", "{}\n", ASK };
    struct chat_events evs = {0};
    struct err e = {0};
    char path[200];
    (void)state;

    snprintf(path, sizeof path, "%s/other.jsonl", home);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(path, texts[i]);
        assert_false(chat_session_read(path, &evs, NULL, &e));
        assert_non_null(strstr(e.text, "not a vitrine session"));
        chat_events_reset(&evs);
    }
    assert_false(chat_session_read(home, &evs, NULL, &e));
    assert_false(chat_session_read("/no/such/file", &evs, NULL, &e));
    chat_events_release(&evs);
}

static void sessions_are_private_and_found(void **state)
{
    struct chat_session_list list = {0};
    struct err e = {0};
    struct buf path = {0};
    struct stat st;
    (void)state;

    struct chat_session *s = chat_session_create(&e);
    assert_non_null(s);
    assert_int_equal(stat(chat_session_path(s), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    put(chat_session_path(s), HEAD ASK ASK);
    assert_true(chat_session_find("last", &path, &e));
    assert_string_equal(path.p, chat_session_path(s));
    buf_reset(&path);
    assert_true(chat_session_find(chat_session_id(s), &path, &e));
    buf_reset(&path);
    assert_true(chat_session_find("20", &path, &e));
    buf_reset(&path);
    assert_false(chat_session_find("1999", &path, &e));

    assert_true(chat_session_list(&list, &e));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.v[0].title, "hi");
    assert_string_equal(list.v[0].model, "m");
    assert_int_equal(list.v[0].messages, 2);
    chat_session_list_release(&list);

    char copy[200];
    snprintf(copy, sizeof copy, "%s/copy", home);
    assert_true(chat_session_copy(s, copy, &e));
    assert_int_equal(count(copy, NULL), 3);
    assert_false(chat_session_copy(s, copy, &e));
    assert_non_null(strstr(e.text, "exists"));
    chat_session_close(s);
    buf_release(&path);
}

static void a_private_session_can_be_saved(void **state)
{
    struct chat_event ev = { .type = CHAT_EV_SESSION };
    struct err e = {0};
    char copy[200];
    (void)state;

    struct chat_session *s = chat_session_memory();
    assert_null(chat_session_path(s));
    ev.session = json_pack("{s:i}", "version", 1);
    assert_true(chat_session_write(s, &ev, true, &e));
    chat_event_release(&ev);
    snprintf(copy, sizeof copy, "%s/private", home);
    assert_true(chat_session_copy(s, copy, &e));
    assert_int_equal(count(copy, NULL), 1);
    chat_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_may_be_torn_anywhere),
        cmocka_unit_test(going_on_after_a_torn_line_loses_nothing),
        cmocka_unit_test(unknown_events_and_fields_are_skipped),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(sessions_are_private_and_found),
        cmocka_unit_test(a_private_session_can_be_saved),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_home, drop_home);
}
