#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "templates/jinja_format.h"

/* Filters on text and numbers. Those named like a method of str do what the method does,
 * on the text of any value. Not here are random, pprint and urlize: a prompt must not
 * depend on chance, and the others are for web pages. */

static struct jj_str *soft(struct jj *jj, struct jj_value v)
{
    return jj_to_str(jj, v);
}

static struct jj_value method(struct jj *jj, struct jj_value self, const char *name,
                              struct jj_args *a)
{
    struct jj_str *s = soft(jj, self);
    struct jj_str n = { .p = name, .n = strlen(name) };
    const struct jj_builtin *fn = jj_method_of(jj_string(s), &n);

    return fn->fn(jj, jj_string(s), a);
}

static struct jj_value filter_upper(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    return method(jj, self, "upper", a);
}

static struct jj_value filter_lower(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    return method(jj, self, "lower", a);
}

static struct jj_value filter_capitalize(struct jj *jj, struct jj_value self,
                                         struct jj_args *a)
{
    return method(jj, self, "capitalize", a);
}

static struct jj_value filter_trim(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return method(jj, self, "strip", a);
}

static struct jj_value filter_center(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    return jj_str_center(jj, soft(jj, self), jj_arg_int(jj, a->v[0], 80));
}

static bool starts_word(uint32_t cp)
{
    return jj_is_space(cp) || (cp < 0x80 && cp && strchr("-({[<", (int)cp));
}

/* Unlike str.title(), a word begins only behind white space and opening brackets. */
static struct jj_value filter_title(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    const struct jj_str *s = soft(jj, self);
    bool first = true;
    struct jj_out o;

    (void)a;
    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp;
        len = jj_char(s->p + i, s->n - i, &cp);
        jj_out_case(&o, s, i, i + len, first ? JJ_UPPER : JJ_LOWER);
        first = starts_word(cp);
    }
    return jj_string(jj_out_finish(&o));
}

static struct jj_value filter_string(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    (void)a;
    return jj_string(soft(jj, self));
}

static struct jj_value filter_safe(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_mark(jj, soft(jj, self), true));
}

static struct jj_value filter_escape(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_escape(jj, soft(jj, self)));
}

static struct jj_value filter_forceescape(struct jj *jj, struct jj_value self,
                                          struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_escape(jj, jj_str_mark(jj, soft(jj, self), false)));
}

static struct jj_value filter_replace(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    return jj_string(
        jj_str_replace(jj, soft(jj, self), soft(jj, a->v[0]), soft(jj, a->v[1]),
                       jj_given(a->v[2]) ? jj_arg_int(jj, a->v[2], -1) : -1));
}

static struct jj_value filter_format(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    struct jj_value args = { .type = JJ_DICT };
    struct jj_list *l = jj_list_new(jj, a->n);

    if (a->n && a->n_kw)
        jj_fail(jj, "filter format() takes either positional or named arguments");
    for (size_t i = 0; i < a->n; i++)
        jj_list_add(jj, l, a->v[i]);
    if (a->n_kw)
        args.u.dict = jj_dict_from(jj, a, "format");
    else
        args = jj_list(l, JJ_TUPLE, JINJA_TEMPLATE);
    return jj_percent(jj, soft(jj, self), args);
}

/* ---- lines and words ---- */

static size_t line_end(const struct jj_str *s, size_t at, size_t *next)
{
    while (at < s->n) {
        uint32_t cp;
        size_t len = jj_char(s->p + at, s->n - at, &cp);
        if (jj_is_linebreak(cp)) {
            *next = at + len;
            *next += cp == '\r' && *next < s->n && s->p[*next] == '\n';
            return at;
        }
        at += len;
    }
    *next = s->n + 1;
    return s->n;
}

static struct jj_str *indention(struct jj *jj, struct jj_value width)
{
    struct jj_out o;

    if (width.type == JJ_STRING)
        return width.u.s;
    int64_t n = jj_arg_int(jj, width, 4);
    jj_out_init(&o, jj);
    jj_out_pad(&o, jj_text(jj, " ").u.s, n > 0 ? (size_t)n : 0);
    return jj_out_finish(&o);
}

/* What is put in at at counts as the conversation's where the line is. */
static void out_indent(struct jj_out *o, const struct jj_str *s, size_t at,
                       const struct jj_str *by)
{
    if (jj_str_origin_at(s, at < s->n ? at : s->n - 1) == JINJA_CONVERSATION)
        jj_out_add(o, by->p, by->n, JINJA_CONVERSATION);
    else
        jj_out_str(o, by);
}

static struct jj_value filter_indent(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    const struct jj_str *s = jj_arg_str(jj, self, "what filter indent() is given");
    const struct jj_str *by = indention(jj, a->v[0]);
    bool first = jj_arg_bool(a->v[1], false), blank = jj_arg_bool(a->v[2], false);
    struct jj_out o;

    if (s->safe)
        by = jj_str_mark(jj, by, true);
    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    for (size_t from = 0, next; from <= s->n; from = next) {
        size_t end = line_end(s, from, &next);
        jj_step(jj);
        if (from > 0)
            jj_out_add(&o, "\n", 1, jj_str_origin_at(s, from - 1));
        if (from == 0 ? first : blank || end > from)
            out_indent(&o, s, from, by);
        jj_out_part(&o, s, from, end);
    }
    struct jj_str *t = jj_out_finish(&o);
    t->safe = s->safe;
    return jj_string(t);
}

/* truncate(length=255, killwords=False, end='...', leeway=5) */
static struct jj_value filter_truncate(struct jj *jj, struct jj_value self,
                                       struct jj_args *a)
{
    struct jj_str *s = jj_arg_str(jj, self, "what filter truncate() is given");
    struct jj_str *end = a->v[2].type == JJ_MISSING ? jj_text(jj, "...").u.s
                                                    : jj_arg_str(jj, a->v[2], "end");
    int64_t length = jj_arg_int(jj, a->v[0], 255);
    int64_t leeway = jj_given(a->v[3]) ? jj_arg_int(jj, a->v[3], 5) : 5;
    int64_t room = length - (int64_t)jj_chars(end);

    jj_charge(jj, s->n * 2);
    if (room < 0 || leeway < 0)
        jj_fail(jj, "filter truncate(): the length is shorter than the end text");
    if (length > INT64_MAX - leeway || (int64_t)jj_chars(s) <= length + leeway)
        return jj_string(s);

    struct jj_str *cut = jj_str_slice(jj, s, 0, jj_char_at(s, 0, (size_t)room));
    const char *space =
        jj_arg_bool(a->v[1], false) || !cut->n ? NULL : memrchr(cut->p, ' ', cut->n);
    if (space)
        cut = jj_str_slice(jj, cut, 0, (size_t)(space - cut->p));
    return jj_string(jj_str_concat(jj, cut, end));
}

static struct jj_value filter_wordcount(struct jj *jj, struct jj_value self,
                                        struct jj_args *a)
{
    const struct jj_str *s = soft(jj, self);
    bool inside = false;
    int64_t n = 0;
    uint32_t cp;

    (void)a;
    jj_charge_chars(jj, s->n);
    for (size_t i = 0; i < s->n;) {
        i += jj_char(s->p + i, s->n - i, &cp);
        n += jj_is_word(cp) && !inside;
        inside = jj_is_word(cp);
    }
    return jj_int(n, jj_str_origin(s));
}

/* ---- numbers ---- */

/* Nothing but a sign and digits, too many for 64 bits. */
static bool is_big(const struct jj_str *s)
{
    size_t sign = s->n && s->p[0] == '-';

    if (s->n - sign < 19 || s->p[sign] == '0')
        return false;
    for (size_t i = sign; i < s->n; i++)
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
    return true;
}

static struct jj_value float_to_int(struct jj *jj, double d, uint8_t origin)
{
    struct jj_value v = { .type = JJ_BIG };
    char text[400];

    if (fabs(d) < 9.2e18)
        return jj_int((int64_t)d, origin);
    v.u.s = jj_str_new(jj, text, (size_t)snprintf(text, sizeof text, "%.0f", d), origin);
    v.u.s->p = jj_cstr(jj, v.u.s);
    return v;
}

static struct jj_value filter_int(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_value otherwise =
        a->v[0].type == JJ_MISSING ? jj_int(0, JINJA_TEMPLATE) : a->v[0];
    uint8_t origin = jj_origin(self);
    double d = NAN;
    int64_t i;

    if (self.type == JJ_UNDEFINED)
        jj_fail_undef(jj, self);
    if (self.type == JJ_INT || self.type == JJ_BOOL || self.type == JJ_BIG)
        return self.type == JJ_BIG ? self : jj_int(jj_arg_int(jj, self, 0), origin);
    if (self.type == JJ_STRING) {
        jj_charge(jj, self.u.s->n);
        bool base = a->v[1].type == JJ_MISSING || a->v[1].type == JJ_INT;
        if (base && jj_parse_int(self.u.s, jj_arg_int(jj, a->v[1], 10), &i))
            return jj_int(i, origin);
        if (is_big(self.u.s))
            return (struct jj_value){ .type = JJ_BIG, .u.s = self.u.s };
        if (!jj_parse_float(jj, self.u.s, &d))
            return otherwise;
    } else if (self.type == JJ_FLOAT) {
        d = self.u.d;
    }
    if (isnan(d) || isinf(d))
        return otherwise;
    return float_to_int(jj, d, origin);
}

static struct jj_value filter_float(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    double d;

    if (self.type == JJ_UNDEFINED)
        jj_fail_undef(jj, self);
    if (jj_is_number(self))
        return jj_float(jj_number(self), self.origin);
    if ((self.type == JJ_STRING || self.type == JJ_BIG) &&
        jj_parse_float(jj, self.u.s, &d))
        return jj_float(d, jj_origin(self));
    return a->v[0].type == JJ_MISSING ? jj_float(0, JINJA_TEMPLATE) : a->v[0];
}

static struct jj_value filter_abs(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    if (self.type == JJ_UNDEFINED)
        jj_fail_undef(jj, self);
    if (!jj_is_number(self))
        jj_fail(jj, "bad operand type for abs(): '%s'", jj_type_name(self));
    if (self.type == JJ_FLOAT)
        return jj_float(fabs(self.u.d), self.origin);

    int64_t i = jj_arg_int(jj, self, 0);
    if (i == INT64_MIN)
        jj_fail(jj, "the result of abs() has more than 64 bits");
    return jj_int(i < 0 ? -i : i, self.origin);
}

/* Half to even on the decimal value, which is what printing does. */
static double round_to(double d, int places)
{
    char text[400];

    if (places > 22 || isnan(d) || isinf(d))
        return d;
    if (places >= 0) {
        snprintf(text, sizeof text, "%.*f", places, d);
        return strtod(text, NULL);
    }
    if (places < -308)
        return 0 * d;
    double unit = pow(10, -places);
    return nearbyint(d / unit) * unit;
}

static struct jj_value filter_round(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    int64_t places = jj_arg_int(jj, a->v[0], 0);
    struct jj_value how = a->v[1];
    int p = places > 400 ? 400 : places < -400 ? -400 : (int)places;

    jj_charge(jj, JJ_FLOAT_COST);
    if (self.type == JJ_UNDEFINED)
        jj_fail_undef(jj, self);
    if (!jj_is_number(self))
        jj_fail(jj, "type %s doesn't define a round method", jj_type_name(self));
    if (how.type == JJ_MISSING ||
        (how.type == JJ_STRING && jj_str_is(how.u.s, "common"))) {
        if (self.type == JJ_FLOAT)
            return jj_float(round_to(self.u.d, p), self.origin);
        if (p >= 0)
            return jj_int(jj_arg_int(jj, self, 0), self.origin);
        return float_to_int(jj, round_to(jj_number(self), p), self.origin);
    }
    bool up = how.type == JJ_STRING && jj_str_is(how.u.s, "ceil");
    if (!up && !(how.type == JJ_STRING && jj_str_is(how.u.s, "floor")))
        jj_fail(jj, "method must be common, ceil or floor");
    double unit = pow(10, p), d = jj_number(self) * unit;
    return jj_float((up ? ceil(d) : floor(d)) / unit, self.origin);
}

static struct jj_value filter_filesizeformat(struct jj *jj, struct jj_value self,
                                             struct jj_args *a)
{
    static const char letters[] = "kMGTPEZY";
    bool binary = jj_arg_bool(a->v[0], false);
    struct jj_value none = jj_missing();
    struct jj_spec one = { .precision = 1, .type = 'f' };
    double base = binary ? 1024 : 1000, unit = base;
    uint8_t origin = jj_origin(self);
    double n = filter_float(jj, self, &(struct jj_args){ .v = &none, .n = 1 }).u.d;
    struct jj_out o;
    size_t i = 0;

    jj_out_init(&o, jj);
    if (n < base) {
        jj_out_value(&o, float_to_int(jj, isnan(n) ? 0 : n, origin));
        jj_out_text(&o, n == 1 ? " Byte" : " Bytes", origin);
        return jj_string(jj_out_finish(&o));
    }
    while (i + 1 < sizeof letters - 1 && n >= unit * base) {
        unit *= base;
        i++;
    }
    one.fill = jj_text(jj, " ").u.s;
    jj_format_number(&o, jj_float(n / unit, origin), &one);
    jj_out_text(&o, " ", origin);
    jj_out_add(&o, binary && i == 0 ? "K" : &letters[i], 1, origin);
    jj_out_text(&o, binary ? "iB" : "B", origin);
    return jj_string(jj_out_finish(&o));
}

/* ---- any value ---- */

static struct jj_value filter_default(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    if (self.type == JJ_UNDEFINED || (jj_arg_bool(a->v[1], false) && !jj_truth(self)))
        return a->v[0].type == JJ_MISSING ? jj_text(jj, "") : a->v[0];
    return self;
}

static struct jj_value filter_length(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    size_t n;

    (void)a;
    if (self.type == JJ_STRING)
        jj_charge(jj, self.u.s->n);
    if (!jj_length(self, &n))
        jj_fail(jj, "object of type '%s' has no len()", jj_type_name(self));
    return jj_int((int64_t)n, jj_origin(self));
}

/* An attribute of Python's, never an item. */
static struct jj_value filter_attr(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_str *name = jj_arg_str(jj, a->v[0], "the name of an attribute");

    if (self.type == JJ_DICT && !jj_method_of(self, name))
        return jj_undef_name(jj, self, a->v[0]);
    return jj_attr(jj, self, name);
}

/* ---- for URLs and XML ---- */

static void out_quoted(struct jj_out *o, const struct jj_str *s, bool form)
{
    static const char hex[] = "0123456789ABCDEF";

    jj_charge_chars(o->jj, s->n);
    for (size_t i = 0; i < s->n; i++) {
        unsigned char c = (unsigned char)s->p[i];
        uint8_t origin = jj_str_origin_at(s, i);
        char code[3] = { '%', hex[c >> 4], hex[c & 15] };
        bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                     (c && strchr(form ? "_.-~" : "_.-~/", c));
        if (c == ' ' && form)
            jj_out_add(o, "+", 1, origin);
        else
            jj_out_add(o, plain ? (const char *)&s->p[i] : code, plain ? 1 : 3, origin);
    }
}

static struct jj_value filter_urlencode(struct jj *jj, struct jj_value self,
                                        struct jj_args *a)
{
    struct jj_out o;

    (void)a;
    jj_out_init(&o, jj);
    if (self.type == JJ_STRING || !jj_iterable(self)) {
        out_quoted(&o, soft(jj, self), false);
        return jj_string(jj_out_finish(&o));
    }
    const struct jj_list *l =
        self.type == JJ_DICT ? jj_dict_list(jj, self, 'i') : jj_items(jj, self);
    for (size_t i = 0; i < l->n; i++) {
        const struct jj_list *pair = jj_items(jj, l->v[i]);
        if (pair->n != 2)
            jj_fail(jj, "filter urlencode() wants pairs");
        if (i)
            jj_out_text(&o, "&", JINJA_TEMPLATE);
        out_quoted(&o, soft(jj, pair->v[0]), true);
        jj_out_text(&o, "=", JINJA_TEMPLATE);
        out_quoted(&o, soft(jj, pair->v[1]), true);
    }
    return jj_string(jj_out_finish(&o));
}

static struct jj_value filter_xmlattr(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    bool space = jj_arg_bool(a->v[0], true);
    struct jj_out o;

    if (self.type != JJ_DICT)
        jj_fail(jj, "filter xmlattr() wants a mapping, not %s", jj_type_name(self));
    jj_out_init(&o, jj);
    for (size_t i = 0; i < self.u.dict->n; i++) {
        const struct jj_pair *p = &self.u.dict->v[i];
        struct jj_str *key = jj_arg_str(jj, p->key, "a key");
        if (p->value.type == JJ_NONE || p->value.type == JJ_UNDEFINED)
            continue;
        for (size_t k = 0; k < key->n; k++)
            if (key->p[k] && strchr(" \t\n\r\f\v/>=", key->p[k]))
                jj_fail(jj, "invalid character in attribute name: %s",
                        jj_repr_text(jj, p->key));
        if (space || o.n)
            jj_out_text(&o, " ", JINJA_TEMPLATE);
        jj_out_str(&o, jj_str_escape(jj, key));
        jj_out_text(&o, "=\"", JINJA_TEMPLATE);
        jj_out_str(&o, jj_str_escape(jj, soft(jj, p->value)));
        jj_out_text(&o, "\"", JINJA_TEMPLATE);
    }
    return jj_string(jj_out_finish(&o));
}

const struct jj_builtin jj_filters_text[] = {
    { "abs", filter_abs, "" },
    { "attr", filter_attr, "name" },
    { "capitalize", filter_capitalize, "" },
    { "center", filter_center, "width?" },
    { "count", filter_length, "" },
    { "d", filter_default, "default_value? boolean?" },
    { "default", filter_default, "default_value? boolean?" },
    { "e", filter_escape, "" },
    { "escape", filter_escape, "" },
    { "filesizeformat", filter_filesizeformat, "binary?" },
    { "float", filter_float, "default?" },
    { "forceescape", filter_forceescape, "" },
    { "format", filter_format, "*" },
    { "indent", filter_indent, "width? first? blank?" },
    { "int", filter_int, "default? base?" },
    { "length", filter_length, "" },
    { "lower", filter_lower, "" },
    { "replace", filter_replace, "old new count?" },
    { "round", filter_round, "precision? method?" },
    { "safe", filter_safe, "" },
    { "string", filter_string, "" },
    { "title", filter_title, "" },
    { "tojson", jj_tojson, "ensure_ascii? indent? separators? sort_keys?" },
    { "trim", filter_trim, "chars?" },
    { "truncate", filter_truncate, "length? killwords? end? leeway?" },
    { "upper", filter_upper, "" },
    { "urlencode", filter_urlencode, "" },
    { "wordcount", filter_wordcount, "" },
    { "xmlattr", filter_xmlattr, "autospace?" },
    { NULL, NULL, NULL },
};
