/* The commands on a real chat with the fake device. */
#include "config.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "chat/chat.h"
#include "tui/commands.h"

static char dir[] = "/tmp/vitrine-commands-XXXXXX";
static struct chat *chat;
static struct chat_settings settings;

static int start(void **state)
{
    char path[128];

    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/script.jsonl", dir);
    FILE *f = fopen(path, "w");
    fputs("{\"fake\":1,\"name\":\"demo\",\"template\":\"chatml\",\"ctx\":512,"
          "\"special\":[\"<|im_start|>\",\"<|im_end|>\"],\"eos\":\"<|im_end|>\"}\n"
          "{\"answer\":[\"Hel\",\"lo\"]}\n", f);
    fclose(f);
    setenv("XDG_DATA_HOME", dir, 1);
    chat_settings_init(&settings);
    settings.device = realloc(settings.device, sizeof path + 8);
    snprintf(settings.device, sizeof path + 8, "fake:%s", path);
    struct err e = {0};
    chat = chat_new(&settings, &e);
    return chat && chat_wait(chat, &e) ? 0 : -1;
}

static int end(void **state)
{
    char command[256];

    (void)state;
    chat_free(chat);
    chat_settings_release(&settings);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static struct buf said;
static struct err failed;

/* Run a line; what it said is in said, its effects are returned, ~0 on failure. */
static unsigned run(const char *line)
{
    struct tui_call call = { .chat = chat, .keys = true, .out = &said };

    buf_reset(&said);
    failed = (struct err){0};
    if (!tui_command_run(line, strlen(line), &call, &failed))
        return ~0u;
    struct err e = {0};
    chat_wait(chat, &e);
    return call.effects;
}

static void lines_are_commands_or_messages(void **state)
{
    size_t n = 6;

    (void)state;
    assert_true(tui_line_is_command("/help", 5));
    assert_true(tui_line_is_command("/", 1));
    assert_false(tui_line_is_command("//text", 6));
    assert_false(tui_line_is_command("text /x", 7));
    assert_false(tui_line_is_command("", 0));
    assert_string_equal(tui_line_message("//text", &n), "/text");
    assert_int_equal(n, 5);
    n = 4;
    assert_string_equal(tui_line_message("text", &n), "text");
    assert_int_equal(n, 4);
}

static void unknown_commands_are_told(void **state)
{
    (void)state;
    assert_int_equal(run("/nonsense with words"), ~0u);
    assert_int_equal(failed.kind, ERR_USAGE);
    assert_non_null(strstr(failed.text, "/nonsense"));
    assert_non_null(strstr(failed.text, "//nonsense"));
    assert_int_equal(run("/"), ~0u);
    assert_int_equal(run("/quit now"), ~0u);
}

static void help_comes_from_the_tables(void **state)
{
    (void)state;
    assert_int_equal(run("/help"), 0);
    for (size_t i = 0; i < tui_command_count(); i++)
        if (tui_command_at(i)->help)
            assert_non_null(strstr(said.p, tui_command_at(i)->help));
    for (size_t i = 0; i < tui_binding_count(); i++)
        if (tui_binding_at(i)->help)
            assert_non_null(strstr(said.p, tui_binding_at(i)->help));
    /* In 80 columns no line of the help wraps. */
    for (const char *line = said.p; *line; line += *line == '\n') {
        size_t n = strcspn(line, "\n");
        assert_true(n <= 78);
        line += n;
    }
    assert_int_equal(run("/help /set"), 0);
    assert_non_null(strstr(said.p, "/set [NAME [VALUE]]"));
    assert_int_equal(run("/help bye"), 0);
    assert_non_null(strstr(said.p, "/quit"));
    assert_int_equal(run("/help temp"), 0);
    assert_non_null(strstr(said.p, "temperature"));
    assert_int_equal(run("/help xyz"), ~0u);
}

static void set_shows_and_changes(void **state)
{
    (void)state;
    assert_int_equal(run("/set temp 0"), 0);
    assert_string_equal(said.p, "temp = 0");
    assert_int_equal(run("/set temp"), 0);
    assert_string_equal(said.p, "temp = 0");
    assert_int_equal(run("/set temp = 0.5"), 0);
    assert_string_equal(said.p, "temp = 0.5");
    assert_int_equal(run("/set"), 0);
    assert_non_null(strstr(said.p, "top-k = "));
    assert_int_equal(run("/set temp hot"), ~0u);
    assert_int_equal(run("/set nothing 1"), ~0u);
    assert_int_equal(run("/set fold-thinking on"), TUI_EFFECT_FOLD_ON);
    assert_int_equal(run("/set fold-thinking off"), TUI_EFFECT_FOLD_OFF);
}

static void effects_are_for_the_front_end(void **state)
{
    (void)state;
    assert_int_equal(run("/quit"), TUI_EFFECT_LEAVE);
    assert_int_equal(run("/exit"), TUI_EFFECT_LEAVE);
    assert_int_equal(run("/think"), TUI_EFFECT_FOLD);
    assert_int_equal(run("/edit"), TUI_EFFECT_EDIT);
    struct tui_call plain = { .chat = chat, .out = &said };
    assert_false(tui_command_run("/edit", 5, &plain, &failed));
}

static void sessions_are_told_and_saved(void **state)
{
    char line[256], path[128];
    struct stat st;

    (void)state;
    assert_int_equal(run("/session"), 0);
    assert_non_null(strstr(said.p, "not saved"));
    assert_int_equal(run("/save"), ~0u);
    struct err e = {0};
    assert_true(chat_send(chat, "hi", 2, &e));
    assert_true(chat_wait(chat, &e));
    assert_int_equal(run("/session"), 0);
    assert_non_null(strstr(said.p, dir));
    setenv("HOME", dir, 1);
    snprintf(path, sizeof path, "%s/copy of it.jsonl", dir);
    snprintf(line, sizeof line, "/save ~/copy of it.jsonl");
    assert_int_equal(run(line), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(run(line), ~0u);           /* never overwritten */
    assert_int_equal(run("/model"), 0);
    assert_non_null(strstr(said.p, "model demo"));
    assert_int_equal(run("/system be brief"), TUI_EFFECT_JOB);
    assert_int_equal(run("/system -"), TUI_EFFECT_JOB);
    assert_int_equal(run("/retry"), TUI_EFFECT_JOB);
    assert_int_equal(run("/new"), TUI_EFFECT_JOB);
    assert_int_equal(run("/session"), 0);
    assert_non_null(strstr(said.p, "not saved"));
}

/* ---- completion ---- */

/* "from:candidate,candidate" and the tail behind a single one. */
static void completes(const char *line, const char *want)
{
    struct tui_completion c;
    struct buf got = {0};

    tui_complete(line, strlen(line), &c);
    buf_addf(&got, "%zu:", c.from);
    for (size_t i = 0; i < c.n; i++)
        buf_addf(&got, "%s%s", i ? "," : "", c.v[i]);
    if (c.n == 1)
        buf_addf(&got, "'%s'", c.after);
    assert_string_equal(got.p, want);
    tui_completion_release(&c);
    buf_release(&got);
}

static void names_are_completed(void **state)
{
    (void)state;
    completes("/he", "1:help' '");
    completes("/s", "1:save,session,set,system");
    completes("hello", "5:");
    completes("//he", "4:");
    completes("/set top", "5:top-k,top-p");
    completes("/set think o", "11:off,on");
    completes("/set fold-thinking ", "19:off,on");
    completes("/set temp ", "10:");
    completes("/help ret", "6:retry' '");
    completes("/new ", "5:");
}

static void files_are_completed(void **state)
{
    char line[256], want[256], path[128];

    (void)state;
    static const char *const names[] = { "m one.gguf", "m two.gguf", ".m hidden" };
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    snprintf(path, sizeof path, "%s/mdir", dir);
    mkdir(path, 0700);
    snprintf(line, sizeof line, "/model %s/m", dir);
    snprintf(want, sizeof want, "7:%s/m one.gguf,%s/m two.gguf,%s/mdir/", dir, dir, dir);
    completes(line, want);
    snprintf(line, sizeof line, "/model %s/m t", dir);
    snprintf(want, sizeof want, "7:%s/m two.gguf''", dir);
    completes(line, want);
    snprintf(line, sizeof line, "/save %s/.m", dir);
    snprintf(want, sizeof want, "6:%s/.m hidden''", dir);
    completes(line, want);
    completes("/model /nonexistent/", "7:");
}

static void the_common_beginning_is_found(void **state)
{
    char *words[] = { (char *)"\xe4\xbd\xa0" "a", (char *)"\xe4\xbd\xa1" };
    struct tui_completion c = { .v = words, .n = 2 };

    (void)state;
    assert_int_equal(tui_completion_common(&c), 0);     /* not half a character */
    words[1] = (char *)"\xe4\xbd\xa0" "b";
    assert_int_equal(tui_completion_common(&c), 3);
    c.n = 1;
    assert_int_equal(tui_completion_common(&c), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_commands_or_messages),
        cmocka_unit_test(unknown_commands_are_told),
        cmocka_unit_test(help_comes_from_the_tables),
        cmocka_unit_test(set_shows_and_changes),
        cmocka_unit_test(effects_are_for_the_front_end),
        cmocka_unit_test(sessions_are_told_and_saved),
        cmocka_unit_test(names_are_completed),
        cmocka_unit_test(files_are_completed),
        cmocka_unit_test(the_common_beginning_is_found),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int rc = cmocka_run_group_tests(tests, start, end);
    buf_release(&said);
    return rc;
}
