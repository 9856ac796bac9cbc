#include "config.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/sampler.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

static char script_path[64];

static const char *write_script(const char *text)
{
    static char device[80];
    FILE *f;

    if (!script_path[0]) {
        strcpy(script_path, "/tmp/vt-fake-XXXXXX");
        close(mkstemp(script_path));
    }
    f = fopen(script_path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    snprintf(device, sizeof device, "fake:%s", script_path);
    return device;
}

static struct be *open_script(const char *text, const atomic_bool *cancel)
{
    struct be_params p = {.device = write_script(text), .cancel = cancel, .chunk = 4};
    struct err e = {0};
    struct be *b = be_open(&p, &e);
    if (!b)
        fail_msg("%s", e.text);
    return b;
}

/* Play greedily from a prompt of n ids until eos or max tokens; the text into out. */
static enum be_status play(struct be *b, size_t n, size_t max, struct buf *out, struct err *e)
{
    const struct be_vocab *v = be_own_vocab(b);
    struct be_sampler *s = be_sampler_new(v->n);
    struct be_sampling greedy = {.top_p = 1, .repeat_penalty = 1};
    int32_t prompt[64] = {0};
    struct be_choice c;
    enum be_status st;

    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++)
        prompt[i] = (int32_t)('a' + i % 26);
    be_truncate(b, 0);
    st = be_sync(b, prompt, n, NULL, NULL, NULL, e);
    while (st == BE_OK && max--) {
        be_sample(s, &greedy, be_logits(b, 0), NULL, 0, be_pos(b), 0, 3, &c);
        if (c.id == v->eos)
            break;
        if (v->special[c.id])
            buf_addf(out, "{%s}", v->text[c.id]);
        else
            buf_add(out, v->text[c.id], v->len[c.id]);
        st = be_eval(b, &c.id, 1, be_pos(b), BE_LOGITS_LAST, e);
    }
    be_sampler_free(s);
    return st;
}

static void expect_play(struct be *b, size_t n, const char *want)
{
    struct buf out = {0};
    struct err e = {0};
    assert_int_equal(play(b, n, 100, &out, &e), BE_OK);
    assert_string_equal(buf_str(&out), want);
    buf_release(&out);
}

static void answers_come_in_turn(void **state)
{
    struct be *b = open_script(
        "{\"fake\":1,\"name\":\"demo\"}\n\n"
        "{\"answer\":[\"Hel\",\"lo\",{\"special\":\"<think>\"},\"<think>\",{\"b64\":\"4pQ=\"},"
        "{\"sleep_us\":1},{\"t\":\"w \",\"repeat\":3}]}\n"
        "{\"answer\":[]}\n"
        "{\"answer\":[\"x\"]}\n", NULL);
    const struct be_vocab *v = be_own_vocab(b);
    (void)state;
    assert_string_equal(be_info(b)->name, "demo");
    assert_string_equal(v->template_name, "chatml");
    assert_string_equal(v->text[v->eos], "<|im_end|>");
    assert_int_equal(v->bos, -1);
    assert_int_equal(v->n, 256 + 4 + 5);
    assert_true(v->special[256] && v->special[259] && !v->special[260] && !v->special[65]);
    assert_int_equal(v->text[200][0] & 255, 200);
    for (size_t n = 1; n < 12; n++) {       /* also prompts that end in a chunk of one */
        expect_play(b, n, "Hello{<think>}<think>\xe2\x94w w w ");
        expect_play(b, n, "");
        expect_play(b, n, "x");
    }
    be_free(b);
}

static void probabilities_are_the_scripts(void **state)
{
    struct be *b = open_script(
        "{\"fake\":1}\n"
        "{\"answer\":[{\"t\":\" x\",\"lp\":-0.5,\"top\":[[\"y\",-1.2],[{\"special\":\"<think>\"},"
        "-3]]},{\"t\":\"q\",\"top\":[[\"r\",-0.25]]},\"last\"]}\n", NULL);
    struct be_sampler *s = be_sampler_new(be_own_vocab(b)->n);
    struct be_choice c;
    struct err e = {0};
    int32_t ids[3] = {1, 2, 3};
    (void)state;
    assert_int_equal(be_eval(b, ids, 3, 0, BE_LOGITS_LAST, &e), BE_OK);
    be_score(s, be_logits(b, 0), 260, 4, &c);
    assert_true(fabsf(c.lp + 0.5f) < 1e-6f);
    assert_int_equal(c.rank, 0);
    assert_int_equal(c.top[1].id, 'y');
    assert_true(fabsf(c.top[1].lp + 1.2f) < 1e-6f);
    assert_int_equal(c.top[2].id, 258);
    assert_true(fabsf(c.top[2].lp + 3) < 1e-6f);
    double rest = 1 - exp(-0.5) - exp(-1.2) - exp(-3);
    assert_true(fabs(exp(c.top[3].lp) - rest / (double)(be_own_vocab(b)->n - 3)) < 1e-7);

    /* another choice than the script's moves on in the script all the same */
    assert_int_equal(be_eval(b, &(int32_t){7}, 1, 3, BE_LOGITS_LAST, &e), BE_OK);
    be_score(s, be_logits(b, 0), 'q', 4, &c);
    assert_int_equal(c.rank, 1);
    assert_true(fabs(c.lp - log(1 - exp(-0.25))) < 1e-5);
    assert_int_equal(be_eval(b, &(int32_t){'r'}, 1, 4, BE_LOGITS_LAST, &e), BE_OK);
    be_score(s, be_logits(b, 0), 261, 1, &c);
    assert_true(c.rank == 0 && c.lp > -1e-6f && c.lp <= 0);
    be_sampler_free(s);
    be_free(b);
}

static void an_open_answer_does_not_end(void **state)
{
    struct be *b = open_script("{\"fake\":1,\"ctx\":50}\n{\"answer\":[\"a\",\"bc\"],\"open\":true}\n"
                               "{\"answer\":[\"d\",{\"open\":true}]}\n", NULL);
    struct buf out = {0};
    struct err e = {0};
    (void)state;
    assert_int_equal(play(b, 5, 7, &out, &e), BE_OK);
    assert_string_equal(out.p, "abcabcabca");
    buf_reset(&out);
    assert_int_equal(play(b, 5, 100, &out, &e), BE_FULL);
    assert_int_equal(out.n, 46);
    assert_int_equal(e.kind, ERR_CONTEXT);
    assert_non_null(strstr(e.text, "51"));
    assert_int_equal(be_pos(b), 50);
    buf_release(&out);
    be_free(b);
}

static void an_error_fails_at_its_token(void **state)
{
    struct be *b = open_script("{\"fake\":1}\n{\"answer\":[\"a\",{\"error\":\"device lost\"},\"b\"]}\n"
                               "{\"answer\":[\"c\"]}\n", NULL);
    struct buf out = {0};
    struct err e = {0};
    (void)state;
    assert_int_equal(play(b, 5, 100, &out, &e), BE_FAILED);
    assert_string_equal(out.p, "a");
    assert_string_equal(e.text, "device lost");
    assert_int_equal(be_pos(b), 5);
    expect_play(b, 5, "c");
    buf_release(&out);
    be_free(b);
}

static void a_cancel_is_felt_soon(void **state)
{
    atomic_bool cancel = false;
    struct be *b = open_script("{\"fake\":1,\"prefill_us\":30000000,\"delay_us\":5000000}\n"
                               "{\"answer\":[\"a\"]}\n", &cancel);
    struct err e = {0};
    int32_t ids[4] = {1, 2, 3, 4};
    (void)state;
    atomic_store(&cancel, true);
    long long start = log_now_us();
    assert_int_equal(be_eval(b, ids, 4, 0, BE_LOGITS_LAST, &e), BE_CANCELLED);
    assert_true(log_now_us() - start < 100000);
    assert_int_equal(be_pos(b), 0);
    be_free(b);
}

static void *set_later(void *flag)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    atomic_store((atomic_bool *)flag, true);
    return NULL;
}

static void a_cancel_from_another_thread(void **state)
{
    atomic_bool cancel = false;
    struct be *b = open_script("{\"fake\":1}\n{\"answer\":[{\"sleep_us\":60000000},\"a\"]}\n",
                               &cancel);
    pthread_t t;
    struct err e = {0};
    int32_t ids[2] = {1, 2};
    (void)state;
    assert_int_equal(pthread_create(&t, NULL, set_later, &cancel), 0);
    long long start = log_now_us();
    assert_int_equal(be_eval(b, ids, 2, 0, BE_LOGITS_LAST, &e), BE_CANCELLED);
    assert_true(log_now_us() - start < 2000000);
    pthread_join(t, NULL);
    be_free(b);
}

static void sync_keeps_the_common_prefix(void **state)
{
    struct be *b = open_script("{\"fake\":1,\"ctx\":20}\n{\"answer\":[\"a\"]}\n", NULL);
    int32_t ids[21] = {5, 6, 7, 8, 9, 10};
    uint32_t reused;
    struct err e = {0};
    (void)state;
    assert_int_equal(be_sync(b, ids, 5, &reused, NULL, NULL, &e), BE_OK);
    assert_true(reused == 0 && be_pos(b) == 5);
    assert_int_equal(be_sync(b, ids, 6, &reused, NULL, NULL, &e), BE_OK);
    assert_true(reused == 5 && be_pos(b) == 6);
    assert_int_equal(be_sync(b, ids, 6, &reused, NULL, NULL, &e), BE_OK);
    assert_true(reused == 5 && be_pos(b) == 6);
    assert_int_equal(be_sync(b, ids, 3, &reused, NULL, NULL, &e), BE_OK);
    assert_true(reused == 2 && be_pos(b) == 3);
    assert_memory_equal(be_ids(b), ids, 3 * sizeof *ids);
    assert_int_equal(be_sync(b, ids, 21, &reused, NULL, NULL, &e), BE_FULL);
    assert_true(be_pos(b) == 3);
    ids[1] = 300;
    assert_int_equal(be_sync(b, ids, 3, &reused, NULL, NULL, &e), BE_FAILED);
    assert_non_null(strstr(e.text, "300"));
    assert_int_equal(be_sync(b, ids, 0, &reused, NULL, NULL, &e), BE_OK);
    assert_true(reused == 0 && be_pos(b) == 0);
    be_free(b);
}

static void a_state_goes_back(void **state)
{
    const char *script = "{\"fake\":1}\n{\"answer\":[\"ab\",\"cd\",\"ef\"]}\n";
    struct be *b = open_script(script, NULL);
    struct buf saved = {0};
    struct err e = {0};
    int32_t ids[2] = {1, 2};
    (void)state;
    assert_int_equal(be_eval(b, ids, 2, 0, BE_LOGITS_LAST, &e), BE_OK);
    assert_int_equal(be_eval(b, ids, 1, 2, BE_LOGITS_LAST, &e), BE_OK);
    assert_true(be_state_save(b, &saved, &e));
    be_free(b);
    b = open_script(script, NULL);
    assert_true(be_state_restore(b, saved.p, saved.n, &e));
    assert_int_equal(be_pos(b), 3);
    assert_int_equal(be_eval(b, ids, 1, 3, BE_LOGITS_LAST, &e), BE_OK);
    assert_true(be_logits(b, 0)[262] > -1e-3f);
    for (size_t n = 0; n < saved.n; n++)        /* a cut or changed one never does */
        assert_false(be_state_restore(b, saved.p, n, &e));
    for (size_t i = 0; i < saved.n; i++) {
        saved.p[i] ^= 4;
        assert_false(be_state_restore(b, saved.p, saved.n, &e));
        saved.p[i] ^= 4;
    }
    assert_int_equal(be_pos(b), 4);
    be_free(b);
    b = open_script("{\"fake\":1}\n{\"answer\":[\"other\"]}\n", NULL);
    assert_false(be_state_restore(b, saved.p, saved.n, &e));
    assert_non_null(strstr(e.text, "another model"));
    be_free(b);
    buf_release(&saved);
}

static void bad_scripts_name_file_and_line(void **state)
{
    static const struct {
        const char *text, *line, *word;
    } bad[] = {
        {"", "line 0", "empty"},
        {"{\"fake\":1}\n", "line 1", "no answer"},
        {"{\"fake\":2}\n{\"answer\":[]}\n", "line 1", "fake"},
        {"{\"answer\":[]}\n", "line 1", "header"},
        {"[1]\n", "line 1", "object"},
        {"{\"fake\":1,\"tempo\":3}\n", "line 1", "tempo"},
        {"{\"fake\":1,\"ctx\":0}\n", "line 1", "ctx"},
        {"{\"fake\":1,\"ctx\":\"x\"}\n", "line 1", "ctx"},
        {"{\"fake\":1,\"name\":3}\n", "line 1", "name"},
        {"{\"fake\":1,\"special\":[\"a\",\"a\"]}\n", "line 1", "twice"},
        {"{\"fake\":1,\"special\":{}}\n", "line 1", "special"},
        {"{\"fake\":1,\"eos\":\"</s>\"}\n", "line 1", "</s>"},
        {"{\"fake\":1,\"eos\":null}\n", "line 1", "eos"},
        {"{\"fake\":1}\n{\"answer\":[\"a\"]}\n\n{\"answer\":[7]}\n", "line 4", "token"},
        {"{\"fake\":1}\n{\"answer\":[\"\"]}\n", "line 2", "empty"},
        {"{\"fake\":1}\n{\"answer\":[{\"b64\":\"4p\"}]}\n", "line 2", "base64"},
        {"{\"fake\":1}\n{\"answer\":[{\"special\":\"<x>\"}]}\n", "line 2", "<x>"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"b64\":\"YQ==\"}]}\n", "line 2", "token"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"lp\":0.1}]}\n", "line 2", "at most 0"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"repeat\":0}]}\n", "line 2", "repeat"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"top\":[[\"a\",-1]]}]}\n", "line 2", "itself"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"top\":[[\"b\",-1],[\"b\",-2]]}]}\n", "line 2",
         "twice"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"top\":[[\"b\"]]}]}\n", "line 2", "top"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"lp\":-0.1,\"top\":[[\"b\",-1]]}]}\n", "line 2",
         "add up"},
        {"{\"fake\":1}\n{\"answer\":[{\"t\":\"a\",\"top\":[[\"b\",0]]}]}\n", "line 2",
         "nothing"},
        {"{\"fake\":1}\n{\"answer\":[{\"sleep_us\":-1}]}\n", "line 2", "sleep_us"},
        {"{\"fake\":1}\n{\"answer\":[{\"error\":1}]}\n", "line 2", "error"},
        {"{\"fake\":1}\n{\"answer\":[{\"open\":true},\"a\"]}\n", "line 2", "open"},
        {"{\"fake\":1}\n{\"answer\":[],\"open\":true}\n", "line 2", "open"},
        {"{\"fake\":1}\n{\"answer\":[\"a\"]\n", "line 2", "JSON"},
        {"{\"fake\":1}\n{\"answer\":[\"a\"]} {}\n", "line 2", "JSON"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct be_params p = {.device = write_script(bad[i].text)};
        struct err e = {0};
        if (be_open(&p, &e))
            fail_msg("%zu was taken", i);
        assert_int_equal(e.kind, ERR_MODEL);
        if (!strstr(e.text, script_path) || !strstr(e.text, bad[i].line) ||
            !strstr(e.text, bad[i].word))
            fail_msg("%zu: %s", i, e.text);
    }
    struct be_params p = {.device = "fake:/nowhere/x"};
    struct err e = {0};
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_MODEL);
}

static void devices_are_checked(void **state)
{
    static const char *const usage[] = {"cuda", "", "fake:", "gpu:", "gpu:x", "gpux", "cpu:0"};
    struct err e = {0};
    struct be_device d[8];
    (void)state;
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++) {
        struct be_params p = {.device = usage[i]};
        assert_null(be_open(&p, &e));
        assert_int_equal(e.kind, ERR_USAGE);
    }
    struct be_params p = {.device = "gpu:0"};
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_FAILED);
    assert_non_null(strstr(e.text, "no GPU backend"));
    assert_true(be_devices(d, 8) >= 1);
    assert_string_equal(d[0].kind, "cpu");
    assert_true(d[0].usable && d[0].name[0]);
    assert_non_null(strstr(d[0].detail, "kernels: "));
    assert_int_equal(be_devices(d, 0), 0);
}

static int remove_script(void **state)
{
    (void)state;
    if (script_path[0])
        unlink(script_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_in_turn),
        cmocka_unit_test(probabilities_are_the_scripts),
        cmocka_unit_test(an_open_answer_does_not_end),
        cmocka_unit_test(an_error_fails_at_its_token),
        cmocka_unit_test(a_cancel_is_felt_soon),
        cmocka_unit_test(a_cancel_from_another_thread),
        cmocka_unit_test(sync_keeps_the_common_prefix),
        cmocka_unit_test(a_state_goes_back),
        cmocka_unit_test(bad_scripts_name_file_and_line),
        cmocka_unit_test_teardown(devices_are_checked, remove_script),
    };
    return UNIT_RUN(tests);
}
