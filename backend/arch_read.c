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
enum { MOST_LAYERS = 1 << 16, MOST_WIDTH = 1 << 24, MOST_HEADS = 1 << 16 };

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
    if (experts)
        return err_set_kind(k->e, ERR_MODEL, "%s is a mixture of %u experts (%s), which this "
                            "version cannot compute", gguf_path(k->g), experts, k->key);
    if (!be_need(k, "block_count", 1, MOST_LAYERS, &h->n_layers))
        return false;
    if (h->n_layers > n)
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %u but the file has only %zu tensors",
                            gguf_path(k->g), k->key, h->n_layers, n);
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
    if (!gguf_get_f32(k->g, be_key(k, "attention.layer_norm_rms_epsilon"), &h->eps, k->e))
        return false;
    if (!(h->eps > 0 && h->eps < 1))
        return err_set_kind(k->e, ERR_MODEL, "%s: %s is %g and must be between 0 and 1",
                            gguf_path(k->g), k->key, (double)h->eps);
    if (!(k->arch->has & BE_HAS_ATTN_TEMP))
        return true;
    h->temp_floor = h->rope.ctx_orig;
    return be_may_f32(k, "attention.temperature_scale", 0, 100, &h->temp_scale);
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
    return be_read_sizes(&k, h) && be_read_heads(&k, h) && be_read_rope(&k, h) &&
           be_read_norms(&k, h) && be_read_vocab(&k, h);
}
