/* Scanning JSON without building it. Lists and objects are walked by the caller, which is
 * how the members of a call are found; scan_value() walks them by itself. */
#include "config.h"

#include "templates/scan.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define SCAN_DEPTH 256

static bool scan_bad(struct scan *sc, size_t at, const char *what)
{
    sc->bad = (struct pyjson_bad){ at == sc->n ? "the text ends too early" : what, at };
    return false;
}

int scan_peek(const struct scan *sc)
{
    return sc->at < sc->n ? (unsigned char)sc->s[sc->at] : -1;
}

void scan_space(struct scan *sc)
{
    int c;

    while ((c = scan_peek(sc)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        sc->at++;
}

/* Four hexadecimal digits; -1: there are none. */
static int scan_hex4(struct scan *sc)
{
    int v = 0;

    for (int i = 0; i < 4; i++, sc->at++) {
        int c = scan_peek(sc), low = c | 0x20;
        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if (c > 0 && low >= 'a' && low <= 'f')
            v = v * 16 + (low - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* Behind "\u". */
static bool scan_unicode(struct scan *sc)
{
    static const char what[] = "\\u needs four hexadecimal digits";
    int unit = scan_hex4(sc);

    if (unit < 0)
        return scan_bad(sc, sc->at, what);
    sc->nul |= !unit;
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    if (unit > 0xdbff || sc->n - sc->at < 2 || memcmp(sc->s + sc->at, "\\u", 2))
        return scan_bad(sc, sc->at, "half a surrogate pair");
    sc->at += 2;
    unit = scan_hex4(sc);
    if (unit < 0)
        return scan_bad(sc, sc->at, what);
    if (unit < 0xdc00 || unit > 0xdfff)
        return scan_bad(sc, sc->at, "half a surrogate pair");
    return true;
}

/* Behind a backslash. */
static bool scan_escape(struct scan *sc)
{
    int c = scan_peek(sc);

    if (c > 0 && strchr("\"\\/bfnrt", c)) {
        sc->at++;
        return true;
    }
    if (c != 'u')
        return scan_bad(sc, sc->at, "an escape that JSON does not have");
    sc->at++;
    return scan_unicode(sc);
}

/* At a quote. */
static bool scan_text(struct scan *sc)
{
    for (sc->at++;;) {
        int c = scan_peek(sc);
        size_t n;

        if (c == '"') {
            sc->at++;
            return true;
        }
        if (c == '\\') {
            sc->at++;
            if (!scan_escape(sc))
                return false;
            continue;
        }
        if (c < 0x20)
            return scan_bad(sc, sc->at, "a control character inside a string");
        n = utf8_char(sc->s + sc->at, sc->n - sc->at);
        if (!n)
            return scan_bad(sc, sc->at, "bytes that are not UTF-8");
        sc->at += n;
    }
}

static bool scan_digits(struct scan *sc)
{
    size_t from = sc->at;

    while (scan_peek(sc) >= '0' && scan_peek(sc) <= '9')
        sc->at++;
    return sc->at > from;
}

static bool scan_number(struct scan *sc)
{
    if (scan_peek(sc) == '-')
        sc->at++;
    if (scan_peek(sc) == '0')
        sc->at++;
    else if (!scan_digits(sc))
        return scan_bad(sc, sc->at, "a number without digits");
    if (scan_peek(sc) == '.') {
        sc->at++;
        if (!scan_digits(sc))
            return scan_bad(sc, sc->at, "a number without digits behind its point");
    }
    if ((scan_peek(sc) | 0x20) == 'e') {
        sc->at++;
        if (scan_peek(sc) == '+' || scan_peek(sc) == '-')
            sc->at++;
        if (!scan_digits(sc))
            return scan_bad(sc, sc->at, "a number without digits in its exponent");
    }
    return true;
}

static bool scan_word(struct scan *sc)
{
    static const char *const words[] = { "true", "false", "null" };
    int c = scan_peek(sc);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (sc->n - sc->at >= n && !memcmp(sc->s + sc->at, words[i], n)) {
            sc->at += n;
            return true;
        }
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(sc);
    return scan_bad(sc, sc->at, "no JSON value");
}

bool scan_open(struct scan *sc)
{
    if (sc->depth == SCAN_DEPTH)
        return scan_bad(sc, sc->at, "too many brackets inside each other");
    sc->depth++;
    sc->at++;
    sc->opened = true;
    return true;
}

/* Before an item or the end: is there one more? */
static bool scan_more(struct scan *sc, char close, bool *more)
{
    bool first = sc->opened;

    sc->opened = false;
    scan_space(sc);
    *more = scan_peek(sc) != close;
    if (!*more) {
        sc->at++;
        sc->depth--;
        return true;
    }
    if (first)
        return true;
    if (scan_peek(sc) != ',')
        return scan_bad(sc, sc->at, close == ']' ? "\",\" or \"]\" is missing"
                                                 : "\",\" or \"}\" is missing");
    sc->at++;
    scan_space(sc);
    return true;
}

static bool scan_part_of(struct scan *sc, struct scan_part *part)
{
    scan_space(sc);
    part->at = sc->at;
    if (!scan_value(sc))
        return false;
    part->n = sc->at - part->at;
    return true;
}

bool scan_next_item(struct scan *sc, struct scan_part *item, bool *more)
{
    if (!scan_more(sc, ']', more))
        return false;
    return !*more || scan_part_of(sc, item);
}

bool scan_next_member(struct scan *sc, struct scan_member *m, bool *more)
{
    if (!scan_more(sc, '}', more))
        return false;
    if (!*more)
        return true;
    m->key.at = sc->at;
    if (scan_peek(sc) != '"')
        return scan_bad(sc, sc->at, "a key in quotes is missing");
    sc->nul = false;
    if (!scan_text(sc))
        return false;
    if (sc->nul)
        return scan_bad(sc, m->key.at, "a key with a NUL character");
    m->key.n = sc->at - m->key.at;
    scan_space(sc);
    if (scan_peek(sc) != ':')
        return scan_bad(sc, sc->at, "\":\" is missing");
    sc->at++;
    return scan_part_of(sc, &m->value);
}

bool scan_value(struct scan *sc)
{
    struct scan_member member;
    struct scan_part item;
    bool more = true;

    scan_space(sc);
    switch (scan_peek(sc)) {
    case '{':
        if (!scan_open(sc))
            return false;
        while (more)
            if (!scan_next_member(sc, &member, &more))
                return false;
        return true;
    case '[':
        if (!scan_open(sc))
            return false;
        while (more)
            if (!scan_next_item(sc, &item, &more))
                return false;
        return true;
    case '"':
        return scan_text(sc);
    default:
        return scan_word(sc);
    }
}

bool scan_whole(const char *s, size_t n, struct scan_part *part, struct pyjson_bad *bad)
{
    struct scan sc = { .s = s, .n = n };
    bool ok = scan_part_of(&sc, part);

    if (ok) {
        scan_space(&sc);
        if (sc.at < n)
            ok = scan_bad(&sc, sc.at, "something stands behind the value");
    }
    if (!ok && bad)
        *bad = sc.bad;
    return ok;
}

char *scan_string(const char *s, size_t n)
{
    json_t *v = pyjson_load(s, n, PYJSON_STRICT, NULL);
    const char *text = pyjson_is_string(v) ? json_string_value(v) : NULL;
    char *copy = NULL;

    if (text && strlen(text) == json_string_length(v))
        copy = xstrdup(text);
    json_decref(v);
    return copy;
}
