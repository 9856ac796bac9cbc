/* The table of architectures. Keys and defaults are
 * those of llama.cpp, which writes the files, and so is which architecture heeds which key:
 * a key that is ignored there has no meaning for the weights beside it. */
#include "config.h"

#include "backend/arch.h"

#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

/* What most have: RMS norms before both parts, q, k and v apart, a gate. */
enum {
    PLAIN = BE_HAS_IN_NORM | BE_HAS_FFN_NORM | BE_HAS_GATE | BE_HAS_PLAIN_QKV,
    BIASED = BE_HAS_QKV_BIAS | BE_HAS_ALL_BIAS,
};

static const struct be_arch be_archs[] = {
    { .name = "llama", .layout = BE_ROPE_PAIRS, .has = PLAIN | BIASED | BE_HAS_MAY_GATE,
      .moe = {.gating = BE_GATING_SOFTMAX, .sum_to_one = true} },
    { .name = "qwen2", .layout = BE_ROPE_HALVES, .has = PLAIN | BE_HAS_QKV_BIAS },
    { .name = "qwen3", .layout = BE_ROPE_HALVES, .has = PLAIN | BE_HAS_QK_NORM },
    { .name = "qwen3moe", .layout = BE_ROPE_HALVES, .has = PLAIN | BE_HAS_QK_NORM,
      .moe = {.gating = BE_GATING_SOFTMAX, .sum_to_one = true, .width = BE_WIDE_SPLIT} },
    { .name = "mistral3", .layout = BE_ROPE_PAIRS,
      .has = PLAIN | BIASED | BE_HAS_ATTN_TEMP | BE_HAS_YARN_KEYS },
    { .name = "smollm3", .layout = BE_ROPE_PAIRS, .has = PLAIN | BIASED, .no_rope_step = 4 },
    { .name = "olmo2", .layout = BE_ROPE_HALVES,
      .has = BE_HAS_GATE | BE_HAS_PLAIN_QKV | BE_HAS_QK_WIDE | BE_HAS_POST_NORM,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 4, .plain = true} },
    { .name = "olmoe", .layout = BE_ROPE_HALVES, .has = PLAIN | BE_HAS_QK_WIDE,
      .moe = {.gating = BE_GATING_SOFTMAX} },
    { .name = "phi3", .layout = BE_ROPE_HALVES,
      .has = (PLAIN & ~BE_HAS_PLAIN_QKV) | BE_HAS_QKV_FUSED | BE_HAS_UP_FUSED |
             BE_HAS_ROPE_PAIR },
    { .name = "glm4", .layout = BE_ROPE_PAIRS,
      .has = PLAIN | BE_HAS_QKV_BIAS | BE_HAS_UP_FUSED | BE_HAS_POST_NORM },
    { .name = "glm4moe", .layout = BE_ROPE_HALVES,
      .has = PLAIN | BE_HAS_QKV_BIAS | BE_HAS_MAY_QK_NORM | BE_HAS_LATE_NAME |
             BE_HAS_CHOICE_BIAS | BE_HAS_EXPERT_KEYS,
      .moe = {.gating = BE_GATING_SIGMOID, .width = BE_WIDE_KEY} },
    { .name = "granite", .layout = BE_ROPE_PAIRS, .has = PLAIN | BIASED,
      .scales = true, .divide_logits = true },
    { .name = "exaone4", .layout = BE_ROPE_HALVES,
      .has = BE_HAS_GATE | BE_HAS_PLAIN_QKV | BE_HAS_QK_NORM | BE_HAS_POST_NORM,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 4, .size = 4096, .only_layers = 64,
                 .turn_only = true} },
    { .name = "cohere2", .layout = BE_ROPE_PAIRS,
      .has = (PLAIN & ~BE_HAS_FFN_NORM) | BE_HAS_QKV_BIAS | BE_HAS_LAYER_NORM |
             BE_HAS_PARALLEL | BE_HAS_NO_HEAD,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 4, .must = true, .turn_only = true},
      .scales = true },
    { .name = "gemma2", .layout = BE_ROPE_HALVES,
      .has = PLAIN | BE_HAS_POST_NORM | BE_HAS_NO_HEAD, .act = BE_ACT_GELU,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 2, .size = 4096, .base_key = true},
      .caps = true, .attn_cap = 50, .logit_cap = 30, .embd_root = true, .wide_scale_layers = 46 },
    { .name = "gemma3", .layout = BE_ROPE_HALVES,
      .has = PLAIN | BE_HAS_POST_NORM | BE_HAS_QK_NORM, .act = BE_ACT_GELU,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 6, .plain = true, .base = 10000,
                 .base_key = true},
      .caps = true, .embd_root = true, .wide_scale_layers = 62 },
    { .name = "gpt2",
      .has = BE_HAS_IN_NORM | BE_HAS_FFN_NORM | BE_HAS_LAYER_NORM | BE_HAS_NORM_BIAS |
             BE_HAS_QKV_FUSED | BIASED | BE_HAS_POSITIONS,
      .act = BE_ACT_GELU },
    { .name = "gpt-oss", .layout = BE_ROPE_HALVES,
      .has = PLAIN | BIASED | BE_HAS_LATE_NAME | BE_HAS_SINKS | BE_HAS_EXPERT_BIAS,
      .act = BE_ACT_CLAMPED,
      .window = {.kind = BE_WINDOW_SLIDING, .period = 2, .must = true,
                 .base_key = true},
      .moe = {.gating = BE_GATING_CHOSEN, .width = BE_WIDE_KEY} },
    { .name = "llama4", .layout = BE_ROPE_PAIRS, .has = PLAIN,
      .no_rope_step = 4, .qk_length = true, .no_length_experts = 128, .temp_no_rope = true,
      .window = {.kind = BE_WINDOW_CHUNKED, .period = 4, .size = 8192, .fixed = true},
      .moe = {.gating = BE_GATING_SIGMOID, .on_logits = true, .weigh_input = true,
              .width = BE_WIDE_KEY, .steps = true, .shared = 1} },
    { .name = "deepseek2", .layout = BE_ROPE_PAIRS,
      .has = (PLAIN & ~BE_HAS_PLAIN_QKV) | BE_HAS_MLA | BE_HAS_CHOICE_BIAS |
             BE_HAS_EXPERT_KEYS,
      .moe = {.gating = BE_GATING_SOFTMAX, .width = BE_WIDE_KEY} },
};

enum { BE_ARCHS = sizeof be_archs / sizeof be_archs[0] };

bool be_arch_str_is(struct gguf_str s, const char *name)
{
    return s.n == strlen(name) && !memcmp(s.p, name, s.n);
}

const struct be_arch *be_arch_find(const struct gguf *g, struct err *e)
{
    struct gguf_str name;
    struct buf known = {0};

    if (!gguf_get_str(g, "general.architecture", &name, e))
        return NULL;
    for (size_t i = 0; i < BE_ARCHS; i++) {
        if (be_arch_str_is(name, be_archs[i].name)) {
            buf_release(&known);
            return &be_archs[i];
        }
        buf_addf(&known, "%s%s", i ? ", " : "", be_archs[i].name);
    }
    err_set_kind(e, ERR_MODEL, "%s has the architecture \"%.*s\", which this version cannot "
                 "compute; it knows %s", gguf_path(g), (int)(name.n < 100 ? name.n : 100),
                 name.p, known.p);
    buf_release(&known);
    return NULL;
}

const struct be_arch *be_arch_at(size_t i)
{
    return i < BE_ARCHS ? &be_archs[i] : NULL;
}

bool be_arch_windowed(const struct be_hparams *h, uint32_t i)
{
    return h->window_kind && i % h->window_period < h->window_period - 1;
}

bool be_arch_turns(const struct be_arch *a, const struct be_hparams *h, uint32_t i)
{
    if (a->has & BE_HAS_POSITIONS)
        return false;
    if (a->window.turn_only && h->window_kind)
        return be_arch_windowed(h, i);
    return !a->no_rope_step || (i + 1) % a->no_rope_step;
}

uint32_t be_arch_layer_has(const struct be_arch *a, const struct be_hparams *h, uint32_t i)
{
    const struct be_moe_params *moe = &h->moe;
    bool experts = moe->n && i >= moe->first && (i + 1) % moe->step == 0;
    uint32_t has = a->has | (experts ? BE_HAS_EXPERTS : BE_HAS_DENSE);

    if (experts && moe->shared_ff)
        has |= BE_HAS_SHARED;
    if (h->mla.q_rank)
        has |= BE_HAS_Q_LORA;
    return has;
}
