#ifndef TMPL_INTERNAL_H
#define TMPL_INTERNAL_H

/* What the files of templates/ share: the row of the table, the job a renderer works on,
 * and the pieces it makes. Not for callers of the module. */

#include "templates/syntax.h"
#include "templates/template.h"

/* ---- the table ---- */

struct tmpl_job;
struct tmpl_own;

struct tmpl {
    const char *name, *help;
    const char *const *needs;       /* special tokens it must have; NULL-terminated */
    /* A model without a chat template is of this family when its vocabulary has all of
     * needs and of tells, and its architecture is one of archs. NULL: no matter. A row
     * with neither tells nor archs is never chosen. */
    const char *const *tells, *const *archs;
    bool by_kind;                   /* chosen so even if the model has a chat template */
    bool (*render)(struct tmpl_job *j, struct err *e);
    bool reads_json;                /* it takes the request as it is, not j->messages */
    bool keeps_said;
    bool thinks;                    /* enable_thinking means something to it */
    const struct tmpl_syntax *syntax;       /* how its models write, see syntax.h */
    struct tmpl_own *own;           /* of a compiled one; NULL: a row of the table */
};

#define TMPL_NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }

extern const struct tmpl tmpl_chatml, tmpl_glm4, tmpl_glm45, tmpl_kimi_k2, tmpl_kimi_k3,
    tmpl_llama3, tmpl_mistral, tmpl_olmo, tmpl_plain;

/* ---- one rendering ---- */

enum tmpl_role { TMPL_SYSTEM, TMPL_USER, TMPL_ASSISTANT, TMPL_TOOL };

/* A message as the renderers of ours want it; strings are borrowed from the request. */
struct tmpl_message {
    enum tmpl_role role;
    struct buf content;             /* its parts joined */
    const char *reasoning;          /* (reasoning_len) of an assistant; may be NULL */
    size_t reasoning_len;
    const json_t *calls;            /* a list with something in it, or NULL */
    const char *name;               /* NULL: none */
    const char *tool_call_id;
    bool said, think_off, open;     /* see struct tmpl_request */
};

struct tmpl_job {
    const struct tmpl *tmpl;
    const struct tmpl_request *request;
    const struct tmpl_vocab *vocab;
    struct tmpl_prompt *out;
    /* What follows is read from the request, unless the row reads it itself. */
    struct tmpl_message *messages;  /* (n) */
    size_t n;
    const json_t *tools;            /* a list with something in it, or NULL */
    bool generate;                  /* add_generation_prompt */
    bool think_off;
};

/* Read the request. What the renderers of ours cannot say is an error. */
bool tmpl_job_read(struct tmpl_job *j, struct err *e);
void tmpl_job_release(struct tmpl_job *j);

bool tmpl_is_open(const struct tmpl_job *j, size_t i);
/* The prompt ends with the opening of the assistant's turn. */
bool tmpl_wants_answer(const struct tmpl_job *j);
/* The last message of the user's, or j->n. */
size_t tmpl_last_user(const struct tmpl_job *j);
/* A job without a vocabulary has every special token. */
bool tmpl_has_special(const struct tmpl_job *j, const char *name);

/* ---- reading JSON, request.c ---- */

/* The string o[key]; *s is NULL when it is absent or null. Another type is an error. */
bool tmpl_get_string(const json_t *o, const char *key, const char **s, size_t *n,
                     struct err *e);
/* The boolean o[key], or value when it is absent or null. */
bool tmpl_get_bool(const json_t *o, const char *key, bool value, bool *out,
                   struct err *e);
/* A list o[key] with something in it, else NULL. Another type is an error. */
bool tmpl_get_list(const json_t *o, const char *key, const json_t **out, struct err *e);
/* The function of a call or a tool, which some write without the "function" around it. */
const json_t *tmpl_function(const json_t *call);
/* Append the text of a message's content: a string, null, or text parts. */
bool tmpl_get_content(const json_t *content, struct buf *out, struct err *e);

/* ---- pieces, pieces.c ---- */

/* Bytes of the white space at s, or 0: what Python's str.strip() and with it Jinja's trim
 * removes. */
size_t tmpl_space(const char *s, size_t n);
/* s without the white space at its ends; *n becomes its length. */
const char *tmpl_trim(const char *s, size_t *n);

/* Text; neighbours become one piece, so that they are encoded together. */
void tmpl_add_text(struct tmpl_prompt *p, const char *text, size_t len,
                   enum tmpl_origin origin);
void tmpl_add_special(struct tmpl_prompt *p, const char *name, size_t len);
void tmpl_add_said(struct tmpl_prompt *p, size_t message);

void tmpl_put(struct tmpl_job *j, const char *text, size_t len); /* the conversation's */
void tmpl_puts(struct tmpl_job *j, const char *text);            /* the template's */
void tmpl_put_special(struct tmpl_job *j, const char *name);
/* A special token where the vocabulary has it, else its name as text. */
void tmpl_put_tag(struct tmpl_job *j, const char *name);
void tmpl_put_said(struct tmpl_job *j, size_t i);
/* An empty thought, <think>\n\n</think>\n\n, if the vocabulary knows thinking at all. */
void tmpl_put_no_think(struct tmpl_job *j);

enum tmpl_strip { TMPL_KEEP_SPACE, TMPL_STRIP_SPACE };
/* The content of message i. The end of an open one is left as it is. */
void tmpl_put_content(struct tmpl_job *j, size_t i, enum tmpl_strip strip);

/* A value as json.dumps() prints it: in one line, or indented by so many spaces. */
void tmpl_put_json(struct tmpl_job *j, const json_t *v, size_t indent);
/* The name of a call; an error when it has none. */
bool tmpl_put_call_name(struct tmpl_job *j, const json_t *call, struct err *e);
/* Its arguments: JSON text as it is, an object in one line, {} for none. */
void tmpl_put_arguments(struct tmpl_job *j, const json_t *call);

/* ---- a model's own template, own.c ---- */

bool tmpl_own_render(struct tmpl_job *j, struct err *e);
void tmpl_own_free(struct tmpl_own *own);
/* The template mentions this variable. */
bool tmpl_own_mentions(const struct tmpl *t, const char *name);
bool tmpl_source_has(const char *source, size_t len, const char *s);
/* Its source; borrowed. */
const char *tmpl_own_source(const struct tmpl *t, size_t *len);

/* ---- results, result.c ---- */

/* The bytes from..to of a stream belong to channel; joined with the run before if they go
 * on in it. */
void tmpl_result_run(struct tmpl_result *r, enum tmpl_channel channel, uint64_t from,
                     uint64_t to);

#endif
