#ifndef TMPL_INTERNAL_H
#define TMPL_INTERNAL_H

/* What the files of templates/ share: the row of the table, the job a renderer works on,
 * and the pieces it makes. Not for callers of the module. */

#include "templates/syntax.h"
#include "templates/template.h"

/* One rendering. */
struct tmpl_job {
    const struct tmpl_message *messages;    /* (n) */
    size_t n;
    const struct tmpl_options *options;
    const struct tmpl_vocab *vocab;
    struct tmpl_prompt *out;
};

struct tmpl {
    const char *name, *help;
    /* A chat template in a model's file that contains mark and that recognise (may be
     * NULL) does not turn down is of this family. mark is NULL when no file names it. */
    const char *mark;
    bool (*recognise)(const char *source, size_t len);
    const char *const *needs;       /* special tokens it must have; NULL-terminated */
    void (*render)(struct tmpl_job *j);
    const struct tmpl_syntax *syntax;       /* how its models write, see syntax.h */
};

extern const struct tmpl tmpl_chatml, tmpl_llama3, tmpl_plain;

/* Bytes of the white space at s, or 0: what Python's str.strip() and with it Jinja's trim
 * removes. */
size_t tmpl_space(const char *s, size_t n);

bool tmpl_source_has(const char *source, size_t len, const char *s);

/* A job without a vocabulary has every special token. */
bool tmpl_has_special(const struct tmpl_job *j, const char *name);

/* ---- pieces ---- */

void tmpl_put(struct tmpl_job *j, const char *text, size_t len);
void tmpl_puts(struct tmpl_job *j, const char *text);
void tmpl_put_special(struct tmpl_job *j, const char *name);
/* A special token where the vocabulary has it, else its name as text. */
void tmpl_put_tag(struct tmpl_job *j, const char *name);
void tmpl_put_said(struct tmpl_job *j, size_t i);
/* An empty thought, <think>\n\n</think>\n\n, if the vocabulary knows thinking at all. */
void tmpl_put_no_think(struct tmpl_job *j);

enum tmpl_trim { TMPL_KEEP_SPACE, TMPL_TRIM_SPACE };
/* The content of message i, without its markers. */
void tmpl_put_content(struct tmpl_job *j, size_t i, enum tmpl_trim trim);
/* The same for an assistant's message: what it said, or its reasoning and content. Sets
 * out->start when the message is open. */
void tmpl_put_answer(struct tmpl_job *j, size_t i, enum tmpl_trim trim);

/* The last message's turn stays open. */
bool tmpl_is_open(const struct tmpl_job *j, size_t i);
/* The prompt ends with the opening of the assistant's turn. */
bool tmpl_wants_answer(const struct tmpl_job *j);

#endif
