/* The arithmetic of a model, one chunk of positions at a time.
 *
 * A layer is a few shared jobs with a short serial part (or a shared one, for many tokens)
 * between them:
 *   1. q, k, v: an item is one head of one of them, computed, biased, normalised and turned;
 *      keys and values go straight into the cache (or as mla.c does it);
 *   2. attention: heads and queries (attention.c);
 *   3. output projection;
 *   4. the feed-forward network (ffn.c), or a choice of many (experts.c).
 * Results are added to the residual stream where they arise, or wait in m->y for a norm or
 * a factor.
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
    size_t values = h->mla.rank ? 0 : h->value_len;     /* MLA has them in the keys */
    size_t per_layer = (size_t)h->n_kv_heads * (h->key_len + values) * m->ctx;

    return m->cache + layer * per_layer + (size_t)head * h->key_len * m->ctx;
}

float *be_llama_values(const struct be_llama *m, uint32_t layer, uint32_t head)
{
    const struct be_hparams *h = &m->hp;

    if (h->mla.rank)
        return be_llama_keys(m, layer, head);
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

static void be_layer_norm(const struct be_llama *m, const float *x, float *y, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    float mean = (float)(sum / (double)n);
    for (size_t i = 0; i < n; i++)
        squares += (double)(x[i] - mean) * (double)(x[i] - mean);
    float scale = 1 / sqrtf((float)(squares / (double)n) + m->hp.eps);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * scale;
}

void be_llama_norm(const struct be_llama *m, const float *x, const float *w, const float *bias,
                   float *y, size_t n)
{
    if (m->arch->has & BE_HAS_LAYER_NORM) {
        be_layer_norm(m, x, y, n);
    } else {
        float scale = 1 / sqrtf(m->k->dot(x, x, n) / (float)n + m->hp.eps);
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] * scale;
    }
    for (size_t i = 0; w && i < n; i++)
        y[i] *= w[i];
    for (size_t i = 0; bias && i < n; i++)
        y[i] += bias[i];
}

static void be_norm_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    size_t n = m->hp.n_embd;
    (void)thread;
    be_llama_norm(m, m->x + t * n, m->w, m->bias, m->xn + t * n, n);
}

void be_llama_tokens(struct be_llama *m, be_pool_fn *fn)
{
    be_llama_share(m, fn, m->step->n, m->step->n <= SERIAL_TOKENS ? 0 : SHARE_WORK);
}

/* What the next part reads: the stream, normalised if the model does that. */
static void be_read_stream(struct be_llama *m, const float *w, const float *bias)
{
    m->in = m->x;
    if (!w)
        return;
    m->w = w;
    m->bias = bias;
    be_llama_tokens(m, be_norm_item);
    m->in = m->xn;
}

/* ---- results ---- */

static bool be_wait(const struct be_llama *m, const float *norm)
{
    return norm || m->hp.residual_scale != 1;
}

static void be_results_begin(struct be_llama *m, const float *norm)
{
    m->to = be_wait(m, norm) ? m->y : m->x;
    m->put = be_wait(m, norm) ? BE_PUT_STORE : BE_PUT_ADD;
}

static void be_add_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    size_t n = m->hp.n_embd;
    float *x = m->x + t * n, *y = m->y + t * n;
    (void)thread;

    if (m->w)
        be_llama_norm(m, y, m->w, NULL, y, n);
    for (size_t i = 0; i < n; i++)
        x[i] += y[i] * m->hp.residual_scale;
}

static void be_results_end(struct be_llama *m, const float *norm)
{
    m->w = norm;
    if (be_wait(m, norm))
        be_llama_tokens(m, be_add_item);
}

/* ---- jobs ---- */

/* What a head of q, k or v is made of. */
struct be_head {
    const struct be_matrix *w;
    const float *bias, *norm;   /* (rows of w), (len); may be NULL */
    uint32_t head, len;
    bool key, query;            /* it is a key or a query; it is a query */
    float *out;                 /* token t at out + t * stride */
    size_t stride;
};

static struct be_head be_head_of(struct be_llama *m, size_t item)
{
    const struct be_hparams *h = &m->hp;
    const struct be_layer *l = m->l;
    uint32_t i = (uint32_t)item;

    if (i < h->n_heads)
        return (struct be_head){
            .w = &l->q, .bias = l->q_bias, .norm = l->q_norm, .head = i, .len = h->key_len,
            .key = true, .query = true, .out = m->q + (size_t)i * h->key_len,
            .stride = (size_t)h->n_heads * h->key_len};
    i -= h->n_heads;
    if (i < h->n_kv_heads)
        return (struct be_head){
            .w = &l->k, .bias = l->k_bias, .norm = l->k_norm, .head = i, .len = h->key_len,
            .key = true, .stride = h->key_len,
            .out = be_llama_keys(m, m->layer, i) + (size_t)m->step->pos * h->key_len};
    i -= h->n_kv_heads;
    return (struct be_head){
        .w = &l->v, .bias = l->v_bias, .head = i, .len = h->value_len, .stride = h->value_len,
        .out = be_llama_values(m, m->layer, i) + (size_t)m->step->pos * h->value_len};
}

const float *be_llama_angles(const struct be_llama *m, size_t t)
{
    bool own = m->hp.two_turns && m->l->windowed;
    return (own ? m->angles_window : m->angles) + t * 2 * m->rope.half;
}

float be_llama_q_scale(const struct be_llama *m, size_t t)
{
    bool temp = m->hp.temp_scale != 0 && !(m->arch->temp_no_rope && m->l->turns);
    return temp ? m->q_temp[t] : m->hp.q_scale;
}

/* What a query or key goes through when it is computed and normalised. */
static void be_turn(struct be_llama *m, const struct be_head *d, size_t t)
{
    float *y = d->out + t * d->stride;

    if (m->l->turns)
        be_rope_turn(&m->rope, be_llama_angles(m, t), y);
    if (m->l->turns && m->hp.qk_length)
        be_llama_norm(m, y, NULL, NULL, y, d->len);
    if (!d->query)
        return;
    float scale = be_llama_q_scale(m, t);
    for (size_t i = 0; i < d->len; i++)
        y[i] *= scale;
}

static void be_qkv_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    struct be_head d = be_head_of(m, item);
    bool wide = m->l->has & BE_HAS_QK_WIDE;
    struct be_product p = {
        .m = d.w, .row = (size_t)d.head * d.len, .n_rows = d.len,
        .x = m->in, .x_stride = m->hp.n_embd, .tokens = m->step->n,
        .out = d.out, .out_stride = d.stride,
    };

    if (be_llama_stop(m))
        return;
    be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
    for (size_t t = 0; t < m->step->n; t++) {
        float *y = d.out + t * d.stride;
        for (size_t i = 0; d.bias && i < d.len; i++)
            y[i] += d.bias[p.row + i];
        if (d.norm && !wide)
            be_llama_norm(m, y, d.norm, NULL, y, d.len);
        if (d.key && !wide)
            be_turn(m, &d, t);
    }
}

/* One norm over all heads of q, one over all of k, then what be_qkv_item() left. */
static void be_wide_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    size_t heads[2] = {m->hp.n_heads, m->hp.n_kv_heads}, from = 0;
    (void)thread;

    for (size_t part = 0; part < 2; from += heads[part++]) {
        double squares = 0;
        for (size_t i = from; i < from + heads[part]; i++) {
            struct be_head d = be_head_of(m, i);
            const float *y = d.out + t * d.stride;
            squares += (double)m->k->dot(y, y, d.len);
        }
        double n = (double)heads[part] * m->hp.key_len;
        float scale = 1 / sqrtf((float)(squares / n) + m->hp.eps);
        for (size_t i = from; i < from + heads[part]; i++) {
            struct be_head d = be_head_of(m, i);
            float *y = d.out + t * d.stride;
            for (size_t k = 0; k < d.len; k++)
                y[k] *= scale * d.norm[(size_t)d.head * d.len + k];
            be_turn(m, &d, t);
        }
    }
}

static void be_qkv(struct be_llama *m)
{
    const struct be_layer *l = m->l;
    uint64_t embd = (uint64_t)m->hp.n_embd * m->step->n;

    be_llama_share(m, be_qkv_item, m->hp.n_heads + 2 * (size_t)m->hp.n_kv_heads,
                   embd * (l->q.rows + l->k.rows + l->v.rows));
    if (l->has & BE_HAS_QK_WIDE)
        be_llama_tokens(m, be_wide_item);
}

void be_llama_project(struct be_llama *m, const struct be_matrix *w, const float *bias,
                       const float *x, size_t item, int thread)
{
    struct be_product p = {
        .m = w, .row = item * BE_ROWS, .x = x, .x_stride = w->cols, .tokens = m->step->n,
        .out = m->to + item * BE_ROWS, .out_stride = m->hp.n_embd, .put = m->put,
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
    const float *x = m->l->has & BE_HAS_MLA ? m->mla_v : m->att;
    be_llama_project(m, &m->l->o, m->l->o_bias, x, item, thread);
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
    for (size_t t = 0; t < s->rows; t++) {
        float *out = p.out + t * p.out_stride;
        for (size_t i = 0; m->hp.logit_scale != 1 && i < p.n_rows; i++)
            out[i] *= m->hp.logit_scale;
        if (m->hp.logit_cap > 0)
            be_cap(out, p.n_rows, m->hp.logit_cap);
    }
}

/* ---- the step ---- */

size_t be_llama_items(uint64_t rows, size_t tile)
{
    return (rows + tile - 1) / tile;
}

static void be_attention_part(struct be_llama *m)
{
    const struct be_layer *l = m->l;
    bool mla = l->has & BE_HAS_MLA;

    be_read_stream(m, l->attn_norm, l->attn_norm_bias);
    be_results_begin(m, l->attn_post);
    if (mla)
        be_llama_mla_in(m);
    else
        be_qkv(m);
    be_llama_attend(m);
    if (mla)
        be_llama_mla_out(m);
    be_llama_share(m, be_output_item, be_llama_items(m->hp.n_embd, BE_ROWS),
                   (uint64_t)m->step->n * m->hp.n_embd * l->o.cols);
    be_results_end(m, l->attn_post);
}

static void be_network_part(struct be_llama *m)
{
    const struct be_layer *l = m->l;

    if (!(l->has & BE_HAS_PARALLEL))    /* otherwise what attention read is still there */
        be_read_stream(m, l->ffn_norm, l->ffn_norm_bias);
    be_results_begin(m, l->ffn_post);
    if (l->has & BE_HAS_EXPERTS)
        be_llama_experts(m);
    else
        be_llama_ffn(m, &l->ffn);
    be_results_end(m, l->ffn_post);
}

/* A token's row of the embedding, and of the positions where a model has them. */
static void be_embed(struct be_llama *m, size_t t)
{
    const struct be_step *s = m->step;
    float *x = m->x + t * m->hp.n_embd, *row = m->xn;

    be_matrix_row(&m->embd, (size_t)s->ids[t], x);
    for (size_t i = 0; m->hp.embd_scale != 1 && i < m->hp.n_embd; i++)
        x[i] *= m->hp.embd_scale;
    if (!m->positions.data)
        return;
    be_matrix_row(&m->positions, s->pos + t, row);
    for (size_t i = 0; i < m->hp.n_embd; i++)
        x[i] += row[i];
}

/* Embeddings, angles and the temperature of the queries. */
static void be_begin(struct be_llama *m)
{
    const struct be_step *s = m->step;
    const struct be_hparams *h = &m->hp;

    be_rope_table(&m->rope, s->pos, s->n, m->angles);
    if (h->two_turns)
        be_rope_table(&m->rope_window, s->pos, s->n, m->angles_window);
    for (size_t t = 0; t < s->n; t++) {
        be_embed(m, t);
        if (h->temp_scale == 0)
            continue;
        double pos = (double)s->pos + (double)t + (double)h->temp_offset;
        double steps = floor(pos / h->temp_floor);
        m->q_temp[t] = (float)((double)h->q_scale *
                               (log(steps + 1) * (double)h->temp_scale + 1));
    }
}

static void be_head(struct be_llama *m)
{
    const struct be_step *s = m->step;
    size_t n = m->hp.n_embd;

    for (size_t t = s->n - s->rows; t < s->n; t++)
        be_llama_norm(m, m->x + t * n, m->out_norm, m->out_norm_bias, m->xn + t * n, n);
    be_llama_share(m, be_head_item, be_llama_items(m->hp.n_vocab, BE_ROWS),
                   (uint64_t)s->rows * n * m->hp.n_vocab);
}

bool be_llama_step(struct be_llama *m, const struct be *b, const struct be_step *s)
{
    m->be = b;
    m->step = s;
    atomic_store_explicit(&m->stopped, false, memory_order_relaxed);
    be_begin(m);
    for (m->layer = 0; m->layer < m->hp.n_layers && !be_llama_stop(m); m->layer++) {
        m->l = &m->layers[m->layer];
        be_attention_part(m);
        be_network_part(m);
    }
    if (s->rows && !be_llama_stop(m))
        be_head(m);
    return !atomic_load_explicit(&m->stopped, memory_order_relaxed);
}
