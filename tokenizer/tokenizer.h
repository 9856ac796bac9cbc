#ifndef TOK_TOKENIZER_H
#define TOK_TOKENIZER_H

/* Tokenizer: text to ids and back, exactly as the model was trained.
 *
 * A tokenizer is read-only once loaded, so any thread may use it. It knows no roles and no
 * templates: special tokens enter by name, never through text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct gguf;
struct tok;

struct tok_ids {
    int32_t *v;
    size_t n, cap;
};
void tok_ids_add(struct tok_ids *ids, int32_t id);
void tok_ids_release(struct tok_ids *ids);

/* Load the vocabulary of a GGUF file: tokenizer.ggml.model "llama" (SentencePiece BPE) or
 * "gpt2" (byte-level BPE, pre-split named by tokenizer.ggml.pre). g must outlive the
 * tokenizer. On failure NULL, e filled with kind ERR_MODEL. */
struct tok *tok_from_gguf(const struct gguf *g, struct err *e);

/* A list of tokens as it is; text is cut by longest match. Every single byte must be in the
 * list. For the fake device and tests. Strings are borrowed. */
struct tok_list {
    size_t n;
    const char *const *text;    /* (n) */
    const size_t *len;          /* (n) */
    const bool *special;        /* (n) */
    int32_t bos, eos;           /* -1: none */
};
struct tok *tok_from_list(const struct tok_list *list, struct err *e);
void tok_free(struct tok *t);

size_t tok_count(const struct tok *t);
const char *tok_kind(const struct tok *t);      /* "SPM", "BPE llama-bpe", "list" */

/* Where a text stands. SentencePiece vocabularies put a space before a text that opens the
 * prompt or follows a special token, when the file says so; never inside one. */
enum tok_place { TOK_AFTER_TEXT, TOK_AT_START };

/* Append the ids for text to out. Text that looks like a special token stays text. Any
 * bytes are legal. No BOS is added. */
void tok_encode(const struct tok *t, const char *text, size_t len, enum tok_place place,
                struct tok_ids *out);
/* The same, but names of special tokens in the text become those tokens: for raw prompts
 * (`tokenize --special`), never for a conversation. */
void tok_encode_special(const struct tok *t, const char *text, size_t len,
                        enum tok_place place, struct tok_ids *out);

int32_t tok_special(const struct tok *t, const char *name);     /* -1 if there is none */
bool tok_is_special(const struct tok *t, int32_t id);           /* control or user-defined */
const char *tok_name(const struct tok *t, int32_t id, size_t *len); /* as stored in the file */

/* Bytes that one token stands for, owned by t. May be part of a character. Control tokens
 * have none (*len = 0). */
const char *tok_bytes(const struct tok *t, int32_t id, size_t *len);

int32_t tok_bos(const struct tok *t);           /* -1: none */
int32_t tok_eos(const struct tok *t);
bool tok_adds_bos(const struct tok *t);         /* prompts of this model begin with BOS */
/* The model ends its turn with this token: EOS, EOT and the names that models use for it
 * (<|im_end|>, <|eot_id|>, <end_of_turn>, ...). */
bool tok_is_end(const struct tok *t, int32_t id);

/* Append the bytes of ids to out. The space that TOK_AT_START put before the first token of
 * an SPM text is removed when place says so. Control tokens give nothing, or their names
 * with TOK_SPECIALS_SHOW. */
enum tok_specials { TOK_SPECIALS_HIDE, TOK_SPECIALS_SHOW };
void tok_decode(const struct tok *t, const int32_t *ids, size_t n, enum tok_place place,
                enum tok_specials specials, struct buf *out);

#endif
