#include "config.h"

#include "templates/jinja_format.h"

/* '{0.name!r:>8}'.format(...). A field names an argument and goes on with attributes and
 * items by the template's own rules, so it reaches nothing that the template could not.
 */

struct fields {
    struct jj *jj;
    const struct jj_str *f;
    const struct jj_args *args;
    struct jj_value mapping; /* of format_map(), or MISSING */
    size_t next;             /* the number of the next field without one */
    int numbering;           /* 0: not known yet, 1: automatic, 2: by hand */
};

static struct jj_str *expand(struct fields *x, size_t from, size_t to, int depth);

static bool all_digits(const struct jj_str *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
    return s->n > 0;
}

static void set_numbering(struct fields *x, int how)
{
    if (x->numbering && x->numbering != how)
        jj_fail(x->jj, "cannot switch between automatic and manual field numbering");
    x->numbering = how;
}

static struct jj_value positional(struct fields *x, size_t i)
{
    if (x->mapping.type != JJ_MISSING)
        jj_fail(x->jj, "format string contains positional fields");
    if (i >= x->args->n)
        jj_fail(x->jj, "replacement index %zu out of range for positional args", i);
    return x->args->v[i];
}

static struct jj_value argument(struct fields *x, const struct jj_str *name)
{
    int64_t i;

    if (name->n == 0) {
        set_numbering(x, 1);
        return positional(x, x->next++);
    }
    if (all_digits(name)) {
        set_numbering(x, 2);
        if (!jj_parse_int(name, 10, &i))
            jj_fail(x->jj, "too many decimal digits in format string");
        return positional(x, (size_t)i);
    }
    if (x->mapping.type != JJ_MISSING)
        return jj_item(x->jj, x->mapping,
                       jj_string(jj_str_slice(x->jj, name, 0, name->n)));
    for (size_t k = 0; k < x->args->n_kw; k++)
        if (jj_str_eq(x->args->kw[k].name, name))
            return x->args->kw[k].value;
    jj_fail(x->jj, "the format has no value for '%.*s'", JJ_TEXT(name));
}

/* name.attribute[item]... in [from, to). */
static struct jj_value field_value(struct fields *x, size_t from, size_t to)
{
    size_t at = from;

    while (at < to && x->f->p[at] != '.' && x->f->p[at] != '[')
        at++;
    struct jj_value v = argument(x, jj_str_slice(x->jj, x->f, from, at));
    while (at < to) {
        bool attr = x->f->p[at] == '.';
        size_t start = ++at;
        int64_t i;
        while (at < to &&
               (attr ? x->f->p[at] != '.' && x->f->p[at] != '[' : x->f->p[at] != ']'))
            at++;
        struct jj_str *part = jj_str_slice(x->jj, x->f, start, at);
        if (part->n == 0 || (!attr && at >= to))
            jj_fail(x->jj, "bad field in a format string");
        if (attr)
            v = jj_attr(x->jj, v, part);
        else
            v = jj_item(x->jj, v,
                        all_digits(part) && jj_parse_int(part, 10, &i)
                            ? jj_int(i, JINJA_TEMPLATE)
                            : jj_string(part));
        at += !attr;
        if (!attr && at < to && x->f->p[at] != '.' && x->f->p[at] != '[')
            jj_fail(x->jj, "only '.' or '[' may follow ']' in a format field");
    }
    return v;
}

/* ---- the part behind the colon ---- */

static void parse_spec(struct jj *jj, const struct jj_str *s, struct jj_spec *sp)
{
    size_t at = 0, first = s->n ? jj_char_at(s, 0, 1) : 0;

    if (first < s->n && memchr("<>^=", s->p[first], 4)) {
        sp->fill = jj_str_slice(jj, s, 0, first);
        sp->align = s->p[first];
        at = first + 1;
    } else if (s->n && memchr("<>^=", s->p[0], 4)) {
        sp->align = s->p[at++];
    }
    if (at < s->n && memchr("+- ", s->p[at], 3))
        sp->sign = s->p[at++];
    if (at < s->n && s->p[at] == '#') {
        sp->alt = true;
        at++;
    }
    if (at < s->n && s->p[at] == '0') {
        sp->zero = true;
        at++;
    }
    int width = jj_format_int(jj, s, &at);
    sp->width = width < 0 ? 0 : width;
    if (at < s->n && (s->p[at] == ',' || s->p[at] == '_'))
        sp->group = s->p[at++];
    if (at < s->n && s->p[at] == '.') {
        at++;
        sp->precision = jj_format_int(jj, s, &at);
        if (sp->precision < 0)
            jj_fail(jj, "format specifier missing precision");
    }
    if (at < s->n)
        sp->type = s->p[at++];
    if (at < s->n)
        jj_fail(jj, "invalid format specifier '%.*s'", JJ_TEXT(s));
    if (!sp->fill)
        sp->fill = jj_str_new(jj, sp->zero ? "0" : " ", 1, jj_str_origin(s));
}

static struct jj_str *format_value(struct jj *jj, struct jj_value v,
                                   const struct jj_str *s)
{
    struct jj_spec sp = { .precision = -1 };
    struct jj_out o;

    if (s->n == 0)
        return jj_to_str(jj, v);
    parse_spec(jj, s, &sp);
    jj_out_init(&o, jj);
    if (v.type == JJ_STRING) {
        if ((sp.type && sp.type != 's') || sp.sign || sp.alt || sp.group ||
            sp.align == '=')
            jj_fail(jj, "the format specifier '%.*s' is not for a string", JJ_TEXT(s));
        jj_format_text(&o, v.u.s, &sp, '<');
    } else if (jj_is_number(v) || v.type == JJ_BIG) {
        if (sp.type && !strchr("bcdeEfFgGnoxX%", sp.type))
            jj_fail(jj, "unknown format code '%c' for object of type '%s'", sp.type,
                    jj_type_name(v));
        if (sp.type == 'n' && v.type != JJ_FLOAT)
            sp.type = 'd';
        jj_format_number(&o, v, &sp);
    } else {
        jj_fail(jj, "unsupported format string passed to %s.__format__", jj_type_name(v));
    }
    return jj_out_finish(&o);
}

/* ---- fields in a text ---- */

/* The end of the field that begins at at, behind its {: the matching }. */
static size_t field_end(struct fields *x, size_t at, size_t to)
{
    int open = 1;
    bool item = false;

    for (; at < to; at++) {
        char c = x->f->p[at];
        item = (item || c == '[') && c != ']';
        if (item)
            continue;
        open += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (open == 0)
            return at;
    }
    jj_fail(x->jj, "expected '}' before end of string");
}

static struct jj_str *field(struct fields *x, size_t from, size_t to, int depth)
{
    size_t name = from, spec;
    char conversion = 0;
    bool item = false;

    for (; name < to; name++) {
        char c = x->f->p[name];
        item = (item || c == '[') && c != ']';
        if (!item && (c == '!' || c == ':'))
            break;
    }
    struct jj_value v = field_value(x, from, name);
    spec = name;
    if (spec < to && x->f->p[spec] == '!') {
        conversion = spec + 1 < to ? x->f->p[spec + 1] : '\0';
        spec += 2;
        if (!conversion || !strchr("sra", conversion) ||
            (spec < to && x->f->p[spec] != ':'))
            jj_fail(x->jj, "bad conversion in a format field");
    }
    if (conversion == 's')
        v = jj_string(jj_to_str(x->jj, v));
    else if (conversion)
        v = jj_string(jj_format_repr(x->jj, v, conversion == 'a'));

    struct jj_str *how = spec < to ? expand(x, spec + 1, to, depth + 1)
                                   : jj_str_new(x->jj, "", 0, JINJA_TEMPLATE);
    struct jj_str *s = format_value(x->jj, v, how);
    return x->f->safe ? jj_str_escape(x->jj, s) : s;
}

static struct jj_str *expand(struct fields *x, size_t from, size_t to, int depth)
{
    struct jj_out o;

    if (depth > 1)
        jj_fail(x->jj, "max string recursion exceeded");
    jj_out_init(&o, x->jj);
    for (size_t at = from; at < to;) {
        char c = x->f->p[at];
        bool twice = at + 1 < to && x->f->p[at + 1] == c;
        jj_step(x->jj);
        if (c == '{' && !twice) {
            size_t end = field_end(x, at + 1, to);
            jj_out_str(&o, field(x, at + 1, end, depth));
            at = end + 1;
        } else if (c == '{' || c == '}') {
            if (!twice)
                jj_fail(x->jj, "single '%c' encountered in format string", c);
            jj_out_part(&o, x->f, at, at + 1);
            at += 2;
        } else {
            jj_out_part(&o, x->f, at, at + 1);
            at++;
        }
    }
    return jj_out_finish(&o);
}

static struct jj_value format(struct fields *x)
{
    struct jj_str *s = expand(x, 0, x->f->n, 0);

    s->safe = x->f->safe;
    return jj_string(s);
}

struct jj_value jj_str_format(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct fields x = { .jj = jj, .f = self.u.s, .args = a, .mapping = jj_missing() };

    return format(&x);
}

struct jj_value jj_str_format_map(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct fields x = { .jj = jj, .f = self.u.s, .args = a, .mapping = a->v[0] };

    return format(&x);
}
