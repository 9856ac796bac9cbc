#ifndef TMPL_XTML_INT_H
#define TMPL_XTML_INT_H

/* What the xtml_*.c files share. Not for callers of the module. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "templates/template.h"

struct err;

#define XTML_OPEN "<|open|>"
#define XTML_CLOSE "<|close|>"
#define XTML_SEP "<|sep|>"
#define XTML_END_OF_MSG "<|end_of_msg|>"

/* ---- rendering ---- */

struct xtml_job {
    struct tmpl_prompt *out;
    bool thinking;
    const json_t *calls;    /* of the latest message of the assistant; NULL: none */
    size_t n_results;       /* tool messages written since then */
};

/* One segment each; an empty text is none. */
void xtml_put(struct xtml_job *j, const char *s, size_t n);
void xtml_put_special(struct xtml_job *j, const char *name);
void xtml_put_said(struct xtml_job *j, size_t message);

/* A tag with attributes is xtml_open(), xtml_attr() for each, xtml_sep(). */
void xtml_open(struct xtml_job *j, const char *tag);
void xtml_attr(struct xtml_job *j, const char *key, const char *value, size_t n);
void xtml_attr_number(struct xtml_job *j, const char *key, size_t value);
void xtml_sep(struct xtml_job *j);
void xtml_open_tag(struct xtml_job *j, const char *tag);
void xtml_close_tag(struct xtml_job *j, const char *tag);
void xtml_end_message(struct xtml_job *j);

/* A system message that the program writes: its type and its text. */
void xtml_note(struct xtml_job *j, const char *type, const char *text, size_t n);
/* The tools that a conversation begins with, or those that a later message adds. */
enum xtml_declare { XTML_FIRST_TOOLS, XTML_MORE_TOOLS };
void xtml_tools(struct xtml_job *j, const json_t *tools, enum xtml_declare which);

/* messages[from..to); the last one of all may be open. */
bool xtml_messages(struct xtml_job *j, const json_t *messages, size_t from, size_t to,
                   struct err *e);
/* The messages of an assistant: channels, calls, what it said itself. */
bool xtml_assistant(struct xtml_job *j, const json_t *m, size_t i, struct err *e);
/* A run of tool messages[from..to). */
bool xtml_results(struct xtml_job *j, const json_t *messages, size_t from, size_t to,
                  struct err *e);

bool xtml_content(struct xtml_job *j, const json_t *content, struct err *e);
/* There are no bytes in it. */
bool xtml_is_empty(const json_t *content);
bool xtml_is_blank(const char *s, size_t n);

/* Write the string m[key] as an attribute of that name, unless it is absent or empty. */
bool xtml_attr_of(struct xtml_job *j, const json_t *m, const char *key, struct err *e);

/* ---- parsing ---- */

/* A call as far as it was read. */
struct xtml_call {
    struct buf raw;
    char *name;             /* NULL: it could not be read */
    json_t *arguments;      /* key -> JSON text of the value, in order */
    char *key;              /* of the argument that is open; NULL: its value is dropped */
    bool is_text;           /* that value is text, not JSON */
    struct buf value;       /* of the open argument, or the json block */
    char *block;            /* the json block; NULL: none yet */
    size_t block_at;        /* where it begins in raw */
    const char *error;      /* the first thing that is wrong */
    size_t error_at;
};

/* header is what stands between the marker and <|sep|>, trimmed, tag included; at is
 * where in raw the tag begins. */
void xtml_call_begin(struct xtml_call *c, const char *header, size_t n);
void xtml_call_argument(struct xtml_call *c, const char *header, size_t n, size_t at);
void xtml_call_block(struct xtml_call *c, size_t at);

/* The value of the open argument or block is complete, or there will be no more of it: an
 * unfinished text stays, an unfinished JSON value is dropped. */
enum xtml_value_end { XTML_VALUE_DONE, XTML_VALUE_CUT };
void xtml_call_argument_end(struct xtml_call *c, enum xtml_value_end end);
void xtml_call_block_end(struct xtml_call *c, enum xtml_value_end end);

/* Append the call to out and empty c. number counts the calls that have names. */
enum xtml_call_end { XTML_CALL_DONE, XTML_CALL_CUT };
void xtml_call_end(struct xtml_call *c, enum xtml_call_end end, uint64_t at,
                   size_t *number, struct tmpl_result *out);
void xtml_call_release(struct xtml_call *c);

#endif
