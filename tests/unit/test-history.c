#include "config.h"

#include "tests/unit/unit.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "tui/history.h"

static char dir[] = "/tmp/vitrine-history-XXXXXX";
static char file[64];

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(file, sizeof file, "%s/history", dir);
    return 0;
}

static int drop_dir(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(dir);
}

static int drop_file(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

static void add(struct tui_history *h, const char *text)
{
    struct err e = {0};
    assert_true(tui_history_add(h, text, &e));
}

static void load(struct tui_history *h)
{
    struct err e = {0};
    assert_true(tui_history_load(h, file, &e));
}

static void an_entry_keeps_its_newlines(void **state)
{
    struct tui_history h = {0}, again = {0};
    struct stat st;

    (void)state;
    load(&h);
    assert_int_equal(h.n, 0);
    add(&h, "one\ntwo \\n\r\n");
    add(&h, "\xe4\xbd\xa0\t\x1b");
    load(&again);
    assert_int_equal(again.n, 2);
    assert_string_equal(again.v[0], "one\ntwo \\n\r\n");
    assert_string_equal(again.v[1], "\xe4\xbd\xa0\t\x1b");
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    tui_history_release(&h);
    tui_history_release(&again);
}

static void repeats_blanks_and_secrets_are_not_kept(void **state)
{
    struct tui_history h = {0}, again = {0};

    (void)state;
    load(&h);
    add(&h, "a");
    add(&h, "b");
    add(&h, "b");
    add(&h, " secret");
    add(&h, "\n\t ");
    add(&h, "a");
    assert_int_equal(h.n, 2);
    assert_string_equal(h.v[0], "b");
    assert_string_equal(h.v[1], "a");
    load(&again);
    assert_int_equal(again.n, 2);
    assert_string_equal(again.v[1], "a");
    tui_history_release(&h);
    tui_history_release(&again);
}

static void the_draft_comes_back(void **state)
{
    struct tui_history h = {0};

    (void)state;
    add(&h, "first");
    add(&h, "second");
    assert_string_equal(tui_history_prev(&h, "my draft"), "second");
    assert_string_equal(tui_history_prev(&h, "second, changed"), "first");
    assert_null(tui_history_prev(&h, "first"));
    assert_string_equal(tui_history_next(&h, "first"), "second, changed");
    assert_string_equal(tui_history_next(&h, "second, changed"), "my draft");
    assert_null(tui_history_next(&h, "my draft"));
    add(&h, "third");
    assert_string_equal(tui_history_prev(&h, ""), "third");
    assert_string_equal(tui_history_prev(&h, ""), "second");        /* as it was sent */
    tui_history_release(&h);
}

static void two_programs_share_the_file(void **state)
{
    struct tui_history a = {0}, b = {0}, all = {0};

    (void)state;
    load(&a);
    load(&b);
    add(&a, "from a");
    add(&b, "from b");
    add(&a, "a again");
    load(&all);
    assert_int_equal(all.n, 3);
    assert_string_equal(all.v[1], "from b");
    tui_history_release(&a);
    tui_history_release(&b);
    tui_history_release(&all);
}

static void the_file_is_cut(void **state)
{
    struct tui_history h = {0}, again = {0};
    FILE *f = fopen(file, "w");
    struct stat st;
    char want[32];

    (void)state;
    assert_non_null(f);
    for (int i = 0; i < 2000; i++)
        fprintf(f, "entry %d\n", i);
    fclose(f);
    load(&h);
    assert_int_equal(h.n, TUI_HISTORY_MAX);
    assert_string_equal(h.v[h.n - 1], "entry 1999");
    add(&h, "one more");
    assert_int_equal(h.n, TUI_HISTORY_MAX);
    load(&again);
    snprintf(want, sizeof want, "entry %d", 2000 - TUI_HISTORY_MAX + 1);
    assert_string_equal(again.v[0], want);
    assert_string_equal(again.v[again.n - 1], "one more");
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    tui_history_release(&h);
    tui_history_release(&again);
}

static void a_file_that_cannot_be_written_is_told(void **state)
{
    struct tui_history h = {0};
    struct err e = {0};

    (void)state;
    assert_true(tui_history_load(&h, "/nonexistent/dir/history", &e));
    assert_false(tui_history_add(&h, "text", &e));
    assert_non_null(strstr(e.text, "/nonexistent/dir/history"));
    assert_int_equal(h.n, 1);
    tui_history_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_entry_keeps_its_newlines, drop_file),
        cmocka_unit_test_teardown(repeats_blanks_and_secrets_are_not_kept, drop_file),
        cmocka_unit_test(the_draft_comes_back),
        cmocka_unit_test_teardown(two_programs_share_the_file, drop_file),
        cmocka_unit_test_teardown(the_file_is_cut, drop_file),
        cmocka_unit_test(a_file_that_cannot_be_written_is_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
