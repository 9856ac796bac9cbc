#ifndef UNIT_VOCAB_MAKE_H
#define UNIT_VOCAB_MAKE_H

/* Vocabularies for tests, token by token, and the GGUF file that holds them. */

#include <stdio.h>

#include "tests/unit/gguf-write.h"

#define SP "\xE2\x96\x81"       /* U+2581, SentencePiece's space */
#define GS "\xC4\xA0"           /* a space in the byte-level alphabet */

/* Types of tokens. */
enum { NORMAL = 1, UNKNOWN, CONTROL, USER, UNUSED, BYTE };

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

static inline int32_t gm_token(struct gm_vocab *m, const char *text, int32_t type,
                               float score)
{
    struct gm_token *t = &m->v[m->n];

    t->n = strlen(text);
    memcpy(t->text, text, t->n + 1);
    t->type = type;
    t->score = score;
    return (int32_t)m->n++;
}

enum gm_lists { GM_TOKENS = 1, GM_TYPES = 2, GM_SCORES = 4 };

static inline void gm_vocab(struct gguf_write *w, const struct gm_vocab *v,
                            unsigned lists)
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

/* ---- a small vocabulary of SentencePiece ---- */

static inline void spm_tokens(struct gm_vocab *v)
{
    char name[8];

    gm_token(v, "<unk>", UNKNOWN, 0);
    gm_token(v, "<s>", CONTROL, 0);
    gm_token(v, "</s>", CONTROL, 0);
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        gm_token(v, name, BYTE, 0);
    }
    gm_token(v, SP, NORMAL, -20);
    gm_token(v, "a", NORMAL, -21);
    gm_token(v, "b", NORMAL, -22);
    gm_token(v, "c", NORMAL, -23);
    gm_token(v, "<", NORMAL, -24);
    gm_token(v, "/", NORMAL, -25);
    gm_token(v, "s", NORMAL, -26);
    gm_token(v, ">", NORMAL, -27);
    gm_token(v, "ab", NORMAL, -3);
    gm_token(v, "bc", NORMAL, -2);
    gm_token(v, "aa", NORMAL, -4);
    gm_token(v, SP "a", NORMAL, -5);
    gm_token(v, SP SP, NORMAL, -6);
    gm_token(v, "</", NORMAL, -7);
    gm_token(v, "</s", NORMAL, -8);
    gm_token(v, "<tool>", USER, 0);
    gm_token(v, "<|turn|>", USER, 0);
    gm_token(v, "<end_of_turn>", USER, 0);
    gm_token(v, "[EOT]", USER, 0);
}

/* ---- and one of byte-level BPE ---- */

/* The alphabet's character for a byte. */
static inline const char *letter(int b)
{
    static char s[256][5];
    int next = 0x100;
    struct buf out = {0};

    for (int i = 0; i <= b; i++) {
        bool self = (i > 0x20 && i < 0x7F) || (i > 0xA0 && i != 0xAD);
        int cp = self ? i : next++;
        if (i == b) {
            if (cp < 0x80)
                buf_addc(&out, (char)cp);
            else
                buf_addf(&out, "%c%c", 0xC0 | cp >> 6, 0x80 | (cp & 0x3F));
        }
    }
    snprintf(s[b], sizeof s[b], "%s", out.p);
    buf_release(&out);
    return s[b];
}

static inline void bpe_tokens(struct gm_vocab *v)
{
    for (int b = 0; b < 256; b++)
        gm_token(v, letter(b), NORMAL, 0);
    gm_token(v, "ab", NORMAL, 0);
    gm_token(v, "bc", NORMAL, 0);
    gm_token(v, "aa", NORMAL, 0);
    gm_token(v, GS "a", NORMAL, 0);
    gm_token(v, "abcc", NORMAL, 0);     /* no merges lead here */
    gm_token(v, "<|end|>", CONTROL, 0);
    gm_token(v, "<tool>", USER, 0);
    gm_token(v, "<s>", NORMAL, 0);
}

static inline void bpe_merge_list(struct gguf_write *w)
{
    static const char *const merges[] = { "b c", "a b", "a a", GS " a", "z z", "abc c" };

    gw_kv_array(w, "tokenizer.ggml.merges", GGUF_STRING, 6);
    for (int i = 0; i < 6; i++)
        gw_str(&w->kv, merges[i], strlen(merges[i]));
}

#endif
