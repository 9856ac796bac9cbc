/* The table of templates, choosing from it, and the pieces a renderer emits.
 *
 * A renderer never builds a string with markers in it. It puts text and special tokens,
 * and only a call in this module makes a special piece; a message's content goes through
 * tmpl_put() and is text whatever it looks like. Neighbouring text becomes one piece, so
 * that "user\n" and the content are encoded together, as the models were trained. */
#include "config.h"

#include "templates/template.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "templates/internal.h"

/* In the order in which a chat template is tried. */
static const struct tmpl *const tmpl_table[] = {
    &tmpl_chatml,
    &tmpl_llama3,
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

static void tmpl_add_names(struct buf *b)
{
    for (size_t i = 0; i < TMPL_COUNT; i++)
        buf_addf(b, "%s%s", i ? ", " : "", tmpl_table[i]->name);
}

const struct tmpl *tmpl_find(const char *name, struct err *e)
{
    struct buf names = {0};

    for (size_t i = 0; i < TMPL_COUNT; i++)
        if (!strcmp(tmpl_table[i]->name, name))
            return tmpl_table[i];
    tmpl_add_names(&names);
    err_set_kind(e, ERR_USAGE, "there is no template \"%s\"; choose one of %s", name,
                 buf_str(&names));
    buf_release(&names);
    return NULL;
}

/* ---- choosing ---- */

bool tmpl_source_has(const char *source, size_t len, const char *s)
{
    return memmem(source, len, s, strlen(s)) != NULL;
}

/* The first special token that t needs and the vocabulary has not; NULL: all there. */
static const char *tmpl_missing(const struct tmpl *t, const struct tmpl_vocab *vocab)
{
    if (!vocab)
        return NULL;
    for (const char *const *name = t->needs; *name; name++)
        if (!vocab->has_special(vocab->arg, *name))
            return *name;
    return NULL;
}

static const struct tmpl *tmpl_unknown(const char *source, size_t len, struct err *e)
{
    struct buf names = {0}, head = {0};
    size_t n = len < 48 ? len : utf8_complete(source, 48);

    tmpl_add_names(&names);
    buf_add(&head, source, n);
    err_set_kind(e, ERR_MODEL,
                 "the model's chat template is none of ours (it begins \"%s\"); choose with "
                 "--template one of %s",
                 buf_str(&head), buf_str(&names));
    buf_release(&head);
    buf_release(&names);
    return NULL;
}

static const struct tmpl *tmpl_by_source(const char *source, size_t len,
                                         const struct tmpl_vocab *vocab, struct buf *why,
                                         struct err *e)
{
    for (size_t i = 0; i < TMPL_COUNT; i++) {
        const struct tmpl *t = tmpl_table[i];
        if (!t->mark || !tmpl_source_has(source, len, t->mark))
            continue;
        if (t->recognise && !t->recognise(source, len))
            continue;
        const char *missing = tmpl_missing(t, vocab);
        if (missing) {
            struct buf names = {0};
            tmpl_add_names(&names);
            err_set_kind(e, ERR_MODEL,
                         "the model's chat template is %s, but its vocabulary has no "
                         "special token %s; choose with --template one of %s",
                         t->name, missing, buf_str(&names));
            buf_release(&names);
            return NULL;
        }
        if (why)
            buf_addf(why, "the chat template in the model's file writes %s", t->mark);
        return t;
    }
    return tmpl_unknown(source, len, e);
}

static const struct tmpl *tmpl_by_vocab(const struct tmpl_vocab *vocab, struct buf *why)
{
    for (size_t i = 0; vocab && i < TMPL_COUNT; i++) {
        const struct tmpl *t = tmpl_table[i];
        if (!t->mark || tmpl_missing(t, vocab))
            continue;
        if (why)
            buf_addf(why, "the file has no chat template, but its vocabulary has %s",
                     t->mark);
        return t;
    }
    if (why)
        buf_adds(why, "the file has no chat template and its vocabulary no chat markers");
    return &tmpl_plain;
}

const struct tmpl *tmpl_choose(const char *source, size_t len,
                               const struct tmpl_vocab *vocab, struct buf *why,
                               struct err *e)
{
    if (source && len)
        return tmpl_by_source(source, len, vocab, why, e);
    return tmpl_by_vocab(vocab, why);
}

/* ---- pieces ---- */

void tmpl_prompt_release(struct tmpl_prompt *p)
{
    buf_release(&p->text);
    free(p->v);
    *p = (struct tmpl_prompt){0};
}

static struct tmpl_piece *tmpl_add(struct tmpl_prompt *p, enum tmpl_piece_kind kind)
{
    MEM_GROW(p->v, p->cap, p->n + 1);
    p->v[p->n] = (struct tmpl_piece){ .kind = kind, .at = p->text.n };
    return &p->v[p->n++];
}

void tmpl_put(struct tmpl_job *j, const char *text, size_t len)
{
    struct tmpl_prompt *p = j->out;
    struct tmpl_piece *last = p->n ? &p->v[p->n - 1] : NULL;

    if (!len)
        return;
    if (!last || last->kind != TMPL_PIECE_TEXT)
        last = tmpl_add(p, TMPL_PIECE_TEXT);
    buf_add(&p->text, text, len);
    last->len += len;
}

void tmpl_puts(struct tmpl_job *j, const char *text)
{
    tmpl_put(j, text, strlen(text));
}

void tmpl_put_special(struct tmpl_job *j, const char *name)
{
    struct tmpl_piece *piece = tmpl_add(j->out, TMPL_PIECE_SPECIAL);

    piece->len = strlen(name);
    buf_adds(&j->out->text, name);
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
    tmpl_add(j->out, TMPL_PIECE_SAID)->message = i;
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

static size_t tmpl_space_before(const char *s, size_t n)
{
    for (size_t len = 1; len <= 3 && len <= n; len++)
        if (tmpl_space(s + n - len, len) == len)
            return len;
    return 0;
}

void tmpl_put_content(struct tmpl_job *j, size_t i, enum tmpl_trim trim)
{
    const char *s = j->messages[i].content;
    size_t n = j->messages[i].len, k;

    if (trim == TMPL_TRIM_SPACE) {
        while ((k = tmpl_space(s, n))) {
            s += k;
            n -= k;
        }
        /* The model goes on behind an open message: its end is not ours to change. */
        while (!tmpl_is_open(j, i) && (k = tmpl_space_before(s, n)))
            n -= k;
    }
    tmpl_put(j, s, n);
}

void tmpl_put_answer(struct tmpl_job *j, size_t i, enum tmpl_trim trim)
{
    const struct tmpl_message *m = &j->messages[i];
    bool in_thought = tmpl_is_open(j, i) && m->reasoning_len && !m->len;

    if (m->said) {
        tmpl_put_said(j, i);
        return;
    }
    if (in_thought)
        j->out->start = TMPL_THINK;
    if (m->reasoning_len) {
        tmpl_put_tag(j, "<think>");
        tmpl_puts(j, "\n");
        tmpl_put(j, m->reasoning, m->reasoning_len);
        if (in_thought)
            return;
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "</think>");
        tmpl_puts(j, "\n\n");
    }
    tmpl_put_content(j, i, trim);
}

bool tmpl_is_open(const struct tmpl_job *j, size_t i)
{
    return i + 1 == j->n && j->messages[i].open;
}

bool tmpl_wants_answer(const struct tmpl_job *j)
{
    return j->options->add_generation_prompt && !(j->n && tmpl_is_open(j, j->n - 1));
}

bool tmpl_render(const struct tmpl *t, const struct tmpl_message *messages, size_t n,
                 const struct tmpl_options *options, const struct tmpl_vocab *vocab,
                 struct tmpl_prompt *out, struct err *e)
{
    struct tmpl_job j = {
        .messages = messages, .n = n, .options = options, .vocab = vocab, .out = out,
    };
    const char *missing = tmpl_missing(t, vocab);

    buf_reset(&out->text);
    out->n = 0;
    out->start = TMPL_RESPONSE;
    if (missing)
        return err_set_kind(e, ERR_MODEL,
                            "the template %s needs the special token %s, which the "
                            "model's vocabulary does not have; choose another with "
                            "--template",
                            t->name, missing);
    t->render(&j);
    return true;
}
