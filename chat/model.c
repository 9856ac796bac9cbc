/* Where file, tokenizer, template and backend meet. The order is: container, vocabulary,
 * backend (which checks the tensors against the vocabulary's size), template. */
#include "config.h"

#include "chat/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "chat/options.h"
#include "chat/sha256.h"
#include "chat/template.h"

static bool chat_is_fake(const char *device)
{
    return !strncmp(device, "fake:", 5);
}

/* What to say when a name is no file. */
static bool chat_model_missing(const char *name, struct err *e)
{
    if (!name || !strcmp(name, "builtin"))
        return err_set_kind(e, ERR_MODEL, "this version has no built-in model; name a GGUF "
                                          "file with -m FILE");
    if (strchr(name, '/') || strstr(name, ".gguf"))
        return err_set_kind(e, ERR_MODEL, "cannot open model %s: %s", name, strerror(errno));
    return err_set_kind(e, ERR_MODEL, "cannot open model %s: there is no such file, and this "
                                      "version has no catalogue; name a GGUF file", name);
}

/* Is it a tokenizer without a model? */
static bool chat_is_tokenizer(const char *name, const struct stat *st)
{
    static const char *const ends[] = { ".json", ".tiktoken", "tiktoken.model" };
    size_t n = strlen(name);

    if (S_ISDIR(st->st_mode))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
            return true;
    return n == 14 && !strcmp(name, "tiktoken.model");
}

static bool chat_model_open_file(struct chat_model *m, const struct chat_settings *s,
                                 enum chat_model_parts parts, struct err *e)
{
    const char *name = s->model;
    struct stat st;

    if (!name || stat(name, &st) < 0)
        return chat_model_missing(name, e);
    m->path = xstrdup(name);
    if (parts == CHAT_MODEL_VOCAB && chat_is_tokenizer(name, &st)) {
        m->tok = tok_from_files(name, s->pre, e);
        return m->tok != NULL;
    }
    m->gguf = gguf_open(name, e);
    if (!m->gguf)
        return false;
    m->tok = tok_from_gguf_pre(m->gguf, s->pre, e);
    return m->tok != NULL;
}

static bool chat_model_open_backend(struct chat_model *m, const struct chat_settings *s,
                                    bool probe, const atomic_bool *cancel, struct err *e)
{
    struct be_params p = {
        .gguf = m->gguf,
        .device = s->device,
        .isa = s->cpu,
        .ctx = (uint32_t)s->ctx,
        .threads = (int)s->threads,
        .chunk = (int)s->chunk,
        .memory = (uint64_t)s->memory,
        .cancel = cancel,
    };

    m->be = probe ? be_probe(&p, e) : be_open(&p, e);
    if (!m->be)
        return false;

    const struct be_vocab *v = be_own_vocab(m->be);
    if (v) {
        struct tok_list list = { v->n, v->text, v->len, v->special, v->bos, v->eos };
        m->tok = tok_from_list(&list, e);
    }
    if (!m->tok)
        return false;
    if (tok_count(m->tok) != be_info(m->be)->n_vocab)
        return err_set_kind(e, ERR_MODEL,
                            "loading %s: the vocabulary has %zu tokens but the model computes "
                            "%u logits; the file is inconsistent",
                            m->path ? m->path : "the fake device", tok_count(m->tok),
                            be_info(m->be)->n_vocab);
    return true;
}

/* The directory of a tokenizer without a model: what else belongs to it is there. */
static char *chat_dir_of(const char *path)
{
    const char *base = path_base(path);
    struct stat st;

    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return xstrdup(path);
    return base == path ? xstrdup(".") : xmemdup0(path, (size_t)(base - path));
}

bool chat_model_choose_template(struct chat_model *m, const struct chat_settings *s,
                                struct err *e)
{
    const struct be_vocab *own = m->be ? be_own_vocab(m->be) : NULL;
    char *dir = m->gguf || !m->path ? NULL : chat_dir_of(m->path);
    struct chat_template_from from = {
        .named = s->template_name, .gguf = m->gguf, .dir = dir, .vocab = &m->vocab,
    };
    struct buf why = {0};

    if (!from.named && own && own->template_name) {
        m->tmpl = tmpl_find(own->template_name, e);
        buf_adds(&why, "named by the fake device's script");
    } else {
        m->tmpl = chat_template_choose(&from, &why, e);
    }
    free(dir);
    m->why_template = buf_take(&why);
    if (!m->tmpl)
        return m->path ? err_wrap(e, "%s", m->path) : false;
    m->syntax = tmpl_syntax_of(m->tmpl);
    return true;
}

struct chat_model *chat_model_open(const struct chat_settings *s, enum chat_model_parts parts,
                                   const atomic_bool *cancel, struct err *e)
{
    struct chat_model *m = xcalloc(1, sizeof *m);
    bool fake = chat_is_fake(s->device);
    bool ok = fake || chat_model_open_file(m, s, parts, e);

    if (ok && (fake || parts >= CHAT_MODEL_PROBE))
        ok = chat_model_open_backend(m, s, parts < CHAT_MODEL_RUN, cancel, e);
    if (ok) {
        m->specials = chat_vocab_new(m->tok);
        m->vocab = chat_vocab_tmpl(m->specials);
    }
    if (ok && parts >= CHAT_MODEL_CHAT) {
        ok = chat_model_choose_template(m, s, e);
        if (ok && m->path && gguf_shards(m->gguf) == 1)
            chat_sha256_known(m->path, m->sha256);
    }
    if (!ok) {
        chat_model_free(m);
        return NULL;
    }
    return m;
}

void chat_model_free(struct chat_model *m)
{
    if (!m)
        return;
    tmpl_free(m->tmpl);
    be_free(m->be);
    chat_vocab_free(m->specials);
    tok_free(m->tok);
    gguf_free(m->gguf);
    free(m->why_template);
    free(m->path);
    free(m);
}

const char *chat_model_name(const struct chat_model *m)
{
    const char *name = m->be ? be_info(m->be)->name : NULL;

    if (name && *name)
        return name;
    return m->path ? path_base(m->path) : "fake";
}
