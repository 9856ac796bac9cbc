/* The feed-forward network of a layer, in two shared jobs: gate and up, joined by SiLU, where
 * an item is a few rows of both; and the down projection, added to the residual stream. */
#include "config.h"

#include "backend/llama.h"
#include "backend/vec.h"

static void be_down_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_layer *l = &m->layers[m->layer];
    be_llama_project(m, &l->down, l->down_bias, m->ffn, item, thread);
}

/* g = g / (1 + exp(-g)) * u; both (n) */
static void be_silu(float *g, const float *u, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        be_v4 x = be_load4(g + i);
        be_store4(g + i, x / (be_set4(1) + be_exp4(-x)) * be_load4(u + i));
    }
    for (; i < n; i++)
        g[i] = g[i] / (1 + be_exp1(-g[i])) * u[i];
}

static void be_gate_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_layer *l = &m->layers[m->layer];
    size_t tile = m->sizes.ffn_tile;
    float *up = be_llama_scratch(m, thread);        /* (chunk, tile) */
    float *scratch = up + m->sizes.chunk * tile;
    struct be_product p = {
        .m = &l->gate, .row = item * tile, .x = m->xn, .x_stride = m->hp.n_embd,
        .tokens = m->step->n, .out = m->ffn + item * tile, .out_stride = m->hp.n_ff,
    };

    if (be_llama_stop(m))
        return;
    p.n_rows = m->hp.n_ff - p.row < tile ? m->hp.n_ff - p.row : tile;
    be_multiply(m->k, &p, scratch, &m->stopped);
    struct be_product q = p;
    q.m = &l->up;
    q.out = up;
    q.out_stride = tile;
    be_multiply(m->k, &q, scratch, &m->stopped);
    for (size_t t = 0; t < m->step->n; t++) {
        float *g = p.out + t * p.out_stride, *u = up + t * tile;
        for (size_t i = 0; l->gate_bias && i < p.n_rows; i++)
            g[i] += l->gate_bias[p.row + i];
        for (size_t i = 0; l->up_bias && i < p.n_rows; i++)
            u[i] += l->up_bias[p.row + i];
        be_silu(g, u, p.n_rows);
    }
}

void be_llama_ffn(struct be_llama *m)
{
    const struct be_hparams *h = &m->hp;
    uint64_t work = (uint64_t)m->step->n * h->n_embd * h->n_ff;

    be_llama_share(m, be_gate_item, be_llama_items(h->n_ff, m->sizes.ffn_tile), 2 * work);
    be_llama_share(m, be_down_item, be_llama_items(h->n_embd, BE_ROWS), work);
}
