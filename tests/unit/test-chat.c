/* The whole chat layer on the fake device: what a front end asks for and what it hears. */
#include "config.h"

#include "tests/unit/home.h"

#include <poll.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/chat.h"
#include "chat/session.h"

#define HEAD \
    "{\"fake\":1,\"name\":\"demo\",\"template\":\"chatml\",\"ctx\":512,\"special\":" \
    "[\"<|im_start|>\",\"<|im_end|>\",\"<think>\",\"</think>\"],\"eos\":\"<|im_end|>\"}\n"
#define THINKS \
    "{\"answer\":[{\"special\":\"<think>\"},\"\\n\",\"two \",\"words\",\"\\n\"," \
    "{\"special\":\"</think>\"},\"\\n\\n\",\"Hel\",\"lo\"]}\n"
#define SECOND "{\"answer\":[\"Second\"]}\n"
#define SLOW "{\"answer\":[\"slow\",{\"sleep_us\":30000000},\" never\"]}\n"

/* A script in a file of its own; the device option for it. */
static const char *script(const char *text)
{
    static char device[300];
    static int number;

    snprintf(device, sizeof device, "fake:%s/script-%d.jsonl", home, number++);
    FILE *f = fopen(device + 5, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return device;
}

static struct chat *open_chat(const char *device, const char *resume, const char *also,
                              const char *value)
{
    struct chat_settings s = {0};
    struct err e = {0};

    chat_settings_init(&s);
    free(s.device);
    s.device = xstrdup(device);
    s.temp = 0;
    s.resume = resume ? xstrdup(resume) : NULL;
    if (also && !chat_option_set(&s, chat_option_find(also, strlen(also)), value, &e))
        fail_msg("%s", e.text);
    struct chat *c = chat_new(&s, &e);
    if (!c || !chat_wait(c, &e))
        fail_msg("%s", e.text);
    chat_settings_release(&s);
    return c;
}

/* Wait until the work is done and append everything heard to all. */
static bool hear(struct chat *c, struct chat_events *all)
{
    struct chat_events now = {0};
    bool ok = chat_wait(c, NULL), ready = false;

    while (!ready) {
        struct pollfd p = { chat_wake_fd(c), POLLIN, 0 };
        assert_int_equal(poll(&p, 1, 5000), 1);
        chat_take(c, &now);
        for (size_t i = 0; i < now.n; i++) {
            ready |= now.v[i].type == CHAT_EV_READY;
            chat_events_add(all, &now.v[i]);
        }
        now.n = 0;
    }
    chat_events_release(&now);
    return ok;
}

static bool say(struct chat *c, const char *text, struct chat_events *all)
{
    struct err e = {0};
    chat_events_reset(all);
    if (!chat_send(c, text, strlen(text), &e))
        fail_msg("%s", e.text);
    return hear(c, all);
}

static const struct chat_event *find(const struct chat_events *all, enum chat_event_type type)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].type == type)
            return &all->v[i];
    return NULL;
}

static void channel(const struct chat_events *all, enum chat_channel ch, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct chat_event *ev = &all->v[i];
        for (size_t k = 0; ev->type == CHAT_EV_TOKEN && k < ev->token.n_spans; k++) {
            const struct chat_span *s = &ev->token.spans[k];
            if (s->ch != ch)
                continue;
            assert_true(n + s->to - s->from < cap);
            memcpy(out + n, ev->token.bytes + s->from, s->to - s->from);
            n += s->to - s->from;
        }
    }
    out[n] = '\0';
}

static void a_turn_is_told_in_order(void **state)
{
    struct chat *c = open_chat(script(HEAD THINKS SECOND), NULL, NULL, NULL);
    struct chat_events all = {0};
    struct chat_status st;
    char text[100];
    (void)state;

    hear(c, &all);                              /* loading */
    assert_true(say(c, "hi", &all));
    static const enum chat_event_type order[] = {
        CHAT_EV_SESSION, CHAT_EV_MESSAGE, CHAT_EV_MESSAGE, CHAT_EV_PROMPT, CHAT_EV_TOKEN,
        CHAT_EV_STOP, CHAT_EV_READY,
    };
    size_t at = 0;
    for (size_t i = 0; i < all.n; i++) {
        enum chat_event_type t = all.v[i].type;
        if (t == CHAT_EV_STATUS || (at && t == order[at - 1] && t == CHAT_EV_TOKEN))
            continue;
        assert_true(at < sizeof order / sizeof *order);
        assert_int_equal(t, order[at]);
        at++;
    }
    assert_int_equal(at, sizeof order / sizeof *order);
    channel(&all, CHAT_CH_THINK, text, sizeof text);
    assert_string_equal(text, "two words");
    channel(&all, CHAT_CH_RESPONSE, text, sizeof text);
    assert_string_equal(text, "Hello");
    assert_int_equal(find(&all, CHAT_EV_STOP)->stop.why, CHAT_STOP_EOS);
    assert_int_equal(find(&all, CHAT_EV_STOP)->stop.tokens, 10);

    chat_status(c, &st);
    assert_int_equal(st.state, CHAT_IDLE);
    assert_string_equal(st.model, "demo");
    assert_non_null(st.session_path);
    assert_true(st.ctx_used > 10 && st.ctx_used < st.ctx);

    /* The second prompt continues the first: all that was evaluated is of use. */
    uint32_t used = st.ctx_used;
    assert_true(say(c, "and?", &all));
    const struct chat_event *p = find(&all, CHAT_EV_PROMPT);
    assert_int_equal(p->prompt.reused, used);
    assert_null(p->prompt.why);
    chat_free(c);
    chat_events_release(&all);
}

static void a_stop_is_felt_at_once_and_can_go_on(void **state)
{
    struct chat *c = open_chat(script(HEAD SLOW THINKS), NULL, NULL, NULL);
    struct chat_events all = {0}, now = {0};
    struct err e = {0};
    char text[100];
    bool first = false;
    (void)state;

    hear(c, &all);
    chat_events_reset(&all);
    assert_true(chat_send(c, "hi", 2, &e));
    while (!first) {
        struct pollfd p = { chat_wake_fd(c), POLLIN, 0 };
        assert_int_equal(poll(&p, 1, 5000), 1);
        chat_take(c, &now);
        first = find(&now, CHAT_EV_TOKEN) != NULL;
    }
    /* While it works nothing else can be asked for. */
    assert_false(chat_send(c, "x", 1, &e));
    assert_non_null(strstr(e.text, "Ctrl-C"));
    assert_false(chat_retry(c, &e));
    assert_false(chat_save(c, "/tmp/never", &e));

    long long t0 = log_now_us();
    chat_stop(c);
    hear(c, &all);
    assert_true(log_now_us() - t0 < 1000000);   /* generous: the fake would sleep for 30 s */
    assert_int_equal(find(&all, CHAT_EV_STOP)->stop.why, CHAT_STOP_USER);

    /* The next message finds the partial answer in its prompt. */
    assert_true(say(c, "go on", &all));
    channel(&all, CHAT_CH_RESPONSE, text, sizeof text);
    assert_string_equal(text, "Hello");
    assert_null(find(&all, CHAT_EV_PROMPT)->prompt.why);
    chat_free(c);
    chat_events_release(&all);
    chat_events_release(&now);
}

static void an_answer_cut_by_length_goes_on(void **state)
{
    struct chat *c = open_chat(script(HEAD "{\"answer\":[\"a\",\"b\",\"c\",\"d\"]}\n"), NULL,
                               "predict", "2");
    struct chat_events all = {0};
    struct err e = {0};
    (void)state;

    hear(c, &all);
    assert_true(say(c, "hi", &all));
    assert_int_equal(find(&all, CHAT_EV_STOP)->stop.why, CHAT_STOP_LENGTH);
    int message = find(&all, CHAT_EV_TOKEN)->message;
    chat_events_reset(&all);
    assert_true(chat_continue(c, &e));
    assert_true(hear(c, &all));
    const struct chat_event *token = find(&all, CHAT_EV_TOKEN);
    assert_int_equal(token->message, message);
    assert_int_equal(token->token.i, 2);
    assert_null(find(&all, CHAT_EV_MESSAGE));
    chat_free(c);
    chat_events_release(&all);
}

static void a_retry_is_a_new_branch(void **state)
{
    struct chat *c = open_chat(script(HEAD THINKS SECOND), NULL, NULL, NULL);
    struct chat_events all = {0};
    struct err e = {0};
    char text[100];
    size_t users = 0;
    (void)state;

    hear(c, &all);
    assert_false(chat_retry(c, &e) && hear(c, &all) && chat_wait(c, &e));
    assert_true(say(c, "hi", &all));
    chat_events_reset(&all);
    assert_true(chat_retry(c, &e));
    assert_true(hear(c, &all));
    assert_non_null(find(&all, CHAT_EV_RESET));
    channel(&all, CHAT_CH_RESPONSE, text, sizeof text);
    assert_string_equal(text, "Second");        /* the old answer is not on this path */
    for (size_t i = 0; i < all.n; i++) {
        if (all.v[i].type != CHAT_EV_MESSAGE)
            continue;
        if (all.v[i].msg.role == CHAT_ROLE_USER)
            users++;
        else
            assert_int_equal(all.v[i].msg.attempt, 1);
    }
    assert_int_equal(users, 1);
    assert_non_null(find(&all, CHAT_EV_PROMPT)->prompt.why);
    chat_free(c);
    chat_events_release(&all);
}

static void a_session_is_resumed_with_its_ids(void **state)
{
    const char *device = script(HEAD THINKS SECOND);
    struct chat *c = open_chat(device, NULL, NULL, NULL);
    struct chat_events all = {0};
    struct chat_status st;
    char text[100];
    (void)state;

    hear(c, &all);
    assert_true(say(c, "hi", &all));
    chat_status(c, &st);
    char *id = xstrdup(st.session_id), *path = xstrdup(st.session_path);
    uint32_t used = st.ctx_used;
    chat_free(c);

    c = open_chat(device, id, NULL, NULL);
    chat_events_reset(&all);
    hear(c, &all);
    assert_non_null(find(&all, CHAT_EV_RESET));
    channel(&all, CHAT_CH_THINK, text, sizeof text);
    assert_string_equal(text, "two words");
    assert_null(find(&all, CHAT_EV_NOTICE));
    assert_true(say(c, "more", &all));
    /* The prompt begins with exactly what was evaluated then. */
    assert_true(find(&all, CHAT_EV_PROMPT)->prompt.tokens > used);
    chat_free(c);

    struct chat_events file = {0};
    size_t sessions = 0;
    assert_true(chat_session_read(path, &file, NULL, NULL));
    for (size_t i = 0; i < file.n; i++)
        sessions += file.v[i].type == CHAT_EV_SESSION;
    assert_int_equal(sessions, 2);
    assert_int_equal(file.v[file.n - 1].type, CHAT_EV_STOP);
    chat_events_release(&file);
    chat_events_release(&all);
    free(id);
    free(path);
}

static void a_full_context_is_said_with_numbers(void **state)
{
    struct chat *c = open_chat(script(HEAD THINKS), NULL, NULL, NULL);
    struct chat_events all = {0};
    char *longer = xmalloc(2001);
    (void)state;

    hear(c, &all);
    memset(longer, 'x', 2000);
    longer[2000] = '\0';
    assert_false(say(c, longer, &all));
    const struct chat_event *stop = find(&all, CHAT_EV_STOP);
    assert_int_equal(stop->stop.why, CHAT_STOP_CONTEXT);
    assert_int_equal(find(&all, CHAT_EV_ERROR)->note.kind, ERR_CONTEXT);
    assert_non_null(strstr(stop->stop.error, "512"));
    free(longer);

    /* The conversation goes on without it. */
    assert_true(say(c, "short", &all));
    assert_true(find(&all, CHAT_EV_PROMPT)->prompt.tokens < 100);
    chat_free(c);
    chat_events_release(&all);
}

static void a_device_that_fails_costs_no_text(void **state)
{
    struct chat *c = open_chat(script(HEAD "{\"answer\":[\"half\",{\"error\":\"lost\"}]}\n"),
                               NULL, NULL, NULL);
    struct chat_events all = {0};
    char text[100];
    (void)state;

    hear(c, &all);
    assert_false(say(c, "hi", &all));
    channel(&all, CHAT_CH_RESPONSE, text, sizeof text);
    assert_string_equal(text, "half");
    assert_int_equal(find(&all, CHAT_EV_STOP)->stop.why, CHAT_STOP_ERROR);
    assert_non_null(strstr(find(&all, CHAT_EV_ERROR)->note.text, "lost"));
    chat_free(c);
    chat_events_release(&all);
}

static void private_leaves_no_file(void **state)
{
    struct chat *c = open_chat(script(HEAD THINKS), NULL, "private", NULL);
    struct chat_events all = {0};
    struct chat_status st;
    (void)state;

    hear(c, &all);
    assert_true(say(c, "hi", &all));
    chat_status(c, &st);
    assert_null(st.session_path);
    chat_free(c);
    chat_events_release(&all);
}

static void options_change_in_a_chat(void **state)
{
    struct chat *c = open_chat(script(HEAD THINKS), NULL, NULL, NULL);
    struct buf b = {0};
    struct err e = {0};
    (void)state;

    assert_true(chat_set(c, "temp", "0.25", &e));
    assert_true(chat_get(c, "temp", &b, &e));
    assert_string_equal(b.p, "temp = 0.25");
    assert_false(chat_set(c, "temp", "warm", &e));
    assert_false(chat_set(c, "threads", "2", &e));
    assert_false(chat_set(c, "nonsense", "2", &e));
    buf_release(&b);
    chat_free(c);
}

static void leaving_in_mid_answer_is_quick(void **state)
{
    struct chat *c = open_chat(script(HEAD SLOW), NULL, NULL, NULL);
    struct err e = {0};
    (void)state;

    assert_true(chat_send(c, "hi", 2, &e));
    long long t0 = log_now_us();
    chat_free(c);
    assert_true(log_now_us() - t0 < 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_told_in_order),
        cmocka_unit_test(a_stop_is_felt_at_once_and_can_go_on),
        cmocka_unit_test(an_answer_cut_by_length_goes_on),
        cmocka_unit_test(a_retry_is_a_new_branch),
        cmocka_unit_test(a_session_is_resumed_with_its_ids),
        cmocka_unit_test(a_full_context_is_said_with_numbers),
        cmocka_unit_test(a_device_that_fails_costs_no_text),
        cmocka_unit_test(private_leaves_no_file),
        cmocka_unit_test(options_change_in_a_chat),
        cmocka_unit_test(leaving_in_mid_answer_is_quick),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_home, drop_home);
}
