#include "config.h"

#include "tests/unit/unit.h"

#include <math.h>

#include "base/buf.h"
#include "base/mem.h"
#include "chat/conversation.h"
#include "chat/event.h"

/* Parse a line, dump it again. The result is the caller's. */
static char *again(const char *line)
{
    struct chat_event ev;
    struct err e = {0};
    struct buf out = {0};
    json_t *j = json_loads(line, JSON_ALLOW_NUL, NULL);

    assert_non_null(j);
    if (!chat_event_from_json(j, &ev, &e))
        fail_msg("%s", e.text);
    struct chat_event copy;
    chat_event_copy(&copy, &ev);
    chat_event_release(&ev);
    chat_event_dump(&copy, &out);
    chat_event_release(&copy);
    json_decref(j);
    return buf_take(&out);
}

static void every_kind_comes_back_the_same(void **state)
{
    static const char *const lines[] = {
        "{\"type\":\"session\",\"version\":1,\"id\":\"x\",\"seed\":7,\"later\":[1,2]}\n",
        "{\"type\":\"message\",\"id\":1,\"parent\":null,\"role\":\"system\",\"content\":\"\"}\n",
        "{\"type\":\"message\",\"id\":3,\"parent\":2,\"role\":\"tool\",\"content\":\"4\","
        "\"name\":\"calc\",\"tool_call_id\":\"call_0\"}\n",
        "{\"type\":\"message\",\"id\":4,\"parent\":3,\"role\":\"user\",\"content_bytes\":"
        "\"/w==\"}\n",
        "{\"type\":\"message\",\"id\":5,\"parent\":4,\"role\":\"assistant\",\"content\":\"\","
        "\"attempt\":2}\n",
        "{\"type\":\"message\",\"id\":6,\"parent\":4,\"role\":\"user\",\"content\":"
        "\"a\\u0000b\"}\n",
        "{\"type\":\"prompt\",\"message\":5,\"tokens\":90,\"reused\":30,\"diverged_at\":30,"
        "\"why\":\"another answer\",\"think\":\"off\"}\n",
        "{\"type\":\"token\",\"message\":5,\"i\":0,\"id\":42,\"text\":\" hi\",\"ch\":"
        "\"response\",\"lp\":-0.125,\"rank\":0,\"ent\":0.5,\"top\":[[42,-0.125],[7,-3.5]],"
        "\"us\":1234}\n",
        "{\"type\":\"token\",\"message\":5,\"i\":1,\"id\":9,\"bytes\":\"8J8=\",\"ch\":"
        "\"think\",\"lp\":null,\"rank\":3,\"ent\":1.5,\"top\":[],\"us\":9}\n",
        "{\"type\":\"token\",\"message\":5,\"i\":2,\"id\":9,\"text\":\"k>Hi\",\"ch\":"
        "\"control\",\"spans\":[[\"control\",0,2],[\"response\",2,4]],\"lp\":-1.0,\"rank\":3,"
        "\"ent\":1.5,\"top\":[],\"us\":9}\n",
        "{\"type\":\"tool_call\",\"message\":5,\"id\":\"call_0\",\"name\":\"calc\","
        "\"arguments\":{\"expr\":\"1+1\"}}\n",
        "{\"type\":\"tool_call\",\"message\":5,\"raw\":\"{bad\",\"error\":\"no JSON\","
        "\"error_at\":1}\n",
        "{\"type\":\"stop\",\"message\":5,\"why\":\"user\",\"tokens\":2,\"prefill_tps\":10.5,"
        "\"decode_tps\":0.0}\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *out = again(lines[i]);
        assert_string_equal(out, lines[i]);
        free(out);
    }
}

static void what_means_nothing_is_refused(void **state)
{
    static const char *const lines[] = {
        "[]", "{}", "{\"type\":5}",
        "{\"type\":\"message\",\"id\":1,\"role\":\"nobody\",\"content\":\"\"}",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":\"\"}",
        "{\"type\":\"message\",\"id\":1,\"role\":\"user\"}",
        "{\"type\":\"message\",\"id\":1,\"role\":\"user\",\"content_bytes\":\"!\"}",
        "{\"type\":\"token\",\"message\":1,\"text\":\"x\",\"ch\":\"response\"}",
        "{\"type\":\"token\",\"message\":1,\"id\":-4,\"text\":\"x\",\"ch\":\"response\"}",
        "{\"type\":\"token\",\"message\":1,\"id\":1,\"text\":\"x\",\"ch\":\"what\"}",
        "{\"type\":\"token\",\"message\":1,\"id\":1,\"text\":\"x\",\"ch\":\"think\","
        "\"spans\":[[\"think\",0,9]]}",
        "{\"type\":\"token\",\"message\":1,\"id\":1,\"text\":\"xy\",\"ch\":\"think\","
        "\"spans\":[[\"think\",0,1]]}",
        "{\"type\":\"stop\",\"message\":1,\"why\":\"boredom\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct chat_event ev;
        struct err e = {0};
        json_t *j = json_loads(lines[i], 0, NULL);
        assert_non_null(j);
        assert_false(chat_event_from_json(j, &ev, &e));
        assert_int_equal(e.kind, ERR_FAILED);
        json_decref(j);
    }
}

static void unknown_kinds_are_told_apart(void **state)
{
    struct chat_event ev;
    struct err e = { .kind = ERR_FAILED };
    json_t *j = json_loads("{\"type\":\"hologram\"}", 0, NULL);
    (void)state;
    assert_false(chat_event_from_json(j, &ev, &e));
    assert_int_equal(e.kind, ERR_NONE);
    json_decref(j);
}

static struct chat_event parse(const char *line)
{
    struct chat_event ev;
    json_t *j = json_loads(line, JSON_ALLOW_NUL, NULL);
    assert_true(chat_event_from_json(j, &ev, NULL));
    json_decref(j);
    return ev;
}

static bool apply(struct chat_conv *c, const char *line)
{
    struct chat_event ev = parse(line);
    bool ok = chat_conv_apply(c, &ev);
    chat_event_release(&ev);
    return ok;
}

static void a_conversation_is_its_events(void **state)
{
    struct chat_conv c;
    int *path;
    (void)state;

    chat_conv_init(&c);
    assert_true(apply(&c, "{\"type\":\"session\",\"model\":{\"sha256\":\"aa\"}}"));
    assert_true(apply(&c, "{\"type\":\"message\",\"id\":1,\"role\":\"user\",\"content\":\"q\"}"));
    assert_true(apply(&c, "{\"type\":\"message\",\"id\":2,\"parent\":1,\"role\":\"assistant\","
                          "\"content\":\"\"}"));
    assert_true(apply(&c, "{\"type\":\"token\",\"message\":2,\"i\":0,\"id\":4,\"text\":\"k>Hi\","
                          "\"ch\":\"control\",\"spans\":[[\"control\",0,2],[\"response\",2,4]]}"));
    assert_true(apply(&c, "{\"type\":\"token\",\"message\":2,\"i\":1,\"id\":5,\"text\":\"</s>\","
                          "\"ch\":\"control\"}"));
    assert_true(apply(&c, "{\"type\":\"stop\",\"message\":2,\"why\":\"eos\"}"));
    struct chat_conv_message *m = chat_conv_find(&c, 2);
    assert_string_equal(m->text.p, "Hi");
    assert_int_equal(m->ids.n, 1);              /* the closing token is not said again */
    assert_string_equal(m->model_key, "aa");

    /* Another answer: a sibling, and the path goes through it. */
    assert_true(apply(&c, "{\"type\":\"message\",\"id\":3,\"parent\":1,\"role\":\"assistant\","
                          "\"content\":\"\",\"attempt\":1}"));
    assert_int_equal(chat_conv_path(&c, c.head, &path), 2);
    assert_int_equal(path[0], 1);
    assert_int_equal(path[1], 3);
    free(path);

    /* References to what is not there, and numbers that go back, are refused. */
    assert_false(apply(&c, "{\"type\":\"message\",\"id\":9,\"parent\":8,\"role\":\"user\","
                           "\"content\":\"\"}"));
    assert_false(apply(&c, "{\"type\":\"message\",\"id\":2,\"parent\":1,\"role\":\"user\","
                           "\"content\":\"\"}"));
    assert_false(apply(&c, "{\"type\":\"message\",\"id\":4,\"parent\":4,\"role\":\"user\","
                           "\"content\":\"\"}"));
    assert_false(apply(&c, "{\"type\":\"stop\",\"message\":77,\"why\":\"eos\"}"));
    chat_conv_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back_the_same),
        cmocka_unit_test(what_means_nothing_is_refused),
        cmocka_unit_test(unknown_kinds_are_told_apart),
        cmocka_unit_test(a_conversation_is_its_events),
    };
    return UNIT_RUN(tests);
}
