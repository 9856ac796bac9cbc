#include "config.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "templates/jinja_format.h"

/* Numbers with sign, base, precision, groups and padding. */

enum { MAX_PRECISION = 300, ROOM = 1024 };

/* The C library may write another decimal point than Python. */
static void fix_radix(char *text)
{
    const char *radix = nl_langinfo(RADIXCHAR);
    size_t n = strlen(radix);
    char *p = n && strcmp(radix, ".") != 0 ? strstr(text, radix) : NULL;

    if (p) {
        *p = '.';
        memmove(p + 1, p + n, strlen(p + n) + 1);
    }
}

static void pad(struct jj_out *o, const struct jj_spec *sp, int n)
{
    if (n > 0)
        jj_out_pad(o, sp->fill, (size_t)n);
}

/* head (a sign, a prefix) and body in a field; with '=' the padding is between them. */
static void put(struct jj_out *o, const struct jj_str *head, const struct jj_str *body,
                const struct jj_spec *sp, char align)
{
    int room = sp->width - (int)(jj_chars(head) + (body->n ? jj_chars(body) : 0));
    int left = align == '>' ? room : align == '^' && room > 0 ? room / 2 : 0;

    pad(o, sp, left);
    jj_out_str(o, head);
    if (align == '=')
        pad(o, sp, room);
    jj_out_str(o, body);
    if (align == '<' || align == '^')
        pad(o, sp, room - left);
}

void jj_format_text(struct jj_out *o, const struct jj_str *s, const struct jj_spec *sp,
                    char align)
{
    const struct jj_str none = { .p = "" };
    struct jj_str cut = *s;

    if (sp->precision >= 0)
        cut.n = jj_char_at(s, 0, (size_t)sp->precision);
    jj_charge(o->jj, s->n);
    put(o, &none, &cut, sp, sp->align ? sp->align : align);
}

/* ---- digits ---- */

static void int_digits(char *text, uint64_t u, unsigned base, bool upper)
{
    char back[72];
    size_t n = 0;

    do {
        unsigned d = (unsigned)(u % base);
        back[n++] = (char)(d < 10 ? '0' + d : (upper ? 'A' : 'a') + d - 10);
        u /= base;
    } while (u);
    for (size_t i = 0; i < n; i++)
        text[i] = back[n - 1 - i];
    text[n] = '\0';
}

static void drop_zeros(char *text)
{
    char *e = strpbrk(text, "eE"), *end = e ? e : text + strlen(text), *p = end;

    if (!memchr(text, '.', (size_t)(end - text)))
        return;
    while (p[-1] == '0')
        p--;
    if (p[-1] == '.')
        p--;
    memmove(p, end, strlen(end) + 1);
}

/* No type: as 'g', but always with a digit behind the point. */
static void general_digits(char *text, double d, int precision)
{
    int e;

    if (precision < 1)
        precision = 1;
    snprintf(text, ROOM, "%.*e", precision - 1, d);
    e = atoi(strchr(text, 'e') + 1);
    if (e >= -4 && e < precision - 1) {
        snprintf(text, ROOM, "%.*f", precision - 1 - e, d);
        fix_radix(text);
        drop_zeros(text);
        if (!strchr(text, '.'))
            strcat(text, ".0");
        return;
    }
    fix_radix(text);
    drop_zeros(text);
}

static void float_digits(struct jj *jj, char *text, double d, const struct jj_spec *sp)
{
    int precision = sp->precision < 0 ? 6 : sp->precision;
    char format[8] = "%#.*f";
    char type = sp->type == 'n' ? 'g' : sp->type;

    jj_charge(jj, JJ_FLOAT_COST + (size_t)precision * 16);
    if (isnan(d) || isinf(d)) {
        bool upper = type == 'F' || type == 'E' || type == 'G';
        snprintf(text, ROOM, "%s%s",
                 isnan(d) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf"),
                 type == '%' ? "%" : "");
        return;
    }
    if (type == 0 && sp->precision < 0) {
        jj_float_repr(jj, d, text);
        return;
    }
    if (type == 0) {
        general_digits(text, d, precision);
        return;
    }
    if ((type == 'g' || type == 'G') && precision == 0)
        precision = 1;
    format[4] = type == '%' ? 'f' : type;
    snprintf(text, ROOM - 2,
             sp->alt ? format : (memmove(format + 1, format + 2, 5), format), precision,
             type == '%' ? d * 100 : d);
    fix_radix(text);
    if (type == '%')
        strcat(text, "%");
}

/* Separators between groups of digits, up to the point. */
static struct jj_str *grouped(struct jj *jj, const struct jj_str *s, char group,
                              size_t size)
{
    size_t whole = 0;
    struct jj_out o;

    while (whole < s->n && ((s->p[whole] >= '0' && s->p[whole] <= '9') || size == 4))
        whole++;
    jj_out_init(&o, jj);
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % size == 0)
            jj_out_add(&o, &group, 1, s->origin);
        jj_out_add(&o, s->p + i, 1, s->origin);
    }
    jj_out_part(&o, s, whole, s->n);
    return jj_out_finish(&o);
}

/* ---- the field ---- */

static void put_number(struct jj_out *o, bool negative, const char *prefix,
                       const char *digits, uint8_t origin, const struct jj_spec *sp)
{
    char head[8];
    const char *sign = negative          ? "-"
                       : sp->sign == '+' ? "+"
                       : sp->sign == ' ' ? " "
                                         : "";
    struct jj_str body = { .p = digits, .n = strlen(digits), .origin = origin };
    struct jj_str *text = &body;

    snprintf(head, sizeof head, "%s%s", sign, prefix);
    if (sp->group && sp->zero && sp->width > 0)
        jj_fail(o->jj, "a format with both leading zeros and groups of digits");
    if (sp->group)
        text = grouped(o->jj, &body, sp->group,
                       *prefix || sp->type == 'x' || sp->type == 'X' || sp->type == 'b' ||
                               sp->type == 'o'
                           ? 4
                           : 3);
    struct jj_str before = { .p = head, .n = strlen(head), .origin = origin };
    put(o, &before, text, sp, sp->align ? sp->align : sp->zero ? '=' : '>');
}

static void format_int(struct jj_out *o, struct jj_value v, const struct jj_spec *sp)
{
    int64_t i = jj_arg_int(o->jj, v, 0);
    uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
    unsigned base = sp->type == 'x' || sp->type == 'X' ? 16
                    : sp->type == 'o'                  ? 8
                    : sp->type == 'b'                  ? 2
                                                       : 10;
    char text[80], prefix[3] = { '0', sp->type, '\0' };

    if (sp->precision >= 0)
        jj_fail(o->jj, "precision not allowed in integer format specifier");
    int_digits(text, u, base, sp->type == 'X');
    put_number(o, i < 0, sp->alt && base != 10 ? prefix : "", text, v.origin, sp);
}

static void format_char(struct jj_out *o, struct jj_value v, const struct jj_spec *sp)
{
    int64_t i = jj_arg_int(o->jj, v, 0);
    char text[4];
    size_t n;

    if (i < 0 || i > 0x10FFFF || (i >= 0xD800 && i < 0xE000))
        jj_fail(o->jj, "%%c arg not in range(0x110000)");
    jj_put(text, &n, (uint32_t)i);
    struct jj_str s = { .p = text, .n = n, .origin = v.origin };
    jj_format_text(o, &s, sp, '<');
}

void jj_format_number(struct jj_out *o, struct jj_value v, const struct jj_spec *sp)
{
    char text[ROOM];

    if (sp->precision > MAX_PRECISION)
        jj_fail(o->jj, "a precision of more than %d digits", MAX_PRECISION);
    if (v.type == JJ_BIG) {
        if (sp->type && sp->type != 'd')
            jj_fail(o->jj, "an integer beyond 64 bits can only be printed");
        jj_format_text(o, v.u.s, sp, '>');
        return;
    }
    bool real = sp->type ? strchr("eEfFgG%", sp->type) != NULL : v.type == JJ_FLOAT;
    if (!real && v.type == JJ_FLOAT && sp->type != 'n')
        jj_fail(o->jj, "unknown format code '%c' for object of type 'float'", sp->type);
    if (!real && v.type != JJ_FLOAT) {
        if (sp->type == 'c')
            format_char(o, v, sp);
        else
            format_int(o, v, sp);
        return;
    }
    double d = jj_number(v);
    float_digits(o->jj, text, fabs(d), sp);
    put_number(o, signbit(d) && !isnan(d), "", text, v.origin, sp);
}

/* ---- for both kinds of format ---- */

int jj_format_int(struct jj *jj, const struct jj_str *s, size_t *at)
{
    int n = -1;

    while (*at < s->n && s->p[*at] >= '0' && s->p[*at] <= '9') {
        n = (n < 0 ? 0 : n * 10) + (s->p[(*at)++] - '0');
        if (n > 1000000)
            jj_fail(jj, "too many decimal digits in format string");
    }
    return n;
}

struct jj_str *jj_format_repr(struct jj *jj, struct jj_value v, bool ascii)
{
    struct jj_out o, plain;
    struct jj_str *s;

    jj_out_init(&o, jj);
    jj_out_repr(&o, v);
    s = jj_out_finish(&o);
    if (!ascii)
        return s;
    jj_out_init(&plain, jj);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp;
        char text[16];
        len = jj_char(s->p + i, s->n - i, &cp);
        snprintf(text, sizeof text,
                 cp < 0x100     ? "\\x%02x"
                 : cp < 0x10000 ? "\\u%04x"
                                : "\\U%08x",
                 cp);
        if (cp < 0x80)
            jj_out_part(&plain, s, i, i + len);
        else
            jj_out_text(&plain, text, jj_str_origin_at(s, i));
    }
    return jj_out_finish(&plain);
}
