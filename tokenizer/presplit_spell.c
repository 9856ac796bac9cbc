/* Expressions of pre-tokenizers, written for PCRE2.
 *
 * The models' files are written for Oniguruma (Hugging Face) or the regex packages of
 * Python. What means something else in PCRE2 10.42 is spelled out here:
 *
 *   \s \S          Unicode's White_Space; PCRE2 has U+180E in it
 *   \w \W \b \B    Alphabetic, marks, decimal digits, connectors, and of Latin-1
 *                  all numbers; PCRE2 has all numbers and no marks
 *   \h \H          a hexadecimal digit
 *   \p{Han} ...    a script; PCRE2 would take the script extensions
 *   [A&&[^B]]      characters of A that are not in B: (?:(?=[^B])[A])
 *
 * ^ and $ stand at line breaks too, which the compile flags do. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"

#define SPACE "\\t-\\r\\x{85}\\p{Z}"
#define WORD  "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\xB2\\xB3\\xB9\\xBC-\\xBE"
#define HEX   "0-9A-Fa-f"

struct spell {
    const char *p, *end;
    struct buf *out;
    struct err *e;
};

static bool spell_bad(struct spell *s, const char *what)
{
    return err_set_kind(s->e, ERR_MODEL, "an expression of the pre-tokenizer has %s",
                        what);
}

/* Is name, as in \p{name}, a script? */
static bool spell_is_script(const char *name, size_t n)
{
    struct buf b = {0};
    int code;
    size_t at;

    if (n <= 2 || memchr(name, ':', n) || memchr(name, '=', n) || memchr(name, '^', n))
        return false;
    buf_addf(&b, "\\p{sc:%.*s}", (int)n, name);
    pcre2_code *c = pcre2_compile((PCRE2_SPTR)b.p, b.n, PCRE2_UTF, &code, &at, NULL);
    buf_release(&b);
    pcre2_code_free(c);
    return c != NULL;
}

/* \p{...} and \P{...}; s->p is behind the letter. */
static void spell_property(struct spell *s, char letter)
{
    const char *close = *s->p == '{' ? memchr(s->p, '}', (size_t)(s->end - s->p)) : NULL;
    size_t n = close ? (size_t)(close - s->p - 1) : 0;
    bool script = close && spell_is_script(s->p + 1, n);

    buf_addf(s->out, "\\%c", letter);
    if (!close)
        return;
    buf_addf(s->out, "{%s%.*s}", script ? "sc:" : "", (int)n, s->p + 1);
    s->p = close + 1;
}

/* One escape; s->p is at the backslash. in_class: between brackets. */
static bool spell_escape(struct spell *s, bool in_class)
{
    static const struct {
        char letter;
        const char *set;
    } sets[] = { { 's', SPACE }, { 'w', WORD }, { 'h', HEX } };
    char c = s->p[1];

    if (s->p + 1 == s->end)
        return spell_bad(s, "a backslash at its end");
    s->p += 2;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (c == sets[i].letter) {
            buf_addf(s->out, in_class ? "%s" : "[%s]", sets[i].set);
            return true;
        }
        if (c == (sets[i].letter & ~0x20)) {
            if (in_class)
                return spell_bad(s, "\\S, \\W or \\H between brackets, which cannot be "
                                    "written here");
            buf_addf(s->out, "[^%s]", sets[i].set);
            return true;
        }
    }
    if (!in_class && c == 'b')
        buf_adds(s->out,
                 "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))");
    else if (!in_class && c == 'B')
        buf_adds(s->out,
                 "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))");
    else if (c == 'p' || c == 'P')
        spell_property(s, c);
    else
        buf_addf(s->out, "\\%c", c);
    return true;
}

static bool spell_class(struct spell *s, int depth);

/* What follows && in a class: classes, each of which a character must be in. They go
 * before the first as lookaheads. */
static bool spell_intersection(struct spell *s, size_t at, int depth)
{
    struct buf *out = s->out, first = {0};

    buf_add(&first, out->p + at, out->n - at);
    buf_truncate(out, at);
    buf_adds(out, "(?:");
    while (s->end - s->p >= 2 && memcmp(s->p, "&&", 2) == 0) {
        s->p += 2;
        buf_adds(out, "(?=");
        bool open = s->p < s->end && *s->p == '[';
        if (!open || !spell_class(s, depth + 1)) {
            buf_release(&first);
            return open ? false
                        : spell_bad(s, "&& without a class in brackets behind it");
        }
        buf_addc(out, ')');
    }
    if (s->p == s->end || *s->p != ']' || first.p[1] == '^') {
        buf_release(&first);
        return spell_bad(s, "an intersection of classes that cannot be written here");
    }
    s->p++;
    buf_add(out, first.p, first.n);
    buf_adds(out, "])");
    buf_release(&first);
    return true;
}

/* A class; s->p is at its opening bracket. */
static bool spell_class(struct spell *s, int depth)
{
    size_t at = s->out->n;

    if (depth > 4)
        return spell_bad(s, "classes nested too deep");
    buf_addc(s->out, *s->p++);
    if (s->p < s->end && *s->p == '^')
        buf_addc(s->out, *s->p++);
    for (bool first = true; s->p < s->end; first = false) {
        if (*s->p == ']' && !first) {
            buf_addc(s->out, *s->p++);
            return true;
        }
        if (*s->p == '\\') {
            if (!spell_escape(s, true))
                return false;
        } else if (s->end - s->p > 1 && memcmp(s->p, "&&", 2) == 0) {
            return spell_intersection(s, at, depth);
        } else if (*s->p == '[' && s->end - s->p > 1 && s->p[1] == ':') {
            buf_add(s->out, s->p, 2); /* [:alpha:] */
            s->p += 2;
        } else if (*s->p == '[') {
            return spell_bad(s, "a class inside a class");
        } else {
            buf_addc(s->out, *s->p++);
        }
    }
    return spell_bad(s, "a class without its closing bracket");
}

bool presplit_spell(struct buf *out, const char *re, size_t len, struct err *e)
{
    struct spell s = { .p = re, .end = re + len, .out = out, .e = e };

    while (s.p < s.end) {
        if (*s.p == '\\') {
            if (!spell_escape(&s, false))
                return false;
        } else if (*s.p == '[') {
            if (!spell_class(&s, 0))
                return false;
        } else {
            buf_addc(out, *s.p++);
        }
    }
    return true;
}
