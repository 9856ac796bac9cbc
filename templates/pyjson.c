/* Reading: recursive descent over checked bytes. Printing: Python's choices, which are
 * other escapes (none but those JSON demands), other number formats and, on demand,
 * sorted keys.
 *
 * Numbers never go through printf's or strtod's decimal point, which follows the locale:
 * 1.25e3 is read as 125e1, and printed digits are put together here. */
#include "config.h"

#include "templates/pyjson.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Python's own limit is about 1000; no call and no schema is near it. */
#define PYJSON_DEPTH 500

#define NUMBER_MARK '\xff'

/* ---- numbers ---- */

bool pyjson_is_number(const json_t *v)
{
    return json_is_number(v) ||
           (json_is_string(v) && *json_string_value(v) == NUMBER_MARK);
}

bool pyjson_is_string(const json_t *v)
{
    return json_is_string(v) && !pyjson_is_number(v);
}

static json_t *number_kept(const char *s, size_t n)
{
    struct buf b = {0};

    buf_addc(&b, NUMBER_MARK);
    buf_add(&b, s, n);
    json_t *v = json_stringn_nocheck(b.p, b.n);
    buf_release(&b);
    return v;
}

/* The value of a JSON number with a fraction or an exponent. */
static double number_value(const char *s, size_t n)
{
    struct buf digits = {0};
    long long exponent = 0;
    bool fraction = false;
    size_t i = 0;

    for (; i < n && s[i] != 'e' && s[i] != 'E'; i++) {
        if (s[i] == '.') {
            fraction = true;
            continue;
        }
        buf_addc(&digits, s[i]);
        exponent -= fraction;
    }
    if (i < n) {
        bool minus = s[i + 1] == '-';
        long long e = 0;
        for (i += 1 + (minus || s[i + 1] == '+'); i < n; i++)
            if (e < 1000000000)             /* far beyond any double */
                e = e * 10 + (s[i] - '0');
        exponent += minus ? -e : e;
    }
    buf_addf(&digits, "e%lld", exponent);
    double v = strtod(digits.p, NULL);
    buf_release(&digits);
    return v;
}

static json_t *number_make(const char *s, size_t n, unsigned flags)
{
    enum { SAFE_DIGITS = 18 };          /* fits 64 bits whatever they are */

    if (flags & PYJSON_NUMBER_TEXT)
        return number_kept(s, n);
    if (memchr(s, '.', n) || memchr(s, 'e', n) || memchr(s, 'E', n)) {
        double v = number_value(s, n);
        if (isinf(v))
            return v > 0 ? number_kept("Infinity", 8) : number_kept("-Infinity", 9);
        return json_real(v);
    }
    if (n - (*s == '-') > SAFE_DIGITS)
        return number_kept(s, n);
    char text[SAFE_DIGITS + 2];
    memcpy(text, s, n);
    text[n] = '\0';
    return json_integer(strtoll(text, NULL, 10));
}

/* digits (n) without a point times 10^(exponent - n + 1) is v, both without sign. */
static bool digits_are(const char *digits, int n, int exponent, double v)
{
    char text[40];

    snprintf(text, sizeof text, "%se%d", digits, exponent - n + 1);
    return strtod(text, NULL) == v;
}

/* The next greater number of as many digits; false: there is none. */
static bool digits_next(char *digits, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (digits[i] < '9') {
            digits[i]++;
            return true;
        }
        digits[i] = '0';
    }
    return false;
}

/* The shortest digits that read back as v > 0. printf gives the nearest of a length;
 * below a power of two doubles lie closer than above it, so that one may fail where its
 * upper neighbour reads back. */
static int shortest_digits(double v, char digits[20], int *exponent)
{
    for (int n = 1; n <= 17; n++) {
        char text[40];
        int used = 0;

        snprintf(text, sizeof text, "%.*e", n - 1, v);
        const char *s = text;
        for (; *s && *s != 'e'; s++)
            if (*s >= '0' && *s <= '9')
                digits[used++] = *s;
        digits[used] = '\0';
        *exponent = atoi(s + 1);
        if (digits_are(digits, n, *exponent, v))
            return n;
        if (n < 17 && digits_next(digits, n) && digits_are(digits, n, *exponent, v))
            return n;
    }
    return 17;
}

void pyjson_add_real(struct buf *out, double v)
{
    char digits[20] = "0";
    int n = 1, exponent = 0;

    if (isnan(v)) {
        buf_adds(out, "NaN");
        return;
    }
    if (signbit(v))
        buf_addc(out, '-');
    if (isinf(v)) {
        buf_adds(out, "Infinity");
        return;
    }
    if (v != 0)
        n = shortest_digits(fabs(v), digits, &exponent);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (exponent < -4 || exponent >= 16) {
        buf_addc(out, digits[0]);
        if (n > 1) {
            buf_addc(out, '.');
            buf_add(out, digits + 1, (size_t)n - 1);
        }
        buf_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        buf_adds(out, "0.");
        for (int i = exponent + 1; i < 0; i++)
            buf_addc(out, '0');
        buf_add(out, digits, (size_t)n);
        return;
    }
    for (int i = 0; i <= exponent; i++)
        buf_addc(out, i < n ? digits[i] : '0');
    buf_addc(out, '.');
    if (n > exponent + 1)
        buf_add(out, digits + exponent + 1, (size_t)(n - exponent - 1));
    else
        buf_addc(out, '0');
}

/* ---- reading ---- */

struct reader {
    const char *s;
    size_t n, at;
    unsigned flags;
    int depth;
    struct pyjson_bad *bad;
};

static json_t *read_value(struct reader *r);

static void *bad_at(struct reader *r, size_t at, const char *what)
{
    if (r->bad)
        *r->bad = (struct pyjson_bad){ what, at };
    return NULL;
}

static void *bad_here(struct reader *r, const char *what)
{
    return bad_at(r, r->at, r->at == r->n ? "the text ends too early" : what);
}

static int peek(const struct reader *r)
{
    return r->at < r->n ? (unsigned char)r->s[r->at] : -1;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->n && strchr(" \t\n\r", r->s[r->at]) && r->s[r->at])
        r->at++;
}

static bool take(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if (r->n - r->at < n || memcmp(r->s + r->at, word, n))
        return false;
    r->at += n;
    return true;
}

/* Four hexadecimal digits at byte at; -1: there are none. */
static int hex4(const struct reader *r, size_t at)
{
    int v = 0;

    if (at > r->n || r->n - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = r->s[at + (size_t)i];
        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v * 16 + ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* Behind "\u". */
static bool read_unicode(struct reader *r, struct buf *out)
{
    int high = hex4(r, r->at), low = -1;

    if (high < 0) {
        bad_here(r, "\\u needs four hexadecimal digits");
        return false;
    }
    r->at += 4;
    if (high < 0xd800 || high > 0xdfff) {
        utf8_put(out, (uint32_t)high);
        return true;
    }
    if (high < 0xdc00 && take(r, "\\u"))
        low = hex4(r, r->at);
    if (low < 0xdc00 || low > 0xdfff) {
        bad_at(r, r->at, "half a surrogate pair");
        return false;
    }
    r->at += 4;
    utf8_put(out, 0x10000 + (((uint32_t)high - 0xd800) << 10) + ((uint32_t)low - 0xdc00));
    return true;
}

static bool read_escape(struct reader *r, struct buf *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = peek(r) > 0 ? strchr(names, r->s[r->at]) : NULL;

    if (name) {
        buf_addc(out, values[name - names]);
        r->at++;
        return true;
    }
    if (peek(r) == 'u') {
        r->at++;
        return read_unicode(r, out);
    }
    bad_here(r, "an escape that JSON does not have");
    return false;
}

/* At a quote. */
static bool read_string(struct reader *r, struct buf *out)
{
    for (r->at++;;) {
        int c = peek(r);
        size_t n;

        if (c == '"') {
            r->at++;
            return true;
        }
        if (c == '\\') {
            r->at++;
            if (!read_escape(r, out))
                return false;
            continue;
        }
        if (c < 0x20) {                     /* also the end */
            bad_here(r, "a control character inside a string");
            return false;
        }
        n = utf8_char(r->s + r->at, r->n - r->at);
        if (!n) {
            bad_here(r, "bytes that are not UTF-8");
            return false;
        }
        buf_add(out, r->s + r->at, n);
        r->at += n;
    }
}

static bool skip_digits(struct reader *r)
{
    size_t from = r->at;

    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at > from;
}

static json_t *read_number(struct reader *r)
{
    size_t from = r->at;

    if (peek(r) == '-')
        r->at++;
    if (peek(r) == '0')
        r->at++;
    else if (!skip_digits(r))
        return bad_here(r, "a number without digits");
    if (peek(r) == '.') {
        r->at++;
        if (!skip_digits(r))
            return bad_here(r, "a number without digits behind its point");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        if (!skip_digits(r))
            return bad_here(r, "a number without digits in its exponent");
    }
    return number_make(r->s + from, r->at - from, r->flags);
}

static json_t *read_array(struct reader *r)
{
    json_t *array = json_array(), *v;

    r->at++;
    skip_space(r);
    if (peek(r) == ']') {
        r->at++;
        return array;
    }
    while ((v = read_value(r))) {
        json_array_append_new(array, v);
        skip_space(r);
        if (peek(r) == ']') {
            r->at++;
            return array;
        }
        if (peek(r) != ',') {
            bad_here(r, "\",\" or \"]\" is missing");
            break;
        }
        r->at++;
    }
    json_decref(array);
    return NULL;
}

static bool read_member(struct reader *r, json_t *object)
{
    struct buf key = {0};
    json_t *v = NULL;

    skip_space(r);
    size_t at = r->at;
    if (peek(r) != '"') {
        bad_here(r, "a key in quotes is missing");
    } else if (read_string(r, &key)) {
        skip_space(r);
        if (memchr(buf_str(&key), '\0', key.n)) {
            bad_at(r, at, "a key with a NUL character");
        } else if (peek(r) != ':') {
            bad_here(r, "\":\" is missing");
        } else {
            r->at++;
            v = read_value(r);
        }
    }
    if (v)
        json_object_set_new_nocheck(object, buf_str(&key), v);
    buf_release(&key);
    return v != NULL;
}

static json_t *read_object(struct reader *r)
{
    json_t *object = json_object();

    r->at++;
    skip_space(r);
    if (peek(r) == '}') {
        r->at++;
        return object;
    }
    while (read_member(r, object)) {
        skip_space(r);
        if (peek(r) == '}') {
            r->at++;
            return object;
        }
        if (peek(r) != ',') {
            bad_here(r, "\",\" or \"}\" is missing");
            break;
        }
        r->at++;
    }
    json_decref(object);
    return NULL;
}

static json_t *read_word(struct reader *r)
{
    static const char *const numbers[] = { "NaN", "Infinity", "-Infinity" };

    if (take(r, "true"))
        return json_true();
    if (take(r, "false"))
        return json_false();
    if (take(r, "null"))
        return json_null();
    for (size_t i = 0; r->flags & PYJSON_NAN && i < 3; i++)
        if (take(r, numbers[i]))
            return number_kept(numbers[i], strlen(numbers[i]));
    if (peek(r) == '-' || (peek(r) >= '0' && peek(r) <= '9'))
        return read_number(r);
    return bad_here(r, "no JSON value");
}

static json_t *read_value(struct reader *r)
{
    json_t *v;

    skip_space(r);
    if (r->depth == PYJSON_DEPTH)
        return bad_here(r, "too many brackets inside each other");
    r->depth++;
    if (peek(r) == '{') {
        v = read_object(r);
    } else if (peek(r) == '[') {
        v = read_array(r);
    } else if (peek(r) == '"') {
        struct buf text = {0};
        v = read_string(r, &text) ? json_stringn_nocheck(buf_str(&text), text.n) : NULL;
        buf_release(&text);
    } else {
        v = read_word(r);
    }
    r->depth--;
    return v;
}

json_t *pyjson_load(const char *text, size_t len, unsigned flags, struct pyjson_bad *bad)
{
    struct reader r = { .s = text, .n = len, .flags = flags, .bad = bad };
    json_t *v = read_value(&r);

    skip_space(&r);
    if (!v || r.at == r.n)
        return v;
    json_decref(v);
    return bad_at(&r, r.at, "something stands behind the value");
}

/* ---- printing ---- */

void pyjson_add_string(struct buf *out, const char *s, size_t n)
{
    static const char names[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";

    buf_addc(out, '"');
    for (size_t at = 0; at < n;) {
        size_t used = utf8_char(s + at, n - at);
        const char *value = s[at] ? strchr(values, s[at]) : NULL;
        if (value)
            buf_addf(out, "\\%c", names[value - values]);
        else if ((unsigned char)s[at] < 0x20)
            buf_addf(out, "\\u%04x", s[at]);
        else if (used)
            buf_add(out, s + at, used);
        else
            utf8_put(out, 0xfffd);
        at += used ? used : 1;
    }
    buf_addc(out, '"');
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_object(struct buf *out, const json_t *object, unsigned flags)
{
    json_t *o = (json_t *)object;           /* jansson iterates without const */
    size_t n = json_object_size(o), i = 0;
    const char **keys = xcalloc(n, sizeof *keys);

    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it))
        keys[i++] = json_object_iter_key(it);
    if (flags & PYJSON_SORT)                /* bytes of UTF-8 sort as code points do */
        qsort(keys, n, sizeof *keys, by_key);
    buf_addc(out, '{');
    for (i = 0; i < n; i++) {
        if (i)
            buf_adds(out, flags & PYJSON_SPACES ? ", " : ",");
        pyjson_add_string(out, keys[i], strlen(keys[i]));
        buf_adds(out, flags & PYJSON_SPACES ? ": " : ":");
        pyjson_add(out, json_object_get(o, keys[i]), flags);
    }
    buf_addc(out, '}');
    free(keys);
}

static void add_array(struct buf *out, const json_t *array, unsigned flags)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i)
            buf_adds(out, flags & PYJSON_SPACES ? ", " : ",");
        pyjson_add(out, json_array_get(array, i), flags);
    }
    buf_addc(out, ']');
}

void pyjson_add(struct buf *out, const json_t *v, unsigned flags)
{
    switch (v ? json_typeof(v) : JSON_NULL) {
    case JSON_OBJECT:
        add_object(out, v, flags);
        break;
    case JSON_ARRAY:
        add_array(out, v, flags);
        break;
    case JSON_STRING:
        if (pyjson_is_number(v))
            buf_add(out, json_string_value(v) + 1, json_string_length(v) - 1);
        else
            pyjson_add_string(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL:
        pyjson_add_real(out, json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_adds(out, json_is_true(v) ? "true" : "false");
        break;
    case JSON_NULL:
        buf_adds(out, "null");
        break;
    }
}
