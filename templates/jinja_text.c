#include "config.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "templates/jinja_int.h"
#include "templates/pyjson.h"

/* Values as text: Python's str() and repr(), and its int() and float() back again. The C
 * library may be set to a decimal comma, so what it reads is given its own decimal point.
 */

void jj_float_repr(struct jj *jj, double d, char out[JJ_FLOAT_ROOM])
{
    struct buf b = {0};
    size_t n;

    jj_charge(jj, JJ_FLOAT_COST);
    if (isnan(d) || isinf(d)) {
        strcpy(out, isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
        return;
    }
    pyjson_add_real(&b, d);
    n = b.n < JJ_FLOAT_ROOM ? b.n : JJ_FLOAT_ROOM - 1;
    memcpy(out, b.p, n);
    out[n] = '\0';
    buf_release(&b);
}

static struct jj_str stripped(const struct jj_str *s)
{
    struct jj_str t = *s;
    uint32_t cp;

    while (t.n) {
        size_t len = jj_char(t.p, t.n, &cp);
        if (!jj_is_space(cp))
            break;
        t.p += len;
        t.n -= len;
    }
    while (t.n) {
        size_t len = jj_char_before(t.p, t.n, &cp);
        if (!jj_is_space(cp))
            break;
        t.n -= len;
    }
    return t;
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                  : 99;
}

/* Skip "0x" and its like where the base allows it; base 0 takes the base from it. */
static size_t skip_prefix(const struct jj_str *s, size_t i, int64_t *base)
{
    char c = i + 1 < s->n && s->p[i] == '0' ? (char)(s->p[i + 1] | 0x20) : 0;
    int own = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;

    if (own && (*base == 0 || *base == own)) {
        *base = own;
        i += 2;
        return i < s->n && s->p[i] == '_' ? i + 1 : i;
    }
    if (*base == 0)
        *base = 10;
    return i;
}

/* As Python's int(s, base), for values of 64 bits. */
bool jj_parse_int(const struct jj_str *s, int64_t base, int64_t *out)
{
    struct jj_str t = stripped(s);
    size_t i = 0;
    bool negative = false, digit = false;
    int64_t v = 0;

    if (base < 0 || base == 1 || base > 36)
        return false;
    if (i < t.n && (t.p[i] == '-' || t.p[i] == '+'))
        negative = t.p[i++] == '-';
    i = skip_prefix(&t, i, &base);
    for (; i < t.n; i++) {
        if (t.p[i] == '_' && digit && i + 1 < t.n) {
            digit = false;
            continue;
        }
        int d = digit_value(t.p[i]);
        if (d >= base || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, negative ? -d : d, &v))
            return false;
        digit = true;
    }
    *out = v;
    return digit;
}

static bool is_word(const struct jj_str *s, size_t i, const char *word)
{
    size_t n = strlen(word);

    if (s->n - i != n)
        return false;
    for (size_t k = 0; k < n; k++)
        if ((s->p[i + k] | 0x20) != word[k])
            return false;
    return true;
}

static size_t skip_digits(const struct jj_str *s, size_t i, struct jj_out *o)
{
    size_t from = i;

    for (; i < s->n; i++) {
        if (s->p[i] >= '0' && s->p[i] <= '9')
            jj_out_add(o, s->p + i, 1, 0);
        else if (s->p[i] != '_' || i == from || s->p[i - 1] == '_' || i + 1 == s->n ||
                 s->p[i + 1] < '0' || s->p[i + 1] > '9')
            break;
    }
    return i;
}

/* As Python's float(s). */
bool jj_parse_float(struct jj *jj, const struct jj_str *s, double *out)
{
    struct jj_str t = stripped(s);
    struct jj_out o;
    size_t i = 0, digits = 0, from;
    double sign = 1;

    if (i < t.n && (t.p[i] == '-' || t.p[i] == '+'))
        sign = t.p[i++] == '-' ? -1 : 1;
    if (is_word(&t, i, "inf") || is_word(&t, i, "infinity") || is_word(&t, i, "nan")) {
        *out = sign * ((t.p[i] | 0x20) == 'n' ? NAN : INFINITY);
        return true;
    }
    jj_charge(jj, t.n + JJ_FLOAT_COST);
    jj_out_init(&o, jj);
    from = i;
    i = skip_digits(&t, i, &o);
    digits = i - from;
    if (i < t.n && t.p[i] == '.') {
        jj_out_text(&o, nl_langinfo(RADIXCHAR), 0);
        from = ++i;
        i = skip_digits(&t, i, &o);
        digits += i - from;
    }
    if (digits && i < t.n && (t.p[i] | 0x20) == 'e') {
        jj_out_add(&o, "e", 1, 0);
        if (++i < t.n && (t.p[i] == '-' || t.p[i] == '+'))
            jj_out_add(&o, t.p + i++, 1, 0);
        from = i;
        i = skip_digits(&t, i, &o);
        digits = i - from;
    }
    *out = sign * strtod(jj_cstr(jj, jj_out_finish(&o)), NULL);
    return digits > 0 && i == t.n;
}

/* ---- str() and repr() ---- */

static void repr_char(struct jj_out *o, const char *p, size_t len, uint32_t cp,
                      uint8_t origin)
{
    char text[16];

    if (cp == '\n' || cp == '\r' || cp == '\t')
        snprintf(text, sizeof text, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
    else if (cp == '\\')
        snprintf(text, sizeof text, "\\\\");
    else if (cp >= 0x110000)
        snprintf(text, sizeof text, "\\udc%02x", cp - 0x110000);
    else if (jj_is_printable(cp)) {
        jj_out_add(o, p, len, origin);
        return;
    } else if (cp < 0x100)
        snprintf(text, sizeof text, "\\x%02x", cp);
    else
        snprintf(text, sizeof text, cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    jj_out_text(o, text, origin);
}

static void repr_str(struct jj_out *o, const struct jj_str *s)
{
    bool twice = s->n && memchr(s->p, '\'', s->n) && !memchr(s->p, '"', s->n);
    char quote = twice ? '"' : '\'';
    uint8_t origin = jj_str_origin(s);

    if (s->safe)
        jj_out_text(o, "Markup(", origin);
    jj_out_add(o, &quote, 1, origin);
    for (size_t i = 0; i < s->n;) {
        uint32_t cp;
        size_t len = jj_char(s->p + i, s->n - i, &cp);
        uint8_t from = jj_str_origin_at(s, i);
        jj_step(o->jj);
        if (cp == (unsigned char)quote)
            jj_out_add(o, "\\", 1, from);
        repr_char(o, s->p + i, len, cp, from);
        i += len;
    }
    jj_out_add(o, &quote, 1, origin);
    if (s->safe)
        jj_out_text(o, ")", origin);
}

static void repr_items(struct jj_out *o, const struct jj_list *l, uint8_t origin)
{
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            jj_out_text(o, ", ", origin);
        jj_out_repr(o, l->v[i]);
    }
}

static void repr_dict(struct jj_out *o, const struct jj_dict *d, uint8_t origin)
{
    jj_out_text(o, "{", origin);
    for (size_t i = 0; i < d->n; i++) {
        if (i)
            jj_out_text(o, ", ", origin);
        jj_out_repr(o, d->v[i].key);
        jj_out_text(o, ": ", origin);
        jj_out_repr(o, d->v[i].value);
    }
    jj_out_text(o, "}", origin);
}

static void repr_range(struct jj_out *o, const struct jj_range *r)
{
    char text[96];

    if (r->step == 1)
        snprintf(text, sizeof text, "range(%lld, %lld)", (long long)r->start,
                 (long long)r->stop);
    else
        snprintf(text, sizeof text, "range(%lld, %lld, %lld)", (long long)r->start,
                 (long long)r->stop, (long long)r->step);
    jj_out_text(o, text, JINJA_TEMPLATE);
}

static void repr_number(struct jj_out *o, struct jj_value v)
{
    char text[JJ_FLOAT_ROOM];

    if (v.type == JJ_FLOAT)
        jj_float_repr(o->jj, v.u.d, text);
    else
        snprintf(text, sizeof text, "%lld", (long long)v.u.i);
    jj_out_text(o, text, v.origin);
}

static void repr_container(struct jj_out *o, struct jj_value v)
{
    bool view = v.type == JJ_VIEW, tuple = v.type == JJ_TUPLE;

    if (view)
        jj_out_text(o, v.u.l->name, v.origin);
    jj_out_text(o, view ? "([" : tuple ? "(" : "[", v.origin);
    repr_items(o, v.u.l, v.origin);
    if (tuple && v.u.l->n == 1)
        jj_out_text(o, ",", v.origin);
    jj_out_text(o, view ? "])" : tuple ? ")" : "]", v.origin);
}

void jj_out_repr(struct jj_out *o, struct jj_value v)
{
    jj_step(o->jj);
    jj_enter(o->jj);
    switch ((enum jj_type)v.type) {
    case JJ_NONE:
        jj_out_text(o, "None", v.origin);
        break;
    case JJ_BOOL:
        jj_out_text(o, v.u.b ? "True" : "False", v.origin);
        break;
    case JJ_INT:
    case JJ_FLOAT:
        repr_number(o, v);
        break;
    case JJ_BIG:
        jj_out_str(o, v.u.s);
        break;
    case JJ_STRING:
        repr_str(o, v.u.s);
        break;
    case JJ_LIST:
    case JJ_TUPLE:
    case JJ_VIEW:
        repr_container(o, v);
        break;
    case JJ_RANGE:
        repr_range(o, v.u.range);
        break;
    case JJ_DICT:
        repr_dict(o, v.u.dict, v.origin);
        break;
    case JJ_NAMESPACE:
        jj_out_text(o, "<Namespace ", JINJA_TEMPLATE);
        repr_dict(o, v.u.dict, v.origin);
        jj_out_text(o, ">", JINJA_TEMPLATE);
        break;
    case JJ_UNDEFINED:
        jj_out_text(o, "Undefined", JINJA_TEMPLATE);
        break;
    default:
        jj_out_text(o, "<", JINJA_TEMPLATE);
        jj_out_text(o, jj_type_name(v), JINJA_TEMPLATE);
        jj_out_text(o, " object>", JINJA_TEMPLATE);
    }
    o->jj->depth--;
}

void jj_out_value(struct jj_out *o, struct jj_value v)
{
    if (v.type == JJ_STRING)
        jj_out_str(o, v.u.s);
    else if (v.type != JJ_UNDEFINED)
        jj_out_repr(o, v);
}

struct jj_str *jj_to_str(struct jj *jj, struct jj_value v)
{
    struct jj_out o;

    if (v.type == JJ_STRING)
        return v.u.s;
    jj_out_init(&o, jj);
    jj_out_value(&o, v);
    return jj_out_finish(&o);
}

const char *jj_repr_text(struct jj *jj, struct jj_value v)
{
    struct jj_out o;

    jj_out_init(&o, jj);
    jj_out_repr(&o, v);
    return jj_cstr(jj, jj_out_finish(&o));
}
