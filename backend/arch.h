#ifndef BE_ARCH_H
#define BE_ARCH_H

/* The architectures this version computes, and the numbers that describe one model of them.
 * A row of the table says what a layer is made of; shared pieces compute it. A new
 * architecture is a row and, only if it brings a new idea, one piece. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/rope.h"
#include "base/gguf.h"

struct err;

/* What a model or a layer has. Tensors are wanted, and pieces run, by these. */
enum be_has {
    BE_HAS_QKV_BIAS = 1 << 0,       /* attn_q.bias and so on may be there */
    BE_HAS_ALL_BIAS = 1 << 1,       /* also of attn_output and the ffn */
    BE_HAS_QK_NORM = 1 << 2,        /* attn_q_norm and attn_k_norm of each head */
    BE_HAS_QK_WIDE = 1 << 3,        /* the same over all heads together */
    BE_HAS_MAY_GATE = 1 << 4,       /* experts may do without a gate */
    BE_HAS_ATTN_TEMP = 1 << 5,      /* attention.temperature_scale may be there */
    BE_HAS_YARN_KEYS = 1 << 6,      /* rope.scaling.yarn_* are heeded */
    BE_HAS_IN_NORM = 1 << 7,        /* attn_norm: what attention reads is normalised */
    BE_HAS_FFN_NORM = 1 << 8,       /* ffn_norm: what the network reads is */
    BE_HAS_POST_NORM = 1 << 9,      /* post_attention_norm, post_ffw_norm: results are */
    BE_HAS_LATE_NAME = 1 << 10,     /* ffn_norm is called post_attention_norm */
    BE_HAS_LAYER_NORM = 1 << 11,    /* norms take the mean away, and */
    BE_HAS_NORM_BIAS = 1 << 12,     /* add a bias */
    BE_HAS_PARALLEL = 1 << 13,      /* attention and network read the same */
    BE_HAS_QKV_FUSED = 1 << 14,     /* attn_qkv is q, k and v */
    BE_HAS_UP_FUSED = 1 << 15,      /* ffn_up is gate and up */
    BE_HAS_GATE = 1 << 16,
    BE_HAS_POSITIONS = 1 << 17,     /* position_embd is added, nothing turns */
    BE_HAS_SINKS = 1 << 18,         /* attn_sinks: a score that takes weight, per head */
    BE_HAS_NO_HEAD = 1 << 19,       /* the embedding is the output matrix, always */
    BE_HAS_EXPERT_BIAS = 1 << 20,
    BE_HAS_EXPERT_KEYS = 1 << 21,   /* expert_gating_func and expert_weights_norm heeded */
    BE_HAS_CHOICE_BIAS = 1 << 22,   /* exp_probs_b may be there: for the choice only */
    BE_HAS_MAY_QK_NORM = 1 << 23,   /* as QK_NORM, if the file has it */
    BE_HAS_ROPE_PAIR = 1 << 24,     /* rope_factors_long and _short may be there */
    /* of a layer */
    BE_HAS_MLA = 1 << 25,           /* keys and values come from one compressed row */
    BE_HAS_Q_LORA = 1 << 26,        /* so does q */
    BE_HAS_DENSE = 1 << 27,
    BE_HAS_EXPERTS = 1 << 28,
    BE_HAS_SHARED = 1 << 29,        /* an expert that every token passes */
    BE_HAS_PLAIN_QKV = 1 << 30,
};

enum be_act { BE_ACT_SILU, BE_ACT_GELU, BE_ACT_CLAMPED };

/* How the router's numbers become the weights of the chosen. Numbered as in files. */
enum be_gating { BE_GATING_NONE, BE_GATING_SOFTMAX, BE_GATING_SIGMOID, BE_GATING_CHOSEN };

enum be_window {
    BE_WINDOW_NONE,
    BE_WINDOW_SLIDING,      /* the last so many positions */
    BE_WINDOW_CHUNKED,      /* those since the last multiple of so many */
};

/* Models with experts and what is special about them. */
struct be_arch_moe {
    enum be_gating gating;
    bool sum_to_one;        /* the weights of the chosen */
    bool on_logits;         /* chosen before gating, which changes no order */
    bool weigh_input;       /* weights multiply what the experts read */
    enum { BE_WIDE_ALL, BE_WIDE_SPLIT, BE_WIDE_KEY } width; /* an expert is as wide as a
                             * dense network; or, without the key, as all used are together;
                             * or has a key */
    bool steps;             /* interleave_moe_layer_step must be there */
    uint32_t shared;        /* without EXPERT_KEYS */
};

struct be_arch_window {
    enum be_window kind;
    uint32_t period;        /* every so-many-th layer sees all */
    uint32_t size;          /* without the key; 0: then there is no window */
    uint32_t only_layers;   /* the window is for models of so many layers; 0: for all */
    bool fixed;             /* the key is not heeded */
    bool must;              /* the key must be there */
    bool turn_only;         /* layers that see all do not turn (if others do not) */
    bool plain;             /* layers with a window turn unscaled, */
    float base;             /* and from this base; 0: as all */
    bool base_key;          /* rope.freq_base_swa is heeded */
};

struct be_arch {
    const char *name;           /* general.architecture, and the prefix of the keys */
    enum be_rope_layout layout;
    uint32_t has;
    uint32_t no_rope_step;      /* every so-many-th layer does not turn; 0: all do */
    enum be_act act;
    struct be_arch_window window;
    struct be_arch_moe moe;
    float attn_cap, logit_cap;  /* soft caps without the keys; 0: none */
    bool qk_length;             /* q and k get length sqrt(n) after they turned, */
    uint32_t no_length_experts; /* but not in models of so many experts */
    bool embd_root;             /* embeddings are multiplied by sqrt(n_embd) */
    bool divide_logits;         /* logit_scale divides, otherwise it multiplies */
    bool caps;                  /* the keys of soft caps are heeded */
    bool scales;                /* embedding_, residual_, attention. and logit_scale heeded */
    uint32_t wide_scale_layers; /* in models of so many layers queries are scaled by n_embd */
    bool temp_no_rope;          /* the temperature is for layers that do not turn */
};

struct be_moe_params {
    uint32_t n, used, n_ff;     /* experts, of which used, each so wide; n 0: none */
    uint32_t shared_ff;         /* width of the shared one; 0: none */
    uint32_t groups, groups_used;
    uint32_t first, step;       /* layers from first, every step-th, have experts */
    enum be_gating gating;
    bool sum_to_one;
    float scale;
};

struct be_mla_params {
    uint32_t rank, q_rank;      /* of keys and values (0: no MLA), of queries (0: full) */
    uint32_t key_len, value_len;    /* of a head, uncompressed */
};

/* All checked against each other; the tensors' shapes follow from them. */
struct be_hparams {
    uint32_t n_layers, n_embd, n_heads, n_kv_heads, n_ff, n_vocab, ctx_train;
    uint32_t n_extra;           /* layers behind the last, for guessing ahead: not used */
    uint32_t key_len, value_len;
    uint32_t value_row;         /* floats per position and head that hold a value */
    uint32_t temp_floor;        /* positions per step of the attention temperature */
    uint32_t window, window_period;
    enum be_window window_kind;
    bool two_turns;             /* rope_window differs from rope */
    bool qk_length;
    float eps, temp_scale, temp_offset;
    float q_scale, embd_scale, residual_scale, logit_scale, attn_cap, logit_cap;
    struct be_rope_params rope, rope_window;    /* of full layers; of those with a window */
    struct be_moe_params moe;
    struct be_mla_params mla;
};

/* Both fail with ERR_MODEL and name file and key. */
const struct be_arch *be_arch_find(const struct gguf *g, struct err *e);
bool be_arch_read(const struct be_arch *a, const struct gguf *g, struct be_hparams *h,
                  struct err *e);

/* Row i of the table, NULL behind the last. */
const struct be_arch *be_arch_at(size_t i);

/* What layer i is made of. */
uint32_t be_arch_layer_has(const struct be_arch *a, const struct be_hparams *h, uint32_t i);
bool be_arch_windowed(const struct be_hparams *h, uint32_t i);
bool be_arch_turns(const struct be_arch *a, const struct be_hparams *h, uint32_t i);

bool be_arch_str_is(struct gguf_str s, const char *name);

#endif
