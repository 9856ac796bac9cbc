#include "config.h"

#include "templates/jinja_int.h"

/* map, select, reject and their kin: filters that run a filter or a test on each item.
 * What they give is a generator, as in Jinja2: |list makes a list of it. Also the table
 * of all filters. */

static struct jj_value generator(struct jj_list *l, uint8_t origin)
{
    l->name = "generator";
    return jj_list(l, JJ_ITER, origin);
}

static struct jj_value named(struct jj_args *a, const char *name)
{
    for (size_t i = 0; i < a->n_kw; i++)
        if (jj_str_is(a->kw[i].name, name))
            return a->kw[i].value;
    return jj_missing();
}

/* Arguments bound once must not be used up by the first item. */
static struct jj_args again(struct jj *jj, const struct jj_args *a, size_t skip)
{
    struct jj_args b = { .v = a->v + skip, .n = a->n - skip, .n_kw = a->n_kw };

    b.kw = jj_array(jj, a->n_kw, sizeof *b.kw);
    if (a->n_kw)
        memcpy(b.kw, a->kw, a->n_kw * sizeof *b.kw);
    return b;
}

static struct jj_value map_attribute(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    struct jj_value path = named(a, "attribute"), otherwise = named(a, "default");
    const struct jj_list *from = jj_items(jj, self);
    struct jj_list *l = jj_list_new(jj, 0);

    if (a->n_kw > 1 + (otherwise.type != JJ_MISSING))
        jj_fail(jj, "filter map() got an unexpected argument");
    for (size_t i = 0; i < from->n; i++) {
        struct jj_value v = jj_path(jj, from->v[i], path);
        if (v.type == JJ_UNDEFINED && jj_given(otherwise))
            v = otherwise;
        jj_list_add(jj, l, v);
    }
    return generator(l, self.origin);
}

static struct jj_value filter_map(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = jj_list_new(jj, 0);

    if (!jj_truth(self))
        return generator(l, JINJA_TEMPLATE);
    if (a->n == 0 && named(a, "attribute").type != JJ_MISSING)
        return map_attribute(jj, self, a);
    if (a->n == 0)
        jj_fail(jj, "map requires a filter argument");

    struct jj_str *name = jj_arg_str(jj, a->v[0], "the name of a filter");
    const struct jj_builtin *fn = jj_filter(name->p, name->n);
    const struct jj_list *from = jj_items(jj, self);
    if (!fn)
        jj_fail(jj, "there is no filter named '%.*s'", JJ_TEXT(name));
    for (size_t i = 0; i < from->n; i++) {
        struct jj_args b = again(jj, a, 1);
        jj_list_add(jj, l, jj_invoke(jj, fn, from->v[i], &b, "filter "));
    }
    return generator(l, self.origin);
}

/* Keep the items for which the test is as wanted. With attribute, the first argument is
 * the path of what is tested; the next is the test, or the value itself counts. */
static struct jj_value pick(struct jj *jj, struct jj_value self, struct jj_args *a,
                            bool attribute, bool wanted)
{
    struct jj_list *l = jj_list_new(jj, 0);
    const struct jj_builtin *fn = NULL;

    if (!jj_truth(self))
        return generator(l, JINJA_TEMPLATE);
    if (attribute && a->n == 0)
        jj_fail(jj, "missing parameter for attribute name");
    if (a->n > attribute) {
        struct jj_str *name = jj_arg_str(jj, a->v[attribute], "the name of a test");
        fn = jj_test(name->p, name->n);
        if (!fn)
            jj_fail(jj, "there is no test named '%.*s'", JJ_TEXT(name));
    }

    const struct jj_list *from = jj_items(jj, self);
    for (size_t i = 0; i < from->n; i++) {
        struct jj_value v = attribute ? jj_path(jj, from->v[i], a->v[0]) : from->v[i];
        if (fn) {
            struct jj_args b = again(jj, a, 1 + (size_t)attribute);
            v = jj_invoke(jj, fn, v, &b, "test ");
        }
        if (jj_truth(v) == wanted)
            jj_list_add(jj, l, from->v[i]);
    }
    return generator(l, self.origin);
}

static struct jj_value filter_select(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    return pick(jj, self, a, false, true);
}

static struct jj_value filter_reject(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    return pick(jj, self, a, false, false);
}

static struct jj_value filter_selectattr(struct jj *jj, struct jj_value self,
                                         struct jj_args *a)
{
    return pick(jj, self, a, true, true);
}

static struct jj_value filter_rejectattr(struct jj *jj, struct jj_value self,
                                         struct jj_args *a)
{
    return pick(jj, self, a, true, false);
}

const struct jj_builtin jj_filters_pick[] = {
    { "map", filter_map, "*" },
    { "select", filter_select, "*" },
    { "reject", filter_reject, "*" },
    { "selectattr", filter_selectattr, "*" },
    { "rejectattr", filter_rejectattr, "*" },
    { NULL, NULL, NULL },
};

const struct jj_builtin *jj_filter(const char *name, size_t n)
{
    const struct jj_builtin *fn = jj_lookup(jj_filters_text, name, n);

    if (!fn)
        fn = jj_lookup(jj_filters_seq, name, n);
    return fn ? fn : jj_lookup(jj_filters_pick, name, n);
}
