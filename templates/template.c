/* The table of templates, choosing from it, and rendering.
 *
 * The order of choice: what the user names; the kind of model, where that decides (Kimi
 * K3 ships no chat template, and those that others made for it lose the segments); the
 * chat template that the model brings along; the row that its vocabulary or architecture
 * tells. A model that has none of these and no marker of a chat model is a base model,
 * which goes on with plain text; the others are for the user to choose. */
#include "config.h"

#include "templates/template.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "templates/internal.h"

/* In the order in which a vocabulary is looked at: what is more particular is first. */
static const struct tmpl *const tmpl_table[] = {
    &tmpl_kimi_k3,
    &tmpl_kimi_k2,
    &tmpl_glm45,
    &tmpl_glm4,
    &tmpl_mistral,
    &tmpl_llama3,
    &tmpl_olmo,         /* its vocabulary has markers of ChatML that it does not use */
    &tmpl_chatml,
    &tmpl_plain,
};
#define TMPL_COUNT (sizeof tmpl_table / sizeof *tmpl_table)

size_t tmpl_count(void)
{
    return TMPL_COUNT;
}

const struct tmpl *tmpl_at(size_t i)
{
    assert(i < TMPL_COUNT);
    return tmpl_table[i];
}

const char *tmpl_name(const struct tmpl *t)
{
    return t->name;
}

const char *tmpl_help(const struct tmpl *t)
{
    return t->help;
}

bool tmpl_keeps_said(const struct tmpl *t)
{
    return t->keeps_said;
}

void tmpl_free(const struct tmpl *t)
{
    if (t)
        tmpl_own_free(t->own);
}

/* ---- choosing ---- */

static void tmpl_add_names(struct buf *b, const struct tmpl_model *m)
{
    for (size_t i = 0; i < TMPL_COUNT; i++)
        buf_addf(b, "%s%s", i ? ", " : "", tmpl_table[i]->name);
    for (size_t i = 0; m && m->n_sources > 1 && i < m->n_sources; i++)
        buf_addf(b, ", %s", m->sources[i].name);
}

static const struct tmpl *tmpl_row(const char *name)
{
    for (size_t i = 0; i < TMPL_COUNT; i++)
        if (!strcmp(tmpl_table[i]->name, name))
            return tmpl_table[i];
    return NULL;
}

static bool tmpl_unknown(const char *name, const struct tmpl_model *m, struct err *e)
{
    struct buf names = {0};

    tmpl_add_names(&names, m);
    err_set_kind(e, ERR_USAGE, "there is no template \"%s\"; choose one of %s, or a file "
                               "such as ./NAME.jinja", name, buf_str(&names));
    buf_release(&names);
    return false;
}

const struct tmpl *tmpl_find(const char *name, struct err *e)
{
    const struct tmpl *t = tmpl_row(name);

    if (!t)
        tmpl_unknown(name, NULL, e);
    return t;
}

const struct tmpl *tmpl_choose_named(const char *name, const struct tmpl_model *m,
                                     struct buf *why, struct err *e)
{
    const struct tmpl *t = tmpl_row(name);

    for (size_t i = 0; !t && m && i < m->n_sources; i++) {
        if (strcmp(m->sources[i].name, name))
            continue;
        t = tmpl_compile("own", &m->sources[i], 1, m->vocab, e);
        if (!t) {
            err_wrap(e, "the chat template \"%s\" of the model", name);
            return NULL;
        }
    }
    if (!t)
        tmpl_unknown(name, m, e);
    else if (why)
        buf_adds(why, "named by --template");
    return t;
}

/* The first special token of names that the vocabulary has not; NULL: all there. */
static const char *tmpl_missing(const char *const *names, const struct tmpl_vocab *vocab)
{
    for (; vocab && *names; names++)
        if (!vocab->has_special(vocab->arg, *names))
            return *names;
    return NULL;
}

static bool tmpl_is_arch(const struct tmpl *t, const char *arch)
{
    for (const char *const *a = t->archs; arch && *a; a++)
        if (!strcmp(*a, arch))
            return true;
    return false;
}

/* The model is of this family, as far as its file tells. */
static bool tmpl_fits(const struct tmpl *t, const struct tmpl_model *m)
{
    if (!t->tells && !t->archs)
        return false;
    if ((t->archs && !tmpl_is_arch(t, m->arch)) || tmpl_missing(t->needs, m->vocab))
        return false;
    return !t->tells || (m->vocab && !tmpl_missing(t->tells, m->vocab));
}

static const struct tmpl *tmpl_by_model(const struct tmpl_model *m, bool by_kind,
                                        struct buf *why)
{
    for (size_t i = 0; i < TMPL_COUNT; i++) {
        const struct tmpl *t = tmpl_table[i];
        if (t->by_kind != by_kind || !tmpl_fits(t, m))
            continue;
        if (why && !by_kind)
            buf_adds(why, "the file has no chat template, but ");
        if (why && t->archs)
            buf_addf(why, "its architecture is %s", m->arch);
        else if (why)
            buf_addf(why, "its vocabulary has %s", t->tells[0]);
        return t;
    }
    return NULL;
}

static const struct tmpl *tmpl_by_source(const struct tmpl_model *m, struct buf *why,
                                         struct err *e)
{
    struct tmpl *t = tmpl_compile("own", m->sources, m->n_sources, m->vocab, e);
    struct buf names = {0};

    if (t) {
        if (why)
            buf_adds(why, "the model brings it along");
        return t;
    }
    tmpl_add_names(&names, NULL);
    err_wrap(e,
             "the model's own chat template cannot be used, choose with --template one "
             "of %s, or a file",
             buf_str(&names));
    buf_release(&names);
    return NULL;
}

/* A special token that tells a chat model, of whatever family; NULL: a base model, which
 * goes on with plain text. */
static const char *tmpl_chat_marker(const struct tmpl_vocab *vocab)
{
    static const char *const markers[] = {
        "<|im_start|>", "<|start_header_id|>", "<|start|>", "<|turn>", "<start_of_turn>",
        "<|user|>", "<|assistant|>", "<|User|>", "<｜User｜>", "<|START_OF_TURN_TOKEN|>",
        "<|im_user|>", "<|open|>", "<|role_start|>", "<|start_of_role|>",
        "<|header_start|>", "[INST]", "[|user|]", "[|assistant|]", "<_user>",
        "<|system|>", "<|prompter|>", "<|message_sep|>", "<seed:bos>", "]~b]",
    };

    for (size_t i = 0; vocab && i < sizeof markers / sizeof *markers; i++)
        if (vocab->has_special(vocab->arg, markers[i]))
            return markers[i];
    return NULL;
}

const struct tmpl *tmpl_choose(const struct tmpl_model *m, struct buf *why, struct err *e)
{
    const struct tmpl *t = tmpl_by_model(m, true, why);
    struct buf names = {0};

    if (!t && m->n_sources)
        return tmpl_by_source(m, why, e);
    if (!t)
        t = tmpl_by_model(m, false, why);
    if (t)
        return t;
    const char *marker = tmpl_chat_marker(m->vocab);
    if (!marker) {
        if (why)
            buf_adds(why,
                     "the file has no chat template and its vocabulary no chat markers");
        return &tmpl_plain;
    }
    tmpl_add_names(&names, NULL);
    err_set_kind(
        e, ERR_MODEL,
        "the file has no chat template, and none of ours is known to fit a vocabulary "
        "with %s; choose with --template one of %s, or a file such as ./NAME.jinja",
        marker, buf_str(&names));
    buf_release(&names);
    return NULL;
}

/* ---- rendering ---- */

bool tmpl_render(const struct tmpl *t, const struct tmpl_request *r,
                 const struct tmpl_vocab *vocab, struct tmpl_prompt *out, struct err *e)
{
    struct tmpl_job j = { .tmpl = t, .request = r, .vocab = vocab, .out = out };
    const char *missing = tmpl_missing(t->needs, vocab);
    bool ok;

    buf_reset(&out->text);
    out->n = out->n_spans = 0;
    out->start = TMPL_RESPONSE;
    if (missing)
        return err_set_kind(e, ERR_MODEL,
                            "the template %s needs the special token %s, which the "
                            "model's vocabulary does not have; choose another with "
                            "--template",
                            t->name, missing);
    ok = tmpl_job_read(&j, e) && t->render(&j, e);
    tmpl_job_release(&j);
    return ok;
}
