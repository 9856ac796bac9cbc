/* The feed-forward network of a layer, in two shared jobs: gate and up, joined by the
 * activation, where an item is a few rows of both; and the down projection. */
#include "config.h"

#include "backend/llama.h"
#include "backend/vec.h"

/* The gate's numbers x and those they open for, u (ones where there is no gate). */
static inline be_v4 be_act4(enum be_act act, be_v4 x, be_v4 u)
{
    const be_v4 one = be_set4(1), most = be_set4(7);

    switch (act) {
    case BE_ACT_SILU:
        return x / (one + be_exp4(-x)) * u;
    case BE_ACT_GELU: {     /* x / 2 (1 + tanh(a)) is x / (1 + exp(-2 a)) */
        be_v4 a = be_set4(0.797884561f) * (x + be_set4(0.044715f) * x * x * x);
        return x / (one + be_exp4(be_set4(-2) * a)) * u;
    }
    case BE_ACT_CLAMPED:    /* of gpt-oss: x up to 7, u from -7 to 7, and 1 */
        x = be_pick4(x > most, most, x);
        u = be_pick4(u > most, most, be_pick4(u < -most, -most, u));
        return x / (one + be_exp4(be_set4(-1.702f) * x)) * (u + one);
    }
    return x;
}

/* g = act(g) * u, both (n); u may be NULL */
static void be_activate(enum be_act act, float *g, const float *u, size_t n)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        be_store4(g + i, be_act4(act, be_load4(g + i), u ? be_load4(u + i) : be_set4(1)));
    for (; i < n; i++)
        g[i] = be_act4(act, be_set4(g[i]), be_set4(u ? u[i] : 1))[0];
}

void be_llama_gated(struct be_llama *m, const struct be_gated *g, int thread)
{
    const struct be_ffn *net = g->net;
    bool gate = net->gate.data;
    float *up = be_llama_scratch(m, thread);        /* (chunk, tile) */
    float *scratch = up + m->sizes.chunk * m->sizes.ffn_tile;
    const float *bias = gate ? g->bias_gate : g->bias_up;
    struct be_product p = {
        .m = gate ? &net->gate : &net->up, .row = g->row, .n_rows = g->n_rows, .x = g->x,
        .x_stride = m->hp.n_embd, .tokens = g->tokens, .out = g->out,
        .out_stride = g->out_stride,
    };

    be_multiply(m->k, &p, scratch, &m->stopped);
    struct be_product q = p;
    q.m = &net->up;
    q.out = up;
    q.out_stride = m->sizes.ffn_tile;
    if (gate)
        be_multiply(m->k, &q, scratch, &m->stopped);
    for (size_t t = 0; t < g->tokens; t++) {
        float *x = p.out + t * p.out_stride, *u = gate ? up + t * q.out_stride : NULL;
        for (size_t i = 0; bias && i < p.n_rows; i++)
            x[i] += bias[i];
        for (size_t i = 0; gate && g->bias_up && i < p.n_rows; i++)
            u[i] += g->bias_up[i];
        be_activate(m->arch->act, x, u, p.n_rows);
    }
}

static void be_gate_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_ffn *net = m->net;
    size_t tile = m->sizes.ffn_tile, row = item * tile, all = net->up.rows;

    if (be_llama_stop(m))
        return;
    be_llama_gated(m, &(struct be_gated){
        .net = net, .row = row, .n_rows = all - row < tile ? all - row : tile, .x = m->in,
        .bias_gate = net->gate_bias ? net->gate_bias + row : NULL,
        .bias_up = net->up_bias ? net->up_bias + row : NULL,
        .tokens = m->step->n, .out = m->ffn + row, .out_stride = all}, thread);
}

static void be_down_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    be_llama_project(m, &m->net->down, m->net->down_bias, m->ffn, item, thread);
}

void be_llama_ffn(struct be_llama *m, const struct be_ffn *net)
{
    uint64_t work = (uint64_t)m->step->n * m->hp.n_embd * net->up.rows;

    m->net = net;
    be_llama_share(m, be_gate_item, be_llama_items(net->up.rows, m->sizes.ffn_tile), 2 * work);
    be_llama_share(m, be_down_item, be_llama_items(m->hp.n_embd, BE_ROWS), work);
}
