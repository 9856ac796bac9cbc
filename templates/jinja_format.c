#include "config.h"

#include "templates/jinja_format.h"

/* '...%s...' % arguments: a tuple, a mapping for %(name)s, or one value. The format's own
 * text keeps its origin, each argument's text its own. */

struct percent {
    struct jj *jj;
    const struct jj_str *f;
    size_t at;
    struct jj_value args;
    size_t used; /* of a tuple, or of the one value */
    struct jj_out out;
};

static struct jj_value next_arg(struct percent *p)
{
    bool tuple = p->args.type == JJ_TUPLE;
    size_t n = tuple ? p->args.u.l->n : 1;

    if (p->used >= n)
        jj_fail(p->jj, "not enough arguments for format string");
    p->used++;
    return tuple ? p->args.u.l->v[p->used - 1] : p->args;
}

/* "(name)" behind the %: the value of that name. */
static struct jj_value named_arg(struct percent *p)
{
    size_t from = ++p->at;
    int open = 1;

    if (p->args.type != JJ_DICT)
        jj_fail(p->jj, "format requires a mapping");
    for (; p->at < p->f->n; p->at++) {
        open += p->f->p[p->at] == '(' ? 1 : p->f->p[p->at] == ')' ? -1 : 0;
        if (open == 0)
            break;
    }
    if (p->at >= p->f->n)
        jj_fail(p->jj, "incomplete format key");

    struct jj_value key = jj_string(jj_str_slice(p->jj, p->f, from, p->at++));
    const struct jj_value *v = jj_dict_get(p->jj, p->args.u.dict, key);
    if (!v)
        jj_fail(p->jj, "the format has no value for %s", jj_repr_text(p->jj, key));
    return *v;
}

static void flags(struct percent *p, struct jj_spec *sp)
{
    for (; p->at < p->f->n; p->at++)
        switch (p->f->p[p->at]) {
        case '-':
            sp->align = '<';
            break;
        case '0':
            sp->zero = true;
            break;
        case '#':
            sp->alt = true;
            break;
        case '+':
            sp->sign = '+';
            break;
        case ' ':
            sp->sign = sp->sign ? sp->sign : ' ';
            break;
        default:
            return;
        }
}

/* A number, or * for the next argument. */
static int number(struct percent *p, int otherwise)
{
    if (p->at < p->f->n && p->f->p[p->at] == '*') {
        p->at++;
        int64_t n = jj_arg_int(p->jj, next_arg(p), 0);
        if (n > 1000000 || n < -1000000)
            jj_fail(p->jj, "width or precision too big");
        return (int)n;
    }
    int n = jj_format_int(p->jj, p->f, &p->at);
    return n < 0 ? otherwise : n;
}

static void put_text(struct percent *p, struct jj_str *s, struct jj_spec *sp)
{
    jj_format_text(&p->out, p->f->safe ? jj_str_escape(p->jj, s) : s, sp, '>');
}

static void put_number(struct percent *p, struct jj_value v, struct jj_spec *sp,
                       char type)
{
    static const struct jj_spec padding = { .precision = -1 };
    struct jj_spec zeros = padding;
    int digits = sp->precision;
    struct jj_out o;

    sp->type = type == 'i' || type == 'u' ? 'd' : type;
    if (!jj_is_number(v) && v.type != JJ_BIG)
        jj_fail(p->jj, "%%%c format: a real number is required, not %s", type,
                jj_type_name(v));
    if (strchr("eEfFgG", sp->type)) {
        jj_format_number(&p->out, v, sp);
        return;
    }
    if (v.type == JJ_FLOAT) {
        if (sp->type != 'd')
            jj_fail(p->jj, "%%%c format: an integer is required, not float", type);
        if (!(v.u.d > -9.2e18 && v.u.d < 9.2e18))
            jj_fail(p->jj, "the number has more than 64 bits");
        v = jj_int((int64_t)v.u.d, v.origin);
    }
    sp->precision = -1;
    if (digits < 0) {
        jj_format_number(&p->out, v, sp);
        return;
    }
    /* A precision is a least number of digits: write them, then pad the whole. */
    zeros.type = sp->type;
    zeros.alt = sp->alt;
    zeros.zero = true;
    zeros.sign = sp->sign;
    zeros.fill = jj_text(p->jj, "0").u.s;
    zeros.width = digits + (v.type != JJ_BIG && (jj_number(v) < 0 || sp->sign)) +
                  (sp->alt && sp->type != 'd' ? 2 : 0);
    jj_out_init(&o, p->jj);
    jj_format_number(&o, v, &zeros);
    jj_format_text(&p->out, jj_out_finish(&o), sp, sp->align ? sp->align : '>');
}

static void put_char(struct percent *p, struct jj_value v, struct jj_spec *sp)
{
    sp->zero = false;
    sp->precision = -1;
    if (v.type == JJ_STRING && v.u.s->n && jj_chars(v.u.s) == 1) {
        jj_format_text(&p->out, v.u.s, sp, '>');
        return;
    }
    if (v.type != JJ_INT && v.type != JJ_BOOL)
        jj_fail(p->jj, "%%c requires int or char");
    sp->type = 'c';
    if (!sp->align)
        sp->align = '>';
    jj_format_number(&p->out, v, sp);
}

/* One conversion; at stands behind the %. */
static void convert(struct percent *p)
{
    struct jj_spec sp = { .precision = -1 };
    bool named = p->at < p->f->n && p->f->p[p->at] == '(';
    struct jj_value v = named ? named_arg(p) : jj_missing();

    flags(p, &sp);
    sp.width = number(p, 0);
    if (sp.width < 0) {
        sp.align = '<';
        sp.width = -sp.width;
    }
    if (p->at < p->f->n && p->f->p[p->at] == '.') {
        p->at++;
        sp.precision = number(p, 0);
    }
    while (p->at < p->f->n && memchr("hlL", p->f->p[p->at], 3))
        p->at++;
    if (p->at >= p->f->n)
        jj_fail(p->jj, "incomplete format");

    char type = p->f->p[p->at++];
    if (type == '%') {
        jj_out_part(&p->out, p->f, p->at - 1, p->at);
        return;
    }
    if (!type || !strchr("sracdiuoxXeEfFgG", type))
        jj_fail(p->jj, "unsupported format character '%c'", type);
    if (!named)
        v = next_arg(p);
    bool text = strchr("sra", type) != NULL;
    if (sp.align == '<' || text)
        sp.zero = false;
    uint8_t origin = jj_str_origin_at(p->f, p->at - 1);
    sp.fill = jj_str_new(p->jj, sp.zero ? "0" : " ", 1, origin);
    if (type == 's')
        put_text(p, jj_to_str(p->jj, v), &sp);
    else if (text)
        put_text(p, jj_format_repr(p->jj, v, type == 'a'), &sp);
    else if (type == 'c')
        put_char(p, v, &sp);
    else
        put_number(p, v, &sp, type);
}

struct jj_value jj_percent(struct jj *jj, struct jj_str *format, struct jj_value args)
{
    struct percent p = { .jj = jj, .f = format, .args = args };

    jj_out_init(&p.out, jj);
    while (p.at < format->n) {
        const char *next = memchr(format->p + p.at, '%', format->n - p.at);
        size_t to = next ? (size_t)(next - format->p) : format->n;
        jj_step(jj);
        jj_out_part(&p.out, format, p.at, to);
        p.at = to + 1;
        if (next)
            convert(&p);
    }
    /* Whatever has items may be a mapping that the format just does not use. */
    bool mapping = args.type == JJ_DICT || args.type == JJ_LIST ||
                   args.type == JJ_RANGE || args.type == JJ_UNDEFINED;
    if (args.type == JJ_TUPLE ? p.used < args.u.l->n : p.used == 0 && !mapping)
        jj_fail(jj, "not all arguments converted during string formatting");
    struct jj_str *s = jj_out_finish(&p.out);
    s->safe = format->safe;
    return jj_string(s);
}
