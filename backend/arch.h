#ifndef BE_ARCH_H
#define BE_ARCH_H

/* The architectures this version computes, and the numbers that describe one model of them.
 * All are llamas: RMS norm, grouped attention with RoPE, a gated SiLU network. A row of the
 * table says in what they differ. */

#include <stdbool.h>
#include <stdint.h>

#include "backend/rope.h"
#include "base/gguf.h"

struct be_arch;
struct err;

enum be_arch_has {
    BE_HAS_QKV_BIAS = 1,        /* attn_q.bias and so on may be there */
    BE_HAS_ALL_BIAS = 2,        /* also of attn_output and the ffn */
    BE_HAS_QK_NORM = 4,         /* attn_q_norm and attn_k_norm must be there */
    BE_HAS_ATTN_TEMP = 8,       /* attention.temperature_scale may be there */
    BE_HAS_YARN_KEYS = 16,      /* rope.scaling.yarn_* are heeded */
};

struct be_arch {
    const char *name;           /* general.architecture, and the prefix of the keys */
    enum be_rope_layout layout;
    unsigned has;
    uint32_t no_rope_step;      /* every so-many-th layer does not turn; 0: all do */
};

/* All checked against each other; the tensors' shapes follow from them. */
struct be_hparams {
    uint32_t n_layers, n_embd, n_heads, n_kv_heads, n_ff, n_vocab, ctx_train;
    uint32_t key_len, value_len;
    uint32_t temp_floor;        /* positions per step of the attention temperature */
    float eps, temp_scale;
    struct be_rope_params rope;
};

/* Both fail with ERR_MODEL and name file and key. */
const struct be_arch *be_arch_find(const struct gguf *g, struct err *e);
bool be_arch_read(const struct be_arch *a, const struct gguf *g, struct be_hparams *h,
                  struct err *e);

bool be_arch_str_is(struct gguf_str s, const char *name);

#endif
