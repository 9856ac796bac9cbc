/* A layer of experts: a router chooses a few networks for every token.
 *
 *   1. an item is a token: the router's numbers, the choice, the weights;
 *   2. tokens are sorted by expert, so that each expert's matrices are read once;
 *   3. gate and up, then down, of every expert that has tokens: an item is a few rows of one;
 *   4. an item is a token again: its experts' results, weighed, in the order of choice.
 *
 * How many tokens an expert has in this chunk changes no bit: every number is one dot
 * product. */
#include "config.h"

#include "backend/llama.h"

#include <math.h>
#include <string.h>

/* ---- the choice ---- */

static void be_gate_softmax(float *x, size_t n)
{
    float max = x[0];
    double sum = 0;

    for (size_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (size_t i = 0; i < n; i++)
        sum += (double)(x[i] = expf(x[i] - max));
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] / sum);
}

/* The best that is open, the first of equals; NaN is never better. */
static size_t be_best(const float *score, const float *open, size_t from, size_t to)
{
    size_t best = to;

    for (size_t i = from; i < to; i++)
        if (open[i] != 0 && (best == to || score[i] > score[best]))
            best = i;
    return best;
}

/* Close all groups but those whose two best experts are together the best. sums has room
 * for as many numbers as there are groups, twice. */
static void be_choose_groups(const struct be_moe_params *p, const float *score, float *open,
                             float *sums)
{
    size_t size = p->n / p->groups;

    for (size_t g = 0; g < p->groups; g++) {
        size_t from = g * size, first = be_best(score, open, from, from + size);
        open[first] = 0;
        size_t second = be_best(score, open, from, from + size);
        sums[g] = score[first] + (second < from + size ? score[second] : 0);
        open[first] = 1;
    }
    float *left = sums + p->groups;
    for (size_t g = 0; g < p->groups; g++)
        left[g] = 1;
    for (size_t k = 0; k < p->groups_used; k++)
        left[be_best(sums, left, 0, p->groups)] = 0;
    for (size_t i = 0; i < p->n; i++)
        open[i] = left[i / size] != 0 ? 0 : 1;
}

static void be_weigh(const struct be_moe_params *p, struct be_chosen *c)
{
    float max = -INFINITY;
    double sum = 0;

    for (size_t k = 0; k < p->used; k++)
        max = c[k].weight > max ? c[k].weight : max;
    for (size_t k = 0; k < p->used; k++) {
        if (p->gating == BE_GATING_CHOSEN)
            c[k].weight = expf(c[k].weight - max);
        sum += (double)c[k].weight;
    }
    if (!p->sum_to_one && p->gating != BE_GATING_CHOSEN)
        sum = 1;
    for (size_t k = 0; k < p->used; k++)
        c[k].weight = (float)((double)c[k].weight / fmax(sum, 6.1e-5)) * p->scale;
}

static void be_route_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    const struct be_moe_params *p = &m->hp.moe;
    const struct be_layer *l = m->l;
    float *gated = m->moe_scores + t * 4 * p->n;
    float *score = gated + p->n, *open = score + p->n, *sums = open + p->n;
    struct be_chosen *c = m->chosen + t * p->used;
    struct be_product product = {
        .m = &l->router, .n_rows = p->n, .x = m->in + t * m->hp.n_embd,
        .x_stride = m->hp.n_embd, .tokens = 1, .out = gated, .out_stride = p->n,
    };

    be_multiply(m->k, &product, be_llama_scratch(m, thread), &m->stopped);
    for (size_t i = 0; l->router_bias && i < p->n; i++)
        gated[i] += l->router_bias[i];
    if (m->arch->moe.on_logits)
        memcpy(score, gated, p->n * sizeof *score);
    if (p->gating == BE_GATING_SOFTMAX)
        be_gate_softmax(gated, p->n);
    for (size_t i = 0; p->gating == BE_GATING_SIGMOID && i < p->n; i++)
        gated[i] = 1 / (1 + expf(-gated[i]));
    if (!m->arch->moe.on_logits)
        memcpy(score, gated, p->n * sizeof *score);
    for (size_t i = 0; i < p->n; i++) {
        score[i] += l->choice_bias ? l->choice_bias[i] : 0;
        open[i] = 1;
    }
    if (p->groups > 1)
        be_choose_groups(p, score, open, sums);
    for (size_t k = 0; k < p->used; k++) {
        size_t best = be_best(score, open, 0, p->n);
        open[best] = 0;
        c[k] = (struct be_chosen){.expert = (uint32_t)best, .weight = gated[best]};
    }
    be_weigh(p, c);
}

/* ---- sorting ---- */

static void be_sort(struct be_llama *m)
{
    const struct be_moe_params *p = &m->hp.moe;
    size_t n = m->step->n * p->used;
    struct be_group *g = m->groups;
    uint32_t from = 0;

    for (uint32_t i = 0; i < p->n; i++)
        g[i] = (struct be_group){.expert = i};
    for (size_t i = 0; i < n; i++)
        g[m->chosen[i].expert].n++;
    for (uint32_t i = 0; i < p->n; i++) {
        g[i].from = from;
        from += g[i].n;
        g[i].n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct be_group *to = &g[m->chosen[i].expert];
        m->chosen[i].row = to->from + to->n++;
    }
    m->n_groups = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (g[i].n)
            g[m->n_groups++] = g[i];
}

static void be_gather_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    size_t n = m->hp.n_embd, used = m->hp.moe.used;
    const float *x = m->in + t * n;
    (void)thread;

    for (size_t k = 0; k < used; k++) {
        struct be_chosen *c = &m->chosen[t * used + k];
        float *to = m->moe_x + c->row * n;
        float by = m->arch->moe.weigh_input ? c->weight : 1;
        for (size_t i = 0; i < n; i++)
            to[i] = x[i] * by;
        if (m->arch->moe.weigh_input)
            c->weight = 1;
    }
}

/* ---- the experts ---- */

static void be_expert_gate_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_ffn *net = &m->l->experts;
    size_t tile = m->sizes.ffn_tile, all = m->hp.moe.n_ff, tiles = be_llama_items(all, tile);
    const struct be_group *g = &m->groups[item / tiles];
    size_t row = item % tiles * tile, at = g->expert * all + row;

    if (be_llama_stop(m))
        return;
    be_llama_gated(m, &(struct be_gated){
        .net = net, .row = at, .n_rows = all - row < tile ? all - row : tile,
        .bias_gate = net->gate_bias ? net->gate_bias + at : NULL,
        .bias_up = net->up_bias ? net->up_bias + at : NULL,
        .x = m->moe_x + (size_t)g->from * m->hp.n_embd, .tokens = g->n,
        .out = m->moe_act + g->from * all + row, .out_stride = all}, thread);
}

/* What the expert read is not needed any more: its result takes that place. */
static void be_expert_down_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    const struct be_ffn *net = &m->l->experts;
    size_t embd = m->hp.n_embd, tiles = be_llama_items(embd, BE_ROWS);
    const struct be_group *g = &m->groups[item / tiles];
    size_t row = item % tiles * BE_ROWS, at = g->expert * embd + row;
    struct be_product p = {
        .m = &net->down, .row = at, .n_rows = embd - row < BE_ROWS ? embd - row : BE_ROWS,
        .x = m->moe_act + (size_t)g->from * m->hp.moe.n_ff, .x_stride = m->hp.moe.n_ff,
        .tokens = g->n, .out = m->moe_x + g->from * embd + row, .out_stride = embd,
    };

    if (be_llama_stop(m))
        return;
    be_multiply(m->k, &p, be_llama_scratch(m, thread), &m->stopped);
    for (size_t t = 0; net->down_bias && t < g->n; t++)
        for (size_t i = 0; i < p.n_rows; i++)
            p.out[t * embd + i] += net->down_bias[at + i];
}

static void be_combine_item(void *arg, size_t t, int thread)
{
    struct be_llama *m = arg;
    size_t n = m->hp.n_embd, used = m->hp.moe.used;
    float *to = m->to + t * n;
    (void)thread;

    if (m->put == BE_PUT_STORE)
        memset(to, 0, n * sizeof *to);
    for (size_t k = 0; k < used; k++) {
        const struct be_chosen *c = &m->chosen[t * used + k];
        m->k->axpy(c->weight, m->moe_x + c->row * n, to, n);
    }
}

void be_llama_experts(struct be_llama *m)
{
    const struct be_moe_params *p = &m->hp.moe;
    uint64_t embd = m->hp.n_embd, work = m->step->n * embd * p->used * p->n_ff;

    be_llama_share(m, be_route_item, m->step->n, m->step->n * embd * p->n);
    if (be_llama_stop(m))
        return;                     /* nobody may have chosen */
    be_sort(m);
    be_llama_tokens(m, be_gather_item);
    be_llama_share(m, be_expert_gate_item,
                   m->n_groups * be_llama_items(p->n_ff, m->sizes.ffn_tile), 2 * work);
    be_llama_share(m, be_expert_down_item, m->n_groups * be_llama_items(embd, BE_ROWS), work);
    be_llama_tokens(m, be_combine_item);
    if (!(m->l->has & BE_HAS_SHARED))
        return;
    m->put = BE_PUT_ADD;
    be_llama_ffn(m, &m->l->shared);
}
