#ifndef CHAT_TEMPLATE_H
#define CHAT_TEMPLATE_H

/* Which chat template a model gets: what the user names, else by what its file holds.
 * Models bring templates along in GGUF metadata (tokenizer.chat_template and, by name,
 * tokenizer.chat_template.NAME) or, as a directory, in chat_template.jinja,
 * additional_chat_templates/NAME.jinja and tokenizer_config.json. */

#include "templates/template.h"

struct buf;
struct err;
struct gguf;

struct chat_template_from {
    const char *named;              /* --template: a row, a name of the model's, a file
                                       ("/" in it, or ending in .jinja); NULL: none */
    const struct gguf *gguf;        /* NULL: the model is no such file */
    const char *dir;                /* NULL: it is no directory */
    const struct tmpl_vocab *vocab; /* NULL: there is no model */
};

/* why gets one sentence. NULL and e; the caller frees what comes with tmpl_free(). */
const struct tmpl *chat_template_choose(const struct chat_template_from *from,
                                        struct buf *why, struct err *e);

/* A template file, for the same model. */
const struct tmpl *chat_template_file(const char *path, const struct tmpl_vocab *vocab,
                                      struct err *e);

#endif
