/* Finding the sources of chat templates. A file that is there but cannot be read is an
 * error, not a reason to take another one. */
#include "config.h"

#include "chat/template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"
#include "base/paths.h"

/* More than any template has, less than would hurt. */
enum { SOURCE_MAX = 8 << 20 };

/* What a model brings along, copied. */
struct sources {
    struct tmpl_source *v;          /* (n), names and texts owned */
    size_t n, cap;
};

static void sources_release(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free((char *)s->v[i].name);
        free((char *)s->v[i].text);
    }
    free(s->v);
    *s = (struct sources){0};
}

/* Empty ones do not count, nor a second of the same name. */
static void sources_add(struct sources *s, const char *name, size_t name_n,
                        const char *text, size_t n)
{
    if (!n)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (strlen(s->v[i].name) == name_n && !memcmp(s->v[i].name, name, name_n))
            return;
    MEM_GROW(s->v, s->cap, s->n + 1);
    s->v[s->n++] = (struct tmpl_source){ xmemdup0(name, name_n), xmemdup0(text, n), n };
}

/* ---- GGUF ---- */

static bool sources_of_gguf(const struct gguf *g, struct sources *out, struct err *e)
{
    static const char prefix[] = "tokenizer.chat_template";
    const size_t len = sizeof prefix - 1;
    struct gguf_str source = {0};

    if (!gguf_opt_str(g, prefix, &source, e))
        return false;
    sources_add(out, "default", 7, source.p, source.n);
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const struct gguf_kv *kv = gguf_kv_at(g, i);
        if (kv->key.n <= len + 1 || memcmp(kv->key.p, prefix, len) ||
            kv->key.p[len] != '.' || memchr(kv->key.p, '\0', kv->key.n))
            continue;
        char *key = xmemdup0(kv->key.p, kv->key.n);
        bool ok = gguf_opt_str(g, key, &source, e);
        free(key);
        if (!ok)
            return false;
        sources_add(out, kv->key.p + len + 1, kv->key.n - len - 1, source.p, source.n);
    }
    return true;
}

/* ---- files ---- */

enum missing { MISSING_OK, MISSING_BAD };

/* Append the file's bytes. True and nothing when it is not there and may be missing. */
static bool read_file(const char *path, enum missing missing, struct buf *out,
                      struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0 && errno == ENOENT && missing == MISSING_OK)
        return true;
    if (fd < 0)
        return err_set_kind(e, ERR_MODEL, "cannot open %s: %s", path, strerror(errno));
    do {
        buf_reserve(out, 65536);
        n = read(fd, out->p + out->n, 65536);
        if (n > 0)
            out->n += (size_t)n;
    } while (out->n <= SOURCE_MAX && (n > 0 || (n < 0 && errno == EINTR)));
    if (out->p)
        out->p[out->n] = '\0';
    if (n < 0)
        err_set_kind(e, ERR_MODEL, "cannot read %s: %s", path, strerror(errno));
    else if (out->n > SOURCE_MAX)
        err_set_kind(e, ERR_MODEL, "%s is larger than a chat template may be", path);
    close(fd);
    return n == 0;
}

static bool has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);

    return n > k && !strcmp(s + n - k, suffix);
}

/* dir/file, if it is there, by that name. */
static bool source_of_file(const char *dir, const char *file, const char *name,
                           size_t name_n, struct sources *out, struct err *e)
{
    struct buf path = {0}, text = {0};

    buf_addf(&path, "%s/%s", dir, file);
    bool ok = read_file(path.p, MISSING_OK, &text, e);
    if (ok)
        sources_add(out, name, name_n, text.p, text.n);
    buf_release(&path);
    buf_release(&text);
    return ok;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_jinja(const struct dirent *d)
{
    return has_suffix(d->d_name, ".jinja");
}

static bool sources_of_folder(const char *dir, struct sources *out, struct err *e)
{
    struct buf path = {0};
    struct dirent **list = NULL;
    bool ok = true;

    buf_addf(&path, "%s/additional_chat_templates", dir);
    int n = scandir(path.p, &list, is_jinja, by_name);
    for (int i = 0; i < n; i++) {
        const char *file = list[i]->d_name;
        ok = ok && source_of_file(path.p, file, file, strlen(file) - 6, out, e);
        free(list[i]);
    }
    free(list);
    buf_release(&path);
    return ok;
}

/* "chat_template": a text, or a list of {"name", "template"}. */
static void sources_of_json(const json_t *v, struct sources *out)
{
    if (json_is_string(v))
        sources_add(out, "default", 7, json_string_value(v), json_string_length(v));
    for (size_t i = 0; i < json_array_size(v); i++) {
        const json_t *o = json_array_get(v, i);
        const json_t *name = json_object_get(o, "name"),
                     *text = json_object_get(o, "template");
        if (json_is_string(name) && json_is_string(text))
            sources_add(out, json_string_value(name), json_string_length(name),
                        json_string_value(text), json_string_length(text));
    }
}

static bool sources_of_config(const char *dir, const char *file, struct sources *out,
                              struct err *e)
{
    struct buf path = {0}, text = {0};
    json_error_t bad;
    json_t *config = NULL;

    buf_addf(&path, "%s/%s", dir, file);
    bool ok = read_file(path.p, MISSING_OK, &text, e);
    if (ok && text.n) {
        config = json_loadb(text.p, text.n, 0, &bad);
        if (!config)
            ok =
                err_set_kind(e, ERR_MODEL, "%s, line %d: %s", path.p, bad.line, bad.text);
        sources_of_json(json_object_get(config, "chat_template"), out);
    }
    json_decref(config);
    buf_release(&path);
    buf_release(&text);
    return ok;
}

static bool sources_of_dir(const char *dir, struct sources *out, struct err *e)
{
    return source_of_file(dir, "chat_template.jinja", "default", 7, out, e) &&
           sources_of_folder(dir, out, e) &&
           sources_of_config(dir, "chat_template.json", out, e) &&
           sources_of_config(dir, "tokenizer_config.json", out, e);
}

/* ---- choosing ---- */

const struct tmpl *chat_template_file(const char *path, const struct tmpl_vocab *vocab,
                                      struct err *e)
{
    struct buf text = {0};
    const struct tmpl *t = NULL;

    if (read_file(path, MISSING_BAD, &text, e)) {
        struct tmpl_source source = { "default", buf_str(&text), text.n };
        t = tmpl_compile(path_base(path), &source, 1, vocab, e);
        if (!t)
            err_wrap(e, "%s", path);
    }
    if (!t && e)
        e->kind = ERR_USAGE;        /* it is the user who named it */
    buf_release(&text);
    return t;
}

static char *template_arch(const struct gguf *g)
{
    struct gguf_str arch = {0};

    if (!g || !gguf_opt_str(g, "general.architecture", &arch, NULL) || !arch.n)
        return NULL;
    return xmemdup0(arch.p, arch.n);
}

const struct tmpl *chat_template_choose(const struct chat_template_from *from,
                                        struct buf *why, struct err *e)
{
    struct sources sources = {0};
    struct tmpl_model m = { .vocab = from->vocab };
    const struct tmpl *t = NULL;
    char *arch;

    if (from->named && (strchr(from->named, '/') || has_suffix(from->named, ".jinja"))) {
        if (why)
            buf_adds(why, "named by --template");
        return chat_template_file(from->named, from->vocab, e);
    }
    if ((from->gguf && !sources_of_gguf(from->gguf, &sources, e)) ||
        (from->dir && !sources_of_dir(from->dir, &sources, e))) {
        sources_release(&sources);
        return NULL;
    }
    m.arch = arch = template_arch(from->gguf);
    m.sources = sources.v;
    m.n_sources = sources.n;
    if (from->named)
        t = tmpl_choose_named(from->named, &m, why, e);
    else
        t = tmpl_choose(&m, why, e);
    free(arch);
    sources_release(&sources);
    return t;
}
