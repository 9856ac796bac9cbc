#ifndef CHAT_ENCODE_H
#define CHAT_ENCODE_H

/* A rendered prompt to ids. Special pieces become their tokens, text is encoded so that
 * only the template's own can hold markup, and what the model said is the ids it sampled.
 * This is the only place that adds BOS: if the vocabulary asks for it and the template
 * did not. */

#include <stdbool.h>
#include <stddef.h>

#include "chat/said.h"
#include "templates/template.h"
#include "tokenizer/tokenizer.h"

struct err;

/* Remembers the last prompt, so that what a longer one has in common with it is not
 * encoded again. For one tokenizer, which must outlive it. */
struct chat_encoder;
struct chat_encoder *chat_encoder_new(const struct tok *t);
void chat_encoder_free(struct chat_encoder *enc);

/* The ids of p, and where in them each piece ends: both are enc's until its next prompt.
 * said has the parts for SAID pieces (NULL: p has none), ids_of the ids these are part
 * of. False (ERR_MODEL): p has a special token that the vocabulary has not. */
struct chat_encoded {
    const struct tok_ids *ids;
    const size_t *ends;             /* (p->n) */
    size_t first;                   /* ids before the first piece: 1 if BOS was added */
};
bool chat_encode(struct chat_encoder *enc, const struct tmpl_prompt *p,
                 const struct chat_said *said, chat_ids_fn *ids_of, void *arg,
                 struct chat_encoded *out, struct err *e);

#endif
