/* Finding a llama's tensors. What a tensor must be called and how it must be shaped follows
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

/* What one layer may hold: a table, so that loading and the search for strangers agree. */
struct be_slot {
    const char *name;           /* behind "blk.N." */
    size_t offset;              /* in struct be_layer */
    bool matrix;
    enum { W_EMBD, W_Q, W_K, W_V, W_ATT, W_FF, W_KEY } rows, cols;
    enum be_must must;
    unsigned has;               /* of the architecture; 0: always */
};

#define AT(field) offsetof(struct be_layer, field)

static const struct be_slot be_slots[] = {
    { "attn_norm.weight",   AT(attn_norm), false, W_EMBD, 0, BE_MUST, 0 },
    { "attn_q.weight",      AT(q),         true,  W_Q, W_EMBD, BE_MUST, 0 },
    { "attn_k.weight",      AT(k),         true,  W_K, W_EMBD, BE_MUST, 0 },
    { "attn_v.weight",      AT(v),         true,  W_V, W_EMBD, BE_MUST, 0 },
    { "attn_output.weight", AT(o),         true,  W_EMBD, W_ATT, BE_MUST, 0 },
    { "attn_q_norm.weight", AT(q_norm),    false, W_KEY, 0, BE_MUST, BE_HAS_QK_NORM },
    { "attn_k_norm.weight", AT(k_norm),    false, W_KEY, 0, BE_MUST, BE_HAS_QK_NORM },
    { "attn_q.bias",        AT(q_bias),    false, W_Q, 0, BE_MAY, BE_HAS_QKV_BIAS },
    { "attn_k.bias",        AT(k_bias),    false, W_K, 0, BE_MAY, BE_HAS_QKV_BIAS },
    { "attn_v.bias",        AT(v_bias),    false, W_V, 0, BE_MAY, BE_HAS_QKV_BIAS },
    { "attn_output.bias",   AT(o_bias),    false, W_EMBD, 0, BE_MAY, BE_HAS_ALL_BIAS },
    { "ffn_norm.weight",    AT(ffn_norm),  false, W_EMBD, 0, BE_MUST, 0 },
    { "ffn_gate.weight",    AT(gate),      true,  W_FF, W_EMBD, BE_MUST, 0 },
    { "ffn_up.weight",      AT(up),        true,  W_FF, W_EMBD, BE_MUST, 0 },
    { "ffn_down.weight",    AT(down),      true,  W_EMBD, W_FF, BE_MUST, 0 },
    { "ffn_gate.bias",      AT(gate_bias), false, W_FF, 0, BE_MAY, BE_HAS_ALL_BIAS },
    { "ffn_up.bias",        AT(up_bias),   false, W_FF, 0, BE_MAY, BE_HAS_ALL_BIAS },
    { "ffn_down.bias",      AT(down_bias), false, W_EMBD, 0, BE_MAY, BE_HAS_ALL_BIAS },
};

enum { BE_SLOTS = sizeof be_slots / sizeof be_slots[0] };

static uint64_t be_width(const struct be_hparams *h, int w)
{
    switch (w) {
    case W_Q:   return (uint64_t)h->n_heads * h->key_len;
    case W_K:   return (uint64_t)h->n_kv_heads * h->key_len;
    case W_V:   return (uint64_t)h->n_kv_heads * h->value_len;
    case W_ATT: return (uint64_t)h->n_heads * h->value_len;
    case W_FF:  return h->n_ff;
    case W_KEY: return h->key_len;
    default:    return h->n_embd;
    }
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

/* The tensor called name as rows x cols; NULL in *out when it may be missing and is. */
static bool be_find(const struct be_llama *m, const char *name, uint64_t cols, uint64_t rows,
                    enum be_must must, const struct gguf_tensor **out, struct err *e)
{
    const struct gguf_tensor *t = *out = gguf_tensor(m->gguf, name);
    uint64_t want[4] = {cols, rows, 1, 1};

    if (!t)
        return must == BE_MAY || err_set_kind(e, ERR_MODEL, "%s: tensor %s is missing",
                                              gguf_path(m->gguf), name);
    if (memcmp(want, t->ne, sizeof want))
        return be_wrong_shape(m, t, want, rows == 1 ? 1 : 2, e);
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
        .data = t->data, .rows = t->ne[1], .cols = t->ne[0],
        .row_bytes = t->size / t->ne[1],
        .dequant = t->dtype == GGUF_DT_F32 ? NULL : m->k->dequant[t->dtype],
        .dot = m->k->dot_blocks[t->dtype],
    };
}

static float *be_copy_vector(struct be_llama *m, const struct gguf_tensor *t)
{
    float *v = xcalloc(t->ne[0], sizeof *v);

    m->k->dequant[t->dtype](t->data, v, t->ne[0]);
    MEM_GROW(m->vectors, m->vectors_cap, m->n_vectors + 1);
    m->vectors[m->n_vectors++] = v;
    return v;
}

static bool be_load_vector(struct be_llama *m, const char *name, uint64_t n, enum be_must must,
                           float **out, struct err *e)
{
    const struct gguf_tensor *t;

    if (!be_find(m, name, n, 1, must, &t, e))
        return false;
    if (t)
        *out = be_copy_vector(m, t);
    return true;
}

/* ---- the model ---- */

static bool be_load_slot(struct be_llama *m, uint32_t layer, const struct be_slot *s,
                         struct err *e)
{
    char *to = (char *)&m->layers[layer] + s->offset;
    const struct gguf_tensor *t;
    char name[64];

    if (s->has && !(m->arch->has & s->has))
        return true;
    snprintf(name, sizeof name, "blk.%u.%s", layer, s->name);
    if (!s->matrix)
        return be_load_vector(m, name, be_width(&m->hp, s->rows), s->must,
                              (float **)(void *)to, e);
    if (!be_find(m, name, be_width(&m->hp, s->cols), be_width(&m->hp, s->rows), s->must, &t, e))
        return false;
    be_use_matrix(m, t, (struct be_matrix *)(void *)to);
    return true;
}

static bool be_load_ends(struct be_llama *m, struct err *e)
{
    const struct gguf_tensor *t;

    if (!be_find(m, "token_embd.weight", m->hp.n_embd, m->hp.n_vocab, BE_MUST, &t, e))
        return false;
    be_use_matrix(m, t, &m->embd);
    if (!be_find(m, "output.weight", m->hp.n_embd, m->hp.n_vocab, BE_MAY, &t, e))
        return false;
    m->head = m->embd;              /* a model without its own ties the two */
    if (t)
        be_use_matrix(m, t, &m->head);
    return be_load_vector(m, "output_norm.weight", m->hp.n_embd, BE_MUST, &m->out_norm, e);
}

static bool be_load_rope(struct be_llama *m, struct err *e)
{
    uint32_t half = m->hp.rope.n_rot / 2;
    float *factors = NULL;

    if (!be_load_vector(m, "rope_freqs.weight", half, BE_MAY, &factors, e))
        return false;
    for (uint32_t i = 0; factors && i < half; i++)
        if (!isfinite(1 / factors[i]) || !isfinite(factors[i]))
            return err_set_kind(e, ERR_MODEL, "%s: rope_freqs.weight holds %g, by which "
                                "nothing can be divided", gguf_path(m->gguf),
                                (double)factors[i]);
    be_rope_init(&m->rope, &m->hp.rope, factors);
    return true;
}

/* Is this a tensor that be_llama_load() used? */
static bool be_known(const struct be_llama *m, const char *name)
{
    static const char *const ends[] = {"token_embd.weight", "output.weight",
                                       "output_norm.weight", "rope_freqs.weight"};
    char *rest;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(name, ends[i]))
            return true;
    if (strncmp(name, "blk.", 4) || name[4] < '0' || name[4] > '9')
        return false;
    unsigned long layer = strtoul(name + 4, &rest, 10);
    if (layer >= m->hp.n_layers || *rest != '.')
        return false;
    for (size_t i = 0; i < BE_SLOTS; i++)
        if (!strcmp(rest + 1, be_slots[i].name))
            return !be_slots[i].has || m->arch->has & be_slots[i].has;
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
        for (size_t k = 0; k < BE_SLOTS; k++)
            if (!be_load_slot(m, i, &be_slots[k], e))
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
}
