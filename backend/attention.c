/* Attention of one chunk against the cache. An item is one head and a few queries. For each
 * query everything goes through the positions in their order, from 0 to its own, so its
 * bits do not depend on how the prompt was cut into chunks. */
#include "config.h"

#include <math.h>

#include "backend/llama.h"
#include "backend/vec.h"

enum { QUERIES = 8, GROUP = 64 };

/* Scores to weights exp(s - max), not yet divided by their sum, which is returned. s has
 * room for n rounded up to GROUP. A sink is one more score, whose weight goes nowhere. */
static float be_softmax(float *s, size_t n, const float *sink)
{
    size_t padded = (n + GROUP - 1) / GROUP * GROUP;
    float max = sink && *sink > s[0] ? *sink : s[0];
    double sum = 0;

    for (size_t i = 1; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (size_t i = n; i < padded; i++)
        s[i] = -INFINITY;
    for (size_t i = 0; i < padded; i += GROUP) {
        be_v4 part = {0};
        for (size_t k = i; k < i + GROUP; k += 4) {
            be_v4 w = be_exp4(be_load4(s + k) - be_set4(max));
            be_store4(s + k, w);
            part += w;
        }
        sum += be_sum4(part);
    }
    if (sink)
        sum += (double)be_exp1(*sink - max);
    return (float)sum;
}

/* The first position that the one at pos sees in this layer. */
static size_t be_first_seen(const struct be_llama *m, size_t pos)
{
    size_t window = m->hp.window;

    if (!m->l->windowed)
        return 0;
    if (m->hp.window_kind == BE_WINDOW_CHUNKED)
        return pos / window * window;
    return pos < window ? 0 : pos - window + 1;
}

static void be_attend_one(struct be_llama *m, uint32_t head, size_t t, float *scores)
{
    const struct be_hparams *h = &m->hp;
    uint32_t kv = head / (h->n_heads / h->n_kv_heads);
    size_t pos = m->step->pos + t, from = be_first_seen(m, pos), n = pos + 1 - from;
    const float *keys = be_llama_keys(m, m->layer, kv) + from * h->key_len;
    const float *values = be_llama_values(m, m->layer, kv) + from * h->value_row;
    const float *q = m->q + (t * h->n_heads + head) * h->key_len;
    float *out = m->att + (t * h->n_heads + head) * h->value_row;

    m->k->dots(q, keys, h->key_len, h->key_len, n, scores);
    if (h->attn_cap > 0)
        be_cap(scores, n, h->attn_cap);
    float scale = 1 / be_softmax(scores, n, m->l->sinks ? m->l->sinks + head : NULL);
    m->k->mix(scores, values, n, h->value_row, out);
    for (size_t i = 0; i < h->value_len; i++)
        out[i] *= scale;
}

static void be_attend_item(void *arg, size_t item, int thread)
{
    struct be_llama *m = arg;
    uint32_t head = (uint32_t)(item % m->hp.n_heads);
    size_t from = item / m->hp.n_heads * QUERIES;
    float *scores = be_llama_scratch(m, thread);

    for (size_t t = from; t < from + QUERIES && t < m->step->n; t++) {
        if (be_llama_stop(m))
            return;
        be_attend_one(m, head, t, scores);
    }
}

void be_llama_attend(struct be_llama *m)
{
    size_t blocks = (m->step->n + QUERIES - 1) / QUERIES;
    uint64_t work = (uint64_t)m->step->n * (m->step->pos + m->step->n) * m->hp.n_heads *
                    (m->hp.key_len + m->hp.value_len);

    be_llama_share(m, be_attend_item, blocks * m->hp.n_heads, work);
}
