/* What a model needs beside its weights. One function walks through the buffers, first to
 * count and then to place them, so the plan and the allocation cannot differ.
 *
 * The cache is one anonymous mapping, keys before values in every layer, and only pages
 * that positions were written to take memory. */
#include "config.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "backend/llama.h"
#include "base/err.h"
#include "base/gguf.h"

enum {
    FFN_TILE = 64,
    SCORE_PAD = 64,             /* softmax works on whole groups */
};

/* Buffers one behind the other; with base NULL they are only counted. */
struct be_walk {
    float *base;
    uint64_t floats;
};

static void *be_take(struct be_walk *w, uint64_t n)
{
    void *p = w->base ? w->base + w->floats : NULL;
    w->floats += n;
    return p;
}

static uint64_t be_floats_for(uint64_t bytes)
{
    return (bytes + sizeof(float) - 1) / sizeof(float);
}

static uint64_t be_walk_buffers(struct be_llama *m, float *base)
{
    const struct be_hparams *h = &m->hp;
    const struct be_mla_params *a = &h->mla;
    uint64_t n = m->sizes.chunk, heads = h->n_heads, rows = n * h->moe.used;
    bool dense = !h->moe.n || h->moe.first || h->moe.step > 1;     /* some layer is */
    uint32_t wide = dense && h->n_ff > h->moe.shared_ff ? h->n_ff : h->moe.shared_ff;
    struct be_walk w = {.base = base};

    m->x = be_take(&w, n * h->n_embd);
    m->xn = be_take(&w, n * h->n_embd);
    if (m->arch->has & BE_HAS_POST_NORM || h->residual_scale != 1)
        m->y = be_take(&w, n * h->n_embd);
    m->q = be_take(&w, n * heads * h->key_len);
    m->att = be_take(&w, n * heads * h->value_row);
    m->ffn = be_take(&w, n * wide);
    m->angles = be_take(&w, n * h->rope.n_rot);
    if (h->two_turns)
        m->angles_window = be_take(&w, n * h->rope.n_rot);
    if (h->temp_scale != 0)
        m->q_temp = be_take(&w, n);
    if (a->rank) {
        m->mla_low = be_take(&w, n * ((uint64_t)a->q_rank + a->rank + h->rope.n_rot));
        m->mla_q = be_take(&w, n * heads * a->key_len);
        m->mla_v = be_take(&w, n * heads * a->value_len);
    }
    if (h->moe.n) {
        m->moe_x = be_take(&w, rows * h->n_embd);
        m->moe_act = be_take(&w, rows * h->moe.n_ff);
        m->moe_scores = be_take(&w, n * 4 * h->moe.n);
        m->chosen = be_take(&w, be_floats_for(rows * sizeof *m->chosen));
        m->groups = be_take(&w, be_floats_for(h->moe.n * sizeof *m->groups));
    }
    m->scratch = be_take(&w, 0);
    return w.floats;
}

void be_llama_set_sizes(struct be_llama *m, size_t chunk)
{
    const struct be_hparams *h = &m->hp;
    struct be_sizes *s = &m->sizes;
    size_t tile = 16, widest = 0;
    uint64_t values = h->mla.rank ? 0 : h->value_len;

    while (tile < FFN_TILE && (size_t)h->n_ff >= 8 * tile * (size_t)m->threads)
        tile *= 2;
    for (size_t i = 0; i < gguf_n_tensors(m->gguf); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(m->gguf, i);
        size_t need = t->n_dims >= 2 ? be_multiply_scratch(t->ne[0]) : 0;
        s->weights += t->size;
        widest = need > widest ? need : widest;
    }
    s->chunk = chunk;
    s->ffn_tile = tile;
    s->kv_per_position = (uint64_t)h->n_layers * h->n_kv_heads * (h->key_len + values) *
                         sizeof(float);
    s->chunk_floats = be_walk_buffers(m, NULL);
    s->thread_floats = chunk * tile + widest + 2 * SCORE_PAD;
    s->fixed = (s->chunk_floats + (uint64_t)m->threads * s->thread_floats + h->n_vocab) *
               sizeof(float);
    s->per_position = s->kv_per_position + (uint64_t)m->threads * sizeof(float);
}

uint64_t be_llama_cache_bytes(const struct be_llama *m)
{
    return m->sizes.kv_per_position * m->ctx;
}

bool be_llama_allocate(struct be_llama *m, struct err *e)
{
    const struct be_sizes *s = &m->sizes;
    size_t floats;
    char size[32];

    m->cache = mmap(NULL, be_llama_cache_bytes(m), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m->cache == MAP_FAILED) {
        m->cache = NULL;
        return err_set(e, "the system does not give %s for a context of %u positions",
                       be_size(size, be_llama_cache_bytes(m)), m->ctx);
    }
    m->scratch_stride = s->thread_floats + m->ctx;
    floats = s->chunk_floats + (size_t)m->threads * m->scratch_stride;
    m->buffers = calloc(floats, sizeof(float));
    if (!m->buffers)
        return err_set(e, "the system does not give %s for the model's buffers",
                       be_size(size, floats * sizeof(float)));
    be_walk_buffers(m, m->buffers);
    m->pool = be_pool_new(m->threads);
    m->threads = be_pool_threads(m->pool);
    return true;
}

void be_llama_release(struct be_llama *m)
{
    be_pool_free(m->pool);
    if (m->cache)
        munmap(m->cache, be_llama_cache_bytes(m));
    free(m->buffers);
}
