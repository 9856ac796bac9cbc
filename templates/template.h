#ifndef TMPL_TEMPLATE_H
#define TMPL_TEMPLATE_H

/* Templates: messages to prompt pieces, and sampled text to thinking, answer and calls.
 *
 * A prompt is a list of pieces: plain text, a named special token, or "what the model said"
 * in an earlier message, which stands for the ids it sampled. Only a template can make a
 * special piece; text from a conversation always stays text.
 *
 * The stream (router) takes what the model samples, token by token, and says for every byte
 * which channel it belongs to. It holds back a tail that could still become a tag. Its
 * result does not depend on where tokens are cut.
 *
 * One row of the table in template.c per template; a new one is a row and its functions. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;
struct tmpl;
struct tmpl_stream;

enum tmpl_role { TMPL_SYSTEM, TMPL_USER, TMPL_ASSISTANT, TMPL_TOOL };
enum tmpl_channel { TMPL_THINK, TMPL_RESPONSE, TMPL_TOOL_CALL, TMPL_CONTROL };

struct tmpl_message {
    enum tmpl_role role;
    const char *content;        /* (len) any bytes; borrowed */
    size_t len;
    const char *reasoning;      /* (reasoning_len) of an assistant message; may be NULL */
    size_t reasoning_len;
    bool said;                  /* the caller has the sampled ids: emit a SAID piece */
    bool think_off;             /* and it was said after a prompt with TMPL_THINK_OFF: what
                                   that prompt put before it stays, and with it the prefix */
    bool open;                  /* the last, unfinished message: leave its turn open so that
                                   the model goes on in it */
    const char *name;           /* tools; may be NULL */
    const char *tool_call_id;
};

enum tmpl_piece_kind { TMPL_PIECE_TEXT, TMPL_PIECE_SPECIAL, TMPL_PIECE_SAID };

struct tmpl_piece {
    enum tmpl_piece_kind kind;
    size_t at, len;             /* TEXT: bytes in prompt.text; SPECIAL: the name there */
    size_t message;             /* SAID: index in messages; its closing tokens, if the turn
                                   needs them, follow as SPECIAL pieces */
};

struct tmpl_prompt {
    struct buf text;
    struct tmpl_piece *v;
    size_t n, cap;
    enum tmpl_channel start;    /* where the model's own text begins; of an open message that
                                   was said, where that began: feed its tokens again first */
};
void tmpl_prompt_release(struct tmpl_prompt *p);

enum tmpl_think { TMPL_THINK_AUTO, TMPL_THINK_OFF, TMPL_THINK_ON };

struct tmpl_options {
    enum tmpl_think think;
    bool add_generation_prompt; /* end with the opening of the assistant's turn */
};

/* What a template must know of a vocabulary. Where one may be NULL, that means: there is no
 * model, every special token exists. */
struct tmpl_vocab {
    bool (*has_special)(const void *arg, const char *name);
    const void *arg;
    /* It is fed to a stream by its name, never as text (a control token). May be NULL. */
    bool (*is_control)(const void *arg, const char *name);
};

size_t tmpl_count(void);
const struct tmpl *tmpl_at(size_t i);
const char *tmpl_name(const struct tmpl *t);        /* "chatml" */
const char *tmpl_help(const struct tmpl *t);        /* one line */

/* The template of that name; NULL and e lists the choices (kind ERR_USAGE). */
const struct tmpl *tmpl_find(const char *name, struct err *e);

/* Choose by the chat template in the model's file (NULL: it has none) and its vocabulary.
 * why gets one sentence. A chat template that is none of ours is an error (ERR_MODEL) that
 * lists the choices for --template: never a guess. */
const struct tmpl *tmpl_choose(const char *source, size_t len, const struct tmpl_vocab *vocab,
                               struct buf *why, struct err *e);

bool tmpl_render(const struct tmpl *t, const struct tmpl_message *messages, size_t n,
                 const struct tmpl_options *options, const struct tmpl_vocab *vocab,
                 struct tmpl_prompt *out, struct err *e);

/* ---- output syntaxes: how models write thinking, answers and calls ---- */

struct tmpl_syntax;

size_t tmpl_syntax_count(void);
const struct tmpl_syntax *tmpl_syntax_at(size_t i);
const char *tmpl_syntax_name(const struct tmpl_syntax *s);      /* "hermes" */
const char *tmpl_syntax_help(const struct tmpl_syntax *s);      /* one line */
/* The syntax of that name; NULL and e lists the choices (kind ERR_USAGE). */
const struct tmpl_syntax *tmpl_syntax_find(const char *name, struct err *e);
/* The one of a template of ours. */
const struct tmpl_syntax *tmpl_syntax_of(const struct tmpl *t);
/* Choose by the chat template in the model's file (NULL: it has none), else by the
 * vocabulary (may be NULL); where neither has markers we know, the syntax "none". why (may
 * be NULL) gets one sentence. */
const struct tmpl_syntax *tmpl_syntax_choose(const char *source, size_t len,
                                             const struct tmpl_vocab *vocab,
                                             struct buf *why);
/* Where the model's own text begins behind a prompt, of which the end is enough. Only what
 * the template wrote may decide: ask with the text of a generation prompt. */
enum tmpl_channel tmpl_syntax_start(const struct tmpl_syntax *s, const char *prompt,
                                    size_t n);

/* ---- the stream ---- */

/* A run of the stream's bytes, numbered from its start, in one channel. Runs come in order
 * and without gaps. Tags and the white space that belongs to them are TMPL_CONTROL. */
struct tmpl_run {
    enum tmpl_channel channel;
    uint64_t from, to;
};

struct tmpl_call {
    char *id;                   /* made here when the syntax has none: "call_0" */
    char *name;                 /* NULL when it could not be read */
    char *arguments;            /* JSON object text; NULL when it could not be read */
    char *raw;                  /* the bytes between the tags, always (NUL-terminated) */
    size_t raw_len;
    char *error;                /* NULL: fine; else what is wrong with raw */
    size_t error_at;            /* byte offset in raw */
    uint64_t at;                /* where in the stream the call ends */
    bool truncated;             /* with error: the text ended before the call did */
    char *block;                /* arguments that came as one text, JSON or not; NULL: they
                                   came one by one, or the syntax has only the former */
};

struct tmpl_result {
    struct tmpl_run *runs;
    size_t n_runs, cap_runs;
    struct tmpl_call *calls;
    size_t n_calls, cap_calls;
};
void tmpl_result_reset(struct tmpl_result *r);      /* empty, memory kept */
void tmpl_result_release(struct tmpl_result *r);

struct tmpl_stream *tmpl_stream_new(const struct tmpl *t, enum tmpl_channel start);
/* start: see tmpl_syntax_start(). Markers that are control tokens of vocab count by their
 * names only; the others, or all when vocab is NULL, also where they are spelled in text. */
struct tmpl_stream *tmpl_stream_open(const struct tmpl_syntax *s, enum tmpl_channel start,
                                     const struct tmpl_vocab *vocab);
/* Before anything is fed: there are no tokens to see, only text. Names of tokens that end a
 * turn of this syntax count there, too. */
void tmpl_stream_text_only(struct tmpl_stream *st);
void tmpl_stream_free(struct tmpl_stream *st);

/* Feed one token. special is its name when it is a special token (its bytes do not count as
 * text then; they are len bytes of the stream in channel TMPL_CONTROL, len may be 0), else
 * NULL. Appends what is decided to out. */
void tmpl_feed(struct tmpl_stream *st, const char *bytes, size_t len, const char *special,
               struct tmpl_result *out);
/* The stream ends: decide what was held back. An unfinished call is a call with error. */
void tmpl_finish(struct tmpl_stream *st, struct tmpl_result *out);
/* The last thing that came was the end of the turn, said by the model. */
bool tmpl_stream_ended(const struct tmpl_stream *st);
/* Of Kimi K3: what xtml_stream_left() says; NULL for all others. */
const char *tmpl_stream_left(const struct tmpl_stream *st);

#endif
