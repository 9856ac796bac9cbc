/* What a tokenizer does to a text before anything else: one of the four normal forms of
 * Unicode, or replacing one string by another. Bytes that are not UTF-8 stay as they are
 * and are a border that nothing composes across. */
#include "config.h"

#include "tokenizer/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Length of the run of characters at s that are (or are not) below U+0300, the first byte
 * of which is below 0xCC. */
static size_t norm_run(const char *s, size_t n, bool below)
{
    size_t i = 0;

    while (i < n && (((unsigned char)s[i] < 0xCC) == below || (s[i] & 0xC0) == 0x80))
        i++;
    return i;
}

struct norm_memory {
    utf8proc_int32_t *cp;
    size_t cap;
};

/* Append s, which is UTF-8, in a normal form. */
static void norm_span(const char *s, size_t n, utf8proc_option_t how,
                      struct norm_memory *m, struct buf *out)
{
    utf8proc_ssize_t got = (utf8proc_ssize_t)n;

    if (n == 0)
        return;
    do {
        size_t room = (size_t)got;
        MEM_GROW(m->cp, m->cap, room + 1); /* reencode writes a NUL */
        got = utf8proc_decompose((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, m->cp,
                                 (utf8proc_ssize_t)m->cap - 1, how);
    } while (got >= (utf8proc_ssize_t)m->cap);
    got = utf8proc_reencode(m->cp, got, how);
    assert(got > 0);
    buf_add(out, m->cp, (size_t)got);
}

/* Append text in normal form C. Nothing below U+0300 changes, unless a mark follows it:
 * the last character of such a run goes with what comes behind. */
static void norm_nfc(const char *text, size_t len, struct norm_memory *m, struct buf *out)
{
    for (size_t i = 0; i < len;) {
        size_t plain = norm_run(text + i, len - i, true);
        if (i + plain < len)
            while (plain > 0 && (text[i + --plain] & 0xC0) == 0x80)
                ;
        buf_add(out, text + i, plain);
        i += plain;
        if (i == len)
            break;
        size_t base = (unsigned char)text[i] < 0xCC ? utf8_char(text + i, len - i) : 0;
        size_t n = base + norm_run(text + i + base, len - i - base, false);
        norm_span(text + i, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE, m, out);
        i += n;
    }
}

static void norm_form(enum tok_norm_kind kind, const char *text, size_t len,
                      struct norm_memory *m, struct buf *out)
{
    const int stable = UTF8PROC_STABLE, compat = UTF8PROC_COMPAT;

    switch (kind) {
    case TOK_NORM_NFC:
        norm_nfc(text, len, m, out);
        break;
    case TOK_NORM_NFD:
        norm_span(text, len, stable | UTF8PROC_DECOMPOSE, m, out);
        break;
    case TOK_NORM_NFKC:
        norm_span(text, len, stable | UTF8PROC_COMPOSE | compat, m, out);
        break;
    case TOK_NORM_NFKD:
        norm_span(text, len, stable | UTF8PROC_DECOMPOSE | compat, m, out);
        break;
    case TOK_NORM_REPLACE:
        break;
    }
}

static void norm_replace(const struct tok_norm *f, const char *s, size_t n,
                         struct buf *out)
{
    while (n) {
        const char *hit = memmem(s, n, f->from, f->from_len);
        size_t plain = hit ? (size_t)(hit - s) : n;
        buf_add(out, s, plain);
        if (hit)
            buf_add(out, f->to, f->to_len);
        plain += hit ? f->from_len : 0;
        s += plain;
        n -= plain;
    }
}

static void norm_one(const struct tok_norm *f, const char *text, size_t len,
                     struct buf *out)
{
    struct norm_memory m = {0};

    if (f->kind == TOK_NORM_REPLACE) {
        norm_replace(f, text, len, out);
        return;
    }
    for (size_t from = 0; from < len;) {
        size_t to = from, n;
        while (to < len && (n = utf8_char(text + to, len - to)) > 0)
            to += n;
        norm_form(f->kind, text + from, to - from, &m, out);
        for (from = to; to < len && utf8_char(text + to, len - to) == 0;)
            to++;
        buf_add(out, text + from, to - from);
        from = to;
    }
    free(m.cp);
}

/* A look that is enough for most texts: is it as the form would make it? */
static bool norm_is_done(const struct tok_norm *f, const char *text, size_t len)
{
    switch (f->kind) {
    case TOK_NORM_NFC:
        return norm_run(text, len, true) == len;
    case TOK_NORM_REPLACE:
        return memmem(text, len, f->from, f->from_len) == NULL;
    default:
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)text[i] >= 0x80)
                return false;
        return true;
    }
}

bool tok_normalize(const struct tok *t, const char *text, size_t len, struct buf *out)
{
    struct buf from = {0};
    size_t start = out->n, i = 0;

    while (i < t->n_norm && norm_is_done(&t->norm[i], text, len))
        i++;
    if (i == t->n_norm)
        return false;
    norm_one(&t->norm[i], text, len, out);
    while (++i < t->n_norm) {
        if (norm_is_done(&t->norm[i], out->p + start, out->n - start))
            continue;
        buf_reset(&from);
        buf_add(&from, out->p + start, out->n - start);
        buf_truncate(out, start);
        norm_one(&t->norm[i], from.p, from.n, out);
    }
    buf_release(&from);
    return true;
}
