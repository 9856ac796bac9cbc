#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

/* `vitrine doctor MODEL`: what was found in a model, from where, and whether it works. A
 * check is a line: what was looked at, how it is, and one sentence. A subject (tokenizer,
 * template, ...) is one function that adds its lines. */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct chat_model;

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARNING,     /* works, but somebody should know */
    DOCTOR_BAD,         /* answers will be wrong; exit status 1 */
};

struct doctor_line {
    enum doctor_state state;
    const char *what;   /* static */
    struct buf text;    /* foreign bytes are already shown */
};

struct doctor {
    const struct chat_model *m;
    const char *pre;    /* --pre, or NULL */
    struct doctor_line *v;
    size_t n, cap;
};

/* A line; the text goes to the returned buffer. */
struct buf *doctor_add(struct doctor *d, enum doctor_state state, const char *what);
void doctor_addf(struct doctor *d, enum doctor_state state, const char *what,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* cmd_doctor_tok.c */
void doctor_tokenizer(struct doctor *d);
/* cmd_doctor_tmpl.c; the model has a template */
void doctor_template(struct doctor *d);

#endif
