/* Numbers that do not fit each other, in files that are sound otherwise: a number of a
 * shared model is changed where it lies, and the refusal must name it. And what a context
 * may be. */
#include "config.h"

#include "tests/unit/unit.h"

#include <math.h>

#include "base/buf.h"
#include "tests/unit/llama-write.h"
#include "tests/unit/model.h"

static void read_model(const char *name, struct buf *out)
{
    char path[4300], part[4096];
    size_t n;

    snprintf(path, sizeof path, "%s/models/tiny-arch/%s.gguf", unit_shared(), name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be read", path);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(out, part, n);
    fclose(f);
}

/* The bytes of a key's number, behind the key and its type (u32 or f32). */
static char *find_number(struct buf *b, const char *key)
{
    size_t n = strlen(key);

    for (size_t i = 0; i + n + 8 < b->n; i++)
        if (!memcmp(b->p + i, key, n) && (b->p[i + n] == 4 || b->p[i + n] == 6))
            return b->p + i + n + 4;
    fail_msg("%s is not there", key);
    return NULL;
}

static struct be *open_bytes(struct buf *b, struct gguf **g, struct err *e)
{
    *g = gguf_open_memory(b->p, b->n, "changed", e);
    if (!*g)
        fail_msg("%s", e->text);
    return be_open(&(struct be_params){.gguf = *g, .threads = 1, .chunk = 16,
                                       .memory = 100 << 20}, e);
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *file, *key;
        uint32_t value;
        const char *word;
    } changes[] = {
        {"mixtral", "llama.expert_used_count", 0, "expert_used_count is 0"},
        {"mixtral", "llama.expert_used_count", 5, "from 1 to 4"},
        {"mixtral", "llama.expert_count", 5000, "expert_count"},
        {"mixtral", "llama.expert_count", 3, "ffn_gate_inp.weight is 64 x 4"},
        {"mixtral", "llama.expert_count", 0, "ffn_gate.weight is missing"},
        {"qwen3moe", "qwen3moe.expert_feed_forward_length", 47, "ffn_gate_exps.weight is 64 x "
                                                               "48 x 8 and must be"},
        {"llama4", "llama4.interleave_moe_layer_step", 0, "interleave_moe_layer_step is 0"},
        {"llama4", "llama4.interleave_moe_layer_step", 1, "blk.0.ffn_gate_inp.weight is miss"},
        {"gpt-oss", "gpt-oss.attention.sliding_window", 0, "sliding_window is 0"},
        {"glm4moe", "glm4moe.expert_gating_func", 9, "expert_gating_func"},
        {"glm4moe", "glm4moe.expert_shared_count", 0, "ffn_gate_shexp.weight"},
        {"glm4moe", "glm4moe.leading_dense_block_count", 4, "leading_dense_block_count"},
        {"deepseek2", "deepseek2.attention.kv_lora_rank", 31, "a rank of 31"},
        {"deepseek2", "deepseek2.attention.head_count_kv", 4, "4 key heads"},
        {"deepseek2", "deepseek2.attention.key_length_mla", 8, "key_length_mla"},
        {"deepseek2", "deepseek2.attention.q_lora_rank", 0, "attn_q.weight is missing"},
        {"deepseek2-lite", "deepseek2.attention.value_length_mla", 15, "attn_v_b.weight"},
        {"deepseek2-groups", "deepseek2.expert_group_count", 3, "groups of experts"},
        {"deepseek2-groups", "deepseek2.expert_group_used_count", 0, "groups of experts"},
        {"deepseek2-groups", "deepseek2.expert_group_used_count", 5, "groups of experts"},
        {"gpt2", "gpt2.context_length", 255, "position_embd.weight is 64 x 256"},
        {"gpt2", "gpt2.attention.layer_norm_epsilon", 0x7fc00000, "layer_norm_epsilon"},
        {"gemma2", "gemma2.attn_logit_softcapping", 0xbf800000, "attn_logit_softcapping"},
        {"granite", "granite.residual_scale", 0x7f800000, "residual_scale"},
        {"phi3", "phi3.attention.head_count_kv", 4, "attn_qkv.weight"},
        {"qwen2", "qwen2.context_length", 128, NULL},
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct buf b = {0};
        struct err e = {0};
        struct gguf *g;
        read_model(changes[i].file, &b);
        memcpy(find_number(&b, changes[i].key), &changes[i].value, 4);
        struct be *be = open_bytes(&b, &g, &e);
        if (!be != !!changes[i].word)
            fail_msg("%s %s: %s", changes[i].file, changes[i].key, be ? "taken" : e.text);
        if (!be && (e.kind != ERR_MODEL || !strstr(e.text, changes[i].word)))
            fail_msg("%s %s: %s", changes[i].file, changes[i].key, e.text);
        be_free(be);
        gguf_free(g);
        buf_release(&b);
    }
}

/* Change one letter of a tensor's name: what was wanted is missing, or nobody knows it. */
static void tensors_of_no_use_are_refused(void **state)
{
    static const struct {
        const char *file, *name, *word;
    } changes[] = {
        {"gpt-oss", "blk.1.attn_sinks.weight", "attn_sinks.weight is missing"},
        {"deepseek2", "blk.2.exp_probs_b.bias", "does not know"},
        {"qwen2", "blk.1.attn_k.bias", "does not know"},
        {"mixtral", "blk.0.ffn_up_exps.weight", "ffn_up_exps.weight is missing"},
        {"gpt2", "output_norm.bias", "output_norm.bias is missing"},
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct buf b = {0};
        struct err e = {0};
        struct gguf *g;
        size_t n = strlen(changes[i].name), at = 0;
        read_model(changes[i].file, &b);
        while (at + n < b.n && memcmp(b.p + at, changes[i].name, n))
            at++;
        assert_true(at + n < b.n);
        b.p[at + n - 1] = 'x';
        assert_null(open_bytes(&b, &g, &e));
        assert_int_equal(e.kind, ERR_MODEL);
        if (!strstr(e.text, changes[i].word))
            fail_msg("%s: %s", changes[i].name, e.text);
        gguf_free(g);
        buf_release(&b);
    }
}

static void embedded_positions_bound_the_context(void **state)
{
    struct err e = {0};
    (void)state;
    UNIT_NEEDS_SHARED();
    struct gguf *g = open_gguf("tiny-arch/gpt2.gguf");
    struct be_params p = {.gguf = g, .threads = 1};
    struct be *b = be_open(&p, &e);
    assert_non_null(b);
    assert_int_equal(be_info(b)->ctx, 256);
    be_free(b);
    p.ctx = 257;
    assert_null(be_open(&p, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "embeddings"));
    gguf_free(g);
}

/* The cache of MLA holds one compressed row per layer and position, nothing per head; and
 * it goes through a snapshot. */
static void mla_caches_little(void **state)
{
    struct model m;
    struct be_plan plan;
    struct buf saved = {0};
    struct err e = {0};
    int32_t ids[30];
    float row[512];
    (void)state;
    UNIT_NEEDS_SHARED();
    for (int i = 0; i < 30; i++)
        ids[i] = 7 + 11 * i % 500;
    model_open(&m, "tiny-arch/deepseek2.gguf", "auto", 2, 8);
    be_plan(m.b, &plan);
    assert_int_equal(plan.kv_per_position, 3 * (32 + 8) * 4);
    eval(&m, ids, 20, 0, BE_LOGITS_LAST);
    assert_true(be_state_save(m.b, &saved, &e));
    eval(&m, ids + 20, 10, 20, BE_LOGITS_LAST);
    memcpy(row, be_logits(m.b, 0), sizeof row);
    eval(&m, ids + 3, 20, 0, BE_LOGITS_LAST);
    assert_true(be_state_restore(m.b, saved.p, saved.n, &e));
    eval(&m, ids + 20, 10, 20, BE_LOGITS_LAST);
    assert_memory_equal(row, be_logits(m.b, 0), sizeof row);
    buf_release(&saved);
    model_close(&m);
}

/* ---- olmoe, of which there is no shared model ---- */

static void write_olmoe_layer(struct gguf_write *w, uint32_t layer)
{
    static const struct {
        const char *name;
        uint64_t cols, rows, stack;
    } t[] = {
        {"attn_norm.weight", LW_EMBD, 1, 1},
        {"attn_q.weight", LW_EMBD, LW_EMBD, 1},
        {"attn_k.weight", LW_EMBD, LW_EMBD, 1},
        {"attn_v.weight", LW_EMBD, LW_EMBD, 1},
        {"attn_output.weight", LW_EMBD, LW_EMBD, 1},
        {"attn_q_norm.weight", LW_EMBD, 1, 1},
        {"attn_k_norm.weight", LW_EMBD, 1, 1},
        {"ffn_norm.weight", LW_EMBD, 1, 1},
        {"ffn_gate_inp.weight", LW_EMBD, 8, 1},
        {"ffn_gate_exps.weight", LW_EMBD, LW_FF, 8},
        {"ffn_up_exps.weight", LW_EMBD, LW_FF, 8},
        {"ffn_down_exps.weight", LW_FF, LW_EMBD, 8},
    };
    char name[64];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(name, sizeof name, "blk.%u.%s", layer, t[i].name);
        lw_stack(w, name, GGUF_DT_F32, t[i].cols, t[i].rows, t[i].stack);
    }
}

static void write_olmoe(struct buf *out)
{
    struct gguf_write w = {0};

    gw_kv_str(&w, "general.architecture", "olmoe");
    gw_kv_str(&w, "tokenizer.ggml.model", "no_vocab");
    lw_key(&w, "olmoe", "vocab_size", LW_VOCAB);
    lw_key(&w, "olmoe", "block_count", 2);
    lw_key(&w, "olmoe", "context_length", 100);
    lw_key(&w, "olmoe", "embedding_length", LW_EMBD);
    lw_key(&w, "olmoe", "feed_forward_length", LW_FF);
    lw_key(&w, "olmoe", "attention.head_count", LW_HEADS);
    lw_key(&w, "olmoe", "expert_count", 8);
    lw_key(&w, "olmoe", "expert_used_count", 3);
    gw_kv_f32(&w, "olmoe.attention.layer_norm_rms_epsilon", 1e-5f);
    lw_tensor(&w, "token_embd.weight", GGUF_DT_F32, LW_EMBD, LW_VOCAB);
    lw_tensor(&w, "output_norm.weight", GGUF_DT_F32, LW_EMBD, 1);
    lw_tensor(&w, "output.weight", GGUF_DT_F32, LW_EMBD, LW_VOCAB);
    for (uint32_t i = 0; i < 2; i++)
        write_olmoe_layer(&w, i);
    gw_finish(&w, out);
    gw_release(&w);
}

/* The first logits of the last position, from the same file through the oracle of
 * ../shared/models (llama.cpp v0.4.0). */
static void a_made_olmoe_matches(void **state)
{
    static const int32_t ids[9] = {1, 63, 5, 5, 9, 0, 2, 40, 11};
    static const float want[8] = {-0.092499f, 0.671055f, -0.002134f, -1.268219f,
                                  0.503702f, -0.134181f, -0.051681f, 0.409229f};
    struct buf b = {0};
    struct err e = {0};
    struct gguf *g;
    (void)state;

    write_olmoe(&b);
    struct be *be = open_bytes(&b, &g, &e);
    if (!be)
        fail_msg("%s", e.text);
    assert_int_equal(be_eval(be, ids, 9, 0, BE_LOGITS_LAST, &e), BE_OK);
    for (int i = 0; i < 8; i++)
        if (!(fabsf(be_logits(be, 0)[i] - want[i]) < 1e-4f))
            fail_msg("logit %d is %.6f", i, (double)be_logits(be, 0)[i]);
    be_free(be);
    gguf_free(g);
    buf_release(&b);
}

int main(void)
{

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
        cmocka_unit_test(tensors_of_no_use_are_refused),
        cmocka_unit_test(embedded_positions_bound_the_context),
        cmocka_unit_test(mla_caches_little),
        cmocka_unit_test(a_made_olmoe_matches),
    };
    return UNIT_RUN(tests);
}
