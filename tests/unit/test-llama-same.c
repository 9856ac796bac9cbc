/* The llama on the CPU against itself: the same bits whatever the threads, the chunks and
 * the history, after a snapshot and after a cancelled evaluation. */
#include "config.h"

#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "backend/backend.h"
#include "backend/kernels.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/unit/llama-write.h"
#include "tests/unit/model.h"

enum { SELF_N = 70 };

static void self_ids(int32_t *ids)
{
    uint32_t x = 5;
    for (int i = 0; i < SELF_N; i++) {
        x = x * 1664525 + 1013904223;
        ids[i] = (int32_t)(x >> 16) % 512;
        ids[i] = ids[i] < 0 ? -ids[i] : ids[i];
    }
}

static void same_bits(const float *a, const float *b, size_t n, const char *what)
{
    if (memcmp(a, b, n * sizeof *a))
        fail_msg("%s: bits differ", what);
}

/* every: each number of threads with every chunk; otherwise some of each */
static void check_same_bits(const char *file, const char *isa, bool every)
{
    static const int chunks[] = {1, 2, 3, 7, 64};
    int32_t ids[SELF_N], other[3] = {9, 8, 7};
    float *all = xcalloc(SELF_N * 512, sizeof *all);
    struct model m;
    char what[128];

    self_ids(ids);
    model_open(&m, file, isa, 1, 256);
    eval(&m, ids, SELF_N, 0, BE_LOGITS_ALL);
    memcpy(all, be_logits(m.b, 0), SELF_N * 512 * sizeof *all);
    model_close(&m);
    for (int threads = 1; threads <= 3; threads++)
        for (size_t k = every ? 0 : (size_t)threads; k < 5; k += every ? 1 : 3) {
            snprintf(what, sizeof what, "%s %s threads %d chunk %d", file, isa, threads,
                     chunks[k]);
            model_open(&m, file, isa, threads, chunks[k]);
            eval(&m, ids, SELF_N, 0, BE_LOGITS_ALL);
            same_bits(be_logits(m.b, 0), all, SELF_N * 512, what);
            be_truncate(m.b, 31);                       /* forget, go astray, come back */
            eval(&m, other, 3, 31, BE_LOGITS_LAST);
            eval(&m, ids + 31, SELF_N - 31, 31, BE_LOGITS_LAST);
            same_bits(be_logits(m.b, 0), all + (SELF_N - 1) * 512, 512, what);
            eval(&m, ids + 11, 1, 11, BE_LOGITS_LAST);
            same_bits(be_logits(m.b, 0), all + 11 * 512, 512, what);
            uint32_t reused;
            struct err e = {0};
            assert_int_equal(be_sync(m.b, ids, SELF_N, &reused, NULL, NULL, &e), BE_OK);
            assert_int_equal(reused, 12);
            same_bits(be_logits(m.b, 0), all + (SELF_N - 1) * 512, 512, what);
            model_close(&m);
        }
    free(all);
}

static void bits_do_not_depend_on_threads_chunks_or_history(void **state)
{
    static const char *const archs[] = {
        "mistral3-yarn", "olmo2", "phi3", "glm4", "granite", "exaone4", "cohere2", "gemma2",
        "gemma3", "gpt2", "mixtral", "qwen3moe", "gpt-oss", "llama4", "glm4moe", "deepseek2",
        "deepseek2-lite", "deepseek2-groups",
    };
    char file[64];
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < 3; i++) {
        if (!be_kernels_find(isas[i], NULL))
            continue;
        check_same_bits("stories260K.gguf", isas[i], true);
        check_same_bits("stories260K-q8_0.gguf", isas[i], false);
        check_same_bits("stories260K-q4_1.gguf", isas[i], false);
        check_same_bits("stories260K-mxfp4.gguf", isas[i], false);
        check_same_bits("tiny-arch/llama256-q4_k.gguf", isas[i], false);
        check_same_bits("tiny-arch/llama256-q6_k.gguf", isas[i], false);
        check_same_bits("tiny-arch/llama256-iq3_s.gguf", isas[i], false);
        check_same_bits("tiny-arch/qwen3.gguf", isas[i], false);
        for (size_t k = 0; k < sizeof archs / sizeof *archs; k++) {
            snprintf(file, sizeof file, "tiny-arch/%s.gguf", archs[k]);
            check_same_bits(file, isas[i], false);
        }
    }
}

static void a_state_goes_back_into_its_like_only(void **state)
{
    struct model m, other;
    struct buf saved = {0};
    struct err e = {0};
    int32_t ids[SELF_N];
    float *row;
    (void)state;
    UNIT_NEEDS_SHARED();
    self_ids(ids);
    model_open(&m, "stories260K.gguf", "auto", 2, 16);
    eval(&m, ids, 50, 0, BE_LOGITS_LAST);
    assert_true(be_state_save(m.b, &saved, &e));
    eval(&m, ids + 50, 20, 50, BE_LOGITS_LAST);
    row = xcalloc(512, sizeof *row);
    memcpy(row, be_logits(m.b, 0), 512 * sizeof *row);
    assert_true(be_state_restore(m.b, saved.p, saved.n, &e));
    assert_int_equal(be_pos(m.b), 50);
    assert_memory_equal(be_ids(m.b), ids, 50 * sizeof *ids);
    eval(&m, ids + 50, 20, 50, BE_LOGITS_LAST);
    same_bits(be_logits(m.b, 0), row, 512, "restored");

    struct be_params p = m.p;               /* another context of the same model */
    p.ctx = 77;
    p.threads = 1;
    struct be *b = be_open(&p, &e);
    assert_non_null(b);
    assert_true(be_state_restore(b, saved.p, saved.n, &e));
    assert_int_equal(be_eval(b, ids + 50, 20, 50, BE_LOGITS_LAST, &e), BE_OK);
    same_bits(be_logits(b, 0), row, 512, "restored elsewhere");
    be_free(b);
    p.ctx = 49;
    b = be_open(&p, &e);
    assert_false(be_state_restore(b, saved.p, saved.n, &e));
    assert_int_equal(e.kind, ERR_CONTEXT);
    be_free(b);

    model_open(&other, "stories260K-f16.gguf", "auto", 1, 0);
    assert_false(be_state_restore(other.b, saved.p, saved.n, &e));
    assert_non_null(strstr(e.text, "another model"));
    model_close(&other);
    for (size_t n = 0; n < saved.n; n += n < 400 ? 1 : 997)
        assert_false(be_state_restore(m.b, saved.p, n, &e));
    for (size_t i = 0; i < saved.n; i += i < 400 ? 1 : 997) {
        saved.p[i] ^= 16;
        assert_false(be_state_restore(m.b, saved.p, saved.n, &e));
        saved.p[i] ^= 16;
    }
    assert_int_equal(be_pos(m.b), 70);      /* refused states change nothing */
    free(row);
    buf_release(&saved);
    model_close(&m);
}

static void ids_and_positions_are_checked(void **state)
{
    struct model m;
    struct err e = {0};
    int32_t ids[400] = {1};
    (void)state;
    UNIT_NEEDS_SHARED();
    model_open(&m, "stories260K.gguf", "auto", 1, 64);
    eval(&m, ids, 3, 0, BE_LOGITS_LAST);
    assert_int_equal(be_eval(m.b, ids, 298, 3, BE_LOGITS_LAST, &e), BE_FULL);
    assert_int_equal(e.kind, ERR_CONTEXT);
    assert_int_equal(be_pos(m.b), 3);
    ids[100] = 512;
    assert_int_equal(be_eval(m.b, ids, 297, 3, BE_LOGITS_LAST, &e), BE_FAILED);
    ids[100] = -1;
    assert_int_equal(be_eval(m.b, ids, 297, 3, BE_LOGITS_LAST, &e), BE_FAILED);
    assert_int_equal(be_pos(m.b), 3);
    ids[100] = 511;
    eval(&m, ids, 297, 3, BE_LOGITS_LAST);
    assert_int_equal(be_pos(m.b), 300);
    model_close(&m);
}

/* ---- cancelling ---- */

struct canceller {
    atomic_bool flag;
    long long set_at;
};

static void *cancel_later(void *arg)
{
    struct canceller *c = arg;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    c->set_at = log_now_us();
    atomic_store(&c->flag, true);
    return NULL;
}

static void a_cancel_is_felt_and_leaves_a_good_cache(void **state)
{
    struct model m;
    struct canceller c = {0};
    struct err e = {0};
    int32_t *ids = xcalloc(4000, sizeof *ids);
    float row[512];
    pthread_t t;
    (void)state;
    if (!unit_shared())
        free(ids);
    UNIT_NEEDS_SHARED();
    for (int i = 0; i < 4000; i++)
        ids[i] = 3 + i * 7 % 500;
    m.g = open_gguf("stories260K.gguf");
    m.p = (struct be_params){.gguf = m.g, .isa = "portable", .ctx = 4000, .chunk = 32,
                             .threads = 2, .cancel = &c.flag};
    m.b = be_open(&m.p, &e);
    assert_non_null(m.b);
    assert_non_null(strstr(be_info(m.b)->why_ctx, "2048"));
    assert_int_equal(pthread_create(&t, NULL, cancel_later, &c), 0);
    assert_int_equal(be_eval(m.b, ids, 4000, 0, BE_LOGITS_LAST, &e), BE_CANCELLED);
    long long felt = log_now_us();
    pthread_join(t, NULL);
    assert_true(felt - c.set_at < 100000);
    assert_true(be_pos(m.b) < 4000 && be_pos(m.b) % 32 == 0);
    assert_int_equal(be_eval(m.b, ids, 1, 0, BE_LOGITS_LAST, &e), BE_CANCELLED);

    atomic_store(&c.flag, false);
    assert_int_equal(be_sync(m.b, ids, 200, NULL, NULL, NULL, &e), BE_OK);
    memcpy(row, be_logits(m.b, 0), sizeof row);
    be_truncate(m.b, 0);
    assert_int_equal(be_sync(m.b, ids, 200, NULL, NULL, NULL, &e), BE_OK);
    same_bits(row, be_logits(m.b, 0), 512, "after a cancel");
    model_close(&m);
    free(ids);
}

/* ---- without the shared data ---- */

static void made_models_are_computed(void **state)
{
    static const char *const archs[] = {"llama", "qwen2", "mistral3", "smollm3"};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        struct gguf_write w = {0};
        struct buf bytes = {0};
        struct err e = {0};
        struct be_params p = {.threads = 2, .ctx = 20, .chunk = 3};
        int32_t ids[9] = {1, 63, 5, 5, 9, 0, 2, 40, 11};
        float row[LW_VOCAB];

        lw_model(&w, archs[i / 2], i % 2 ? GGUF_DT_Q8_0 : GGUF_DT_F32);
        gw_finish(&w, &bytes);
        struct gguf *g = gguf_open_memory(bytes.p, bytes.n, "made up", &e);
        if (!g)
            fail_msg("%s", e.text);
        p.gguf = g;
        struct be *b = be_open(&p, &e);
        if (!b)
            fail_msg("%s", e.text);
        assert_string_equal(be_info(b)->quant, i % 2 ? "Q8_0" : "F32");
        assert_int_equal(be_eval(b, ids, 9, 0, BE_LOGITS_LAST, &e), BE_OK);
        memcpy(row, be_logits(b, 0), sizeof row);
        for (uint32_t k = 0; k < 9; k++)
            assert_int_equal(be_eval(b, ids + k, 1, k, BE_LOGITS_LAST, &e), BE_OK);
        same_bits(row, be_logits(b, 0), LW_VOCAB, archs[i / 2]);
        assert_true(row[0] != row[1]);
        be_free(b);
        gguf_free(g);
        buf_release(&bytes);
        gw_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads_chunks_or_history),
        cmocka_unit_test(a_state_goes_back_into_its_like_only),
        cmocka_unit_test(ids_and_positions_are_checked),
        cmocka_unit_test(a_cancel_is_felt_and_leaves_a_good_cache),
        cmocka_unit_test(made_models_are_computed),
    };
    return UNIT_RUN(tests);
}
