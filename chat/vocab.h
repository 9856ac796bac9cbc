#ifndef CHAT_VOCAB_H
#define CHAT_VOCAB_H

/* What a template wants to know of a vocabulary: the special tokens by name, and which of
 * them a text begins with. Read-only once made, so any thread may ask. */

#include <stddef.h>

#include "templates/template.h"
#include "tokenizer/tokenizer.h"

/* The bytes of a token in a stream of output. A control token stands there by its name,
 * which *special is then (NULL otherwise); an added token that is text (a run of spaces,
 * "<think>" in some vocabularies) is fed as text, in which markers are found just as
 * well. */
const char *chat_token_text(const struct tok *t, int32_t id, size_t *len,
                            const char **special);

struct chat_vocab;

/* t must outlive it. */
struct chat_vocab *chat_vocab_new(const struct tok *t);
void chat_vocab_free(struct chat_vocab *v);
/* Borrowed from v. */
struct tmpl_vocab chat_vocab_tmpl(const struct chat_vocab *v);

#endif
