/* The llama on the CPU against what llama.cpp and float64 arithmetic computed
 * (../shared/models/expected), the files it must refuse, and the choice of the context. */
#include "config.h"

#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>

#include "backend/backend.h"
#include "backend/kernels.h"
#include "backend/sampler.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "tests/unit/llama-write.h"
#include "tests/unit/model.h"

/* ---- helpers ---- */

static json_t *expected(const char *name)
{
    char path[4200];
    json_error_t je;
    json_t *j;

    snprintf(path, sizeof path, "%s/models/expected/%s.json", unit_shared(), name);
    j = json_load_file(path, 0, &je);
    if (!j)
        fail_msg("%s: %s", path, je.text);
    return j;
}

static size_t get_ids(json_t *list, int32_t *out, size_t max)
{
    size_t i;
    json_t *v;

    assert_true(json_is_array(list) && json_array_size(list) <= max);
    json_array_foreach(list, i, v)
        out[i] = (int32_t)json_integer_value(v);
    return json_array_size(list);
}

static void check_row(const float *row, json_t *want, double tolerance, const char *what)
{
    size_t i;
    json_t *v;
    double worst = 0;

    assert_true(json_is_array(want));
    json_array_foreach(want, i, v)
        worst = fmax(worst, fabs((double)row[i] - json_number_value(v)));
    if (!(worst <= tolerance))
        fail_msg("%s: logits differ by %g", what, worst);
}

/* ---- against the oracle ---- */

/* Greedy ids and log-probabilities of every run. */
static void check_runs(const char *file, const char *isa, double tolerance)
{
    struct model m;
    struct be_sampling greedy = {.top_p = 1, .repeat_penalty = 1};
    struct be_choice c;
    struct be_sampler *s;
    json_t *want = expected(file), *run, *steps;
    char name[128];
    size_t r;

    snprintf(name, sizeof name, "%s.gguf", file);
    model_open(&m, name, isa, 2, 0);
    s = be_sampler_new(be_info(m.b)->n_vocab);
    json_array_foreach(json_object_get(want, "runs"), r, run) {
        int32_t ids[256];
        size_t n = get_ids(json_object_get(run, "prompt_ids"), ids, 256), k;
        json_t *v;
        be_truncate(m.b, 0);
        eval(&m, ids, n, 0, BE_LOGITS_LAST);
        check_row(be_logits(m.b, 0), json_object_get(run, "prompt_logits_last"), tolerance, file);
        steps = json_object_get(run, "greedy");
        assert_true(json_array_size(steps) > 0);
        json_array_foreach(steps, k, v) {
            be_sample(s, &greedy, be_logits(m.b, 0), NULL, 0, be_pos(m.b), 0, 5, &c);
            assert_int_equal(c.id, json_integer_value(json_object_get(v, "id")));
            assert_true(fabs(c.lp - json_number_value(json_object_get(v, "logprob"))) <=
                        tolerance);
            eval(&m, &c.id, 1, be_pos(m.b), BE_LOGITS_LAST);
        }
    }
    be_sampler_free(s);
    json_decref(want);
    model_close(&m);
}

static void stories_says_what_llama_cpp_says(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < 3; i++)
        if (be_kernels_find(isas[i], NULL))
            check_runs("stories260K", isas[i], 1e-3);
    check_runs("stories260K-f16", "auto", 0.05);
    check_runs("stories260K-bf16", "auto", 0.05);
    check_runs("llama-2-tiny-random", "auto", 1e-3);
}

static void quantised_files_match_exact_arithmetic(void **state)
{
    static const char *const types[] = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl",
                                        "mxfp4"};
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct model m;
        char name[64], file[80];
        size_t r;
        json_t *want, *run;
        snprintf(name, sizeof name, "stories260K-%s", types[t]);
        snprintf(file, sizeof file, "%s.gguf", name);
        want = expected(name);
        model_open(&m, file, "auto", 2, 0);
        json_array_foreach(json_object_get(want, "runs"), r, run) {
            int32_t ids[256];
            size_t n = get_ids(json_object_get(run, "prompt_ids"), ids, 256);
            be_truncate(m.b, 0);
            eval(&m, ids, n, 0, BE_LOGITS_LAST);
            check_row(be_logits(m.b, 0),
                      json_object_get(run, "prompt_logits_last_dequantized_f64"), 0.05, name);
        }
        json_decref(want);
        model_close(&m);
    }
}

/* Rows of 256, each type in a model of its own, with every instruction set. llama.cpp rounds
 * activations, so only the exact arithmetic on the last position is near. */
static void large_blocks_match_exact_arithmetic(void **state)
{
    static const char *const types[] = {"q2_k",  "q3_k",   "q4_k",  "q5_k", "q6_k",
                                        "iq3_s", "iq4_xs", "tq1_0", "tq2_0"};
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char name[64], file[80];
        int32_t ids[64];
        snprintf(name, sizeof name, "tiny-llama256-%s", types[t]);
        snprintf(file, sizeof file, "tiny-arch/llama256-%s.gguf", types[t]);
        json_t *want = expected(name);
        size_t n = get_ids(json_object_get(want, "prompt_ids"), ids, 64);
        for (size_t i = 0; i < 3; i++) {
            struct model m;
            if (!be_kernels_find(isas[i], NULL))
                continue;
            model_open(&m, file, isas[i], 2, 0);
            eval(&m, ids, n, 0, BE_LOGITS_LAST);
            check_row(be_logits(m.b, 0), json_object_get(want, "logits_dequantized_f64"),
                      1e-3, name);
            model_close(&m);
        }
        json_decref(want);
    }
}

static void q8_0_gives_the_greedy_ids(void **state)
{
    json_t *want, *run, *v;
    struct model m;
    struct be_sampling greedy = {.top_p = 1, .repeat_penalty = 1};
    struct be_choice c;
    int32_t ids[256];
    size_t k;
    (void)state;
    UNIT_NEEDS_SHARED();
    want = expected("stories260K-q8_0");
    model_open(&m, "stories260K-q8_0.gguf", "auto", 2, 0);
    struct be_sampler *s = be_sampler_new(be_info(m.b)->n_vocab);
    run = json_array_get(json_object_get(want, "runs"), 0);
    eval(&m, ids, get_ids(json_object_get(run, "prompt_ids"), ids, 256), 0, BE_LOGITS_LAST);
    json_array_foreach(json_object_get(run, "greedy"), k, v) {
        be_sample(s, &greedy, be_logits(m.b, 0), NULL, 0, be_pos(m.b), 0, 0, &c);
        assert_int_equal(c.id, json_integer_value(json_object_get(v, "id")));
        eval(&m, &c.id, 1, be_pos(m.b), BE_LOGITS_LAST);
    }
    be_sampler_free(s);
    json_decref(want);
    model_close(&m);
}

static void perplexity_is_the_oracles(void **state)
{
    json_t *want, *ppl;
    struct model m;
    struct be_choice c;
    int32_t ids[512];
    double nll = 0;
    (void)state;
    UNIT_NEEDS_SHARED();
    want = expected("stories260K");
    ppl = json_object_get(want, "perplexity");
    size_t n = get_ids(json_object_get(ppl, "ids"), ids, 512);
    model_open(&m, "stories260K.gguf", "auto", 2, 50);
    struct be_sampler *s = be_sampler_new(512);
    eval(&m, ids, n, 0, BE_LOGITS_ALL);
    for (size_t i = 0; i + 1 < n; i++) {
        be_score(s, be_logits(m.b, i), ids[i + 1], 0, &c);
        nll -= c.lp;
    }
    assert_true(fabs(nll / (double)(n - 1) -
                     json_number_value(json_object_get(ppl, "mean_nll"))) < 1e-4);
    be_sampler_free(s);
    json_decref(want);
    model_close(&m);
}

/* Logits of all positions, read as one chunk and one by one, and greedy steps. */
static void check_architecture(const char *arch, const char *isa, double tolerance)
{
    struct model m;
    struct be_sampling greedy = {.top_p = 1, .repeat_penalty = 1};
    struct be_choice c;
    char file[64], name[64];
    int32_t ids[64], steps[64];
    json_t *want, *row;
    size_t k;

    snprintf(file, sizeof file, "tiny-arch/%s.gguf", arch);
    snprintf(name, sizeof name, "tiny-%s", arch);
    want = expected(name);
    model_open(&m, file, isa, 2, 0);
    struct be_sampler *s = be_sampler_new(512);
    size_t n = get_ids(json_object_get(want, "prompt_ids"), ids, 64);
    size_t n_steps = get_ids(json_object_get(want, "greedy_16"), steps, 64);
    assert_int_equal(json_array_size(json_object_get(want, "logits")), n);
    json_array_foreach(json_object_get(want, "logits"), k, row) {
        eval(&m, ids + k, 1, (uint32_t)k, BE_LOGITS_LAST);
        check_row(be_logits(m.b, 0), row, tolerance, name);
    }
    eval(&m, ids, n, 0, BE_LOGITS_ALL);
    json_array_foreach(json_object_get(want, "logits"), k, row)
        check_row(be_logits(m.b, k), row, tolerance, name);
    for (k = 0; k < n_steps; k++) {
        be_sample(s, &greedy, be_logits(m.b, k ? 0 : n - 1), NULL, 0, 0, 0, 0, &c);
        assert_int_equal(c.id, steps[k]);
        eval(&m, &c.id, 1, be_pos(m.b), BE_LOGITS_LAST);
    }
    be_sampler_free(s);
    json_decref(want);
    model_close(&m);
}

/* llama.cpp looks GELU up in a table of halves, so models with it differ more. */
static void architectures_match(void **state)
{
    static const struct {
        const char *name;
        double tolerance;
    } archs[] = {
        {"llama3-rope", 1e-3}, {"qwen2", 1e-3}, {"qwen3", 1e-3}, {"mistral3-yarn", 1e-3},
        {"smollm3", 1e-3}, {"olmo2", 1e-3}, {"phi3", 1e-3}, {"glm4", 1e-3},
        {"granite", 1e-3}, {"exaone4", 1e-3}, {"cohere2", 1e-3}, {"gemma2", 3e-3},
        {"gemma3", 3e-3}, {"gpt2", 3e-3}, {"mixtral", 1e-3}, {"qwen3moe", 1e-3},
        {"gpt-oss", 1e-3}, {"llama4", 1e-3}, {"glm4moe", 1e-3}, {"deepseek2", 1e-3},
        {"deepseek2-lite", 1e-3}, {"deepseek2-groups", 1e-3},
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        for (size_t k = 0; k < 3; k++)
            if (be_kernels_find(isas[k], NULL))
                check_architecture(archs[i].name, isas[k], archs[i].tolerance);
}

/* ---- files that must be refused, and the description ---- */

static void bad_numbers_and_shapes_are_refused(void **state)
{
    static const struct {
        const char *file, *word;    /* NULL: taken */
    } files[] = {
        {"ok.gguf", NULL},
        {"hp-attention-head_count-0.gguf", "attention.head_count"},
        {"hp-attention-head_count_kv-0.gguf", "attention.head_count_kv"},
        {"hp-attention-head_count_kv-64.gguf", "attention.head_count_kv"},
        {"hp-block_count-1000.gguf", "block_count"},
        {"hp-block_count-2147483647.gguf", "block_count"},
        {"hp-context-max.gguf", NULL},
        {"hp-embedding_length-0.gguf", "embedding_length"},
        {"hp-embedding_length-4294967295.gguf", "embedding_length"},
        {"hp-eps-nan.gguf", "layer_norm_rms_epsilon"},
        {"hp-missing.gguf", "head_count"},
        {"hp-rope-dimension_count-1024.gguf", "rope.dimension_count"},
        {"hp-string.gguf", "block_count"},
        {"shape-small.gguf", "must be"},
        {"shape-swapped.gguf", "token_embd.weight is 300 x 32 and"},
        {"vocab-count.gguf", "tokens"},
        {"no-tensors.gguf", "tensor"},
        {"arch-unknown.gguf", "it knows llama, qwen2"},
        {"arch-missing.gguf", "general.architecture"},
        {"arch-number.gguf", "general.architecture"},
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4200];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/bad-files/%s", unit_shared(), files[i].file);
        struct gguf *g = gguf_open(path, &e);
        if (!g)
            fail_msg("%s", e.text);
        struct be_params p = {.gguf = g, .threads = 1, .memory = 100 << 20};
        struct be *b = be_open(&p, &e);
        if (!b != !!files[i].word)
            fail_msg("%s: %s", files[i].file, b ? "was taken" : e.text);
        if (!b) {
            assert_int_equal(e.kind, ERR_MODEL);
            if (!strstr(e.text, files[i].word) || !strstr(e.text, files[i].file) ||
                strchr(e.text, '\x1b'))
                fail_msg("%s: %s", files[i].file, e.text);
        } else {
            be_free(b);
            b = be_probe(&p, &e);
            assert_non_null(b);
        }
        be_free(b);
        gguf_free(g);
    }
}

static void others_are_refused_by_name(void **state)
{
    static const struct {
        const char *file, *word;
    } files[] = {
        {"tiny-arch/lfm2.gguf", "lfm2"},
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct gguf *g = open_gguf(files[i].file);
        struct be_params p = {.gguf = g, .threads = 1};
        struct err e = {0};
        assert_null(be_open(&p, &e));
        assert_int_equal(e.kind, ERR_MODEL);
        if (!strstr(e.text, files[i].word))
            fail_msg("%s", e.text);
        gguf_free(g);
    }
}

/* A tensor of integers has a known type that no matrix product takes. */
static void a_type_without_arithmetic_is_named(void **state)
{
    struct gguf_write w = {0};
    struct buf bytes = {0};
    struct err e = {0};
    uint64_t ne[2] = {LW_EMBD, LW_VOCAB};
    (void)state;

    lw_model(&w, "llama", GGUF_DT_F32);
    gw_tensor(&w, "output.weight", 24, 2, ne, NULL, (size_t)LW_EMBD * LW_VOCAB);
    gw_finish(&w, &bytes);
    gw_release(&w);
    struct gguf *g = gguf_open_memory(bytes.p, bytes.n, "made up", &e);
    assert_non_null(g);
    struct be_params p = {.gguf = g, .threads = 1};
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "tensor output.weight is I8, and this version computes "
                                   "with F32"));
    assert_non_null(strstr(e.text, " Q4_K"));
    gguf_free(g);
    buf_release(&bytes);
}

static void the_context_follows_memory(void **state)
{
    struct gguf *g;
    struct err e = {0};
    struct be_plan plan;
    struct be *b;
    (void)state;
    UNIT_NEEDS_SHARED();
    g = open_gguf("stories260K.gguf");
    struct be_params p = {.gguf = g, .threads = 2, .chunk = 8};
    b = be_probe(&p, &e);
    assert_int_equal(be_info(b)->ctx, 2048);
    assert_non_null(strstr(be_info(b)->why_ctx, "trained"));
    be_plan(b, &plan);
    assert_int_equal(plan.kv_per_position, 5 * 4 * (8 + 8) * 4);
    assert_int_equal(plan.kv, plan.kv_per_position * 2048);
    assert_true(plan.ctx == 2048 && plan.ctx_max > 2048 && plan.free_memory > 0);
    assert_true(plan.weights > 1000000 && plan.weights < be_info(b)->file_bytes);
    assert_string_equal(plan.kv_type, "F32");
    assert_string_equal(be_info(b)->quant, "F32");
    assert_int_equal(be_info(b)->n_heads, 8);
    assert_int_equal(be_info(b)->head_dim, 8);
    be_free(b);

    p.memory = 1 << 20;                         /* one MiB holds some 700 positions */
    b = be_open(&p, &e);
    assert_non_null(b);
    be_plan(b, &plan);
    assert_true(plan.ctx >= 256 && plan.ctx < 1024);
    assert_true(plan.kv + plan.scratch <= p.memory);
    assert_non_null(strstr(be_info(b)->why_ctx, "memory limit"));
    be_free(b);
    p.ctx = 2048;                               /* but not so many */
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_FAILED);
    assert_non_null(strstr(e.text, "2048"));
    b = be_probe(&p, &e);
    assert_non_null(b);
    be_plan(b, &plan);
    assert_true(plan.kv + plan.scratch > p.memory);
    be_free(b);
    p.memory = 1000;
    p.ctx = 0;
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_FAILED);
    p.isa = "mmx";
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    gguf_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_says_what_llama_cpp_says),
        cmocka_unit_test(quantised_files_match_exact_arithmetic),
        cmocka_unit_test(large_blocks_match_exact_arithmetic),
        cmocka_unit_test(q8_0_gives_the_greedy_ids),
        cmocka_unit_test(perplexity_is_the_oracles),
        cmocka_unit_test(architectures_match),
        cmocka_unit_test(bad_numbers_and_shapes_are_refused),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(a_type_without_arithmetic_is_named),
        cmocka_unit_test(the_context_follows_memory),
    };
    return UNIT_RUN(tests);
}
