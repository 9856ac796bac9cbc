#include "config.h"

#include "templates/jinja_ast.h"

/* obj.name, obj[key] and obj[a:b:c]. As in Jinja2, obj.name prefers a method of Python's
 * to a key of the same name, obj['name'] the key to the method, and what is not there is
 * undefined, not an error. */

const struct jj_builtin *jj_method_of(struct jj_value obj, const struct jj_str *name)
{
    const struct jj_builtin *fn;

    switch ((enum jj_type)obj.type) {
    case JJ_STRING:
        fn = jj_lookup(jj_str_methods, name->p, name->n);
        return fn ? fn : jj_lookup(jj_str_more, name->p, name->n);
    case JJ_LIST:
        return jj_lookup(jj_list_methods, name->p, name->n);
    case JJ_TUPLE:
        return jj_lookup(jj_tuple_methods, name->p, name->n);
    case JJ_DICT:
        return jj_lookup(jj_dict_methods, name->p, name->n);
    case JJ_LOOP:
        return jj_lookup(jj_loop_methods, name->p, name->n);
    case JJ_CYCLER:
        return jj_lookup(jj_cycler_methods, name->p, name->n);
    default:
        return NULL;
    }
}

/* What Python's getattr() finds: a method or an attribute. MISSING if nothing. */
static struct jj_value python_attr(struct jj *jj, struct jj_value obj,
                                   struct jj_str *name)
{
    const struct jj_builtin *fn = jj_method_of(obj, name);
    const struct jj_value *v = NULL;

    if (fn) {
        struct jj_method *m = jj_alloc(jj, sizeof *m);
        m->self = obj;
        m->fn = fn;
        return (struct jj_value){ .type = JJ_METHOD, .u.method = m };
    }
    if (obj.type == JJ_NAMESPACE)
        v = jj_dict_get(jj, obj.u.dict, jj_string(name));
    else if (obj.type == JJ_LOOP)
        return jj_loop_attr(jj, obj.u.loop, name);
    else if (obj.type == JJ_CYCLER && jj_str_is(name, "current"))
        v = &obj.u.l->v[obj.u.l->at];
    else if (obj.type == JJ_TUPLE && obj.u.l->name && obj.u.l->n == 2) /* of groupby */
        v = jj_str_is(name, "grouper") ? &obj.u.l->v[0]
            : jj_str_is(name, "list")  ? &obj.u.l->v[1]
                                       : NULL;
    else if (obj.type == JJ_MACRO && jj_str_is(name, "name"))
        return jj_string(jj->tmpl->symbols[obj.u.macro->node->sym]);
    return v ? *v : jj_missing();
}

struct jj_value jj_attr(struct jj *jj, struct jj_value obj, struct jj_str *name)
{
    if (obj.type == JJ_UNDEFINED)
        jj_fail_undef(jj, obj);

    struct jj_value v = python_attr(jj, obj, name);
    if (v.type == JJ_MISSING && obj.type == JJ_DICT) {
        const struct jj_value *item = jj_dict_get(jj, obj.u.dict, jj_string(name));
        if (item)
            return *item;
    }
    return v.type == JJ_MISSING ? jj_undef_name(jj, obj, jj_string(name)) : v;
}

/* ---- items ---- */

static bool hashable(struct jj_value key)
{
    if (key.type == JJ_TUPLE) {
        for (size_t i = 0; i < key.u.l->n; i++)
            if (!hashable(key.u.l->v[i]))
                return false;
        return true;
    }
    return key.type != JJ_LIST && key.type != JJ_DICT;
}

static struct jj_value char_at(struct jj *jj, const struct jj_str *s, int64_t i)
{
    size_t n, at, end;

    jj_charge(jj, s->n);
    if (i < 0) {
        n = jj_chars(s);
        if ((uint64_t) - (i + 1) >= n)
            return jj_missing();
        i += (int64_t)n;
    }
    if ((uint64_t)i >= s->n)
        return jj_missing();
    at = jj_char_at(s, 0, (size_t)i);
    if (at >= s->n)
        return jj_missing();
    end = jj_char_at(s, at, 1);
    return jj_string(jj_str_slice(jj, s, at, end));
}

static struct jj_value element(struct jj *jj, struct jj_value obj, int64_t i)
{
    size_t n;

    if (obj.type == JJ_STRING)
        return char_at(jj, obj.u.s, i);
    if (!jj_is_sequence(obj) && obj.type != JJ_RANGE)
        return jj_missing();
    jj_length(obj, &n);
    if (i < 0)
        i += (int64_t)n;
    if (i < 0 || (uint64_t)i >= n)
        return jj_missing();
    return obj.type == JJ_RANGE ? jj_range_at(obj.u.range, (size_t)i) : obj.u.l->v[i];
}

struct jj_value jj_item(struct jj *jj, struct jj_value obj, struct jj_value key)
{
    struct jj_value v = jj_missing();

    if (obj.type == JJ_UNDEFINED)
        jj_fail_undef(jj, obj);
    if (obj.type == JJ_DICT && hashable(key)) {
        const struct jj_value *item = jj_dict_get(jj, obj.u.dict, key);
        if (item)
            return *item;
    } else if (key.type == JJ_INT || key.type == JJ_BOOL) {
        v = element(jj, obj, jj_arg_int(jj, key, 0));
    }
    if (v.type == JJ_MISSING && key.type == JJ_STRING)
        v = python_attr(jj, obj, key.u.s);
    return v.type == JJ_MISSING ? jj_undef_name(jj, obj, key) : v;
}

/* A path of attributes as filters take them: "a.b.0", an index, or nothing. */
struct jj_value jj_path(struct jj *jj, struct jj_value obj, struct jj_value path)
{
    if (!jj_given(path))
        return obj;
    if (path.type != JJ_STRING)
        return jj_item(jj, obj, path);

    const struct jj_str *s = path.u.s;
    for (size_t from = 0, to; from <= s->n; from = to + 1) {
        const char *dot = s->n ? memchr(s->p + from, '.', s->n - from) : NULL;
        to = dot ? (size_t)(dot - s->p) : s->n;
        struct jj_str *part = jj_str_slice(jj, s, from, to);
        int64_t i;
        bool digits = part->n > 0;
        for (size_t k = 0; k < part->n; k++)
            digits = digits && part->p[k] >= '0' && part->p[k] <= '9';
        obj = jj_item(jj, obj,
                      digits && jj_parse_int(part, 10, &i) ? jj_int(i, JINJA_TEMPLATE)
                                                           : jj_string(part));
    }
    return obj;
}

/* ---- slices ---- */

struct bounds {
    int64_t start, stop, step;
    size_t n; /* elements it gives */
};

static int64_t clamp(int64_t i, int64_t n, int64_t low, int64_t high)
{
    if (i < 0)
        i = i < -n ? low : i + n;
    return i < low ? low : i > high ? high : i;
}

static struct bounds find_bounds(struct jj *jj, const struct jj_value at[3],
                                 size_t length)
{
    int64_t n = (int64_t)length;
    struct bounds b = { .step = jj_given(at[2]) ? jj_arg_int(jj, at[2], 1) : 1 };
    int64_t low = b.step < 0 ? -1 : 0, high = b.step < 0 ? n - 1 : n;

    if (b.step == 0)
        jj_fail(jj, "slice step cannot be zero");
    if (b.step < -n - 1)
        b.step = -n - 1; /* the same, and it can be negated */
    if (b.step > n + 1)
        b.step = n + 1;
    b.start = jj_given(at[0]) ? clamp(jj_arg_int(jj, at[0], 0), n, low, high)
              : b.step < 0    ? high
                              : low;
    b.stop = jj_given(at[1]) ? clamp(jj_arg_int(jj, at[1], 0), n, low, high)
             : b.step < 0    ? low
                             : high;
    if (b.step > 0 && b.start < b.stop)
        b.n = (size_t)((b.stop - b.start - 1) / b.step) + 1;
    else if (b.step < 0 && b.stop < b.start)
        b.n = (size_t)((b.start - b.stop - 1) / -b.step) + 1;
    return b;
}

static struct jj_value slice_string(struct jj *jj, struct jj_str *s,
                                    const struct jj_value at[3])
{
    struct jj_out o;

    jj_charge(jj, s->n * 2);
    struct bounds b = find_bounds(jj, at, s->n ? jj_chars(s) : 0);
    if (b.step == 1) {
        size_t from = jj_char_at(s, 0, (size_t)b.start);
        return jj_string(jj_str_slice(jj, s, from, jj_char_at(s, from, b.n)));
    }
    const struct jj_list *chars = jj_items(jj, jj_string(s));
    jj_out_init(&o, jj);
    for (size_t i = 0; i < b.n; i++)
        jj_out_str(&o, chars->v[b.start + (int64_t)i * b.step].u.s);
    struct jj_str *t = jj_out_finish(&o);
    t->safe = s->safe;
    return jj_string(t);
}

struct jj_value jj_slice(struct jj *jj, struct jj_value obj, const struct jj_value at[3])
{
    if (obj.type == JJ_UNDEFINED)
        jj_fail_undef(jj, obj);
    if (obj.type == JJ_STRING)
        return slice_string(jj, obj.u.s, at);
    if (!jj_is_sequence(obj) && obj.type != JJ_RANGE)
        jj_fail(jj, "'%s' object is not subscriptable", jj_type_name(obj));

    const struct jj_list *from = jj_items(jj, obj);
    struct bounds b = find_bounds(jj, at, from->n);
    struct jj_list *l = jj_list_new(jj, b.n);
    jj_charge(jj, b.n * sizeof *l->v);
    for (size_t i = 0; i < b.n; i++)
        jj_list_add(jj, l, from->v[b.start + (int64_t)i * b.step]);
    return jj_list(l, obj.type == JJ_TUPLE ? JJ_TUPLE : JJ_LIST, obj.origin);
}
