#ifndef UNIT_LLAMA_WRITE_H
#define UNIT_LLAMA_WRITE_H

/* A tiny model with made-up weights, complete and sound, for tests that must run without
 * the shared data and as a seed for fuzzing: 2 layers, 32 wide, 64 tokens. */

#include <stdio.h>

#include "tests/unit/gguf-write.h"

enum { LW_EMBD = 32, LW_HEADS = 4, LW_KV = 2, LW_LEN = 8, LW_FF = 64, LW_VOCAB = 64 };

static inline void lw_key(struct gguf_write *w, const char *arch, const char *name, uint32_t v)
{
    char key[128];
    snprintf(key, sizeof key, "%s.%s", arch, name);
    gw_kv_u32(w, key, v);
}

/* Floats, or as many Q8_0 blocks, from a small generator: stack matrices of rows. */
static inline void lw_stack(struct gguf_write *w, const char *name, uint32_t dtype,
                            uint64_t cols, uint64_t rows, uint64_t stack)
{
    static uint32_t x = 1;
    uint64_t ne[3] = {cols, rows, stack};
    struct buf data = {0};

    for (uint64_t i = 0; i < cols * rows * stack; i++) {
        float f = (float)((x = x * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f;
        if (dtype == GGUF_DT_F32)
            buf_add(&data, &f, sizeof f);
        else if (i % 32 == 0)
            buf_add(&data, "\x00\x18", 2);          /* 2^-9 as a half */
        if (dtype != GGUF_DT_F32)
            buf_addc(&data, (char)(x >> 24));
    }
    gw_tensor(w, name, dtype, stack > 1 ? 3 : rows == 1 ? 1 : 2, ne, data.p, data.n);
    buf_release(&data);
}

static inline void lw_tensor(struct gguf_write *w, const char *name, uint32_t dtype,
                             uint64_t cols, uint64_t rows)
{
    lw_stack(w, name, dtype, cols, rows, 1);
}

static inline void lw_layer(struct gguf_write *w, uint32_t layer, uint32_t dtype)
{
    static const struct {
        const char *name;
        uint64_t cols, rows;
    } t[] = {
        {"attn_norm.weight", LW_EMBD, 1},
        {"attn_q.weight", LW_EMBD, LW_HEADS * LW_LEN},
        {"attn_k.weight", LW_EMBD, LW_KV * LW_LEN},
        {"attn_v.weight", LW_EMBD, LW_KV * LW_LEN},
        {"attn_output.weight", LW_HEADS * LW_LEN, LW_EMBD},
        {"ffn_norm.weight", LW_EMBD, 1},
        {"ffn_gate.weight", LW_EMBD, LW_FF},
        {"ffn_up.weight", LW_EMBD, LW_FF},
        {"ffn_down.weight", LW_FF, LW_EMBD},
        {"attn_q.bias", LW_HEADS * LW_LEN, 1},
    };
    char name[64];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(name, sizeof name, "blk.%u.%s", layer, t[i].name);
        lw_tensor(w, name, t[i].rows == 1 ? GGUF_DT_F32 : dtype, t[i].cols, t[i].rows);
    }
}

/* dtype of the matrices: F32 or Q8_0. Release w afterwards. */
static inline void lw_model(struct gguf_write *w, const char *arch, uint32_t dtype)
{
    char eps[64];

    gw_kv_str(w, "general.architecture", arch);
    gw_kv_str(w, "general.name", "made up");
    lw_key(w, arch, "block_count", 2);
    lw_key(w, arch, "context_length", 100);
    lw_key(w, arch, "embedding_length", LW_EMBD);
    lw_key(w, arch, "feed_forward_length", LW_FF);
    lw_key(w, arch, "attention.head_count", LW_HEADS);
    lw_key(w, arch, "attention.head_count_kv", LW_KV);
    snprintf(eps, sizeof eps, "%s.attention.layer_norm_rms_epsilon", arch);
    gw_kv_f32(w, eps, 1e-5f);
    lw_tensor(w, "token_embd.weight", dtype, LW_EMBD, LW_VOCAB);
    lw_tensor(w, "output_norm.weight", GGUF_DT_F32, LW_EMBD, 1);
    for (uint32_t i = 0; i < 2; i++)
        lw_layer(w, i, dtype);
}

#endif
