#ifndef BE_LLAMA_H
#define BE_LLAMA_H

/* One model on the CPU: its tensors, its cache and the buffers of the chunk in progress.
 * Private to backend/. */

#include <stdatomic.h>

#include "backend/arch.h"
#include "backend/matmul.h"
#include "backend/ops.h"
#include "backend/pool.h"

enum { BE_ROWS = 32 };      /* matrix rows of one item */

/* Vectors are F32 copies; NULL where the model has none. */
struct be_layer {
    float *attn_norm, *ffn_norm;            /* (n_embd) */
    float *q_norm, *k_norm;                 /* (key_len) */
    struct be_matrix q, k, v, o, gate, up, down;
    float *q_bias, *k_bias, *v_bias, *o_bias, *gate_bias, *up_bias, *down_bias;
};

/* Bytes and floats of everything that is allocated. be_plan() reports it, the allocator
 * follows it. */
struct be_sizes {
    uint64_t weights;
    uint64_t kv_per_position;
    uint64_t chunk_floats;      /* buffers of the chunk, together */
    uint64_t thread_floats;     /* scratch of one thread, without scores */
    uint64_t fixed;             /* bytes that do not depend on ctx, logits included */
    uint64_t per_position;      /* bytes that do: cache and scores */
    size_t chunk;               /* positions */
    size_t ffn_tile;            /* rows of gate and up that one item computes */
};

struct be_llama {
    const struct gguf *gguf;
    const struct be_arch *arch;
    struct be_hparams hp;
    struct be_rope rope;
    struct be_matrix embd, head;
    float *out_norm;
    struct be_layer *layers;    /* (n_layers) */
    float **vectors;            /* all copies, to free them */
    size_t n_vectors, vectors_cap;

    const struct be_kernels *k;
    int threads;
    struct be_pool *pool;       /* NULL when probed */
    struct be_sizes sizes;
    uint64_t memory;            /* the limit that was given for what is allocated; 0: none */
    float *cache;               /* per layer: keys (n_kv, ctx, key_len), then values */
    float *buffers;             /* what the following point into */
    float *x;                   /* (chunk, n_embd) the residual stream */
    float *xn;                  /* (chunk, n_embd) normalised */
    float *q;                   /* (chunk, n_heads * key_len) */
    float *att;                 /* (chunk, n_heads * value_len) */
    float *ffn;                 /* (chunk, n_ff) */
    float *angles;              /* (chunk, 2, n_rot / 2) */
    float *q_scale;             /* (chunk) */
    float *scratch;             /* (threads, scratch_stride) */
    size_t scratch_stride;

    /* the chunk in progress, read by the pool's threads */
    const struct be *be;
    const struct be_step *step;
    uint32_t ctx;
    uint32_t layer;
    atomic_bool stopped;        /* the cancel flag was seen: what follows is not computed */
};

/* Find and check all tensors. ERR_MODEL names file, tensor, what was wanted and found. */
bool be_llama_load(struct be_llama *m, struct err *e);
void be_llama_unload(struct be_llama *m);

/* Evaluate one chunk; false when cancelled. */
bool be_llama_step(struct be_llama *m, const struct be *b, const struct be_step *s);

/* Keys or values of one head in the cache, (ctx, key_len) or (ctx, value_len). */
float *be_llama_keys(const struct be_llama *m, uint32_t layer, uint32_t head);
float *be_llama_values(const struct be_llama *m, uint32_t layer, uint32_t head);

/* Attention of the chunk: m->q and the cache to m->att. */
void be_llama_attend(struct be_llama *m);

/* The feed-forward network of the layer: m->xn to m->x. */
void be_llama_ffn(struct be_llama *m);

/* For a pool item: rows of a projection that is added to the residual stream. */
void be_llama_project(struct be_llama *m, const struct be_matrix *w, const float *bias,
                      const float *x, size_t item, int thread);
/* For a pool item: has the step been cancelled? */
bool be_llama_stop(struct be_llama *m);
/* Share items among the threads, unless the work (multiplications) is not worth it. */
void be_llama_share(struct be_llama *m, be_pool_fn *fn, size_t items, uint64_t work);
size_t be_llama_items(uint64_t rows, size_t tile);
float *be_llama_scratch(const struct be_llama *m, int thread);

#endif
