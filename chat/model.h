#ifndef CHAT_MODEL_H
#define CHAT_MODEL_H

/* A loaded model: file, tokenizer, template and backend joined. Only here do they meet. */

#include <stdatomic.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "base/buf.h"
#include "base/gguf.h"
#include "chat/vocab.h"
#include "templates/template.h"
#include "tokenizer/tokenizer.h"

struct chat_settings;
struct err;

struct chat_model {
    char *path;                     /* NULL for the fake device */
    struct gguf *gguf;              /* NULL for the fake device */
    struct be *be;                  /* NULL when opened for its vocabulary only */
    struct tok *tok;
    const struct tmpl *tmpl;        /* NULL when not asked for */
    struct chat_vocab *specials;
    const struct tmpl_syntax *syntax;   /* how its answers are split; NULL with tmpl */
    struct tmpl_vocab vocab;
    char *why_template;
    char sha256[65];                /* hex, "" when not known */
};

enum chat_model_parts {
    CHAT_MODEL_VOCAB,               /* file and tokenizer */
    CHAT_MODEL_PROBE,               /* and what the backend says of it; nothing allocated */
    CHAT_MODEL_RUN,                 /* and ready to evaluate */
    CHAT_MODEL_CHAT,                /* and a chat template */
};

/* Open what parts says. A model name is a file; other kinds come with later issues and are
 * refused by name. For its vocabulary alone, it may also be a tokenizer.json, a
 * tiktoken.model, or a directory with one. On failure NULL, e with the kind that is the
 * exit status. */
struct chat_model *chat_model_open(const struct chat_settings *s, enum chat_model_parts parts,
                                   const atomic_bool *cancel, struct err *e);
void chat_model_free(struct chat_model *m);

/* Choose the template of a model that was opened without one. */
bool chat_model_choose_template(struct chat_model *m, const struct chat_settings *s,
                                struct err *e);

/* A name to show: general.name, else the file's name. Foreign bytes. Owned by m. */
const char *chat_model_name(const struct chat_model *m);

#endif
