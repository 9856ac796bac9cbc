#ifndef TOK_INTERNAL_H
#define TOK_INTERNAL_H

/* What the files of tokenizer/ share. Nobody else includes this.
 *
 * A token has a name (as stored in the file) and bytes (the text it stands for). Merging
 * works on bytes only: the map from bytes to ids holds no token that text must not
 * become, so that no text can grow into a control token. Names are matched by struct
 * tok_names. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/gguf.h"
#include "tokenizer/tokenizer.h"

/* Numbers of tokenizer.ggml.token_type. */
enum tok_type {
    TOK_NORMAL = 1,
    TOK_UNKNOWN = 2,        /* stands for what the vocabulary cannot write */
    TOK_CONTROL = 3,
    TOK_USER = 4,           /* found in text before anything is merged */
    TOK_UNUSED = 5,
    TOK_BYTE = 6,
};

struct tok_entry {
    const char *name;       /* borrowed from the file or the list */
    const char *bytes;      /* the same, or in the arena */
    uint32_t name_len, bytes_len;
    float score;            /* SentencePiece: the higher, the earlier it is merged */
    uint8_t type;           /* enum tok_type */
    bool ends;              /* the model's turn ends with it */
};

/* ---- names.c: sorted names, longest match ---- */

struct tok_name {
    const char *p;
    uint32_t n;
    int32_t id;
};

struct tok_names {
    struct tok_name *v;
    size_t n, cap;
    uint32_t first[257];    /* with first byte b: v[first[b]] .. v[first[b + 1]] */
};

void tok_names_add(struct tok_names *s, const char *p, size_t n, int32_t id);
void tok_names_sort(struct tok_names *s); /* after the last add, before any look-up */
/* The longest name that text begins with: its length and id, or 0. */
size_t tok_names_longest(const struct tok_names *s, const char *text, size_t len,
                         int32_t *id);
int32_t tok_names_find(const struct tok_names *s, const char *p, size_t n);
void tok_names_release(struct tok_names *s);

/* ---- map.c: bytes → id, and (left id, right id) → merge ---- */

struct tok_map_slot {
    uint64_t word;          /* up to 8 bytes: the bytes themselves; more: their hash */
    uint32_t len;
    uint32_t id1;           /* id + 1; 0: free */
};

enum { TOK_BATCH = 16 };    /* look-ups whose memory is fetched at once */

struct tok_map {
    struct tok_map_slot *slot;
    size_t mask;
    uint64_t seed;
    int32_t late[TOK_BATCH];    /* put, but not yet in the table */
    int n_late;
};

struct tok_pair_slot {
    uint64_t key;           /* 0: free */
    uint32_t rank;
    int32_t id;             /* what the two become */
};

struct tok_pairs {
    struct tok_pair_slot *slot;
    size_t mask;
    uint64_t seed;
};

void tok_map_init(struct tok_map *m, size_t n);
void tok_map_put(struct tok_map *m, const struct tok_entry *v, int32_t id);
void tok_map_flush(struct tok_map *m, const struct tok_entry *v); /* after the last put */
/* These bytes are looked up soon: have their line of memory fetched. */
void tok_map_soon(const struct tok_map *m, const char *p, size_t n);
int32_t tok_map_get(const struct tok_map *m, const struct tok_entry *v, const char *p,
                    size_t n);
void tok_map_release(struct tok_map *m);

void tok_pairs_init(struct tok_pairs *m, size_t n);
void tok_pairs_put(struct tok_pairs *m, int32_t left, int32_t right, uint32_t rank,
                   int32_t id);
void tok_pairs_soon(const struct tok_pairs *m, int32_t left, int32_t right);
const struct tok_pair_slot *tok_pairs_get(const struct tok_pairs *m, int32_t left,
                                          int32_t right);
void tok_pairs_release(struct tok_pairs *m);

/* ---- merge.c: the one merging loop ---- */

struct merge_sym {
    uint32_t at, len;       /* bytes of the text */
    int32_t id;             /* -1: not known yet */
    int32_t prev, next;     /* while merging */
};

struct merge_pair {
    uint32_t order;         /* the smaller, the earlier it is merged */
    int32_t id;             /* -1: the two do not merge */
};

struct merge_cand;

/* Memory that one call of tok_encode() reuses from piece to piece. */
struct tok_work {
    struct merge_sym *sym;
    size_t n, sym_cap;
    struct merge_cand *heap;
    size_t heap_n, heap_cap;
    size_t *cut;            /* lengths of pieces */
    size_t cut_n, cut_cap;
    size_t *cut2;           /* the same, for the step before */
    size_t cut2_cap;
    struct buf text;
    void *match;            /* presplit.c's */
};

void tok_work_release(struct tok_work *w);
void tok_work_sym(struct tok_work *w, size_t at, size_t len, int32_t id);

typedef struct merge_pair merge_find(const struct tok *t, const char *text,
                                     const struct merge_sym *l,
                                     const struct merge_sym *r);
/* Merge w->sym[0 .. w->n), neighbours in text, until nothing merges any more: the pair of
 * least order first, the leftmost of equals. O(n log n). */
void tok_merge(const struct tok *t, const char *text, struct tok_work *w,
               merge_find *find);

/* ---- presplit.c: the text is cut by the model's regular expressions first ---- */

struct presplit;

struct presplit_name {
    const char *name;       /* of tokenizer.ggml.pre */
    const char *family;     /* whose expressions it has */
    unsigned flags;
};

enum presplit_flags {
    PRESPLIT_NFC = 1,   /* the text is normalised first */
    PRESPLIT_WHOLE = 2, /* a piece that is a token is that token, whatever its merges */
    PRESPLIT_BOS = 4,   /* prompts begin with BOS if the file does not say */
};

const struct presplit_name *presplit_find(const char *name, size_t len);
void presplit_list(struct buf *out);            /* append "llama-bpe, qwen2, ..." */
struct presplit *presplit_new(const char *family);
void presplit_free(struct presplit *p);
/* Cut text, which is UTF-8, into pieces; their lengths in w->cut. */
void presplit_cut(const struct presplit *p, const char *text, size_t len,
                  struct tok_work *w);
void presplit_work_release(struct tok_work *w);

/* ---- the tokenizer ---- */

/* Append the ids of a text without names in it. start: the place is TOK_AT_START. */
typedef void tok_encode_text(const struct tok *t, const char *text, size_t len,
                             bool start, struct tok_work *w, struct tok_ids *out);

struct tok {
    char kind[64];
    struct tok_entry *v;
    size_t n;
    char *arena;                /* bytes that are not in the file as they are */
    tok_encode_text *encode;
    struct tok_names specials;  /* control, user-defined and unknown, by name */
    struct tok_names user;      /* those that also plain text becomes */
    int32_t bos, eos, unk;      /* -1: none */
    bool adds_bos;
    bool space_prefix;          /* SPM */
    struct tok_map map;         /* bytes → id of what text may become */
    int32_t byte_id[256];       /* -1: the vocabulary cannot write this byte */
    struct tok_names list;      /* of tok_from_list() */
    bool joins[256];            /* SPM: a token has a space behind this byte */
    uint32_t longest;           /* SPM: bytes of the longest token in the map */
    struct tok_pairs pairs;     /* BPE */
    struct presplit *presplit;
    unsigned presplit_flags;
};

/* Longer names are not matched in text (load_gguf.c refuses them). */
enum { TOK_NAME_MAX = 1024 };

/* tokenizer.c: fill the name indexes and the end marks; types and ids are known. */
void tok_index(struct tok *t);
/* Called user-defined by the file, though its name is that of a control token. */
bool tok_is_control_like(const struct tok_entry *v);

/* spm.c and bpe.c: fill bytes, map and what else is theirs; names and types are known. */
bool spm_init(struct tok *t, const struct gguf *g, struct err *e);
bool bpe_init(struct tok *t, const struct gguf *g, struct err *e);

/* load_gguf.c: an array that must be there, of n elements of a type; NULL, e filled. */
const struct gguf_kv *tok_array(const struct gguf *g, const char *key,
                                enum gguf_type type, uint64_t n, struct err *e);

/* load_gguf.c: "FILE: KEY ..." with kind ERR_MODEL; returns false. */
bool tok_bad(struct err *e, const struct gguf *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
