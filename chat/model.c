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

static bool chat_has_special(const void *arg, const char *name)
{
    return tok_special(arg, name) >= 0;
}

/* As generate.c feeds it: what has bytes of its own is text. */
static bool chat_is_control(const void *arg, const char *name)
{
    int32_t id = tok_special(arg, name);
    size_t len = 0;

    if (id >= 0)
        tok_bytes(arg, id, &len);
    return id >= 0 && !len;
}

/* Bytes for texts of the conversation that are not encoded again. */
static const size_t chat_cache_limit = (size_t)32 << 20;

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

static bool chat_model_choose_template(struct chat_model *m, const struct chat_settings *s,
                                       struct err *e)
{
    const struct be_vocab *own = m->be ? be_own_vocab(m->be) : NULL;
    struct gguf_str source = {0};
    struct buf why = {0};

    if (s->template_name) {
        m->tmpl = tmpl_find(s->template_name, e);
        buf_adds(&why, "named by --template");
    } else if (own && own->template_name) {
        m->tmpl = tmpl_find(own->template_name, e);
        buf_adds(&why, "named by the fake device's script");
    } else {
        if (m->gguf &&
            !gguf_opt_str(m->gguf, "tokenizer.chat_template", &source, e))
            return false;
        m->tmpl = tmpl_choose(source.p, source.n, &m->vocab, &why, e);
    }
    m->why_template = buf_take(&why);
    if (!m->tmpl)
        return m->path ? err_wrap(e, "%s", m->path) : false;
    m->syntax = source.p ? tmpl_syntax_choose(source.p, source.n, &m->vocab, NULL)
                         : tmpl_syntax_of(m->tmpl);
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
    m->vocab = (struct tmpl_vocab){
        .has_special = chat_has_special, .is_control = chat_is_control, .arg = m->tok,
    };
    if (ok && parts >= CHAT_MODEL_CHAT) {
        m->cache = tok_cache_new(m->tok, chat_cache_limit);
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
    be_free(m->be);
    tok_cache_free(m->cache);
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
