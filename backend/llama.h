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

/* A feed-forward network; of experts all in one matrix, one below the other. */
struct be_ffn {
    struct be_matrix gate, up, down;        /* gate.data NULL: up alone is activated */
    float *gate_bias, *up_bias, *down_bias;
};

/* Vectors are F32 copies; NULL where the model has none. */
struct be_layer {
    uint32_t has;                           /* enum be_has */
    bool windowed, turns;
    float *attn_norm, *ffn_norm;            /* (n_embd) */
    float *attn_norm_bias, *ffn_norm_bias;
    float *attn_post, *ffn_post;            /* (n_embd) norms of results */
    float *q_norm, *k_norm;                 /* (key_len), or of all heads */
    struct be_matrix q, k, v, o;
    float *q_bias, *k_bias, *v_bias, *o_bias;
    float *sinks;                           /* (n_heads) */
    struct be_matrix q_a, q_b, kv_a, k_b, v_b;      /* MLA; q_b is q without q_a */
    float *q_a_norm, *kv_a_norm;
    struct be_ffn ffn, experts, shared;
    struct be_matrix router;                /* (experts, n_embd) */
    float *router_bias, *choice_bias;       /* (experts) */
    struct be_matrix qkv, gate_up;          /* fused in the file; q, gate ... lie in them */
    float *qkv_bias;
};

/* A token's place among those of one expert. */
struct be_chosen {
    uint32_t expert;
    float weight;
    uint32_t row;                           /* in moe_x and moe_act */
};

/* The tokens of one expert: rows from .. from + n - 1. */
struct be_group {
    uint32_t expert, from, n;
};

/* Bytes and floats of everything that is allocated. be_plan() reports it, the allocator
 * follows it. */
struct be_sizes {
    uint64_t weights;
    uint64_t kv_per_position;
    uint64_t chunk_floats;      /* buffers of the chunk, together, in units of a float */
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
    struct be_rope rope, rope_window;
    float *rope_factors, *rope_long, *rope_short;   /* (n_rot / 2) */
    struct be_matrix embd, head, positions;
    float *out_norm, *out_norm_bias;
    struct be_layer *layers;    /* (n_layers) */
    float **vectors;            /* all copies, to free them */
    size_t n_vectors, vectors_cap;

    const struct be_kernels *k;
    int threads;
    struct be_pool *pool;       /* NULL when probed */
    struct be_sizes sizes;
    uint64_t memory;            /* the limit that was given for what is allocated; 0: none */
    float *cache;               /* per layer: keys (n_kv, ctx, key_len), then values
                                 * (n_kv, ctx, value_len), which MLA has in the keys */
    void *buffers;              /* what the following point into (sizes.c) */
    float *x;                   /* (chunk, n_embd) the residual stream */
    float *xn;                  /* (chunk, n_embd) normalised */
    float *y;                   /* (chunk, n_embd) results not yet added */
    float *q;                   /* (chunk, n_heads * key_len) */
    float *att;                 /* (chunk, n_heads * value_row) */
    float *ffn;                 /* (chunk, widest of dense and shared) */
    float *angles, *angles_window;      /* (chunk, 2, n_rot / 2) */
    float *q_temp;              /* (chunk) scale of queries with the temperature */
    float *mla_low;             /* (chunk, q_rank + rank + n_rot) q_a and kv_a */
    float *mla_q, *mla_v;       /* (chunk, n_heads * mla.key_len), (..., mla.value_len) */
    float *moe_x;               /* (chunk * used, n_embd) read by experts, then written */
    float *moe_act;             /* (chunk * used, moe.n_ff) */
    float *moe_scores;          /* (chunk, 4, experts) */
    struct be_chosen *chosen;   /* (chunk, used) */
    struct be_group *groups;    /* (experts) those that have tokens */
    size_t n_groups;
    float *scratch;             /* (threads, scratch_stride) */
    size_t scratch_stride;

    /* the chunk in progress, read by the pool's threads */
    const struct be *be;
    const struct be_step *step;
    uint32_t ctx;
    uint32_t layer;
    const struct be_layer *l;   /* that layer */
    const struct be_ffn *net;   /* the network in progress: dense or shared */
    const float *w, *bias;      /* of the norm in progress */
    const float *in;            /* (chunk, n_embd) what the job reads: x or xn */
    float *to;                  /* where the results of the layer's part go: x or y */
    enum be_put put;            /* the first to come stores into y and adds to x */
    atomic_bool stopped;        /* the cancel flag was seen: what follows is not computed */
};

/* Find and check all tensors. ERR_MODEL names file, tensor, what was wanted and found. */
bool be_llama_load(struct be_llama *m, struct err *e);
void be_llama_unload(struct be_llama *m);

/* When the context is known: choose the frequencies, set the sizes, allocate. */
void be_llama_set_rope(struct be_llama *m);
void be_llama_set_sizes(struct be_llama *m, size_t chunk);
bool be_llama_allocate(struct be_llama *m, struct err *e);
void be_llama_release(struct be_llama *m);
uint64_t be_llama_cache_bytes(const struct be_llama *m);

/* Evaluate one chunk; false when cancelled. */
bool be_llama_step(struct be_llama *m, const struct be *b, const struct be_step *s);

/* Keys or values of one head in the cache, (ctx, key_len) or (ctx, value_row). */
float *be_llama_keys(const struct be_llama *m, uint32_t layer, uint32_t head);
float *be_llama_values(const struct be_llama *m, uint32_t layer, uint32_t head);

/* Attention of the chunk: m->q and the cache to m->att. */
void be_llama_attend(struct be_llama *m);
/* m->in to m->q and the cache, and m->att to m->mla_v, for models with MLA. */
void be_llama_mla_in(struct be_llama *m);
void be_llama_mla_out(struct be_llama *m);

/* A network, or the layer's experts: m->in to m->to. */
void be_llama_ffn(struct be_llama *m, const struct be_ffn *net);
void be_llama_experts(struct be_llama *m);
/* For an item: some rows of gate and up for tokens of x, activated, to out (tokens,
 * out_stride). rows is where they begin in the matrices, which matters for experts. */
struct be_gated {
    const struct be_ffn *net;
    const float *bias_gate, *bias_up;       /* from the first of these rows; may be NULL */
    size_t row, n_rows;
    const float *x;                         /* (tokens, n_embd) */
    size_t tokens;
    float *out;
    size_t out_stride;
};
void be_llama_gated(struct be_llama *m, const struct be_gated *g, int thread);

/* y = x / rms(x) * w (or the kind of norm the model has) + bias, (n); y may be x; w and bias
 * may be NULL */
void be_llama_norm(const struct be_llama *m, const float *x, const float *w, const float *bias,
                   float *y, size_t n);
/* One job of n items of a token each. */
void be_llama_tokens(struct be_llama *m, be_pool_fn *fn);
/* Cosines and sines of token t for this layer. */
const float *be_llama_angles(const struct be_llama *m, size_t t);
float be_llama_q_scale(const struct be_llama *m, size_t t);

/* For a pool item: rows of a projection whose result goes to m->to. */
void be_llama_project(struct be_llama *m, const struct be_matrix *w, const float *bias,
                      const float *x, size_t item, int thread);
/* For a pool item: has the step been cancelled? */
bool be_llama_stop(struct be_llama *m);
/* Share items among the threads, unless the work (multiplications) is not worth it. */
void be_llama_share(struct be_llama *m, be_pool_fn *fn, size_t items, uint64_t work);
size_t be_llama_items(uint64_t rows, size_t tile);
float *be_llama_scratch(const struct be_llama *m, int thread);

#endif
