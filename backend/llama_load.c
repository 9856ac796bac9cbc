/* Finding a model's tensors. What a tensor must be called and how it must be shaped follows
 * from the hyperparameters; a tensor that is missing, has another shape or a type nobody can
 * compute with is refused here, and so is one that this version would not use: leaving a
 * part of a model out gives wrong answers that look right. */
#include "config.h"

#include "backend/llama.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"

enum be_must { BE_MUST, BE_MAY };

enum be_width {
    W_ONE, W_EMBD, W_Q, W_K, W_V, W_QKV, W_ATT, W_FF, W_UP_FUSED, W_KEY, W_HEADS, W_EXPERTS,
    W_EFF, W_SFF, W_QRANK, W_RANK, W_KV_A, W_MLA_Q, W_MLA_NOPE, W_MLA_V,
};

/* What one layer may hold: a table, so that loading and the search for strangers agree. */
struct be_slot {
    const char *name;           /* behind "blk.N." */
    size_t offset;              /* in struct be_layer */
    enum { BE_VEC, BE_MAT } kind;
    enum be_width rows, cols, stack;    /* a vector has rows only */
    enum be_must must;
    uint32_t has, hasnt;        /* what the layer must have; any of what it must not */
};

#define AT(field) offsetof(struct be_layer, field)
#define VEC(name, field, rows, must, has, hasnt) \
    { name, AT(field), BE_VEC, rows, W_ONE, W_ONE, must, has, hasnt }
#define MAT(name, field, rows, cols, has, hasnt) \
    { name, AT(field), BE_MAT, rows, cols, W_ONE, BE_MUST, has, hasnt }
#define STACK(name, field, rows, cols, n, has, hasnt) \
    { name, AT(field), BE_MAT, rows, cols, n, BE_MUST, has, hasnt }

static const struct be_slot be_slots[] = {
    VEC("attn_norm.weight", attn_norm, W_EMBD, BE_MUST, BE_HAS_IN_NORM, 0),
    VEC("attn_norm.bias", attn_norm_bias, W_EMBD, BE_MUST, BE_HAS_NORM_BIAS, 0),
    MAT("attn_qkv.weight", qkv, W_QKV, W_EMBD, BE_HAS_QKV_FUSED, 0),
    VEC("attn_qkv.bias", qkv_bias, W_QKV, BE_MAY, BE_HAS_QKV_FUSED | BE_HAS_QKV_BIAS, 0),
    MAT("attn_q.weight", q, W_Q, W_EMBD, BE_HAS_PLAIN_QKV, 0),
    MAT("attn_k.weight", k, W_K, W_EMBD, BE_HAS_PLAIN_QKV, 0),
    MAT("attn_v.weight", v, W_V, W_EMBD, BE_HAS_PLAIN_QKV, 0),
    VEC("attn_q.bias", q_bias, W_Q, BE_MAY, BE_HAS_PLAIN_QKV | BE_HAS_QKV_BIAS, 0),
    VEC("attn_k.bias", k_bias, W_K, BE_MAY, BE_HAS_PLAIN_QKV | BE_HAS_QKV_BIAS, 0),
    VEC("attn_v.bias", v_bias, W_V, BE_MAY, BE_HAS_PLAIN_QKV | BE_HAS_QKV_BIAS, 0),
    VEC("attn_q_norm.weight", q_norm, W_KEY, BE_MUST, BE_HAS_QK_NORM, 0),
    VEC("attn_k_norm.weight", k_norm, W_KEY, BE_MUST, BE_HAS_QK_NORM, 0),
    VEC("attn_q_norm.weight", q_norm, W_KEY, BE_MAY, BE_HAS_MAY_QK_NORM, 0),
    VEC("attn_k_norm.weight", k_norm, W_KEY, BE_MAY, BE_HAS_MAY_QK_NORM, 0),
    VEC("attn_q_norm.weight", q_norm, W_Q, BE_MUST, BE_HAS_QK_WIDE, 0),
    VEC("attn_k_norm.weight", k_norm, W_K, BE_MUST, BE_HAS_QK_WIDE, 0),
    VEC("attn_sinks.weight", sinks, W_HEADS, BE_MUST, BE_HAS_SINKS, 0),
    MAT("attn_q_a.weight", q_a, W_QRANK, W_EMBD, BE_HAS_MLA | BE_HAS_Q_LORA, 0),
    VEC("attn_q_a_norm.weight", q_a_norm, W_QRANK, BE_MUST, BE_HAS_MLA | BE_HAS_Q_LORA, 0),
    MAT("attn_q_b.weight", q_b, W_MLA_Q, W_QRANK, BE_HAS_MLA | BE_HAS_Q_LORA, 0),
    MAT("attn_q.weight", q_b, W_MLA_Q, W_EMBD, BE_HAS_MLA, BE_HAS_Q_LORA),
    MAT("attn_kv_a_mqa.weight", kv_a, W_KV_A, W_EMBD, BE_HAS_MLA, 0),
    VEC("attn_kv_a_norm.weight", kv_a_norm, W_RANK, BE_MUST, BE_HAS_MLA, 0),
    STACK("attn_k_b.weight", k_b, W_RANK, W_MLA_NOPE, W_HEADS, BE_HAS_MLA, 0),
    STACK("attn_v_b.weight", v_b, W_MLA_V, W_RANK, W_HEADS, BE_HAS_MLA, 0),
    MAT("attn_output.weight", o, W_EMBD, W_ATT, 0, 0),
    VEC("attn_output.bias", o_bias, W_EMBD, BE_MAY, BE_HAS_ALL_BIAS, 0),
    VEC("post_attention_norm.weight", attn_post, W_EMBD, BE_MUST, BE_HAS_POST_NORM, 0),
    VEC("post_ffw_norm.weight", ffn_post, W_EMBD, BE_MUST, BE_HAS_POST_NORM, 0),
    VEC("ffn_norm.weight", ffn_norm, W_EMBD, BE_MUST, BE_HAS_FFN_NORM, BE_HAS_LATE_NAME),
    VEC("ffn_norm.bias", ffn_norm_bias, W_EMBD, BE_MUST, BE_HAS_NORM_BIAS, 0),
    VEC("post_attention_norm.weight", ffn_norm, W_EMBD, BE_MUST,
        BE_HAS_FFN_NORM | BE_HAS_LATE_NAME, 0),
    MAT("ffn_gate.weight", ffn.gate, W_FF, W_EMBD, BE_HAS_DENSE | BE_HAS_GATE,
        BE_HAS_UP_FUSED),
    MAT("ffn_up.weight", ffn.up, W_FF, W_EMBD, BE_HAS_DENSE, BE_HAS_UP_FUSED),
    MAT("ffn_up.weight", gate_up, W_UP_FUSED, W_EMBD, BE_HAS_DENSE | BE_HAS_UP_FUSED, 0),
    MAT("ffn_down.weight", ffn.down, W_EMBD, W_FF, BE_HAS_DENSE, 0),
    VEC("ffn_gate.bias", ffn.gate_bias, W_FF, BE_MAY,
        BE_HAS_DENSE | BE_HAS_GATE | BE_HAS_ALL_BIAS, 0),
    VEC("ffn_up.bias", ffn.up_bias, W_FF, BE_MAY, BE_HAS_DENSE | BE_HAS_ALL_BIAS, 0),
    VEC("ffn_down.bias", ffn.down_bias, W_EMBD, BE_MAY, BE_HAS_DENSE | BE_HAS_ALL_BIAS, 0),
    MAT("ffn_gate_inp.weight", router, W_EXPERTS, W_EMBD, BE_HAS_EXPERTS, 0),
    VEC("ffn_gate_inp.bias", router_bias, W_EXPERTS, BE_MUST,
        BE_HAS_EXPERTS | BE_HAS_EXPERT_BIAS, 0),
    VEC("exp_probs_b.bias", choice_bias, W_EXPERTS, BE_MAY,
        BE_HAS_EXPERTS | BE_HAS_CHOICE_BIAS, 0),
    STACK("ffn_gate_exps.weight", experts.gate, W_EFF, W_EMBD, W_EXPERTS, BE_HAS_EXPERTS,
          BE_HAS_MAY_GATE),
    { "ffn_gate_exps.weight", AT(experts.gate), BE_MAT, W_EFF, W_EMBD, W_EXPERTS, BE_MAY,
      BE_HAS_EXPERTS | BE_HAS_MAY_GATE, 0 },
    STACK("ffn_up_exps.weight", experts.up, W_EFF, W_EMBD, W_EXPERTS, BE_HAS_EXPERTS, 0),
    STACK("ffn_down_exps.weight", experts.down, W_EMBD, W_EFF, W_EXPERTS, BE_HAS_EXPERTS, 0),
    { "ffn_gate_exps.bias", AT(experts.gate_bias), BE_VEC, W_EFF, W_ONE, W_EXPERTS, BE_MUST,
      BE_HAS_EXPERTS | BE_HAS_EXPERT_BIAS, 0 },
    { "ffn_up_exps.bias", AT(experts.up_bias), BE_VEC, W_EFF, W_ONE, W_EXPERTS, BE_MUST,
      BE_HAS_EXPERTS | BE_HAS_EXPERT_BIAS, 0 },
    { "ffn_down_exps.bias", AT(experts.down_bias), BE_VEC, W_EMBD, W_ONE, W_EXPERTS, BE_MUST,
      BE_HAS_EXPERTS | BE_HAS_EXPERT_BIAS, 0 },
    MAT("ffn_gate_shexp.weight", shared.gate, W_SFF, W_EMBD, BE_HAS_SHARED, 0),
    MAT("ffn_up_shexp.weight", shared.up, W_SFF, W_EMBD, BE_HAS_SHARED, 0),
    MAT("ffn_down_shexp.weight", shared.down, W_EMBD, W_SFF, BE_HAS_SHARED, 0),
};

enum { BE_SLOTS = sizeof be_slots / sizeof be_slots[0] };

static bool be_slot_in(const struct be_slot *s, uint32_t has)
{
    return (has & s->has) == s->has && !(has & s->hasnt);
}

static uint64_t be_width(const struct be_hparams *h, enum be_width w)
{
    uint64_t q = (uint64_t)h->n_heads * h->key_len;
    uint64_t k = (uint64_t)h->n_kv_heads * h->key_len;
    uint64_t v = (uint64_t)h->n_kv_heads * h->value_len;
    uint32_t mla_v = h->mla.rank ? h->mla.value_len : h->value_len;

    switch (w) {
    case W_ONE:         return 1;
    case W_EMBD:        return h->n_embd;
    case W_Q:           return q;
    case W_K:           return k;
    case W_V:           return v;
    case W_QKV:         return q + k + v;
    case W_ATT:         return (uint64_t)h->n_heads * mla_v;
    case W_FF:          return h->n_ff;
    case W_UP_FUSED:    return 2 * (uint64_t)h->n_ff;
    case W_KEY:         return h->key_len;
    case W_HEADS:       return h->n_heads;
    case W_EXPERTS:     return h->moe.n;
    case W_EFF:         return h->moe.n_ff;
    case W_SFF:         return h->moe.shared_ff;
    case W_QRANK:       return h->mla.q_rank;
    case W_RANK:        return h->mla.rank;
    case W_KV_A:        return (uint64_t)h->mla.rank + h->rope.n_rot;
    case W_MLA_Q:       return (uint64_t)h->n_heads * h->mla.key_len;
    case W_MLA_NOPE:    return h->mla.key_len - h->rope.n_rot;
    case W_MLA_V:       return h->mla.value_len;
    }
    return 0;
}

/* ---- one tensor ---- */

static bool be_wrong_type(const struct be_llama *m, const struct gguf_tensor *t, struct err *e)
{
    struct buf can = {0};

    for (uint32_t d = 0; d < GGUF_DT_LIMIT; d++)
        if (be_can_compute(d) && gguf_dtype_info(d))
            buf_addf(&can, " %s", gguf_dtype_info(d)->name);
    err_set_kind(e, ERR_MODEL, "%s: tensor %s is %s, and this version computes with%s",
                 gguf_path(m->gguf), t->name, gguf_dtype_info(t->dtype)->name, buf_str(&can));
    buf_release(&can);
    return false;
}

static void be_add_shape(struct buf *b, const uint64_t *ne, int n)
{
    for (int i = 0; i < n; i++)
        buf_addf(b, "%s%llu", i ? " x " : "", (unsigned long long)ne[i]);
}

static bool be_wrong_shape(const struct be_llama *m, const struct gguf_tensor *t,
                           const uint64_t *want, int n, struct err *e)
{
    struct buf text = {0};

    be_add_shape(&text, t->ne, t->n_dims);
    buf_adds(&text, " and must be ");
    be_add_shape(&text, want, n);
    err_set_kind(e, ERR_MODEL, "%s: tensor %s is %s", gguf_path(m->gguf), t->name, text.p);
    buf_release(&text);
    return false;
}

/* The tensor called name, of this shape; NULL in *out when it may be missing and is. */
static bool be_find(const struct be_llama *m, const char *name, const uint64_t want[4],
                    enum be_must must, const struct gguf_tensor **out, struct err *e)
{
    const struct gguf_tensor *t = *out = gguf_tensor(m->gguf, name);

    if (!t)
        return must == BE_MAY || err_set_kind(e, ERR_MODEL, "%s: tensor %s is missing",
                                              gguf_path(m->gguf), name);
    if (memcmp(want, t->ne, sizeof t->ne))
        return be_wrong_shape(m, t, want, want[2] > 1 ? 3 : want[1] > 1 ? 2 : 1, e);
    if (!be_can_compute(t->dtype))
        return be_wrong_type(m, t, e);
    if ((uintptr_t)t->data % sizeof(float))
        return err_set_kind(e, ERR_MODEL, "%s: tensor %s does not begin at a multiple of 4 "
                            "bytes", gguf_path(m->gguf), name);
    return true;
}

static void be_use_matrix(const struct be_llama *m, const struct gguf_tensor *t,
                          struct be_matrix *out)
{
    *out = (struct be_matrix){
        .data = t->data, .rows = t->ne[1] * t->ne[2], .cols = t->ne[0],
        .row_bytes = t->size / (t->ne[1] * t->ne[2]),
        .dequant = t->dtype == GGUF_DT_F32 ? NULL : m->k->dequant[t->dtype],
        .dot = m->k->dot_blocks[t->dtype],
    };
}

static float *be_copy_vector(struct be_llama *m, const struct gguf_tensor *t)
{
    size_t n = t->ne[0] * t->ne[1];
    float *v = xcalloc(n, sizeof *v);

    m->k->dequant[t->dtype](t->data, v, n);
    MEM_GROW(m->vectors, m->vectors_cap, m->n_vectors + 1);
    m->vectors[m->n_vectors++] = v;
    return v;
}

static bool be_load_vector(struct be_llama *m, const char *name, uint64_t n, uint64_t stack,
                           enum be_must must, float **out, struct err *e)
{
    const struct gguf_tensor *t;

    if (!be_find(m, name, (uint64_t[4]){n, stack, 1, 1}, must, &t, e))
        return false;
    if (t)
        *out = be_copy_vector(m, t);
    return true;
}

static bool be_load_matrix(struct be_llama *m, const char *name, uint64_t cols, uint64_t rows,
                           uint64_t stack, enum be_must must, struct be_matrix *out,
                           struct err *e)
{
    const struct gguf_tensor *t;

    if (!be_find(m, name, (uint64_t[4]){cols, rows, stack, 1}, must, &t, e))
        return false;
    if (t)
        be_use_matrix(m, t, out);
    return true;
}

/* ---- the model ---- */

static bool be_load_slot(struct be_llama *m, uint32_t layer, const struct be_slot *s,
                         struct err *e)
{
    char *to = (char *)&m->layers[layer] + s->offset;
    const struct be_hparams *h = &m->hp;
    uint64_t rows = be_width(h, s->rows), stack = be_width(h, s->stack);
    char name[64];

    if (!be_slot_in(s, m->layers[layer].has))
        return true;
    snprintf(name, sizeof name, "blk.%u.%s", layer, s->name);
    if (s->kind == BE_VEC)
        return be_load_vector(m, name, rows, stack, s->must, (float **)(void *)to, e);
    return be_load_matrix(m, name, be_width(h, s->cols), rows, stack, s->must,
                          (struct be_matrix *)(void *)to, e);
}

/* Some rows of a matrix, as one. */
static struct be_matrix be_rows_of(const struct be_matrix *m, uint64_t from, uint64_t n)
{
    struct be_matrix part = *m;

    part.data += from * m->row_bytes;
    part.rows = n;
    return part;
}

/* Give the parts of fused matrices their own names. */
static void be_split(struct be_llama *m, struct be_layer *l)
{
    uint64_t q = be_width(&m->hp, W_Q), k = be_width(&m->hp, W_K), v = be_width(&m->hp, W_V);
    uint64_t ff = m->hp.n_ff;

    if (l->has & BE_HAS_QKV_FUSED) {
        l->q = be_rows_of(&l->qkv, 0, q);
        l->k = be_rows_of(&l->qkv, q, k);
        l->v = be_rows_of(&l->qkv, q + k, v);
        l->q_bias = l->qkv_bias;
        l->k_bias = l->qkv_bias ? l->qkv_bias + q : NULL;
        l->v_bias = l->qkv_bias ? l->qkv_bias + q + k : NULL;
    }
    if (l->has & BE_HAS_UP_FUSED && l->has & BE_HAS_DENSE) {
        l->ffn.gate = be_rows_of(&l->gate_up, 0, ff);
        l->ffn.up = be_rows_of(&l->gate_up, ff, ff);
    }
}

static bool be_load_layer(struct be_llama *m, uint32_t i, struct err *e)
{
    struct be_layer *l = &m->layers[i];

    l->has = be_arch_layer_has(m->arch, &m->hp, i);
    l->windowed = be_arch_windowed(&m->hp, i);
    l->turns = be_arch_turns(m->arch, &m->hp, i);
    for (size_t k = 0; k < BE_SLOTS; k++)
        if (!be_load_slot(m, i, &be_slots[k], e))
            return false;
    be_split(m, l);
    return true;
}

static bool be_load_ends(struct be_llama *m, struct err *e)
{
    const struct be_hparams *h = &m->hp;
    uint32_t has = m->arch->has;

    if (!be_load_matrix(m, "token_embd.weight", h->n_embd, h->n_vocab, 1, BE_MUST, &m->embd, e))
        return false;
    m->head = m->embd;              /* a model without its own ties the two */
    if (!(has & BE_HAS_NO_HEAD) &&
        !be_load_matrix(m, "output.weight", h->n_embd, h->n_vocab, 1, BE_MAY, &m->head, e))
        return false;
    if (has & BE_HAS_POSITIONS &&
        !be_load_matrix(m, "position_embd.weight", h->n_embd, h->ctx_train, 1, BE_MUST,
                        &m->positions, e))
        return false;
    if (has & BE_HAS_NORM_BIAS &&
        !be_load_vector(m, "output_norm.bias", h->n_embd, 1, BE_MUST, &m->out_norm_bias, e))
        return false;
    return be_load_vector(m, "output_norm.weight", h->n_embd, 1, BE_MUST, &m->out_norm, e);
}

static bool be_load_factors(struct be_llama *m, const char *name, float **out, struct err *e)
{
    uint32_t half = m->hp.rope.n_rot / 2;

    if (!be_load_vector(m, name, half, 1, BE_MAY, out, e))
        return false;
    for (uint32_t i = 0; *out && i < half; i++)
        if (!isfinite(1 / (*out)[i]) || !isfinite((*out)[i]))
            return err_set_kind(e, ERR_MODEL, "%s: %s holds %g, by which nothing can be "
                                "divided", gguf_path(m->gguf), name, (double)(*out)[i]);
    return true;
}

static bool be_load_rope(struct be_llama *m, struct err *e)
{
    if (!be_load_factors(m, "rope_freqs.weight", &m->rope_factors, e))
        return false;
    return !(m->arch->has & BE_HAS_ROPE_PAIR) ||
           (be_load_factors(m, "rope_factors_long.weight", &m->rope_long, e) &&
            be_load_factors(m, "rope_factors_short.weight", &m->rope_short, e));
}

/* Factors for long texts serve contexts beyond the original one, whatever is in them. */
void be_llama_set_rope(struct be_llama *m)
{
    bool far = m->ctx > m->hp.rope.ctx_orig;
    float *pair = far ? m->rope_long : m->rope_short;

    be_rope_init(&m->rope, &m->hp.rope, pair ? pair : m->rope_factors);
    if (m->hp.two_turns)
        be_rope_init(&m->rope_window, &m->hp.rope_window, NULL);
}

/* Tensors outside of layers, and what a model must have for them. */
static bool be_known_end(const struct be_llama *m, const char *name)
{
    static const struct {
        const char *name;
        uint32_t has, hasnt;
    } ends[] = {
        {"token_embd.weight", 0, 0}, {"output.weight", 0, BE_HAS_NO_HEAD},
        {"output_norm.weight", 0, 0}, {"output_norm.bias", BE_HAS_NORM_BIAS, 0},
        {"position_embd.weight", BE_HAS_POSITIONS, 0}, {"rope_freqs.weight", 0, 0},
        {"rope_factors_long.weight", BE_HAS_ROPE_PAIR, 0},
        {"rope_factors_short.weight", BE_HAS_ROPE_PAIR, 0},
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(name, ends[i].name))
            return (m->arch->has & ends[i].has) == ends[i].has &&
                   !(m->arch->has & ends[i].hasnt);
    return false;
}

/* Is this a tensor that be_llama_load() used? */
static bool be_known(const struct be_llama *m, const char *name)
{
    char *rest;

    if (strncmp(name, "blk.", 4) || name[4] < '0' || name[4] > '9')
        return be_known_end(m, name);
    unsigned long layer = strtoul(name + 4, &rest, 10);
    if (*rest != '.' || layer >= (unsigned long)m->hp.n_layers + m->hp.n_extra)
        return false;
    if (layer >= m->hp.n_layers)        /* guesses the token after next; not needed */
        return true;
    for (size_t i = 0; i < BE_SLOTS; i++)
        if (!strcmp(rest + 1, be_slots[i].name) &&
            be_slot_in(&be_slots[i], m->layers[layer].has))
            return true;
    /* a precomputed table that old converters left in */
    return !strcmp(rest + 1, "attn_rot_embd") || !strcmp(rest + 1, "rope_freqs.weight");
}

static bool be_no_strangers(const struct be_llama *m, struct err *e)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < gguf_n_tensors(m->gguf); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(m->gguf, i);
        if (be_known(m, t->name))
            continue;
        first = first ? first : t->name;
        n++;
    }
    return !n || err_set_kind(e, ERR_MODEL, "%s has %zu tensors that this version does not "
                              "know in a %s model, the first is \"%.100s\"; without them the "
                              "answers would be wrong", gguf_path(m->gguf), n, m->arch->name,
                              first);
}

bool be_llama_load(struct be_llama *m, struct err *e)
{
    if (!be_load_ends(m, e))
        return false;
    m->layers = xcalloc(m->hp.n_layers, sizeof *m->layers);
    for (uint32_t i = 0; i < m->hp.n_layers; i++)
        if (!be_load_layer(m, i, e))
            return false;
    return be_load_rope(m, e) && be_no_strangers(m, e);
}

void be_llama_unload(struct be_llama *m)
{
    for (size_t i = 0; i < m->n_vectors; i++)
        free(m->vectors[i]);
    free(m->vectors);
    free(m->layers);
    be_rope_release(&m->rope);
    be_rope_release(&m->rope_window);
}
