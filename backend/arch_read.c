/* The reading of an architecture's hyperparameters, each checked on its own and against the
 * others. */
#include "config.h"

#include "backend/arch.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

/* Larger than any model; keeps every product below far from 64 bits. */
enum { MOST_LAYERS = 1 << 16, MOST_WIDTH = 1 << 24, MOST_HEADS = 1 << 16,
       MOST_EXPERTS = 1 << 12 };

/* ---- reading keys that begin with the architecture's name ---- */

struct be_keys {
    const struct be_arch *arch;
    const struct gguf *g;
    struct err *e;
    char key[128];
};

static const char *be_key(struct be_keys *k, const char *name)
{
    struct buf b = {0};

    buf_addf(&b, "%s.%s", k->arch->name, name);
    memcpy(k->key, b.p, b.n < sizeof k->key ? b.n + 1 : sizeof k->key);
    k->key[sizeof k->key - 1] = '\0';
    buf_release(&b);
    return k->key;
}

static bool be_range(struct be_keys *k, uint32_t v, uint32_t least, uint32_t most)
{
    return (v >= least && v <= most) ||
           err_set_kind(k->e, ERR_MODEL, "%s: %s is %u and must be from %u to %u",
                        gguf_path(k->g), k->key, v, least, most);
}

static bool be_need(struct be_keys *k, const char *name, uint32_t least, uint32_t most,
                    uint32_t *out)
{
    return gguf_get_u32(k->g, be_key(k, name), out, k->e) && be_range(k, *out, least, most);
}

static bool be_may(struct be_keys *k, const char *name, uint32_t least, uint32_t most,
                   uint32_t *out)
{
    return gguf_opt_u32(k->g, be_key(k, name), out, k->e) && be_range(k, *out, least, most);
}

/* A number that must be finite and within [least, most] whether it was there or not. */
static bool be_may_f32(struct be_keys *k, const char *name, float least, float most, float *out)
{
    if (!gguf_opt_f32(k->g, be_key(k, name), out, k->e))
        return false;
    return (*out >= least && *out <= most) ||
           err_set_kind(k->e, ERR_MODEL, "%s: %s is %g and must be from %g to %g",
                        gguf_path(k->g), k->key, (double)*out, (double)least, (double)most);
}

/* ---- groups of keys ---- */

static bool be_read_sizes(struct be_keys *k, struct be_hparams *h)
{
    uint32_t experts = 0;
    size_t n = gguf_n_tensors(k->g);

    if (!be_may(k, "expert_count", 0, UINT32_MAX, &experts))
        return false;
    if (experts && !k->arch->moe.gating)
        return err_set_kind(k->e, ERR_MODEL, "%s is a mixture of %u experts (%s), which this "
                            "version cannot compute in a %s model", gguf_path(k->g), experts,
                            k->key, k->arch->name);
    if (!be_need(k, "block_count", 1, MOST_LAYERS, &h->n_layers))
        return false;
    if (h->n_layers > n)
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %u but the file has only %zu tensors",
                            gguf_path(k->g), k->key, h->n_layers, n);
    if ((k->arch->has & BE_HAS_EXPERT_KEYS) &&
        !be_may(k, "nextn_predict_layers", 0, h->n_layers - 1, &h->n_extra))
        return false;
    h->n_layers -= h->n_extra;
    return be_need(k, "context_length", 1, UINT32_MAX, &h->ctx_train) &&
           be_need(k, "embedding_length", 1, MOST_WIDTH, &h->n_embd) &&
           be_need(k, "feed_forward_length", 1, MOST_WIDTH, &h->n_ff);
}

static bool be_read_heads(struct be_keys *k, struct be_hparams *h)
{
    if (!be_need(k, "attention.head_count", 1, MOST_HEADS, &h->n_heads))
        return false;
    h->n_kv_heads = h->n_heads;
    if (!be_may(k, "attention.head_count_kv", 1, h->n_heads, &h->n_kv_heads))
        return false;
    if (h->n_heads % h->n_kv_heads)
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %u, which does not divide the %u heads",
                            gguf_path(k->g), k->key, h->n_kv_heads, h->n_heads);
    h->key_len = 0;
    if (!be_may(k, "attention.key_length", 0, MOST_HEADS, &h->key_len))
        return false;
    if (!h->key_len && h->n_embd % h->n_heads)
        return err_set_kind(k->e, ERR_MODEL, "%s: without %s the embedding length %u must be "
                            "a multiple of the %u heads", gguf_path(k->g), k->key, h->n_embd,
                            h->n_heads);
    h->key_len = h->key_len ? h->key_len : h->n_embd / h->n_heads;
    h->value_len = h->key_len;
    return be_may(k, "attention.value_length", 1, MOST_HEADS, &h->value_len);
}

static bool be_read_norms(struct be_keys *k, struct be_hparams *h)
{
    const char *name = k->arch->has & BE_HAS_LAYER_NORM ? "attention.layer_norm_epsilon"
                                                        : "attention.layer_norm_rms_epsilon";

    if (!gguf_get_f32(k->g, be_key(k, name), &h->eps, k->e))
        return false;
    if (!(h->eps > 0 && h->eps < 1))
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %g and must be between 0 and 1",
                            gguf_path(k->g), k->key, (double)h->eps);
    if (k->arch->temp_no_rope) {
        h->temp_floor = h->window;
        h->temp_scale = 0.1f;
        h->temp_offset = 1;
    }
    if (!(k->arch->has & BE_HAS_ATTN_TEMP))
        return true;
    h->temp_floor = h->rope.ctx_orig;
    return be_may_f32(k, "attention.temperature_scale", 0, 100, &h->temp_scale);
}

static bool be_read_window(struct be_keys *k, struct be_hparams *h)
{
    const struct be_arch_window *w = &k->arch->window;
    uint32_t size = w->size;

    if (!w->kind || (w->only_layers && w->only_layers != h->n_layers))
        return true;
    if (!(w->must ? be_need : be_may)(k, "attention.sliding_window", w->fixed || w->must,
                                      UINT32_MAX, &size))
        return false;
    h->window = w->fixed ? w->size : size;
    h->window_kind = h->window ? w->kind : BE_WINDOW_NONE;
    h->window_period = w->period;
    h->rope_window = h->rope;
    if (w->plain) {
        h->rope_window.scaling = BE_ROPE_PLAIN;
        h->rope_window.factor = h->rope_window.attn_factor = 1;
    }
    if (w->base != 0)
        h->rope_window.base = w->base;
    if (w->base_key &&
        !be_may_f32(k, "rope.freq_base_swa", 1.0001f, 1e30f, &h->rope_window.base))
        return false;
    h->two_turns = h->window && (w->plain || h->rope_window.base != h->rope.base);
    return true;
}

/* Factors here and there. */
static bool be_read_factors(struct be_keys *k, struct be_hparams *h)
{
    const struct be_arch *a = k->arch;
    bool wide = a->wide_scale_layers && a->wide_scale_layers == h->n_layers;
    float q_scale = 0;

    h->q_scale = 1 / sqrtf(wide ? (float)h->n_embd / (float)h->n_heads : (float)h->key_len);
    h->embd_scale = a->embd_root ? sqrtf((float)h->n_embd) : 1;
    h->residual_scale = h->logit_scale = 1;
    h->attn_cap = a->attn_cap;
    h->logit_cap = a->logit_cap;
    if (a->attn_cap > 0 && !be_may_f32(k, "attn_logit_softcapping", 0, 1e6f, &h->attn_cap))
        return false;
    if (a->caps && !be_may_f32(k, "final_logit_softcapping", 0, 1e6f, &h->logit_cap))
        return false;
    if (!a->scales)
        return true;
    if (!be_may_f32(k, "embedding_scale", 0, 1e6f, &h->embd_scale) ||
        !be_may_f32(k, "residual_scale", 0, 1e6f, &h->residual_scale) ||
        !be_may_f32(k, "attention.scale", 0, 1e6f, &q_scale) ||
        !be_may_f32(k, "logit_scale", 0, 1e6f, &h->logit_scale))
        return false;
    h->q_scale = q_scale > 0 ? q_scale : h->q_scale;
    h->embd_scale = h->embd_scale > 0 ? h->embd_scale : 1;     /* 0 says "none" */
    h->residual_scale = h->residual_scale > 0 ? h->residual_scale : 1;
    h->logit_scale = h->logit_scale > 0 ? h->logit_scale : 1;
    if (a->divide_logits)
        h->logit_scale = 1 / h->logit_scale;
    return true;
}

static bool be_read_scaling(struct be_keys *k, struct be_rope_params *r)
{
    struct gguf_str type = {"linear", 6};

    if (!gguf_opt_str(k->g, be_key(k, "rope.scaling.type"), &type, k->e))
        return false;
    if (be_arch_str_is(type, "none"))
        return true;
    if (be_arch_str_is(type, "yarn"))
        r->scaling = BE_ROPE_YARN;
    else if (be_arch_str_is(type, "linear"))
        r->scaling = BE_ROPE_LINEAR;
    else
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is \"%.*s\", and this version knows none, "
                            "linear and yarn", gguf_path(k->g), k->key,
                            (int)(type.n < 100 ? type.n : 100), type.p);
    if (!be_may_f32(k, "rope.scale_linear", 0, 1e6f, &r->factor) ||
        !be_may_f32(k, "rope.scaling.factor", 0, 1e6f, &r->factor))
        return false;
    if (r->factor == 0)             /* written by converters for "not stretched" */
        r->factor = 1;
    return true;
}

static bool be_read_rope(struct be_keys *k, struct be_hparams *h)
{
    struct be_rope_params *r = &h->rope;

    *r = (struct be_rope_params){
        .layout = k->arch->layout, .n_rot = h->key_len, .ctx_orig = h->ctx_train,
        .base = 10000, .factor = 1, .attn_factor = 1, .beta_fast = 32, .beta_slow = 1,
    };
    if (!be_may(k, "rope.dimension_count", 2, h->key_len, &r->n_rot))
        return false;
    if (r->n_rot % 2)
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %u and must be even", gguf_path(k->g),
                            k->key, r->n_rot);
    if (!be_may_f32(k, "rope.freq_base", 1.0001f, 1e30f, &r->base) || !be_read_scaling(k, r) ||
        !be_may(k, "rope.scaling.original_context_length", 1, UINT32_MAX, &r->ctx_orig) ||
        !be_may_f32(k, "rope.scaling.attn_factor", 1e-3f, 1e3f, &r->attn_factor))
        return false;
    if (!(k->arch->has & BE_HAS_YARN_KEYS))
        return true;
    return be_may_f32(k, "rope.scaling.yarn_beta_fast", 1e-3f, 1e6f, &r->beta_fast) &&
           be_may_f32(k, "rope.scaling.yarn_beta_slow", 1e-3f, 1e6f, &r->beta_slow) &&
           be_may_f32(k, "rope.scaling.yarn_log_multiplier", 0, 100, &r->log_mul);
}

/* Keys and values of all heads are made from one row of rank numbers, of which the cache
 * holds one per position, with n_rot that turn behind it. The queries are brought into that
 * space, so attention is that of one key head. */
static bool be_read_mla(struct be_keys *k, struct be_hparams *h)
{
    struct be_mla_params *a = &h->mla;
    struct be_rope_params *r = &h->rope;
    bool yarn = r->scaling == BE_ROPE_YARN;
    double stretch = yarn && r->factor > 1 ? log((double)r->factor) : 0;
    float mul = 0;

    if (!be_need(k, "attention.kv_lora_rank", 1, MOST_WIDTH, &a->rank) ||
        !be_may(k, "attention.q_lora_rank", 0, MOST_WIDTH, &a->q_rank) ||
        !be_need(k, "attention.key_length_mla", r->n_rot + 1, MOST_HEADS, &a->key_len) ||
        !be_need(k, "attention.value_length_mla", 1, MOST_HEADS, &a->value_len) ||
        !be_may_f32(k, "rope.scaling.yarn_log_multiplier", 0, 100, &mul))
        return false;
    if (h->n_kv_heads != 1 || h->value_len != a->rank || h->key_len != a->rank + r->n_rot)
        return err_set_kind(k->e, ERR_MODEL, "%s: %u key heads of %u and values of %u do not "
                            "fit a rank of %u with %u turning dimensions; files of before "
                            "2025-04 must be converted again", gguf_path(k->g), h->n_kv_heads,
                            h->key_len, h->value_len, a->rank, r->n_rot);
    /* the sharpening that yarn gives goes into the scale, also of what does not turn */
    double length = mul > 0 ? 1 : 1 + 0.1 * stretch;
    r->log_mul = mul > 0 ? 1 : 0;
    double sharp = length * (double)r->attn_factor * (1 + (double)mul * stretch);
    h->q_scale = (float)(sharp * sharp / sqrt((double)a->key_len));
    h->value_row = h->key_len;
    return true;
}

static bool be_read_groups(struct be_keys *k, struct be_moe_params *m)
{
    m->groups = m->groups_used = 1;
    if (!(k->arch->has & BE_HAS_EXPERT_KEYS))
        return true;
    if (!be_may(k, "expert_group_count", 0, m->n, &m->groups) ||
        !be_may(k, "expert_group_used_count", 0, m->n, &m->groups_used))
        return false;
    if (m->groups < 2) {
        m->groups = m->groups_used = 1;
        return true;
    }
    if (m->n % m->groups || m->groups_used < 1 || m->groups_used > m->groups ||
        m->n / m->groups * m->groups_used < m->used)
        return err_set_kind(k->e, ERR_MODEL, "%s: %u of %u groups of experts (%s) do not fit "
                            "%u of %u experts", gguf_path(k->g), m->groups_used, m->groups,
                            k->key, m->used, m->n);
    return true;
}

static bool be_read_gating(struct be_keys *k, struct be_moe_params *m)
{
    uint32_t gating = k->arch->moe.gating;
    bool sum = k->arch->moe.sum_to_one;

    m->scale = 1;
    if (k->arch->has & BE_HAS_EXPERT_KEYS) {
        if (!be_may_f32(k, "expert_weights_scale", 0, 1e6f, &m->scale) ||
            !gguf_opt_bool(k->g, be_key(k, "expert_weights_norm"), &sum, k->e) ||
            !be_may(k, "expert_gating_func", 0, BE_GATING_CHOSEN, &gating))
            return false;
        gating = gating ? gating : k->arch->moe.gating;
        m->scale = m->scale > 0 ? m->scale : 1;
    }
    m->gating = (enum be_gating)gating;
    m->sum_to_one = sum;
    return true;
}

static bool be_read_expert_width(struct be_keys *k, struct be_hparams *h)
{
    static const char key[] = "expert_feed_forward_length";
    struct be_moe_params *m = &h->moe;

    m->n_ff = h->n_ff;
    switch (k->arch->moe.width) {
    case BE_WIDE_ALL:
        return true;
    case BE_WIDE_SPLIT:
        m->n_ff = h->n_ff / m->used;
        return be_may(k, key, 1, MOST_WIDTH, &m->n_ff);
    case BE_WIDE_KEY:
        return be_need(k, key, 1, MOST_WIDTH, &m->n_ff);
    }
    return false;
}

static bool be_read_experts(struct be_keys *k, struct be_hparams *h)
{
    struct be_moe_params *m = &h->moe;
    uint32_t shared = k->arch->moe.shared;

    if (k->arch->moe.gating && !be_may(k, "expert_count", 0, MOST_EXPERTS, &m->n))
        return false;
    h->qk_length = k->arch->qk_length && m->n != k->arch->no_length_experts;
    if (!m->n)
        return true;
    m->step = 1;
    if (!be_need(k, "expert_used_count", 1, m->n, &m->used) || !be_read_expert_width(k, h) ||
        (k->arch->moe.steps &&
         !be_need(k, "interleave_moe_layer_step", 1, MOST_LAYERS, &m->step)))
        return false;
    if ((k->arch->has & BE_HAS_EXPERT_KEYS) &&
        (!be_may(k, "expert_shared_count", 0, MOST_EXPERTS, &shared) ||
         !be_may(k, "leading_dense_block_count", 0, h->n_layers, &m->first)))
        return false;
    if ((uint64_t)shared * m->n_ff > MOST_WIDTH)
        return err_set_kind(k->e, ERR_MODEL, "%s: %u shared experts, each %u wide, are more "
                            "than this version can compute", gguf_path(k->g), shared, m->n_ff);
    m->shared_ff = shared * m->n_ff;
    return be_read_gating(k, m) && be_read_groups(k, m);
}

/* The vocabulary's size is the embedding's; the token list must agree with it. */
static bool be_read_vocab(struct be_keys *k, struct be_hparams *h)
{
    const struct gguf_tensor *t = gguf_tensor(k->g, "token_embd.weight");
    const struct gguf_kv *list = gguf_find(k->g, "tokenizer.ggml.tokens");

    if (!t)
        return err_set_kind(k->e, ERR_MODEL, "%s: tensor token_embd.weight is missing",
                            gguf_path(k->g));
    if (t->ne[0] != h->n_embd)
        return err_set_kind(k->e, ERR_MODEL, "%s: tensor token_embd.weight is %llu x %llu and "
                            "its rows must be %u long", gguf_path(k->g),
                            (unsigned long long)t->ne[0], (unsigned long long)t->ne[1],
                            h->n_embd);
    if (t->ne[1] < 1 || t->ne[1] > MOST_WIDTH)
        return err_set_kind(k->e, ERR_MODEL, "%s: tensor token_embd.weight has %llu rows",
                            gguf_path(k->g), (unsigned long long)t->ne[1]);
    h->n_vocab = (uint32_t)t->ne[1];
    if (list && list->array && list->n != h->n_vocab)
        return err_set_kind(k->e, ERR_MODEL, "%s: tokenizer.ggml.tokens has %llu entries but "
                            "token_embd.weight has %u rows", gguf_path(k->g),
                            (unsigned long long)list->n, h->n_vocab);
    return true;
}

bool be_arch_read(const struct be_arch *a, const struct gguf *g, struct be_hparams *h,
                  struct err *e)
{
    struct be_keys k = {.arch = a, .g = g, .e = e};

    memset(h, 0, sizeof *h);
    if (!be_read_sizes(&k, h) || !be_read_heads(&k, h) || !be_read_rope(&k, h))
        return false;
    h->value_row = h->value_len;
    return be_read_window(&k, h) && be_read_norms(&k, h) && be_read_factors(&k, h) &&
           (!(a->has & BE_HAS_MLA) || be_read_mla(&k, h)) && be_read_experts(&k, h) &&
           be_read_vocab(&k, h);
}
