#ifndef CHAT_SAID_H
#define CHAT_SAID_H

/* What the model said, in a prompt that writes it as text.
 *
 * The ids that were sampled are what the model said; encoding their text again may give
 * others, and the cache would be lost with them. A renderer of ours leaves a place for
 * them (a SAID piece). A model's own template does not: here its prompt is searched for
 * the answers, and where the text agrees byte for byte the ids take its place. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "templates/template.h"
#include "tokenizer/tokenizer.h"

/* How the prompt ended behind which something was said: all up to its last byte of the
 * conversation (its length and a hash), and what the template wrote behind that. */
struct chat_base {
    size_t len;
    uint64_t hash;
    struct buf tail, marks;
};
void chat_base_of(const struct tmpl_prompt *p, struct chat_base *out);
void chat_base_release(struct chat_base *b);

struct chat_answer_said {
    size_t message;                 /* index in the request */
    const struct tok_ids *ids;
    const char *think;              /* (think_n) its thoughts, as text */
    size_t think_n;
    const struct chat_base *base;
};

/* ids [from, from + n) of a message, for a SAID piece. */
struct chat_part {
    size_t message, from, n;
};

/* Why the ids of a prompt may differ from those evaluated before, from a piece on. */
struct chat_reason {
    size_t piece;
    const char *why;
};

struct chat_said {
    struct chat_part *parts;        /* (n_parts) a SAID piece's message is an index here */
    size_t n_parts, cap_parts;
    struct chat_reason *reasons;    /* (n_reasons) in order of pieces */
    size_t n_reasons, cap_reasons;
};
void chat_said_release(struct chat_said *s);

/* Put the answers, which come in order, in their places in p. SAID pieces that are there
 * stay: ids_of says how many ids a message has. */
typedef const struct tok_ids *chat_ids_fn(void *arg, size_t message);
void chat_said_place(const struct tok *t, struct tmpl_prompt *p,
                     const struct chat_answer_said *answers, size_t n,
                     chat_ids_fn *ids_of, void *arg, struct chat_said *out);

#endif
