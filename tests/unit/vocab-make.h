#ifndef UNIT_VOCAB_MAKE_H
#define UNIT_VOCAB_MAKE_H

/* Vocabularies for tests, token by token, and the GGUF file that holds them. */

#include "tests/unit/gguf-write.h"

struct gm_token {
    char text[64];
    size_t n;
    float score;
    int32_t type;
};

struct gm_vocab {
    struct gm_token v[1024];
    size_t n;
};

static inline int32_t gm_token(struct gm_vocab *m, const char *text, int32_t type, float score)
{
    struct gm_token *t = &m->v[m->n];

    t->n = strlen(text);
    memcpy(t->text, text, t->n + 1);
    t->type = type;
    t->score = score;
    return (int32_t)m->n++;
}

enum gm_lists { GM_TOKENS = 1, GM_TYPES = 2, GM_SCORES = 4 };

static inline void gm_vocab(struct gguf_write *w, const struct gm_vocab *v, unsigned lists)
{
    if (lists & GM_TOKENS) {
        gw_kv_array(w, "tokenizer.ggml.tokens", GGUF_STRING, v->n);
        for (size_t i = 0; i < v->n; i++)
            gw_str(&w->kv, v->v[i].text, v->v[i].n);
    }
    if (lists & GM_TYPES) {
        gw_kv_array(w, "tokenizer.ggml.token_type", GGUF_I32, v->n);
        for (size_t i = 0; i < v->n; i++)
            gw_u32(&w->kv, (uint32_t)v->v[i].type);
    }
    if (lists & GM_SCORES) {
        gw_kv_array(w, "tokenizer.ggml.scores", GGUF_F32, v->n);
        for (size_t i = 0; i < v->n; i++)
            buf_add(&w->kv, &v->v[i].score, sizeof v->v[i].score);
    }
}

static inline void gm_kv_bool(struct gguf_write *w, const char *key, bool v)
{
    gw_kv(w, key, GGUF_BOOL, v ? "\1" : "\0", 1);
}

/* file holds the bytes as long as the gguf is open. */
static inline struct gguf *gm_open(struct gguf_write *w, struct buf *file, struct err *e)
{
    gw_finish(w, file);
    return gguf_open_memory(file->p, file->n, "made.gguf", e);
}

#endif
