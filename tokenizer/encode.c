/* Text to ids: what is the same for every family.
 *
 * Names of added tokens are cut out first, the longest that begins leftmost; what stands
 * between them is the family's. A name is found in the text as it is or, if its file says
 * so, in the text as it is normalised; a name may want to be a word of its own, or take
 * white space along (tokenizer.json's single_word, lstrip and rstrip).
 *
 * Text comes in spans, the template's own and foreign ones. They are merged as the one
 * text that they are; only a name that looks like markup must lie in the template's own
 * text as a whole. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"

/* One call of a family gets at most so much, so that positions fit 32 bits. */
static const size_t encode_chunk = (size_t)1 << 28;

size_t tok_valid_run(const char *text, size_t len)
{
    size_t i = 0, n;

    while (i < len) {
        if ((unsigned char)text[i] < 0x80)
            i++;
        else if ((n = utf8_char(text + i, len - i)) > 0)
            i += n;
        else
            break;
    }
    return i;
}

size_t tok_invalid_run(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && utf8_char(text + i, len - i) == 0)
        i++;
    return i;
}

void tok_whole_init(struct tok *t)
{
    t->whole = xcalloc(t->n, 1);
}

enum tok_whole tok_whole(const struct tok *t, int32_t id)
{
    return t->whole ? __atomic_load_n(&t->whole[id], __ATOMIC_RELAXED) : TOK_WHOLE;
}

void tok_whole_set(const struct tok *t, int32_t id, bool whole)
{
    __atomic_store_n(&t->whole[id], whole ? TOK_WHOLE : TOK_IN_PARTS, __ATOMIC_RELAXED);
}

/* ---- the text, in spans ---- */

struct encode {
    const struct tok *t;
    unsigned mode;          /* enum tok_mode of text that is not foreign */
    bool start;             /* no id came before, or a special one */
    bool first;             /* and none at all */
    bool late;              /* the text is normalised, and has its prefix */
    struct tok_work *w;
    struct tok_ids *out;
};

/* A part of the spans: begins in the middle of one, and so it may end. */
struct encode_text {
    const char *p;
    size_t len;
    const struct tok_span *span;    /* that p is in */
    size_t left;                    /* bytes of that span from p on */
};

static void encode_skip(struct encode_text *x, size_t n)
{
    x->p += n;
    x->len -= n;
    while (x->len && n >= x->left) {
        n -= x->left;
        x->left = (++x->span)->len;
    }
    x->left -= x->len ? n : 0;
}

/* Bytes from here on that are not foreign. */
static size_t encode_own(const struct encode_text *x)
{
    const struct tok_span *s = x->span;
    size_t n = 0;

    for (size_t left = x->left; n < x->len && s->kind == TOK_TEXT_PLAIN; left = s->len) {
        n += left;
        if (n < x->len)
            s++;
    }
    return n < x->len ? n : x->len;
}

/* ---- names in text ---- */

/* In normalised text a space may be U+2581, which is none. */
enum encode_blank { ENCODE_BLANK_IS_SPACE, ENCODE_BLANK_IS_SIGN };

static bool encode_is_space(int32_t cp, enum encode_blank blank)
{
    return tok_char_is_space(cp) && (cp != ' ' || blank == ENCODE_BLANK_IS_SPACE);
}

static size_t encode_space_at_front(const char *s, size_t n, enum encode_blank blank)
{
    size_t i = 0;
    int32_t cp;

    while (i < n) {
        utf8proc_ssize_t k = utf8proc_iterate((const utf8proc_uint8_t *)s + i,
                                              (utf8proc_ssize_t)(n - i), &cp);
        if (k <= 0 || !encode_is_space(cp, blank))
            break;
        i += (size_t)k;
    }
    return i;
}

/* Bytes of the last character of s, and the character; 0 if it is none. */
static size_t encode_last(const char *s, size_t n, int32_t *cp)
{
    for (size_t k = 1; k <= 4 && k <= n; k++)
        if ((s[n - k] & 0xC0) != 0x80)
            return utf8proc_iterate((const utf8proc_uint8_t *)s + n - k,
                                    (utf8proc_ssize_t)k, cp) == (utf8proc_ssize_t)k
                       ? k
                       : 0;
    return 0;
}

static size_t encode_space_at_end(const char *s, size_t n, enum encode_blank blank)
{
    size_t i = 0, k;
    int32_t cp;

    while ((k = encode_last(s, n - i, &cp)) > 0 && encode_is_space(cp, blank))
        i += k;
    return i;
}

size_t tok_space_at_front(const char *text, size_t len)
{
    return encode_space_at_front(text, len, ENCODE_BLANK_IS_SPACE);
}

size_t tok_space_at_end(const char *text, size_t len)
{
    return encode_space_at_end(text, len, ENCODE_BLANK_IS_SPACE);
}

static bool encode_is_word(const char *text, size_t at, size_t n, size_t len)
{
    int32_t cp;

    if (encode_last(text, at, &cp) && tok_char_is_word(cp))
        return false;
    return utf8proc_iterate((const utf8proc_uint8_t *)text + at + n,
                            (utf8proc_ssize_t)(len - at - n), &cp) <= 0 ||
           !tok_char_is_word(cp);
}

/* The name that the text begins with. */
static size_t encode_name(const struct encode *k, const struct tok_names *names,
                          const struct encode_text *x, int32_t *id)
{
    int32_t other = -1;
    size_t n = 0, own = 0;

    if (k->mode == TOK_IN_SPECIAL)
        return tok_names_longest(names, TOK_IN_SPECIAL, x->p, x->len, id);
    if (x->span->kind == TOK_TEXT_PLAIN)
        own = encode_own(x);
    if (own)
        n = tok_names_longest(names, TOK_IN_PLAIN, x->p, own, id);
    if (own < x->len) {
        size_t m = tok_names_longest(names, TOK_IN_FOREIGN, x->p, x->len, &other);
        if (m > n) {
            *id = other;
            n = m;
        }
    }
    return n;
}

typedef void encode_between(struct encode *k, struct encode_text x);

/* Cut names out of x; between() gets what is left. */
static void encode_names(struct encode *k, const struct tok_names *names,
                         struct encode_text x, encode_between *between)
{
    struct encode_text from = x; /* not yet encoded */
    const char *text = x.p;
    size_t len = x.len;
    enum encode_blank blank =
        k->late && k->t->norm_spaces ? ENCODE_BLANK_IS_SIGN : ENCODE_BLANK_IS_SPACE;

    while (names->n && x.len) {
        int32_t id = -1;
        size_t n = 0;
        while (n < x.len && !names->begins[(unsigned char)x.p[n]])
            n++;
        encode_skip(&x, n);
        if (!x.len)
            break;
        n = encode_name(k, names, &x, &id);
        if (n == 0) {
            encode_skip(&x, 1);
            continue;
        }
        unsigned found = k->t->v[id].found;
        size_t at = (size_t)(x.p - text), to = at + n;
        if ((found & TOK_FOUND_WORD) && !encode_is_word(text, at, n, len)) {
            encode_skip(&x, n);
            continue;
        }
        struct encode_text before = from;
        before.len = (size_t)(x.p - from.p);
        if (found & TOK_FOUND_LEFT)
            before.len -= encode_space_at_end(before.p, before.len, blank);
        if (found & TOK_FOUND_RIGHT)
            to += encode_space_at_front(text + to, len - to, blank);
        if (before.len)
            between(k, before);
        tok_ids_add(k->out, id);
        k->start = true;
        k->first = false;
        encode_skip(&x, to - at);
        from = x;
    }
    if (from.len)
        between(k, from);
}

/* ---- what is between them ---- */

static bool encode_prefix(const struct encode *k, const char *text, size_t len)
{
    bool space = *text == ' ' || (len >= 3 && memcmp(text, "\xE2\x96\x81", 3) == 0);

    if (k->late && k->t->prefix == TOK_PREFIX_ALWAYS)
        return false;
    switch (k->t->prefix) {
    case TOK_PREFIX_NONE:
        return false;
    case TOK_PREFIX_ALWAYS:
        return k->start;
    case TOK_PREFIX_UNLESS:
        return k->start && !space;
    case TOK_PREFIX_FIRST:
        return k->first && !space;
    }
    return false;
}

/* Normalised, and without names. */
static void encode_family(struct encode *k, struct encode_text x)
{
    bool prefix = encode_prefix(k, x.p, x.len);

    while (x.len) {
        size_t n = x.len < encode_chunk ? x.len : encode_chunk;
        k->t->encode(k->t, x.p, n, prefix, k->w, k->out);
        x.p += n;
        x.len -= n;
        prefix = false;
    }
    k->start = k->first = false;
}

/* Normalise span by span, so that it is still known which text is foreign. The space
 * before a text is the normaliser's work, too; a name may begin with it. */
static void encode_late(struct encode *k, struct encode_text x)
{
    struct tok_span *span = NULL;
    size_t n = 0, cap = 0;
    struct buf *b = &k->w->norm;

    buf_reset(b);
    if (k->t->prefix == TOK_PREFIX_ALWAYS && k->start)
        buf_addc(b, ' ');
    for (size_t at = 0; x.len; at = b->n) {
        size_t len = x.left < x.len ? x.left : x.len, from = b->n;
        if (!tok_normalize(k->t, x.p, len, b))
            buf_add(b, x.p, len);
        if (k->t->norm_spaces)
            buf_truncate(b, from + spm_unescape(b->p + from, b->p + from, b->n - from));
        MEM_GROW(span, cap, n + 1);
        span[n++] = (struct tok_span){ b->n - at, x.span->kind };
        encode_skip(&x, len);
    }
    k->late = true;
    encode_names(
        k, &k->t->late,
        (struct encode_text){ .p = b->p, .len = b->n, .span = span, .left = span[0].len },
        encode_family);
    k->late = false;
    free(span);
}

static void encode_normalized(struct encode *k, struct encode_text x)
{
    if (k->t->late.n) {
        encode_late(k, x);
        return;
    }
    buf_reset(&k->w->norm);
    if (k->t->n_norm && tok_normalize(k->t, x.p, x.len, &k->w->norm)) {
        x.p = k->w->norm.p;
        x.len = k->w->norm.n;
    }
    encode_family(k, x);
}

static void encode_all(const struct tok *t, const char *text, const struct tok_span *span,
                       size_t n, unsigned mode, enum tok_place place, struct tok_ids *out)
{
    struct tok_work w = {0};
    struct encode k = { .t = t,
                        .mode = mode,
                        .w = &w,
                        .out = out,
                        .start = place != TOK_AFTER_TEXT,
                        .first = place == TOK_AT_START };
    struct encode_text x = { .p = text, .span = span };

    for (size_t i = 0; i < n; i++)
        x.len += span[i].len;
    while (n && x.span->len == 0 && x.len)
        x.span++;
    if (!x.len)
        return;
    x.left = x.span->len;
    encode_names(&k, &t->found, x, encode_normalized);
    tok_work_release(&w);
}

void tok_encode(const struct tok *t, const char *text, size_t len, enum tok_place place,
                struct tok_ids *out)
{
    struct tok_span span = { len, TOK_TEXT_PLAIN };

    encode_all(t, text, &span, 1, TOK_IN_PLAIN, place, out);
}

void tok_encode_foreign(const struct tok *t, const char *text, size_t len,
                        enum tok_place place, struct tok_ids *out)
{
    struct tok_span span = { len, TOK_TEXT_FOREIGN };

    encode_all(t, text, &span, 1, TOK_IN_PLAIN, place, out);
}

void tok_encode_spans(const struct tok *t, const char *text, const struct tok_span *span,
                      size_t n, enum tok_place place, struct tok_ids *out)
{
    encode_all(t, text, span, n, TOK_IN_PLAIN, place, out);
}

void tok_encode_special(const struct tok *t, const char *text, size_t len,
                        enum tok_place place, struct tok_ids *out)
{
    struct tok_span span = { len, TOK_TEXT_PLAIN };

    encode_all(t, text, &span, 1, TOK_IN_SPECIAL, place, out);
}
