/* Attention of one chunk against the cache. An item is one head and a few queries. For each
 * query everything goes through the positions in their order, from 0 to its own, so its
 * bits do not depend on how the prompt was cut into chunks. */
#include "config.h"

#include <math.h>

#include "backend/llama.h"
#include "backend/vec.h"

enum { QUERIES = 8, GROUP = 64 };

/* Scores to weights exp(s - max), not yet divided by their sum, which is returned. s has
 * room for n rounded up to GROUP. */
static float be_softmax(float *s, size_t n)
{
    size_t padded = (n + GROUP - 1) / GROUP * GROUP;
    float max = s[0];
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
    return (float)sum;
}

static void be_attend_one(struct be_llama *m, uint32_t head, size_t t, float *scores)
{
    const struct be_hparams *h = &m->hp;
    uint32_t kv = head / (h->n_heads / h->n_kv_heads);
    const float *keys = be_llama_keys(m, m->layer, kv);
    const float *values = be_llama_values(m, m->layer, kv);
    const float *q = m->q + (t * h->n_heads + head) * h->key_len;
    float *out = m->att + (t * h->n_heads + head) * h->value_len;
    size_t n = m->step->pos + t + 1;

    m->k->dots(q, keys, h->key_len, h->key_len, n, scores);
    float scale = 1 / be_softmax(scores, n);
    m->k->mix(scores, values, n, h->value_len, out);
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
