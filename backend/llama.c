/* The arithmetic of a llama, one chunk of positions at a time.
 *
 * A layer is five shared jobs with a short serial part (or a shared one, for many tokens)
 * between them:
 *   1. q, k, v: an item is one head of one of them, computed, biased, normalised and turned;
 *      keys and values go straight into the cache;
 *   2. attention: heads and queries (attention.c);
 *   3. output projection, added to the residual stream;
 *   4. and 5. the feed-forward network (ffn.c).
 *
 * Every number is computed by one thread in one order that depends on nothing but the
 * model and the ids, so chunks, threads and history do not change a bit. */
#include "config.h"

#include "backend/llama.h"

#include <math.h>
#include <string.h>

#include "backend/vec.h"

enum {
    SERIAL_TOKENS = 4,      /* so few are normalised without sharing */
    SHARE_WORK = 32768,     /* multiplications from which sharing pays */
};

float *be_llama_keys(const struct be_llama *m, uint32_t layer, uint32_t head)
{
    const struct be_hparams *h = &m->hp;
    size_t per_layer = (size_t)h->n_kv_heads * (h->key_len + h->value_len) * m->ctx;

    return m->cache + layer * per_layer + (size_t)head * h->key_len * m->ctx;
}

float *be_llama_values(const struct be_llama *m, uint32_t layer, uint32_t head)
{
    const struct be_hparams *h = &m->hp;

    return be_llama_keys(m, layer, h->n_kv_heads) + (size_t)head * h->value_len * m->ctx;
}

float *be_llama_scratch(const struct be_llama *m, int thread)
{
    return m->scratch + (size_t)thread * m->scratch_stride;
}

bool be_llama_stop(struct be_llama *m)
{
    if (atomic_load_explicit(&m->stopped, memory_order_relaxed))
        return true;
    if (!be_cancelled(m->be))
        return false;
    atomic_store_explicit(&m->stopped, true, memory_order_relaxed);
    return true;
}

void be_llama_share(struct be_llama *m, be_pool_fn *fn, size_t items, uint64_t work)
{
    if (be_llama_stop(m))
        return;
    if (work >= SHARE_WORK) {
        be_pool_run(m->pool, fn, m, items);
        return;
    }
    for (size_t i = 0; i < items; i++)
        fn(m, i, 0);
}

/* ---- norms ---- */

/* y = x / rms(x) * w, (n); y may be x */
static void be_rms_norm(const struct be_llama *m, const float *x, const float *w, float *y,
                        size_t n)
{
    float scale = 1 / sqrtf(m->k->dot(x, x, n) / (float)n + m->hp.eps);

    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * scale * w[i];
}

static void be_norm_token(struct be_llama *m, const float *w, size_t t)
{
    size_t n = m->hp.n_embd;
    be_rms_norm(m, m->x + t * n, w, m->xn + t * n, n);
}

static void be_attn_norm_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    (void)thread;
    be_norm_token(m, m->layers[m->layer].attn_norm, t);
}

static void be_ffn_norm_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    (void)thread;
    be_norm_token(m, m->layers[m->layer].ffn_norm, t);
}

static void be_norm(struct be_llama *m, be_pool_fn *fn)
{
    be_llama_share(m, fn, m->step->n, m->step->n <= SERIAL_TOKENS ? 0 : SHARE_WORK);
}

/* ---- jobs ---- */

/* What a head of q, k or v is made of. */
struct be_head {
    const struct be_matrix *w;
    const float *bias, *norm;   /* (rows of w), (len); may be NULL */
    uint32_t head, len;
    bool turn, scale;
    float *out;                 /* token t at out + t * stride */
    size_t stride;
};

static struct be_head be_head_of(struct be_llama *m, size_t item)
{
    const struct be_hparams *h = &m->hp;
    const struct be_layer *l = &m->layers[m->layer];
    uint32_t i = (uint32_t)item, step = m->arch->no_rope_step;
    bool turn = !step || (m->layer + 1) % step;

    if (i < h->n_heads)
        return (struct be_head){
            .w = &l->q, .bias = l->q_bias, .norm = l->q_norm, .head = i, .len = h->key_len,
            .turn = turn, .scale = true, .out = m->q + (size_t)i * h->key_len,
            .stride = (size_t)h->n_heads * h->key_len};
    i -= h->n_heads;
    if (i < h->n_kv_heads)
        return (struct be_head){
            .w = &l->k, .bias = l->k_bias, .norm = l->k_norm, .head = i, .len = h->key_len,
            .turn = turn, .stride = h->key_len,
            .out = be_llama_keys(m, m->layer, i) + (size_t)m->step->pos * h->key_len};
    i -= h->n_kv_heads;
    return (struct be_head){
        .w = &l->v, .bias = l->v_bias, .head = i, .len = h->value_len, .stride = h->value_len,
        .out = be_llama_values(m, m->layer, i) + (size_t)m->step->pos * h->value_len};
}

static void be_qkv_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    struct be_head d = be_head_of(m, item);
    struct be_product p = {
        .m = d.w, .row = (size_t)d.head * d.len, .n_rows = d.len,
        .x = m->xn, .x_stride = m->hp.n_embd, .tokens = m->step->n,
        .out = d.out, .out_stride = d.stride,
    };

    if (be_llama_stop(m))
        return;
    be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
    for (size_t t = 0; t < m->step->n; t++) {
        float *y = d.out + t * d.stride;
        for (size_t i = 0; d.bias && i < d.len; i++)
            y[i] += d.bias[p.row + i];
        if (d.norm)
            be_rms_norm(m, y, d.norm, y, d.len);
        if (d.turn)
            be_rope_turn(&m->rope, m->angles + t * 2 * m->rope.half, y);
        for (size_t i = 0; d.scale && i < d.len; i++)
            y[i] *= m->q_scale[t];
    }
}

void be_llama_project(struct be_llama *m, const struct be_matrix *w, const float *bias,
                       const float *x, size_t item, int thread)
{
    struct be_product p = {
        .m = w, .row = item * BE_ROWS, .x = x, .x_stride = w->cols, .tokens = m->step->n,
        .out = m->x + item * BE_ROWS, .out_stride = m->hp.n_embd, .put = BE_PUT_ADD,
    };

    if (be_llama_stop(m))
        return;
    p.n_rows = w->rows - p.row < BE_ROWS ? w->rows - p.row : BE_ROWS;
    be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
    for (size_t t = 0; bias && t < m->step->n; t++)
        for (size_t i = 0; i < p.n_rows; i++)
            p.out[t * p.out_stride + i] += bias[p.row + i];
}

static void be_output_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_layer *l = &m->layers[m->layer];
    be_llama_project(m, &l->o, l->o_bias, m->att, item, thread);
}

static void be_head_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_step *s = m->step;
    struct be_product p = {
        .m = &m->head, .row = item * BE_ROWS, .x = m->xn + (s->n - s->rows) * m->hp.n_embd,
        .x_stride = m->hp.n_embd, .tokens = s->rows, .out = s->logits + item * BE_ROWS,
        .out_stride = m->hp.n_vocab,
    };

    if (be_llama_stop(m))
        return;
    p.n_rows = m->hp.n_vocab - p.row < BE_ROWS ? m->hp.n_vocab - p.row : BE_ROWS;
    be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
}

/* ---- the step ---- */

size_t be_llama_items(uint64_t rows, size_t tile)
{
    return (rows + tile - 1) / tile;
}

static void be_layer_step(struct be_llama *m)
{
    const struct be_hparams *h = &m->hp;
    const struct be_layer *l = &m->layers[m->layer];
    uint64_t n = m->step->n, embd = h->n_embd * n;

    be_norm(m, be_attn_norm_item);
    be_llama_share(m, be_qkv_item, h->n_heads + 2 * (size_t)h->n_kv_heads,
                   embd * (l->q.rows + l->k.rows + l->v.rows));
    be_llama_attend(m);
    be_llama_share(m, be_output_item, be_llama_items(h->n_embd, BE_ROWS), embd * l->o.cols);
    be_norm(m, be_ffn_norm_item);
    be_llama_ffn(m);
}

/* Embeddings, angles and the scale of the queries. */
static void be_begin(struct be_llama *m)
{
    const struct be_step *s = m->step;
    float scale = 1 / sqrtf((float)m->hp.key_len);

    be_rope_table(&m->rope, s->pos, s->n, m->angles);
    for (size_t t = 0; t < s->n; t++) {
        be_matrix_row(&m->embd, (size_t)s->ids[t], m->x + t * m->hp.n_embd);
        m->q_scale[t] = scale;
        if (m->hp.temp_scale != 0) {
            double steps = floor(((double)s->pos + (double)t) / m->hp.temp_floor);
            m->q_scale[t] = (float)((double)scale *
                                    (log(steps + 1) * (double)m->hp.temp_scale + 1));
        }
    }
}

bool be_llama_step(struct be_llama *m, const struct be *b, const struct be_step *s)
{
    m->be = b;
    m->step = s;
    atomic_store_explicit(&m->stopped, false, memory_order_relaxed);
    be_begin(m);
    for (m->layer = 0; m->layer < m->hp.n_layers && !be_llama_stop(m); m->layer++)
        be_layer_step(m);
    if (s->rows && !be_llama_stop(m)) {
        for (size_t t = s->n - s->rows; t < s->n; t++)
            be_norm_token(m, m->out_norm, t);
        be_llama_share(m, be_head_item, be_llama_items(m->hp.n_vocab, BE_ROWS),
                       (uint64_t)s->rows * m->hp.n_embd * m->hp.n_vocab);
    }
    return !atomic_load_explicit(&m->stopped, memory_order_relaxed);
}
