#ifndef TOK_TOKENIZER_H
#define TOK_TOKENIZER_H

/* Tokenizer: text to ids and back, exactly as the model was trained.
 *
 * A tokenizer is read-only once loaded, so any thread may use it. It knows no roles and
 * no templates: special tokens enter by name, never through text. */

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
/* The same with the name of the pre-split, whatever the file says; NULL: as above. */
struct tok *tok_from_gguf_pre(const struct gguf *g, const char *pre, struct err *e);

/* Load a Hugging Face tokenizer.json (BPE), or the one in a directory. bos, eos and what
 * ends a turn come from tokenizer_config.json and generation_config.json beside it, where
 * they are. */
struct tok *tok_from_hf(const char *path, struct err *e);

/* Load the ranks of a tiktoken.model (lines of BASE64 RANK), or the one in a directory;
 * special tokens come from tokenizer_config.json beside it. pre names the pre-split as
 * tokenizer.ggml.pre would; NULL: Kimi's files are recognised, others are refused. */
struct tok *tok_from_tiktoken(const char *path, const char *pre, struct err *e);

/* Whichever of the two path is, or lies in the directory path. */
struct tok *tok_from_files(const char *path, const char *pre, struct err *e);

/* A list of tokens as it is; text is cut by longest match. Every single byte must be in
 * the list. For the fake device and tests. Strings are borrowed. */
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
const char *tok_kind(const struct tok *t);   /* "SPM", "BPE llama-bpe", "list" */
const char *tok_origin(const struct tok *t); /* "tokenizer.ggml.* of FILE"; for people */

/* Where a text stands. SentencePiece vocabularies put a space before a text that opens
 * the prompt or follows a special token, when the file says so; never inside one. Some do
 * it only where the prompt begins. */
enum tok_place { TOK_AFTER_TEXT, TOK_AT_START, TOK_AFTER_SPECIAL };

/* Append the ids for text to out, exactly as the model's own tokenizer makes them of
 * ordinary text. Control tokens are never made from text. User-defined tokens are where
 * their names stand in it (runs of spaces, <think>): the model was trained so. Any bytes
 * are legal. No BOS is added. */
void tok_encode(const struct tok *t, const char *text, size_t len, enum tok_place place,
                struct tok_ids *out);

/* The same for text that somebody else wrote, in a conversation: no token is made of it
 * that could be markup of a template. That is every user-defined token whose name stands
 * between angle or square brackets, <...> or [...]: <think>, <tool_call>, <|...|>,
 * <|...|> with wide bars, [INST], [TOOL_CALLS], <start_of_turn>, <unused7>. These names
 * are written with ordinary tokens here. Runs of white space, words and other
 * user-defined tokens without brackets are as in tok_encode(). */
void tok_encode_foreign(const struct tok *t, const char *text, size_t len,
                        enum tok_place place, struct tok_ids *out);

/* A text of both kinds, which is merged as the one text that it is. Markup is found where
 * all of its name is plain. Lengths add up to the text. */
enum tok_text { TOK_TEXT_PLAIN, TOK_TEXT_FOREIGN };
struct tok_span {
    size_t len;
    enum tok_text kind;
};
void tok_encode_spans(const struct tok *t, const char *text, const struct tok_span *span,
                      size_t n, enum tok_place place, struct tok_ids *out);

/* As tok_encode(), but names of all special tokens in the text become those tokens: for
 * raw prompts (`tokenize --special`), never for a conversation. */
void tok_encode_special(const struct tok *t, const char *text, size_t len,
                        enum tok_place place, struct tok_ids *out);

/* Texts that were encoded before, with their ids, so that a conversation is not encoded
 * again every turn. limit: bytes it may take. The tokenizer must outlive it. One thread
 * at a time. */
struct tok_cache;
struct tok_cache *tok_cache_new(const struct tok *t, size_t limit);
void tok_cache_free(struct tok_cache *c);
/* As tok_encode_spans(), of which the result is that of any text that was here before. */
void tok_cache_encode(struct tok_cache *c, const char *text, const struct tok_span *span,
                      size_t n, enum tok_place place, struct tok_ids *out);
struct tok_cache_stats {
    uint64_t hits, misses;
    uint64_t bytes_encoded; /* of the misses */
};
struct tok_cache_stats tok_cache_stats(const struct tok_cache *c);

int32_t tok_special(const struct tok *t, const char *name); /* -1 if there is none */
bool tok_is_special(const struct tok *t, int32_t id);       /* control or user-defined */
/* The name as stored in the file. */
const char *tok_name(const struct tok *t, int32_t id, size_t *len);

/* White space of the text beside it that a token takes along: there the model's tokenizer
 * has no text (Phi-3's <|user|> swallows the line break behind it). */
enum tok_side { TOK_NO_SIDE = 0, TOK_BEFORE = 1, TOK_BEHIND = 2 };
unsigned tok_takes_space(const struct tok *t, int32_t id);
/* Is there any token that does, on that side? */
bool tok_has_takers(const struct tok *t, enum tok_side side);
/* Bytes of the white space that text begins with, or ends with. */
size_t tok_space_at_front(const char *text, size_t len);
size_t tok_space_at_end(const char *text, size_t len);

/* Bytes that one token stands for, owned by t. May be part of a character. Control tokens
 * have none (*len = 0). */
const char *tok_bytes(const struct tok *t, int32_t id, size_t *len);

int32_t tok_bos(const struct tok *t);           /* -1: none */
int32_t tok_eos(const struct tok *t);
bool tok_adds_bos(const struct tok *t);         /* prompts of this model begin with BOS */
/* The model ends its turn with this token: EOS, EOT and the names that models use for it
 * (<|im_end|>, <|eot_id|>, <end_of_turn>, ...). */
bool tok_is_end(const struct tok *t, int32_t id);

/* Append the bytes of ids to out. The space that TOK_AT_START put before the first token
 * of an SPM text is removed when place says so. Control tokens give nothing, or their
 * names with TOK_SPECIALS_SHOW. */
enum tok_specials { TOK_SPECIALS_HIDE, TOK_SPECIALS_SHOW };
void tok_decode(const struct tok *t, const int32_t *ids, size_t n, enum tok_place place,
                enum tok_specials specials, struct buf *out);

#endif
