/* Plain text, for base models that know no turns. The model goes on where the user's text
 * ends, so an answer follows its question directly and every other turn begins on a new
 * line. What was said before stays a prefix of the next prompt. */
#include "config.h"

#include "base/err.h"
#include "templates/internal.h"

static bool plain_is_answer(const struct tmpl_job *j, size_t i)
{
    return j->messages[i].role == TMPL_ASSISTANT;
}

static bool plain_render(struct tmpl_job *j, struct err *e)
{
    if (j->tools)
        return err_set_kind(e, ERR_USAGE, "the template plain has no words for tools");
    for (size_t i = 0; i < j->n; i++) {
        const struct tmpl_message *m = &j->messages[i];
        if (i && (!plain_is_answer(j, i) || plain_is_answer(j, i - 1)))
            tmpl_puts(j, "\n");
        if (plain_is_answer(j, i)) {
            if (m->said) {
                tmpl_put_said(j, i);
                continue;
            }
            /* There are no tags to set it apart, but it is part of the text. */
            if (m->reasoning_len) {
                tmpl_put(j, m->reasoning, m->reasoning_len);
                tmpl_puts(j, "\n");
            }
        }
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    }
    if (tmpl_wants_answer(j) && j->n && plain_is_answer(j, j->n - 1))
        tmpl_puts(j, "\n");
    return true;
}

const struct tmpl tmpl_plain = {
    .name = "plain",
    .help = "no markers: a base model goes on where the text ends",
    .needs = TMPL_NAMES(NULL),
    .render = plain_render,
    .keeps_said = true,
    .syntax = &syn_none,
};
