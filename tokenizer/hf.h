#ifndef TOK_HF_H
#define TOK_HF_H

/* The files of a Hugging Face model folder, for load_hf.c and load_tiktoken.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"
#include "tokenizer/internal.h"

/* ---- hf_file.c ---- */

/* Append DIR/NAME, DIR being path if that is a folder, else the folder it lies in. */
void hf_beside(struct buf *out, const char *path, const char *name);
bool hf_is_dir(const char *path);
bool hf_exists(const char *path);
/* A file of at most max bytes, not empty, mapped. */
struct hf_file {
    const char *p;
    size_t n;
};
bool hf_map(const char *path, size_t max, struct hf_file *f, struct err *e);
void hf_unmap(struct hf_file *f);
/* "cannot load the tokenizer of PATH: ..." with kind ERR_MODEL; returns false. */
bool hf_bad(struct err *e, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- hf_scan.c: tokenizer.json without its two long lists ---- */

/* A vocabulary of 150,000 tokens is 11 MB of JSON, nearly all of it model.vocab and
 * model.merges. They are read where they stand; what is left is a small document. */
struct hf_list {
    const char *p, *end;    /* inside the brackets; p is NULL if there is no list */
    struct buf left, right; /* the last strings, if they had escapes */
    bool broken;
    bool begun;
};

bool hf_scan(const char *text, size_t len, struct buf *rest, struct hf_list *vocab,
             struct hf_list *merges, const char **why);

struct hf_str {
    const char *p;
    size_t n;
};

/* The next "name": id. False at the end, or broken. */
bool hf_next_token(struct hf_list *l, struct hf_str *name, int64_t *id);
/* The next "left right" (then right->p is NULL) or ["left", "right"]. */
bool hf_next_merge(struct hf_list *l, struct hf_str *left, struct hf_str *right);
void hf_list_release(struct hf_list *l);

/* ---- hf_config.c: tokenizer_config.json and generation_config.json ---- */

struct hf_added {
    int64_t id;
    const char *content;    /* borrowed from the document */
    size_t n;
    unsigned found;         /* enum tok_found */
    bool special;
};

struct hf_config {
    json_t *tokenizer, *generation; /* NULL: there is none */
};

/* Both files beside path, as far as they are there. */
bool hf_config_load(struct hf_config *c, const char *path, struct err *e);
void hf_config_release(struct hf_config *c);
/* An added token as tokenizer.json or added_tokens_decoder has it. */
bool hf_added_read(const json_t *o, int64_t id, struct hf_added *a);
/* Set bos, eos, whether BOS is added, and what ends a turn. t's names are indexed. */
void hf_config_apply(const struct hf_config *c, struct tok *t);
/* Say where t comes from. */
void hf_origin(struct tok *t, const char *path, const struct hf_config *c);

/* ---- load_hf.c and load_tiktoken.c: files in memory ---- */

struct tok *tok_hf_memory(const char *text, size_t len, const char *name,
                          const struct hf_config *config, struct err *e);
struct tok *tok_tiktoken_memory(const char *text, size_t len, const char *name,
                                const struct hf_config *config, const char *pre,
                                struct err *e);

/* ---- hf_split.c: "normalizer" and "pre_tokenizer" ---- */

/* Set norm, prefix, presplit, and flags. False, e filled, for a kind that is not known.
 */
bool hf_split_load(struct tok *t, const json_t *doc, const char *path, struct err *e);

#endif
