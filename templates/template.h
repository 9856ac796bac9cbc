#ifndef TMPL_TEMPLATE_H
#define TMPL_TEMPLATE_H

/* Templates: a conversation to prompt pieces, and sampled text to thinking, answer,
 * calls.
 *
 * A prompt is a list of pieces: text, a named special token, or "what the model said" in
 * an earlier message, which stands for the ids it sampled. Every byte of text is known to
 * be the template's own or the conversation's, and only the former can become a special
 * token: text from a conversation always stays text, whatever it looks like.
 *
 * A template is a row of the table in template.c (a renderer of ours, written for a
 * family of models) or a chat template in the language of templates/jinja.h, compiled
 * here, which most models bring along.
 *
 * The stream (router) takes what the model samples, token by token, and says for every
 * byte which channel it belongs to. It holds back a tail that could still become a tag.
 * Its result does not depend on where tokens are cut. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"

struct err;
struct tmpl;
struct tmpl_stream;

enum tmpl_channel { TMPL_THINK, TMPL_RESPONSE, TMPL_TOOL_CALL, TMPL_CONTROL };

/* ---- rendering ---- */

/* A conversation, borrowed. Best read with pyjson_load(), so that numbers keep their
 * spelling.
 *
 * messages is a list as in the OpenAI interface: role, content (a text, null, or a list
 * of parts), and of an assistant reasoning_content and tool_calls, whose arguments are an
 * object or its JSON text; of a tool's result name and tool_call_id. The chat layer adds
 * keys which no template sees:
 *
 *   _said       true: the ids that the model sampled for this message are kept. A
 *               template that knows (tmpl_keeps_said()) gives a SAID piece for them
 *   _think_off  true: and it was said behind a prompt that switched thinking off
 *   _said_end   see xtml.h
 *   _open       true, only in the last message: its turn stays open, the model goes on
 *
 * options is an object whose members the template sees as variables. Those that all know:
 * add_generation_prompt (true: end with the opening of the assistant's turn) and what
 * tmpl_think() sets. */
struct tmpl_request {
    const json_t *messages;
    const json_t *tools;        /* a list; NULL or null: none */
    const json_t *options;      /* NULL or null: none */
    const char *bos, *eos;      /* names of these tokens; NULL: there is none */
    const char *now;            /* "2026-01-15T12:34:56"; NULL: the local time */
};

enum tmpl_piece_kind { TMPL_PIECE_TEXT, TMPL_PIECE_SPECIAL, TMPL_PIECE_SAID };

struct tmpl_piece {
    enum tmpl_piece_kind kind;
    size_t at, len;             /* TEXT: bytes in prompt.text; SPECIAL: the name there */
    size_t message;             /* SAID: index in messages; its closing tokens, if the
                                   turn needs them, follow as SPECIAL pieces */
};

/* Text of the prompt up to byte to, from where the span before ended. What comes behind
 * the last span is the conversation's. */
enum tmpl_origin { TMPL_FROM_TEMPLATE, TMPL_FROM_CONVERSATION };
struct tmpl_span {
    size_t to;
    enum tmpl_origin origin;
};

struct tmpl_prompt {
    struct buf text;
    struct tmpl_piece *v;       /* (n) */
    size_t n, cap;
    struct tmpl_span *spans;    /* (n_spans) */
    size_t n_spans, cap_spans;
    enum tmpl_channel start;    /* where the model's own text begins; of an open message
                                   that was said, where that began: feed its tokens
                                   again first */
};
void tmpl_prompt_release(struct tmpl_prompt *p);

/* What a template must know of a vocabulary. Where one may be NULL, that means: there is
 * no model, every special token exists. */
struct tmpl_vocab {
    bool (*has_special)(const void *arg, const char *name);
    const void *arg;
    /* Bytes of the longest name of a special token that text begins with; 0: of none. */
    size_t (*special_at)(const void *arg, const char *text, size_t len);
    /* It is fed to a stream by its name, never as text (a control token). May be NULL. */
    bool (*is_control)(const void *arg, const char *name);
};

/* On failure false and e, with kind ERR_MODEL when template and model do not fit,
 * ERR_USAGE when the request is wrong; out then holds nothing of use. Reuses the memory
 * of out. */
bool tmpl_render(const struct tmpl *t, const struct tmpl_request *r,
                 const struct tmpl_vocab *vocab, struct tmpl_prompt *out, struct err *e);

/* It gives SAID pieces. One that does not writes what was said as text. */
bool tmpl_keeps_said(const struct tmpl *t);
/* The key of a message under which the template looks for an assistant's thoughts. */
const char *tmpl_reasoning_key(const struct tmpl *t);

/* Set in options what "on", "off", "low", "high", "max" mean to the template; "auto" and
 * NULL set nothing. False (ERR_USAGE) when it has no switch for that. */
bool tmpl_think(const struct tmpl *t, const char *how, json_t *options, struct err *e);

/* What a reader should know of a prompt: it begins with BOS twice, a message has a role
 * that models do not know, the content of one is not there (a template that drops the
 * system message), nothing ends the turn of an answer. say() gets a sentence for each. */
struct tmpl_check {
    void (*say)(void *arg, const char *text);
    bool (*is_end)(void *arg, const char *name); /* a token that ends turns; NULL: any */
    void *arg;
};
void tmpl_check(const struct tmpl_request *r, const struct tmpl_prompt *p,
                const struct tmpl_check *in);

/* ---- choosing ---- */

size_t tmpl_count(void);                            /* rows of the table */
const struct tmpl *tmpl_at(size_t i);
const char *tmpl_name(const struct tmpl *t);        /* "chatml"; "own": the model's */
const char *tmpl_help(const struct tmpl *t);        /* one line */

/* The row of that name; NULL and e lists the choices (kind ERR_USAGE). */
const struct tmpl *tmpl_find(const char *name, struct err *e);

/* A chat template that a model brings along. Models may have several, by name. */
struct tmpl_source {
    const char *name;           /* "default", "tool_use", ... */
    const char *text;           /* (len) */
    size_t len;
};

/* Compile the template for a model: the one named "default", and "tool_use" for requests
 * with tools. The name is what tmpl_name() will say. NULL and e (ERR_MODEL) names the
 * line. */
struct tmpl *tmpl_compile(const char *name, const struct tmpl_source *sources, size_t n,
                          const struct tmpl_vocab *vocab, struct err *e);
/* Of a row of the table: does nothing. */
void tmpl_free(const struct tmpl *t);

/* What is known of a model that wants a template. */
struct tmpl_model {
    const struct tmpl_source *sources;      /* (n_sources) */
    size_t n_sources;
    const char *arch;                       /* general.architecture; NULL: not known */
    const struct tmpl_vocab *vocab;
};

/* Choose: by the kind of model where that decides; its own chat template; the row for its
 * vocabulary. why gets one sentence. NULL and an error (ERR_MODEL) that lists the choices
 * for --template when nothing fits: never a guess. */
const struct tmpl *tmpl_choose(const struct tmpl_model *m, struct buf *why,
                               struct err *e);
/* What --template names: a row, or one of the model's own by its name. m may be NULL. */
const struct tmpl *tmpl_choose_named(const char *name, const struct tmpl_model *m,
                                     struct buf *why, struct err *e);

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
 * vocabulary (may be NULL); where neither has markers we know, the syntax "none". why
 * (may be NULL) gets one sentence. */
const struct tmpl_syntax *tmpl_syntax_choose(const char *source, size_t len,
                                             const struct tmpl_vocab *vocab,
                                             struct buf *why);
/* Where the model's own text begins behind a prompt, of which the end is enough. Only
 * what the template wrote may decide: ask with the text of a generation prompt. */
enum tmpl_channel tmpl_syntax_start(const struct tmpl_syntax *s, const char *prompt,
                                    size_t n);

/* ---- the stream ---- */

/* A run of the stream's bytes, numbered from its start, in one channel. Runs come in
 * order and without gaps. Tags and the white space that belongs to them are
 * TMPL_CONTROL. */
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
    char *block;                /* arguments that came as one text, JSON or not; NULL:
                                   they came one by one, or the syntax has only the
                                   former */
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
 * names only; the others, or all when vocab is NULL, also where they are spelled in
 * text. */
struct tmpl_stream *tmpl_stream_open(const struct tmpl_syntax *s, enum tmpl_channel start,
                                     const struct tmpl_vocab *vocab);
/* Before anything is fed: there are no tokens to see, only text. Names of tokens that end
 * a turn of this syntax count there, too. */
void tmpl_stream_text_only(struct tmpl_stream *st);
void tmpl_stream_free(struct tmpl_stream *st);

/* Feed one token. special is its name when it is a special token (its bytes do not count
 * as text then; they are len bytes of the stream in channel TMPL_CONTROL, len may be 0),
 * else NULL. Appends what is decided to out. */
void tmpl_feed(struct tmpl_stream *st, const char *bytes, size_t len, const char *special,
               struct tmpl_result *out);
/* The stream ends: decide what was held back. An unfinished call is a call with error. */
void tmpl_finish(struct tmpl_stream *st, struct tmpl_result *out);
/* The last thing that came was the end of the turn, said by the model. */
bool tmpl_stream_ended(const struct tmpl_stream *st);
/* Of Kimi K3: what xtml_stream_left() says; NULL for all others. */
const char *tmpl_stream_left(const struct tmpl_stream *st);

#endif
