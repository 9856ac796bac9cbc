#include "config.h"

#include "tests/unit/unit.h"

#include <locale.h>

#include "base/buf.h"
#include "base/err.h"
#include "chat/options.h"

static const struct chat_option *find(const char *name)
{
    const struct chat_option *o = chat_option_find(name, strlen(name));
    assert_non_null(o);
    return o;
}

static void takes(const char *name, const char *value, const char *shown)
{
    struct chat_settings s;
    struct err e = {0};
    struct buf b = {0};

    chat_settings_init(&s);
    if (!chat_option_set(&s, find(name), value, &e))
        fail_msg("%s refused '%s': %s", name, value ? value : "", e.text);
    chat_option_show(&s, find(name), &b);
    assert_string_equal(buf_str(&b), shown);
    assert_true(chat_option_given(&s, find(name)));
    buf_release(&b);
    chat_settings_release(&s);
}

static void refuses(const char *name, const char *value)
{
    struct chat_settings s;
    struct err e = {0};
    struct buf before = {0}, after = {0};

    chat_settings_init(&s);
    chat_option_show(&s, find(name), &before);
    if (chat_option_set(&s, find(name), value, &e))
        fail_msg("%s took '%s'", name, value ? value : "nothing");
    assert_int_equal(e.kind, ERR_USAGE);
    assert_memory_equal(e.text, name, strlen(name));    /* begins with the name */
    chat_option_show(&s, find(name), &after);
    assert_string_equal(buf_str(&before), buf_str(&after));
    assert_false(chat_option_given(&s, find(name)));
    buf_release(&before);
    buf_release(&after);
    chat_settings_release(&s);
}

static void defaults_are_those_of_the_table(void **state)
{
    struct chat_settings s;
    (void)state;
    chat_settings_init(&s);
    for (size_t i = 0; i < chat_options_count(); i++) {
        const struct chat_option *o = &chat_options[i];
        struct buf b = {0};
        chat_option_show(&s, o, &b);
        if (o->type == CHAT_OPT_FLAG)
            assert_string_equal(b.p, "off");
        else
            assert_string_equal(buf_str(&b), o->initial ? o->initial : "");
        buf_release(&b);
    }
    assert_true(s.temp == 0.8);
    assert_int_equal(s.seed, -1);
    assert_int_equal(s.ctx, 0);
    assert_int_equal(s.n, 0);
    assert_null(s.model);
    chat_settings_release(&s);
}

static void names_and_letters_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < chat_options_count(); i++) {
        const struct chat_option *o = &chat_options[i];
        assert_ptr_equal(find(o->name), o);
        assert_true(o->commands != 0);
        assert_true((o->type == CHAT_OPT_FLAG) == (o->arg == NULL));
        for (size_t k = i + 1; o->letter && k < chat_options_count(); k++)
            assert_int_not_equal(o->letter, chat_options[k].letter);
    }
    assert_null(chat_option_find("tem", 3));
    assert_null(chat_option_find("tempo", 5));
}

static void numbers_are_read_whole(void **state)
{
    (void)state;
    takes("temp", "0", "0");
    takes("temp", "1e-1", "0.1");
    takes("temp", ".5", "0.5");
    takes("temp", "0.123456789012", "0.123456789012");
    static const char *const bad[] = { "", " 1", "1 ", "nan", "inf", "-nan", "0x1p3", "1,5",
        "-0.1", "101", "1e999", "1.2.3", "abc", "+", "." };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses("temp", bad[i]);
    refuses("temp", NULL);

    takes("top-k", "0", "0");
    takes("threads", "auto", "auto");
    takes("threads", "3", "3");
    takes("seed", "9223372036854775807", "9223372036854775807");
    takes("seed", "random", "random");
    takes("predict", "none", "none");
    static const char *const bad_int[] = { "", "1.5", "9223372036854775808", "-1", "1x", " 1",
        "0x10", "--1", "1e3", "auto" };
    for (size_t i = 0; i < sizeof bad_int / sizeof *bad_int; i++)
        refuses("seed", bad_int[i]);
    refuses("threads", "0");
    refuses("threads", "1025");
    refuses("logprobs", "65");
    refuses("ctx", "2147483648");
}

static void sizes_have_units(void **state)
{
    (void)state;
    takes("memory", "8G", "8G");
    takes("memory", "8g", "8G");
    takes("memory", "512MiB", "512M");
    takes("memory", "1.5G", "1536M");
    takes("memory", "1000", "1000");
    takes("memory", "4KB", "4K");
    takes("memory", "auto", "auto");
    static const char *const bad[] = { "", "G", "-1G", "8Q", "8GG", "0", "nanG", "9999999T",
        "8 G", "1e3", "8Gx", "0x8G", "infG", "8iB" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses("memory", bad[i]);
}

static void choices_and_flags(void **state)
{
    (void)state;
    takes("think", "max", "max");
    takes("cpu", "avx512", "avx512");
    refuses("think", "");
    refuses("think", "o");
    refuses("think", "on|off");
    refuses("think", "ON");
    takes("plain", NULL, "on");
    takes("plain", "on", "on");
    takes("plain", "off", "off");
    refuses("plain", "1");
    takes("system", "", "");
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    takes("temp", "0.75", "0.75");
    takes("memory", "1.5G", "1536M");
    refuses("temp", "0,75");
    setlocale(LC_NUMERIC, "C");
}

static void copies_own_their_texts(void **state)
{
    struct chat_settings a, b;
    struct err e = {0};
    (void)state;
    chat_settings_init(&a);
    assert_true(chat_option_set(&a, find("system"), "be kind", &e));
    assert_true(chat_option_set(&a, find("model"), "x.gguf", &e));
    chat_settings_copy(&b, &a);
    assert_true(chat_option_set(&a, find("system"), "be brief", &e));
    chat_settings_release(&a);
    assert_string_equal(b.system, "be kind");
    assert_string_equal(b.model, "x.gguf");
    assert_null(b.trace);
    chat_settings_release(&b);
    chat_settings_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(names_and_letters_are_unique),
        cmocka_unit_test(numbers_are_read_whole),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(choices_and_flags),
        cmocka_unit_test(a_comma_locale_changes_nothing),
        cmocka_unit_test(copies_own_their_texts),
    };
    return UNIT_RUN(tests);
}
