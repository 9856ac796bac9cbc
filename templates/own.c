/* A model's own chat template, in the language of jinja.h.
 *
 * The interpreter says of every byte whose it is. In the template's own text the longest
 * name of a special token becomes that token, as when the model was trained; the
 * conversation's text stays text.
 *
 * Without a vocabulary what has the shape of a special token is one.
 *
 * The model goes on in an open message: if it was said, the prompt is the one it was said
 * behind, and its ids; else the message is written as a closed one and cut behind its
 * last word. */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/jinja.h"
#include "templates/pyjson.h"

struct own_template {
    char *name;
    char *source;                   /* (len) */
    size_t len;
    struct jinja *jinja;
};

struct tmpl_own {
    struct tmpl tmpl;
    char *name;
    struct own_template *v;         /* (n) as the model has them */
    size_t n;
    const struct own_template *usual, *tools;
};

/* ---- compiling ---- */

bool tmpl_source_has(const char *source, size_t len, const char *s)
{
    return memmem(source, len, s, strlen(s)) != NULL;
}

static const struct own_template *own_find(const struct tmpl_own *own, const char *name)
{
    for (size_t i = 0; i < own->n; i++)
        if (!strcmp(own->v[i].name, name))
            return &own->v[i];
    return NULL;
}

static bool own_compile(struct tmpl_own *own, const struct tmpl_source *s, struct err *e)
{
    struct own_template *t = &own->v[own->n++];

    t->name = xstrdup(s->name);
    t->source = xmemdup0(s->text, s->len);
    t->len = s->len;
    t->jinja = jinja_compile(t->source, t->len, e);
    if (t->jinja)
        return true;
    if (e)
        e->kind = ERR_MODEL;
    return false;
}

struct tmpl *tmpl_compile(const char *name, const struct tmpl_source *sources, size_t n,
                          const struct tmpl_vocab *vocab, struct err *e)
{
    struct tmpl_own *own = xcalloc(1, sizeof *own);
    static const char *const none[] = { NULL };

    assert(n);
    own->name = xstrdup(name);
    own->v = xcalloc(n, sizeof *own->v);
    own->tmpl = (struct tmpl){
        .name = own->name,
        .help = "a chat template in the template language",
        .needs = none,
        .render = tmpl_own_render,
        .reads_json = true,
        .own = own,
    };
    for (size_t i = 0; i < n; i++) {
        if (!own_compile(own, &sources[i], e)) {
            tmpl_own_free(own);
            return NULL;
        }
    }
    own->tools = own_find(own, "tool_use");
    own->usual = own_find(own, "default");
    if (!own->usual)
        own->usual = &own->v[0];
    const struct own_template *calls = own->tools ? own->tools : own->usual;
    own->tmpl.syntax = tmpl_syntax_choose(calls->source, calls->len, vocab, NULL);
    return &own->tmpl;
}

void tmpl_own_free(struct tmpl_own *own)
{
    if (!own)
        return;
    for (size_t i = 0; i < own->n; i++) {
        jinja_free(own->v[i].jinja);
        free(own->v[i].source);
        free(own->v[i].name);
    }
    free(own->v);
    free(own->name);
    free(own);
}

bool tmpl_own_mentions(const struct tmpl *t, const char *name)
{
    return jinja_mentions(t->own->usual->jinja, name);
}

const char *tmpl_own_source(const struct tmpl *t, size_t *len)
{
    *len = t->own->usual->len;
    return t->own->usual->source;
}

/* ---- special tokens in the template's text ---- */

/* <|...|>, also with wide bars, and <s> and the like: short, without white space. */
static size_t own_shape(const struct tmpl_request *r, const char *s, size_t n)
{
    static const char *const halves[][2] = {
        { "<|", "|>" }, { "<\xef\xbd\x9c", "\xef\xbd\x9c>" },
    };
    const char *const ends[] = { r->bos, r->eos };

    for (size_t i = 0; i < 2; i++) {
        size_t len = ends[i] ? strlen(ends[i]) : 0;
        if (len && len <= n && !memcmp(s, ends[i], len))
            return len;
    }
    for (size_t i = 0; i < 2; i++) {
        size_t half = strlen(halves[i][0]), most = n < 80 ? n : 80;
        if (n < half || memcmp(s, halves[i][0], half))
            continue;
        for (size_t k = half; k + half <= most && s[k] != ' ' && s[k] != '\n'; k++)
            if (k > half && !memcmp(s + k, halves[i][1], half))
                return k + half;
    }
    return 0;
}

/* Bytes of the special token that the n bytes at s begin with; 0: of none. */
static size_t own_special(const struct tmpl_job *j, const char *s, size_t n)
{
    if (!j->vocab)
        return own_shape(j->request, s, n);
    return j->vocab->special_at(j->vocab->arg, s, n);
}

/* The first cut bytes of the interpreter's output, as pieces. */
static void own_pieces(struct tmpl_job *j, const struct jinja_output *o, size_t cut)
{
    const char *text = buf_str(&o->text);

    for (size_t i = 0; i < o->n_runs && o->runs[i].from < cut; i++) {
        size_t from = o->runs[i].from, to = o->runs[i].to, len;
        bool own = o->runs[i].origin == JINJA_TEMPLATE;

        to = to < cut ? to : cut;
        for (size_t at = from; own && at < to; at += len ? len : 1) {
            len = own_special(j, text + at, to - at);
            if (!len)
                continue;
            tmpl_add_text(j->out, text + from, at - from, TMPL_FROM_TEMPLATE);
            tmpl_add_special(j->out, text + at, len);
            from = at + len;
        }
        tmpl_add_text(j->out, text + from, to - from,
                      own ? TMPL_FROM_TEMPLATE : TMPL_FROM_CONVERSATION);
    }
}

/* ---- rendering ---- */

static json_t *own_without_private(const json_t *o)
{
    json_t *copy = json_object();
    json_t *from = (json_t *)o;                 /* jansson iterates without const */

    for (void *it = json_object_iter(from); it; it = json_object_iter_next(from, it))
        if (*json_object_iter_key(it) != '_')
            json_object_set_nocheck(copy, json_object_iter_key(it),
                                    json_object_iter_value(it));
    return copy;
}

/* The variables of the template: the first n messages, and the options. */
static json_t *own_context(const struct tmpl_job *j, size_t n, bool generate)
{
    const struct tmpl_request *r = j->request;
    json_t *context = own_without_private(r->options), *messages = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *m = json_array_get(r->messages, i);
        json_array_append_new(messages, json_is_object(m) ? own_without_private(m)
                                                          : json_incref(m));
    }
    json_object_set_new(context, "messages", messages);
    json_object_set(context, "tools", r->tools ? (json_t *)r->tools : json_null());
    if (!json_object_get(context, "documents"))
        json_object_set_new(context, "documents", json_null());
    if (r->bos)
        json_object_set_new_nocheck(context, "bos_token", json_string_nocheck(r->bos));
    if (r->eos)
        json_object_set_new_nocheck(context, "eos_token", json_string_nocheck(r->eos));
    if (generate != j->generate)
        json_object_set_new(context, "add_generation_prompt", json_boolean(generate));
    return context;
}

static bool own_time(const char *now, struct tm *tm, struct err *e)
{
    const char *end;
    time_t t;

    *tm = (struct tm){0};
    end = strptime(now, "%Y-%m-%dT%H:%M:%S", tm);
    if (!end || *end)
        return err_set_kind(e, ERR_USAGE, "the time \"%s\" is not written like "
                                          "2026-01-15T12:34:56", now);
    t = timegm(tm);
    gmtime_r(&t, tm);
    return true;
}

static bool own_run(const struct tmpl_job *j, size_t n, bool generate,
                    struct jinja_output *out, struct err *e)
{
    const struct tmpl_own *own = j->tmpl->own;
    const struct own_template *t = j->tools && own->tools ? own->tools : own->usual;
    struct jinja_limits limits = {0};
    struct tm now;
    json_t *context;
    bool ok;

    if (j->request->now) {
        if (!own_time(j->request->now, &now, e))
            return false;
        limits.now = &now;
    }
    context = own_context(j, n, generate);
    ok = jinja_render(t->jinja, context, &limits, out, e);
    json_decref(context);
    return ok;
}

/* The end of the text that stands last in the output as the conversation's; 0: nowhere */
static size_t own_find_end(const struct jinja_output *o, const char *s, size_t n)
{
    for (size_t i = o->n_runs; i-- > 0 && n;) {
        const struct jinja_run *run = &o->runs[i];
        if (run->origin != JINJA_CONVERSATION)
            continue;
        for (size_t at = run->to; at >= run->from + n; at--)
            if (!memcmp(o->text.p + at - n, s, n))
                return at;
    }
    return 0;
}

/* Where the output for a closed last message is to be cut so that it is open. */
static size_t own_cut(struct tmpl_job *j, const struct jinja_output *o,
                      const struct buf *content, const char *think, size_t think_n)
{
    size_t n = content->n ? content->n : think_n;
    const char *s = content->n ? content->p : think;
    size_t cut = own_find_end(o, s, n);

    if (!cut) {
        s = tmpl_trim(s, &n);
        cut = own_find_end(o, s, n);
    }
    j->out->start = content->n ? TMPL_RESPONSE : TMPL_THINK;
    return cut;
}

/* Behind the last conversation text there is only what the template wrote. */
static enum tmpl_channel own_start(const struct tmpl_job *j)
{
    const struct tmpl_prompt *p = j->out;
    size_t from = 0;

    if (p->n_spans > 1 && p->spans[p->n_spans - 1].origin == TMPL_FROM_TEMPLATE)
        from = p->spans[p->n_spans - 2].to;
    if (!p->n_spans || p->spans[p->n_spans - 1].origin != TMPL_FROM_TEMPLATE)
        from = p->text.n;
    return tmpl_syntax_start(j->tmpl->syntax, buf_str(&p->text) + from, p->text.n - from);
}

/* The prompt behind which the model answers the first n messages. */
static bool own_prompt(struct tmpl_job *j, size_t n, bool generate, struct err *e)
{
    struct jinja_output o = {0};
    bool ok = own_run(j, n, generate, &o, e);

    if (ok) {
        own_pieces(j, &o, o.text.n);
        j->out->start = own_start(j);
    }
    jinja_output_release(&o);
    return ok;
}

static bool own_open(struct tmpl_job *j, const json_t *m, size_t n, struct err *e)
{
    struct jinja_output o = {0};
    struct buf content = {0};
    const char *think = NULL;
    size_t think_n = 0, cut;
    bool ok = tmpl_get_content(json_object_get(m, "content"), &content, e) &&
              tmpl_get_string(m, tmpl_reasoning_key(j->tmpl), &think, &think_n, e);

    if (ok && !content.n && !think_n) {
        ok = own_prompt(j, n - 1, true, e);
    } else if (ok) {
        ok = own_run(j, n, false, &o, e);
        cut = ok ? own_cut(j, &o, &content, think, think_n) : 0;
        if (ok && !cut)
            ok = err_set(e,
                         "message %zu cannot be gone on with: the chat template does not "
                         "write it",
                         n);
        else if (ok)
            own_pieces(j, &o, cut);
    }
    jinja_output_release(&o);
    buf_release(&content);
    return ok;
}

bool tmpl_own_render(struct tmpl_job *j, struct err *e)
{
    size_t n = json_array_size(j->request->messages);
    const json_t *last = n ? json_array_get(j->request->messages, n - 1) : NULL;
    bool said, open;

    if (!tmpl_get_bool(last, "_said", false, &said, e) ||
        !tmpl_get_bool(last, "_open", false, &open, e))
        return false;
    if (!open)
        return own_prompt(j, n, j->generate, e);
    if (!said)
        return own_open(j, last, n, e);
    if (!own_prompt(j, n - 1, true, e))
        return false;
    tmpl_add_said(j->out, n - 1);
    return true;
}
