#include "config.h"

#include "templates/jinja_int.h"

/* Values with Python's rules: truth, equality, order, iteration; and Jinja2's Undefined,
 * which can be printed, iterated and tested but nothing else. */

struct jj_value jj_missing(void)
{
    return (struct jj_value){ .type = JJ_MISSING };
}

struct jj_value jj_none(void)
{
    return (struct jj_value){ .type = JJ_NONE };
}

struct jj_value jj_bool(bool b)
{
    return (struct jj_value){ .type = JJ_BOOL, .u.b = b };
}

struct jj_value jj_int(int64_t i, uint8_t origin)
{
    return (struct jj_value){ .type = JJ_INT, .origin = origin, .u.i = i };
}

struct jj_value jj_float(double d, uint8_t origin)
{
    return (struct jj_value){ .type = JJ_FLOAT, .origin = origin, .u.d = d };
}

struct jj_value jj_string(struct jj_str *s)
{
    return (struct jj_value){ .type = JJ_STRING, .u.s = s };
}

struct jj_value jj_text(struct jj *jj, const char *text)
{
    return jj_string(jj_str_new(jj, text, strlen(text), JINJA_TEMPLATE));
}

struct jj_value jj_list(struct jj_list *l, enum jj_type type, uint8_t origin)
{
    return (struct jj_value){ .type = (uint8_t)type, .origin = origin, .u.l = l };
}

struct jj_value jj_undef(struct jj *jj, const char *hint)
{
    struct jj_undef *u = jj_alloc(jj, sizeof *u);

    u->hint = hint;
    return (struct jj_value){ .type = JJ_UNDEFINED, .u.undef = u };
}

struct jj_value jj_undef_name(struct jj *jj, struct jj_value obj, struct jj_value name)
{
    struct jj_value v = jj_undef(jj, NULL);

    v.u.undef->obj = obj;
    v.u.undef->name = name;
    return v;
}

static const char *object_name(struct jj_value v)
{
    switch (v.type) {
    case JJ_NONE:
        return "None";
    case JJ_NAMESPACE:
        return "namespace object";
    case JJ_MACRO:
        return "macro object";
    case JJ_LOOP:
        return "loop object";
    default:
        return jj_type_name(v);
    }
}

void jj_fail_undef(struct jj *jj, struct jj_value v)
{
    const struct jj_undef *u = v.u.undef;
    const char *suffix =
        u->obj.type < JJ_BOOL || u->obj.type >= JJ_NAMESPACE ? "" : " object";

    if (u->hint)
        jj_fail(jj, "%s", u->hint);
    if (u->obj.type == JJ_MISSING)
        jj_fail(jj, "%s is undefined", jj_repr_text(jj, u->name));
    if (u->name.type != JJ_STRING)
        jj_fail(jj, "%s%s has no element %s", object_name(u->obj), suffix,
                jj_repr_text(jj, u->name));
    jj_fail(jj, "'%s%s' has no attribute %s", object_name(u->obj), suffix,
            jj_repr_text(jj, u->name));
}

/* ---- what it is ---- */

bool jj_is_number(struct jj_value v)
{
    return v.type == JJ_BOOL || v.type == JJ_INT || v.type == JJ_FLOAT;
}

bool jj_is_sequence(struct jj_value v)
{
    return v.type == JJ_LIST || v.type == JJ_TUPLE;
}

double jj_number(struct jj_value v)
{
    return v.type == JJ_FLOAT ? v.u.d : v.type == JJ_BOOL ? v.u.b : (double)v.u.i;
}

uint8_t jj_origin(struct jj_value v)
{
    return v.type == JJ_STRING || v.type == JJ_BIG ? jj_str_origin(v.u.s) : v.origin;
}

bool jj_given(struct jj_value v)
{
    return v.type != JJ_MISSING && v.type != JJ_NONE;
}

const char *jj_type_name(struct jj_value v)
{
    switch ((enum jj_type)v.type) {
    case JJ_MISSING:
    case JJ_UNDEFINED:
        return "Undefined";
    case JJ_NONE:
        return "NoneType";
    case JJ_BOOL:
        return "bool";
    case JJ_INT:
    case JJ_BIG:
        return "int";
    case JJ_FLOAT:
        return "float";
    case JJ_STRING:
        return v.u.s->safe ? "Markup" : "str";
    case JJ_LIST:
        return "list";
    case JJ_TUPLE:
        return "tuple";
    case JJ_VIEW:
    case JJ_ITER:
        return v.u.l->name;
    case JJ_RANGE:
        return "range";
    case JJ_DICT:
        return "dict";
    case JJ_NAMESPACE:
        return "Namespace";
    case JJ_MACRO:
        return "Macro";
    case JJ_METHOD:
        return "builtin_function_or_method";
    case JJ_FUNCTION:
        return "function";
    case JJ_LOOP:
        return "LoopContext";
    case JJ_CYCLER:
        return "Cycler";
    case JJ_JOINER:
        return "Joiner";
    }
    return "object";
}

bool jj_truth(struct jj_value v)
{
    size_t n;

    switch ((enum jj_type)v.type) {
    case JJ_MISSING:
    case JJ_UNDEFINED:
    case JJ_NONE:
        return false;
    case JJ_BOOL:
        return v.u.b;
    case JJ_INT:
        return v.u.i != 0;
    case JJ_FLOAT:
        return v.u.d != 0;
    case JJ_STRING:
        return v.u.s->n > 0;
    case JJ_LIST:
    case JJ_TUPLE:
    case JJ_VIEW:
    case JJ_RANGE:
    case JJ_DICT:
        return !jj_length(v, &n) || n > 0;
    default:
        break;
    }
    return true;
}

/* ---- comparing ---- */

static bool equal_lists(struct jj *jj, const struct jj_list *a, const struct jj_list *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!jj_equal(jj, a->v[i], b->v[i]))
            return false;
    return true;
}

static bool equal_dicts(struct jj *jj, const struct jj_dict *a, const struct jj_dict *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct jj_value *other = jj_dict_get(jj, b, a->v[i].key);
        if (!other || !jj_equal(jj, a->v[i].value, *other))
            return false;
    }
    return true;
}

static bool equal_ranges(const struct jj_range *a, const struct jj_range *b)
{
    return a->n == b->n && (a->n == 0 || a->start == b->start) &&
           (a->n < 2 || a->step == b->step);
}

static bool equal_same_type(struct jj *jj, struct jj_value a, struct jj_value b)
{
    switch ((enum jj_type)a.type) {
    case JJ_UNDEFINED:
    case JJ_NONE:
        return true;
    case JJ_BIG:
    case JJ_STRING:
        jj_charge(jj, a.u.s->n == b.u.s->n ? a.u.s->n : 0);
        return jj_str_eq(a.u.s, b.u.s);
    case JJ_LIST:
    case JJ_TUPLE:
        return a.u.l == b.u.l || equal_lists(jj, a.u.l, b.u.l);
    case JJ_DICT:
        return a.u.dict == b.u.dict || equal_dicts(jj, a.u.dict, b.u.dict);
    case JJ_RANGE:
        return equal_ranges(a.u.range, b.u.range);
    case JJ_FUNCTION:
        return a.u.fn == b.u.fn;
    case JJ_METHOD:
        return a.u.method == b.u.method;
    default:
        return a.u.l == b.u.l;
    }
}

bool jj_equal(struct jj *jj, struct jj_value a, struct jj_value b)
{
    bool equal;

    jj_step(jj);
    if (jj_is_number(a) && jj_is_number(b)) {
        if (a.type == JJ_INT && b.type == JJ_INT)
            return a.u.i == b.u.i;
        return jj_number(a) == jj_number(b);
    }
    if (a.type != b.type)
        return false;
    jj_enter(jj);
    equal = equal_same_type(jj, a, b);
    jj->depth--;
    return equal;
}

/* Less than, equal, greater than 0, as for strcmp(). op is for the message. */
int jj_order(struct jj *jj, struct jj_value a, struct jj_value b, const char *op)
{
    int c = 0;

    jj_step(jj);
    if (jj_is_number(a) && jj_is_number(b)) {
        if (a.type == JJ_INT && b.type == JJ_INT)
            return (a.u.i > b.u.i) - (a.u.i < b.u.i);
        return (jj_number(a) > jj_number(b)) - (jj_number(a) < jj_number(b));
    }
    if (a.type == JJ_STRING && b.type == JJ_STRING) {
        jj_charge(jj, a.u.s->n < b.u.s->n ? a.u.s->n : b.u.s->n);
        return jj_str_cmp(a.u.s, b.u.s);
    }
    if (a.type == JJ_UNDEFINED || b.type == JJ_UNDEFINED)
        jj_fail_undef(jj, a.type == JJ_UNDEFINED ? a : b);
    if (a.type != b.type || !jj_is_sequence(a))
        jj_fail(jj, "'%s' not supported between instances of '%s' and '%s'", op,
                jj_type_name(a), jj_type_name(b));
    jj_enter(jj);
    for (size_t i = 0; c == 0 && i < a.u.l->n && i < b.u.l->n; i++)
        if (!jj_equal(jj, a.u.l->v[i], b.u.l->v[i]))
            c = jj_order(jj, a.u.l->v[i], b.u.l->v[i], op);
    jj->depth--;
    return c ? c : (a.u.l->n > b.u.l->n) - (a.u.l->n < b.u.l->n);
}

/* ---- lists and what can be iterated ---- */

struct jj_list *jj_list_new(struct jj *jj, size_t cap)
{
    struct jj_list *l = jj_alloc(jj, sizeof *l);

    if (cap) {
        l->v = jj_array(jj, cap, sizeof *l->v);
        l->cap = cap;
    }
    return l;
}

void jj_list_add(struct jj *jj, struct jj_list *l, struct jj_value v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;
        l->v = jj_grow(jj, l->v, l->cap * sizeof *l->v, cap * sizeof *l->v);
        l->cap = cap;
    }
    l->v[l->n++] = v;
}

struct jj_value jj_range_at(const struct jj_range *r, size_t i)
{
    return jj_int(r->start + (int64_t)i * r->step, JINJA_TEMPLATE);
}

bool jj_iterable(struct jj_value v)
{
    switch ((enum jj_type)v.type) {
    case JJ_UNDEFINED:
    case JJ_STRING:
    case JJ_LIST:
    case JJ_TUPLE:
    case JJ_VIEW:
    case JJ_ITER:
    case JJ_RANGE:
    case JJ_DICT:
        return true;
    default:
        return false;
    }
}

bool jj_length(struct jj_value v, size_t *n)
{
    switch ((enum jj_type)v.type) {
    case JJ_UNDEFINED:
        *n = 0;
        return true;
    case JJ_STRING:
        *n = v.u.s->n ? jj_chars(v.u.s) : 0;
        return true;
    case JJ_LIST:
    case JJ_TUPLE:
    case JJ_VIEW:
        *n = v.u.l->n;
        return true;
    case JJ_RANGE:
        *n = v.u.range->n;
        return true;
    case JJ_DICT:
        *n = v.u.dict->n;
        return true;
    default:
        return false;
    }
}

static struct jj_list *items_of_string(struct jj *jj, const struct jj_str *s)
{
    struct jj_list *l = jj_list_new(jj, jj_chars(s));
    uint32_t cp;

    for (size_t i = 0, len; i < s->n; i += len) {
        jj_step(jj);
        len = jj_char(s->p + i, s->n - i, &cp);
        jj_list_add(jj, l, jj_string(jj_str_slice(jj, s, i, i + len)));
    }
    return l;
}

static struct jj_list *items_of_range(struct jj *jj, const struct jj_range *r)
{
    struct jj_list *l = jj_list_new(jj, r->n);

    jj_charge(jj, r->n * sizeof *l->v);
    for (size_t i = 0; i < r->n; i++)
        jj_list_add(jj, l, jj_range_at(r, i));
    return l;
}

/* What a generator has left; it is spent then. */
static struct jj_list *items_left(struct jj *jj, struct jj_list *from)
{
    struct jj_list *l = jj_list_new(jj, from->n - from->at);

    while (from->at < from->n) {
        jj_step(jj);
        jj_list_add(jj, l, from->v[from->at++]);
    }
    return l;
}

struct jj_list *jj_items(struct jj *jj, struct jj_value v)
{
    switch ((enum jj_type)v.type) {
    case JJ_UNDEFINED:
        return jj_list_new(jj, 0);
    case JJ_STRING:
        return items_of_string(jj, v.u.s);
    case JJ_LIST:
    case JJ_TUPLE:
    case JJ_VIEW:
        return v.u.l;
    case JJ_ITER:
        return items_left(jj, v.u.l);
    case JJ_RANGE:
        return items_of_range(jj, v.u.range);
    case JJ_DICT:
        return jj_dict_list(jj, v, 'k');
    default:
        break;
    }
    jj_fail(jj, "'%s' object is not iterable", jj_type_name(v));
}
