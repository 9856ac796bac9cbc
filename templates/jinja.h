#ifndef TMPL_JINJA_H
#define TMPL_JINJA_H

/* The language of chat templates: the part of Jinja2 that models ship, as the
 * transformers library sets it up (trim_blocks, lstrip_blocks, loop controls,
 * {% generation %}, tojson as Python's json.dumps, raise_exception, strftime_now).
 * Rendering gives, byte for byte, what the model was trained on.
 *
 * Two things it does that Jinja2 does not. Every byte of the output is known to come
 * from the template's own text or from the conversation, so that only template text can
 * become a special token. And it is bounded: steps, memory, output and depth have
 * limits, and there is no way from a template to a file, the environment or the network.
 *
 * A compiled template is read-only: any number of threads may render it at once. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <jansson.h>

#include "base/buf.h"

struct err;
struct jinja;

/* Where a byte of the output comes from. Text of the template, its string constants,
 * what it computes from nothing else (a loop counter, the date) and the model's own
 * special tokens (the variables bos_token, eos_token, ...) and a message's role, if it is
 * a known one, are the template's. What came in through any other variable is the
 * conversation's, and stays so through slicing, trimming, joining, replacing, tojson and
 * so on; where an operation mixes the two inside one character or one number, the result
 * is the conversation's.
 *
 * Special tokens are to be looked for in the template's bytes only. For all else origin
 * does not matter: text between two special tokens is to be encoded as one piece. */
enum jinja_origin { JINJA_TEMPLATE, JINJA_CONVERSATION };

/* Bytes [from, to) of the text. Runs come in order, without gaps; neighbours differ. */
struct jinja_run {
    size_t from, to;
    enum jinja_origin origin;
};

/* Zeroed, or used before. */
struct jinja_output {
    struct buf text;
    struct jinja_run *runs;
    size_t n_runs, cap_runs;
};
void jinja_output_release(struct jinja_output *out);

/* Bounds of one rendering; 0 stands for the default. */
struct jinja_limits {
    uint64_t steps;         /* nodes, and bytes moved / 16: 30 million */
    size_t memory;          /* bytes of values: 512 MiB */
    size_t output;          /* bytes of text: 64 MiB */
    unsigned depth;         /* of nested expressions, statements, macros, data: 800 */
    const struct tm *now;   /* for strftime_now(); NULL: the local time */
};

/* Compile a template of len bytes. NULL, and e names the line and what is wrong with it,
 * when it is not one. */
struct jinja *jinja_compile(const char *source, size_t len, struct err *e);
void jinja_free(struct jinja *j);

/* Does the template mention a variable of this name? (tools, enable_thinking, ...) */
bool jinja_mentions(const struct jinja *j, const char *name);

/* Render with the variables in context, a JSON object that is only read; numbers in it
 * may be those of pyjson.h, so that 64 bits are no limit. The variables that count as
 * the template's own text are listed at the top of jinja_context.c. limits may be NULL.
 * out is emptied first. On failure e holds the line and the message: the text of
 * raise_exception(), or what Python would have said; out is then empty. */
bool jinja_render(const struct jinja *j, const json_t *context,
                  const struct jinja_limits *limits, struct jinja_output *out,
                  struct err *e);

#endif
