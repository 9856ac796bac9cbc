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

/* How the name of an added token is found in text, as tokenizer.json says it. */
enum tok_found {
    TOK_FOUND_WORD = 1,     /* "single_word": no letters or digits touch it */
    TOK_FOUND_LEFT = 2,     /* "lstrip": it takes the white space before it along */
    TOK_FOUND_RIGHT = 4,    /* "rstrip": and that behind it */
    TOK_FOUND_LATE = 8,     /* "normalized": looked for in the normalised text */
    TOK_FOUND_ALSO = 16,    /* and it can be what merging makes, like any other token */
};

struct tok_entry {
    const char *name;       /* borrowed from the file or the list, or in the arena */
    const char *bytes;      /* the same, or in the arena */
    uint32_t name_len, bytes_len;
    float score;            /* SentencePiece: the higher, the earlier it is merged */
    uint8_t type;           /* enum tok_type */
    uint8_t found;          /* enum tok_found */
    bool ends;              /* the model's turn ends with it */
};

/* ---- names.c: sorted names, longest match ---- */

/* Texts in which a name is that token. */
enum tok_mode {
    TOK_IN_SPECIAL = 1,     /* tok_encode_special() */
    TOK_IN_PLAIN = 2,
    TOK_IN_FOREIGN = 4,
};

struct tok_name {
    const char *p;
    uint32_t n;
    int32_t id;
    unsigned modes;         /* enum tok_mode */
};

struct tok_names {
    struct tok_name *v;
    size_t n, cap;
    uint32_t first[257];    /* with first byte b: v[first[b]] .. v[first[b + 1]] */
    bool begins[256];       /* is there one? */
};

void tok_names_add(struct tok_names *s, const char *p, size_t n, int32_t id,
                   unsigned modes);
void tok_names_sort(struct tok_names *s); /* after the last add, before any look-up */
/* The longest name for this mode that text begins with: its length and id, or 0. */
size_t tok_names_longest(const struct tok_names *s, unsigned mode, const char *text,
                         size_t len, int32_t *id);
int32_t tok_names_find(const struct tok_names *s, const char *p, size_t n);
void tok_names_release(struct tok_names *s);

/* ---- map.c: bytes → id, and (left id, right id) → merge ---- */

struct tok_map_slot {
    uint64_t word;          /* up to 8 bytes: the bytes themselves; more: their hash */
    uint32_t len;
    uint32_t id1;           /* id + 1; 0: free */
};

enum { TOK_BATCH = 16 }; /* look-ups whose memory is fetched at once */

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
    size_t mask, n;
    uint64_t seed;
};

uint64_t tok_hash_seed(const void *p);
uint64_t tok_hash(uint64_t seed, const char *p, size_t n);

void tok_map_init(struct tok_map *m, size_t n);
void tok_map_put(struct tok_map *m, const struct tok_entry *v, int32_t id);
void tok_map_flush(struct tok_map *m, const struct tok_entry *v); /* after the last put */
/* These bytes are looked up soon: have their line of memory fetched. */
void tok_map_soon(const struct tok_map *m, const char *p, size_t n);
int32_t tok_map_get(const struct tok_map *m, const struct tok_entry *v, const char *p,
                    size_t n);
void tok_map_release(struct tok_map *m);

void tok_pairs_init(struct tok_pairs *m, size_t n); /* grows if there are more */
void tok_pairs_put(struct tok_pairs *m, int32_t left, int32_t right, uint32_t rank,
                   int32_t id);
void tok_pairs_soon(const struct tok_pairs *m, int32_t left, int32_t right);
const struct tok_pair_slot *tok_pairs_get(const struct tok_pairs *m, int32_t left,
                                          int32_t right);
void tok_pairs_release(struct tok_pairs *m);

/* ---- encode.c ---- */

/* Length of the beginning of text that is (or is not) UTF-8. */
size_t tok_valid_run(const char *text, size_t len);
size_t tok_invalid_run(const char *text, size_t len);

/* Most pieces of text are a token, and nearly always merging would give that very token.
 * Whether it does is found out once for each token and remembered; several threads may
 * find out at once, and write the same. */
enum tok_whole { TOK_NOT_KNOWN, TOK_WHOLE, TOK_IN_PARTS };
void tok_whole_init(struct tok *t); /* without it, all are */
enum tok_whole tok_whole(const struct tok *t, int32_t id);
void tok_whole_set(const struct tok *t, int32_t id, bool whole);

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
    struct buf text;        /* spm.c's */
    struct buf norm;        /* encode.c's */
    struct buf known;       /* presplit.c's */
    unsigned gave_up;       /* presplit.c: expressions that ran too long */
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
/* Two tokens merge if the vocabulary lists the pair; its rank is the order. */
merge_find merge_find_pair;

/* ---- presplit_table.c: the known pre-tokenizers ---- */

enum { PRESPLIT_STEPS = 7 };

struct presplit_family {
    const char *name;
    const char *step[PRESPLIT_STEPS];   /* expressions; NULL: no more */
};

struct presplit_name {
    const char *name;       /* of tokenizer.ggml.pre */
    const char *family;     /* whose expressions it has */
    unsigned flags;
};

enum presplit_flags {
    PRESPLIT_NFC = 1,    /* the text is normalised first */
    PRESPLIT_WHOLE = 2,  /* a piece that is a token is that token, whatever its merges */
    PRESPLIT_BOS = 4,    /* prompts begin with BOS if the file does not say */
    PRESPLIT_CHARS = 8,  /* merges characters of the text, not bytes (chars.c) */
    PRESPLIT_RANKS = 16, /* Kimi's: needs no merges, the id is the rank; a long text is
                            cut first as kimi.c tells */
};

const struct presplit_family *presplit_family(const char *name); /* NULL: unknown */
const struct presplit_name *presplit_find(const char *name, size_t len);
const struct presplit_name *presplit_name_at(size_t i); /* NULL behind them */
void presplit_list(struct buf *out); /* append "llama-bpe, qwen2, ..." */

/* ---- presplit.c: the text is cut by the model's regular expressions first ---- */

struct presplit;

enum presplit_origin { PRESPLIT_OURS, PRESPLIT_FOREIGN };

/* What becomes of the matches: the names are those of tokenizer.json. */
enum presplit_behavior {
    PRESPLIT_ISOLATED,      /* a piece */
    PRESPLIT_REMOVED,
    PRESPLIT_CONTIGUOUS,    /* neighbours are one piece */
    PRESPLIT_WITH_PREVIOUS, /* part of the piece before */
    PRESPLIT_WITH_NEXT,
};

/* In tok_work.cut: the piece is no part of the text. */
#define PRESPLIT_DROPPED ((size_t)1 << 63)

struct presplit *presplit_family_new(const char *name);
struct presplit *presplit_new(enum presplit_origin origin); /* no steps yet */
bool presplit_add(struct presplit *p, const char *re, size_t len,
                  enum presplit_behavior behavior, bool invert, struct err *e);
void presplit_free(struct presplit *p);
/* Cut text, which is UTF-8, into pieces; their lengths in w->cut. */
void presplit_cut(const struct presplit *p, const char *text, size_t len,
                  struct tok_work *w);
void presplit_work_release(struct tok_work *w);

/* presplit_spell.c: append an expression as PCRE2 writes it. False, e filled, if it
 * cannot be written. */
bool presplit_spell(struct buf *out, const char *re, size_t len, struct err *e);

/* presplit_unicode.c: text as PCRE2 knows it, of the same length; tmp is where it may be.
 */
const char *presplit_known(const char *text, size_t len, struct buf *tmp);

/* ---- norm.c: text is normalised before anything is cut ---- */

enum tok_norm_kind {
    TOK_NORM_NFC,
    TOK_NORM_NFD,
    TOK_NORM_NFKC,
    TOK_NORM_NFKD,
    TOK_NORM_REPLACE
};

struct tok_norm {
    enum tok_norm_kind kind;
    char *from, *to;        /* REPLACE */
    size_t from_len, to_len;
};

/* Append text, normalised; bytes that are not UTF-8 stay. False, and nothing appended, if
 * it is as it would become. */
bool tok_normalize(const struct tok *t, const char *text, size_t len, struct buf *out);

/* ---- class.c ---- */

bool tok_char_is_space(int32_t cp);   /* White_Space */
bool tok_char_is_word(int32_t cp);    /* \w: Alphabetic, marks, digits, connectors */
bool tok_char_is_decimal(int32_t cp); /* \d, that is \p{Nd} */
bool tok_char_is_number(int32_t cp);  /* \p{N} */

/* ---- kimi.c ---- */

/* Length of the first of the parts in which a text is encoded; *done counts code points
 * from one part to the next and is 0 in the beginning. */
size_t tok_kimi_part(const char *text, size_t len, size_t *done);

/* ---- the tokenizer ---- */

/* Append the ids of a text without names in it. prefix: a space belongs before it. */
typedef void tok_encode_text(const struct tok *t, const char *text, size_t len,
                             bool prefix, struct tok_work *w, struct tok_ids *out);

/* Where a space is put before a text. */
enum tok_prefix {
    TOK_PREFIX_NONE,
    TOK_PREFIX_ALWAYS,      /* at every start */
    TOK_PREFIX_UNLESS,      /* at every start, unless there is one */
    TOK_PREFIX_FIRST,       /* where the prompt begins, unless there is one */
};

struct tok {
    char kind[64];
    char *origin;               /* where it was found, for people */
    struct tok_entry *v;
    size_t n;
    char *arena;                /* bytes that are not in the file as they are */
    char *names;                /* names, if they are not in the file as they are */
    tok_encode_text *encode;
    struct tok_names specials;  /* control, user-defined and unknown, by name */
    struct tok_names found;     /* names that are looked for in text */
    struct tok_names late;      /* and those that are in normalised text */
    char **late_names;          /* (n_late) as they are there */
    size_t n_late, cap_late;
    unsigned takes;             /* enum tok_side of all tokens */
    int32_t bos, eos, unk;      /* -1: none */
    bool adds_bos;
    enum tok_prefix prefix;
    bool norm_spaces;           /* the normaliser writes spaces as U+2581 */
    struct tok_norm *norm;
    size_t n_norm, cap_norm;
    struct tok_map map;         /* bytes → id of what text may become */
    int32_t byte_id[256];       /* -1: the vocabulary cannot write this byte */
    struct tok_names list;      /* of tok_from_list() */
    bool joins[256];            /* spm.c, chars.c: a token has a space behind this byte */
    bool aliases_spaces;        /* spm.c: a run of spaces is found in either form */
    bool splits_spaces;         /* chars.c: nothing merges across the front of a space */
    bool writes_unknown;        /* bpe.c: unk stands for bytes that cannot be written */
    bool fuses_unknown;         /* chars.c: neighbours that cannot be written are one */
    uint32_t longest;           /* bytes of the longest token in the map */
    struct tok_pairs pairs;     /* BPE; without slots the id is the rank */
    unsigned char *whole;       /* enum tok_whole of each token */
    struct presplit *presplit;  /* NULL: the text is one piece */
    unsigned presplit_flags;
};

/* Longer names are not matched in text (the loaders refuse them). */
enum { TOK_NAME_MAX = 1024 };

/* More tokens than any vocabulary has. */
enum { TOK_COUNT_MAX = 1 << 24 };

/* tokenizer.c: fill the name indexes and the end marks; types and ids are known. */
void tok_index(struct tok *t);
/* Called user-defined by the file, though its name is that of a control token. */
bool tok_is_control_like(const struct tok_entry *v);
/* Written between angle or square brackets, like <think>, [INST] or <start_of_turn>. */
bool tok_is_markup(const struct tok_entry *v);
struct tok *tok_new(void);

/* ---- bpe.c: byte-level BPE ---- */

/* Byte-level alphabet: printable Latin-1 stands for itself, the other 68 bytes are the
 * code points from U+0100 on, in order. */
enum { BPE_ALPHABET = 0x144 };
struct bpe_alphabet {
    int16_t byte_of[BPE_ALPHABET];  /* -1: not in the alphabet */
};

void bpe_alphabet_init(struct bpe_alphabet *a);
/* Take n bytes at s back to what they stand for; false if a character is not of the
 * alphabet. p has room for n bytes. */
bool bpe_unmap(const struct bpe_alphabet *a, const char *s, size_t n, char *p,
               size_t *len);
/* Names, types and ids are known: fill bytes and map. */
void bpe_init(struct tok *t);
/* The same for names that are the bytes. */
void bpe_init_raw(struct tok *t);
void bpe_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                struct tok_work *w, struct tok_ids *out);

/* ---- merges.c: reading the list of merges ---- */

struct tok_merge_item {
    size_t at, left_len, right_len; /* bytes of the two in the batch's text */
    int32_t left, right, made;      /* -1: no token */
    uint32_t rank;
};

/* A zeroed struct with t set; tok_merges_end() says how many were useless. */
struct tok_merges {
    struct tok *t;
    bool chars;             /* names are text, not the byte-level alphabet */
    struct bpe_alphabet alphabet;
    struct tok_merge_item v[TOK_BATCH];
    size_t n;
    struct buf text;
    int32_t last;           /* what the merge before made */
    uint32_t rank;
    size_t useless;
};

void tok_merges_start(struct tok_merges *m, struct tok *t, size_t n);
/* Two tokens by name. The order of the calls is the order of the merges. */
void tok_merges_add(struct tok_merges *m, const char *left, size_t left_len,
                    const char *right, size_t right_len);
/* The same as one text with a space between; false if it is not of that form. */
bool tok_merges_add_line(struct tok_merges *m, const char *line, size_t len);
void tok_merges_end(struct tok_merges *m);

/* ---- spm.c and chars.c: vocabularies that write a space as U+2581 ---- */

/* Copy s to p with U+2581 as a space; returns the length. p may be s. */
size_t spm_unescape(char *p, const char *s, size_t n);
/* The value of a name like <0x0A>, or -1. */
int spm_byte(const struct tok_entry *v);
/* Make out the text as it is merged: unescaped, and with a space before it. */
void spm_text(const char *text, size_t len, bool prefix, struct buf *out);
/* text[from .. to): a row that is merged on its own. */
typedef void spm_row(const struct tok *t, const char *text, size_t from, size_t to,
                     struct tok_work *w, struct tok_ids *out);
/* Cut such a text where nothing merges across. */
void spm_rows(const struct tok *t, const char *text, size_t len, struct tok_work *w,
              spm_row *row, struct tok_ids *out);
/* Fill bytes and map from the names. False if a byte token is not named as one: *bad is
 * its number. */
bool spm_load_tokens(struct tok *t, size_t *bad);
bool spm_init(struct tok *t, const struct gguf *g, struct err *e);
/* chars.c: the tokens are there, the merges may follow. */
void chars_init(struct tok *t);

/* load_gguf.c: cut and normalise as this name says. */
void tok_set_presplit(struct tok *t, const struct presplit_name *name);

/* load_gguf.c: spm_load_tokens() with its error. */
bool tok_spm_tokens(struct tok *t, const struct gguf *g, struct err *e);
/* load_gguf.c: an array that must be there, of n elements of a type; NULL, e filled. */
const struct gguf_kv *tok_array(const struct gguf *g, const char *key,
                                enum gguf_type type, uint64_t n, struct err *e);

/* load_gguf.c: "FILE: KEY ..." with kind ERR_MODEL; returns false. */
bool tok_bad(struct err *e, const struct gguf *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
