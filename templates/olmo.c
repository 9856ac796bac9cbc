/* OLMo: <|user|>\n...\n<|assistant|>\n...EOS. The role markers are ordinary text that the
 * models learned; only BOS and EOS are special tokens. Tools are not known. */
#include "config.h"

#include "base/err.h"
#include "templates/internal.h"

static const char *olmo_end(const struct tmpl_job *j)
{
    return j->request->eos ? j->request->eos : "<|endoftext|>";
}

static bool olmo_answer(struct tmpl_job *j, size_t i, struct err *e)
{
    tmpl_puts(j, "<|assistant|>\n");
    if (j->messages[i].said)
        tmpl_put_said(j, i);
    else if (j->messages[i].calls)
        return err_set_kind(e, ERR_USAGE, "message %zu: OLMo knows no calls", i + 1);
    else
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (tmpl_is_open(j, i))
        return true;
    tmpl_put_tag(j, olmo_end(j));
    if (i + 1 < j->n)
        tmpl_puts(j, "\n");
    return true;
}

static bool olmo_render(struct tmpl_job *j, struct err *e)
{
    if (j->tools)
        return err_set_kind(e, ERR_USAGE, "OLMo knows no tools");
    if (j->request->bos)
        tmpl_put_tag(j, j->request->bos);
    for (size_t i = 0; i < j->n; i++) {
        switch (j->messages[i].role) {
        case TMPL_ASSISTANT:
            if (!olmo_answer(j, i, e))
                return false;
            continue;
        case TMPL_TOOL:
            return err_set_kind(e, ERR_USAGE, "message %zu: OLMo knows no tools", i + 1);
        case TMPL_SYSTEM:
            tmpl_puts(j, "<|system|>\n");
            break;
        case TMPL_USER:
            tmpl_puts(j, "<|user|>\n");
            break;
        }
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
        if (!tmpl_is_open(j, i))
            tmpl_puts(j, "\n");
    }
    if (tmpl_wants_answer(j))
        tmpl_puts(j, "<|assistant|>\n");
    return true;
}

const struct tmpl tmpl_olmo = {
    .name = "olmo",
    .help = "<|user|> ... <|assistant|> ... as text: OLMo and OLMo 2",
    .needs = TMPL_NAMES(NULL),
    .archs = TMPL_NAMES("olmo", "olmo2", "olmoe"),
    .render = olmo_render,
    .keeps_said = true,
    .syntax = &syn_none,
};
