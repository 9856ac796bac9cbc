#ifndef CHAT_VOCAB_H
#define CHAT_VOCAB_H

/* What a template wants to know of a vocabulary: the special tokens by name, and which of
 * them a text begins with. Read-only once made, so any thread may ask. */

#include <stddef.h>

#include "templates/template.h"
#include "tokenizer/tokenizer.h"

struct chat_vocab;

/* t must outlive it. */
struct chat_vocab *chat_vocab_new(const struct tok *t);
void chat_vocab_free(struct chat_vocab *v);
/* Borrowed from v. */
struct tmpl_vocab chat_vocab_tmpl(const struct chat_vocab *v);

#endif
