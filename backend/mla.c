/* Latent attention (DeepSeek-AI 2024, arXiv:2405.04434), with the matrices that unpack keys
 * and values taken to the other side: a query is brought into the space of the compressed
 * rows, attention happens there with one key head whose keys are its values too, and what it
 * gives is unpacked once per head. So the cache holds rank + n_rot numbers per position.
 *
 *   1. q_a and kv_a: an item is a few rows of one;
 *   2. norms, and the compressed row goes into the cache: an item is a token;
 *   3. queries: an item is a head;
 * and after attention
 *   4. values: an item is a head. */
#include "config.h"

#include "backend/llama.h"

#include <string.h>

/* What m->mla_low has per token: q_a, then kv_a. */
static size_t be_low_stride(const struct be_llama *m)
{
    return (size_t)m->hp.mla.q_rank + m->hp.mla.rank + m->hp.rope.n_rot;
}

static void be_low_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    size_t q_items = be_llama_items(m->hp.mla.q_rank, BE_ROWS);
    bool q = item < q_items;
    const struct be_matrix *w = q ? &m->l->q_a : &m->l->kv_a;
    size_t row = (q ? item : item - q_items) * BE_ROWS;
    struct be_product p = {
        .m = w, .row = row, .n_rows = w->rows - row < BE_ROWS ? w->rows - row : BE_ROWS,
        .x = m->in, .x_stride = m->hp.n_embd, .tokens = m->step->n,
        .out = m->mla_low + (q ? 0 : m->hp.mla.q_rank) + row, .out_stride = be_low_stride(m),
    };

    if (!be_llama_stop(m))
        be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
}

static void be_keep_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    const struct be_hparams *h = &m->hp;
    float *low = m->mla_low + t * be_low_stride(m), *kv = low + h->mla.q_rank;
    float *key = be_llama_keys(m, m->layer, 0) + (m->step->pos + t) * h->key_len;
    (void)thread;

    if (h->mla.q_rank)
        be_llama_norm(m, low, m->l->q_a_norm, NULL, low, h->mla.q_rank);
    be_llama_norm(m, kv, m->l->kv_a_norm, NULL, key, h->mla.rank);
    memcpy(key + h->mla.rank, kv + h->mla.rank, h->rope.n_rot * sizeof *key);
    be_rope_turn(&m->rope, be_llama_angles(m, t), key + h->mla.rank);
}

static void be_query_item(void *arg, size_t head, int thread)
{
    struct be_llama *m = arg;
    const struct be_hparams *h = &m->hp;
    const struct be_mla_params *a = &h->mla;
    size_t full = (size_t)h->n_heads * a->key_len, packed = (size_t)h->n_heads * h->key_len;
    size_t plain = a->key_len - h->rope.n_rot;
    float *scratch = be_llama_scratch(m, thread);
    struct be_product p = {
        .m = &m->l->q_b, .row = head * a->key_len, .n_rows = a->key_len,
        .x = a->q_rank ? m->mla_low : m->in,
        .x_stride = a->q_rank ? be_low_stride(m) : h->n_embd, .tokens = m->step->n,
        .out = m->mla_q + head * a->key_len, .out_stride = full,
    };
    struct be_product into = {
        .m = &m->l->k_b, .row = head * a->rank, .n_rows = a->rank, .x = p.out,
        .x_stride = full, .tokens = m->step->n, .out = m->q + head * h->key_len,
        .out_stride = packed,
    };

    if (be_llama_stop(m))
        return;
    be_multiply(m->k, &p, scratch, &m->stopped);
    be_multiply(m->k, &into, scratch, &m->stopped);
    for (size_t t = 0; t < m->step->n; t++) {
        float *q = into.out + t * packed, scale = be_llama_q_scale(m, t);
        memcpy(q + a->rank, p.out + t * full + plain, h->rope.n_rot * sizeof *q);
        be_rope_turn(&m->rope, be_llama_angles(m, t), q + a->rank);
        for (size_t i = 0; i < h->key_len; i++)
            q[i] *= scale;
    }
}

static void be_value_item(void *arg, size_t head, int thread)
{
    struct be_llama *m = arg;
    const struct be_hparams *h = &m->hp;
    struct be_product p = {
        .m = &m->l->v_b, .row = head * h->mla.value_len, .n_rows = h->mla.value_len,
        .x = m->att + head * h->value_row, .x_stride = (size_t)h->n_heads * h->value_row,
        .tokens = m->step->n, .out = m->mla_v + head * h->mla.value_len,
        .out_stride = (size_t)h->n_heads * h->mla.value_len,
    };

    if (!be_llama_stop(m))
        be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
}

void be_llama_mla_in(struct be_llama *m)
{
    const struct be_hparams *h = &m->hp;
    const struct be_layer *l = m->l;
    size_t n = m->step->n;
    size_t items = be_llama_items(h->mla.q_rank, BE_ROWS) + be_llama_items(l->kv_a.rows, BE_ROWS);

    be_llama_share(m, be_low_item, items, n * h->n_embd * (h->mla.q_rank + l->kv_a.rows));
    be_llama_tokens(m, be_keep_item);
    be_llama_share(m, be_query_item, h->n_heads,
                   n * (l->q_b.rows * l->q_b.cols + l->k_b.rows * l->k_b.cols));
}

void be_llama_mla_out(struct be_llama *m)
{
    be_llama_share(m, be_value_item, m->hp.n_heads,
                   m->step->n * m->l->v_b.rows * m->l->v_b.cols);
}
