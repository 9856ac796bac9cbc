/* The pieces that a renderer makes.
 *
 * A renderer never builds a string with markers in it. It puts text, of which it says
 * whose it is, and special tokens, and only a call in this file makes a special piece;
 * what comes from a conversation goes through tmpl_put() and is text whatever it looks
 * like. Neighbouring text becomes one piece, so that "user\n" and the content are encoded
 * together, as the models were trained; its spans remember which part is whose. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

void tmpl_prompt_release(struct tmpl_prompt *p)
{
    buf_release(&p->text);
    free(p->v);
    free(p->spans);
    *p = (struct tmpl_prompt){0};
}

static struct tmpl_piece *pieces_add(struct tmpl_prompt *p, enum tmpl_piece_kind kind)
{
    MEM_GROW(p->v, p->cap, p->n + 1);
    p->v[p->n] = (struct tmpl_piece){ .kind = kind, .at = p->text.n };
    return &p->v[p->n++];
}

/* The text grows by len bytes of that origin. */
static void pieces_text(struct tmpl_prompt *p, const char *text, size_t len,
                        enum tmpl_origin origin)
{
    struct tmpl_span *last = p->n_spans ? &p->spans[p->n_spans - 1] : NULL;

    buf_add(&p->text, text, len);
    if (last && last->origin == origin) {
        last->to = p->text.n;
        return;
    }
    MEM_GROW(p->spans, p->cap_spans, p->n_spans + 1);
    p->spans[p->n_spans++] = (struct tmpl_span){ p->text.n, origin };
}

void tmpl_add_text(struct tmpl_prompt *p, const char *text, size_t len,
                   enum tmpl_origin origin)
{
    struct tmpl_piece *last = p->n ? &p->v[p->n - 1] : NULL;

    if (!len)
        return;
    if (!last || last->kind != TMPL_PIECE_TEXT)
        last = pieces_add(p, TMPL_PIECE_TEXT);
    pieces_text(p, text, len, origin);
    last->len += len;
}

void tmpl_add_special(struct tmpl_prompt *p, const char *name, size_t len)
{
    pieces_add(p, TMPL_PIECE_SPECIAL)->len = len;
    pieces_text(p, name, len, TMPL_FROM_TEMPLATE);
}

void tmpl_add_said(struct tmpl_prompt *p, size_t message)
{
    pieces_add(p, TMPL_PIECE_SAID)->message = message;
}

void tmpl_put(struct tmpl_job *j, const char *text, size_t len)
{
    tmpl_add_text(j->out, text, len, TMPL_FROM_CONVERSATION);
}

void tmpl_puts(struct tmpl_job *j, const char *text)
{
    tmpl_add_text(j->out, text, strlen(text), TMPL_FROM_TEMPLATE);
}

void tmpl_put_special(struct tmpl_job *j, const char *name)
{
    tmpl_add_special(j->out, name, strlen(name));
}

bool tmpl_has_special(const struct tmpl_job *j, const char *name)
{
    return !j->vocab || j->vocab->has_special(j->vocab->arg, name);
}

void tmpl_put_tag(struct tmpl_job *j, const char *name)
{
    if (tmpl_has_special(j, name))
        tmpl_put_special(j, name);
    else
        tmpl_puts(j, name);
}

void tmpl_put_said(struct tmpl_job *j, size_t i)
{
    tmpl_add_said(j->out, i);
}

void tmpl_put_no_think(struct tmpl_job *j)
{
    if (!tmpl_has_special(j, "<think>"))
        return;
    tmpl_put_tag(j, "<think>");
    tmpl_puts(j, "\n\n");
    tmpl_put_tag(j, "</think>");
    tmpl_puts(j, "\n\n");
}

/* ---- content ---- */

size_t tmpl_space(const char *s, size_t n)
{
    static const char *const wide[] = {
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
        "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
        "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
    };

    if (!n)
        return 0;
    if (*s == ' ' || (*s >= '\t' && *s <= '\r') || (*s >= 0x1c && *s <= 0x1f))
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        size_t len = strlen(wide[i]);
        if (len <= n && !memcmp(s, wide[i], len))
            return len;
    }
    return 0;
}

static size_t space_before(const char *s, size_t n)
{
    for (size_t len = 1; len <= 3 && len <= n; len++)
        if (tmpl_space(s + n - len, len) == len)
            return len;
    return 0;
}

static const char *trim_start(const char *s, size_t *n)
{
    size_t k;

    while ((k = tmpl_space(s, *n))) {
        s += k;
        *n -= k;
    }
    return s;
}

const char *tmpl_trim(const char *s, size_t *n)
{
    size_t k;

    s = trim_start(s, n);
    while ((k = space_before(s, *n)))
        *n -= k;
    return s;
}

void tmpl_put_content(struct tmpl_job *j, size_t i, enum tmpl_strip strip)
{
    const char *s = buf_str(&j->messages[i].content);
    size_t n = j->messages[i].content.n;

    /* The model goes on behind an open message: its end is not ours to change. */
    if (strip == TMPL_STRIP_SPACE)
        s = (tmpl_is_open(j, i) ? trim_start : tmpl_trim)(s, &n);
    tmpl_put(j, s, n);
}

/* ---- JSON ---- */

static void json_line(struct buf *b, size_t spaces)
{
    buf_addc(b, '\n');
    while (spaces--)
        buf_addc(b, ' ');
}

static void json_indented(struct buf *b, const json_t *v, size_t indent, size_t depth)
{
    bool object = json_is_object(v);
    json_t *o = (json_t *)v;                    /* jansson iterates without const */
    void *it = json_object_iter(o);
    size_t n = object ? json_object_size(v) : json_array_size(v);

    if (!n) {                                   /* a value, {} or [] */
        pyjson_add(b, v, PYJSON_SPACES);
        return;
    }
    buf_addc(b, object ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ',');
        json_line(b, indent * (depth + 1));
        if (object) {
            const char *key = json_object_iter_key(it);
            pyjson_add_string(b, key, strlen(key));
            buf_adds(b, ": ");
        }
        json_indented(b, object ? json_object_iter_value(it) : json_array_get(v, i),
                      indent, depth + 1);
        it = object ? json_object_iter_next(o, it) : NULL;
    }
    json_line(b, indent * depth);
    buf_addc(b, object ? '}' : ']');
}

void tmpl_put_json(struct tmpl_job *j, const json_t *v, size_t indent)
{
    struct buf b = {0};

    if (indent)
        json_indented(&b, v, indent, 0);
    else
        pyjson_add(&b, v, PYJSON_SPACES);
    tmpl_put(j, buf_str(&b), b.n);
    buf_release(&b);
}

bool tmpl_put_call_name(struct tmpl_job *j, const json_t *call, struct err *e)
{
    const char *name;
    size_t n;

    if (!tmpl_get_string(tmpl_function(call), "name", &name, &n, e))
        return false;
    if (!n)
        return err_set_kind(e, ERR_USAGE, "a call has no name");
    tmpl_put(j, name, n);
    return true;
}

void tmpl_put_arguments(struct tmpl_job *j, const json_t *call)
{
    const json_t *v = json_object_get(tmpl_function(call), "arguments");

    if (!v || json_is_null(v))
        tmpl_puts(j, "{}");
    else if (pyjson_is_string(v))
        tmpl_put(j, json_string_value(v), json_string_length(v));
    else
        tmpl_put_json(j, v, 0);
}
