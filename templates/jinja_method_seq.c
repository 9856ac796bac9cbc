#include "config.h"

#include "templates/jinja_int.h"

/* Methods of list, tuple and dict. Those that change a list or a dict are allowed: a
 * rendering works on its own copy of the conversation. */

/* ---- list and tuple ---- */

static struct jj_value list_append(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    jj_list_add(jj, self.u.l, a->v[0]);
    return jj_none();
}

static struct jj_value list_extend(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, a->v[0]);

    for (size_t i = 0, n = from->n; i < n; i++) {
        jj_step(jj);
        jj_list_add(jj, self.u.l, from->v[i]);
    }
    return jj_none();
}

/* The position an index names, for 0 <= it < limit; JJ_NPOS if there is none. */
static size_t position(struct jj *jj, const struct jj_list *l, struct jj_value index,
                       int64_t missing)
{
    int64_t i = jj_arg_int(jj, index, missing);

    if (i < 0)
        i += (int64_t)l->n;
    return i >= 0 && (uint64_t)i < l->n ? (size_t)i : JJ_NPOS;
}

static struct jj_value list_insert(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = self.u.l;
    int64_t i = jj_arg_int(jj, a->v[0], 0), n = (int64_t)l->n;

    i = i < 0 ? (i < -n ? 0 : i + n) : i > n ? n : i;
    jj_charge(jj, (size_t)(n - i) * sizeof *l->v);
    jj_list_add(jj, l, a->v[1]);
    memmove(l->v + i + 1, l->v + i, (size_t)(n - i) * sizeof *l->v);
    l->v[i] = a->v[1];
    return jj_none();
}

static void remove_at(struct jj *jj, struct jj_list *l, size_t i)
{
    jj_charge(jj, (l->n - i) * sizeof *l->v);
    memmove(l->v + i, l->v + i + 1, (l->n - i - 1) * sizeof *l->v);
    l->n--;
}

static struct jj_value list_pop(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = self.u.l;
    size_t i = position(jj, l, a->v[0], -1);

    if (l->n == 0)
        jj_fail(jj, "pop from empty list");
    if (i == JJ_NPOS)
        jj_fail(jj, "pop index out of range");
    struct jj_value v = l->v[i];
    remove_at(jj, l, i);
    return v;
}

static size_t find(struct jj *jj, const struct jj_list *l, struct jj_value v)
{
    for (size_t i = 0; i < l->n; i++)
        if (jj_equal(jj, l->v[i], v))
            return i;
    return JJ_NPOS;
}

static struct jj_value list_remove(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    size_t i = find(jj, self.u.l, a->v[0]);

    if (i == JJ_NPOS)
        jj_fail(jj, "list.remove(x): x not in list");
    remove_at(jj, self.u.l, i);
    return jj_none();
}

static struct jj_value list_clear(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)jj;
    (void)a;
    self.u.l->n = 0;
    return jj_none();
}

static struct jj_value list_reverse(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    struct jj_list *l = self.u.l;

    (void)a;
    jj_charge(jj, l->n * sizeof *l->v);
    for (size_t i = 0; i < l->n / 2; i++) {
        struct jj_value v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
    return jj_none();
}

static struct jj_value list_copy(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = jj_list_new(jj, 0);

    (void)a;
    for (size_t i = 0; i < self.u.l->n; i++) {
        jj_step(jj);
        jj_list_add(jj, l, self.u.l->v[i]);
    }
    return jj_list(l, JJ_LIST, self.origin);
}

static struct jj_value list_index(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    size_t i = find(jj, self.u.l, a->v[0]);

    if (i == JJ_NPOS)
        jj_fail(jj, "%s is not in %s", jj_repr_text(jj, a->v[0]), jj_type_name(self));
    return jj_int((int64_t)i, self.origin);
}

static struct jj_value list_count(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    int64_t n = 0;

    for (size_t i = 0; i < self.u.l->n; i++)
        n += jj_equal(jj, self.u.l->v[i], a->v[0]);
    return jj_int(n, self.origin);
}

const struct jj_builtin jj_list_methods[] = {
    { "append", list_append, "object" },
    { "extend", list_extend, "iterable" },
    { "insert", list_insert, "index object" },
    { "pop", list_pop, "index?" },
    { "remove", list_remove, "value" },
    { "clear", list_clear, "" },
    { "reverse", list_reverse, "" },
    { "sort", jj_list_sort, "reverse?" },
    { "copy", list_copy, "" },
    { "index", list_index, "value" },
    { "count", list_count, "value" },
    { NULL, NULL, NULL },
};

const struct jj_builtin jj_tuple_methods[] = {
    { "index", list_index, "value" },
    { "count", list_count, "value" },
    { NULL, NULL, NULL },
};

/* ---- dict ---- */

static struct jj_value view(struct jj *jj, struct jj_value dict, char what,
                            const char *name)
{
    struct jj_list *l = jj_dict_list(jj, dict, what);

    l->name = name;
    return jj_list(l, JJ_VIEW, dict.origin);
}

static struct jj_value dict_keys(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return view(jj, self, 'k', "dict_keys");
}

static struct jj_value dict_values(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return view(jj, self, 'v', "dict_values");
}

static struct jj_value dict_items(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return view(jj, self, 'i', "dict_items");
}

static struct jj_value dict_get(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_value *v = jj_dict_get(jj, self.u.dict, a->v[0]);

    return v ? *v : a->v[1].type == JJ_MISSING ? jj_none() : a->v[1];
}

static struct jj_value dict_pop(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_value *found = jj_dict_get(jj, self.u.dict, a->v[0]);
    struct jj_value v;

    if (!found && a->v[1].type == JJ_MISSING)
        jj_fail(jj, "%s", jj_repr_text(jj, a->v[0]));
    v = found ? *found : a->v[1];
    jj_dict_remove(jj, self.u.dict, a->v[0]);
    return v;
}

static struct jj_value dict_popitem(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    struct jj_dict *d = self.u.dict;

    (void)a;
    if (d->n == 0)
        jj_fail(jj, "popitem(): dictionary is empty");
    struct jj_pair last = d->v[d->n - 1];
    jj_dict_remove(jj, d, last.key);
    return jj_pair_tuple(jj, last.key, last.value, self.origin);
}

static struct jj_value dict_setdefault(struct jj *jj, struct jj_value self,
                                       struct jj_args *a)
{
    const struct jj_value *found = jj_dict_get(jj, self.u.dict, a->v[0]);
    struct jj_value v = a->v[1].type == JJ_MISSING ? jj_none() : a->v[1];

    if (found)
        return *found;
    jj_dict_set(jj, self.u.dict, a->v[0], v);
    return v;
}

static struct jj_value dict_clear(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)jj;
    (void)a;
    self.u.dict->n = 0;
    self.u.dict->n_index = 0;
    return jj_none();
}

static struct jj_value dict_copy(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_args from = { .v = &self, .n = 1 };

    (void)a;
    struct jj_value v = { .type = JJ_DICT, .origin = self.origin };
    v.u.dict = jj_dict_from(jj, &from, "dict");
    return v;
}

static void update(struct jj *jj, struct jj_dict *to, struct jj_value from,
                   const char *what)
{
    if (from.type == JJ_DICT) {
        for (size_t i = 0; i < from.u.dict->n; i++)
            jj_dict_set(jj, to, from.u.dict->v[i].key, from.u.dict->v[i].value);
        return;
    }
    const struct jj_list *l = jj_items(jj, from);
    for (size_t i = 0; i < l->n; i++) {
        const struct jj_list *pair = jj_items(jj, l->v[i]);
        if (pair->n != 2)
            jj_fail(jj, "%s: element %zu has length %zu; 2 is required", what, i,
                    pair->n);
        jj_dict_set(jj, to, pair->v[0], pair->v[1]);
    }
}

static void update_args(struct jj *jj, struct jj_dict *to, struct jj_args *a,
                        const char *what)
{
    if (a->n > 1)
        jj_fail(jj, "%s expected at most 1 argument, got %zu", what, a->n);
    if (a->n == 1)
        update(jj, to, a->v[0], what);
    for (size_t i = 0; i < a->n_kw; i++)
        jj_dict_set(jj, to, jj_string(a->kw[i].name), a->kw[i].value);
}

static struct jj_value dict_update(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    update_args(jj, self.u.dict, a, "update");
    return jj_none();
}

/* A new dict from the arguments of dict(). */
struct jj_dict *jj_dict_from(struct jj *jj, struct jj_args *a, const char *what)
{
    struct jj_dict *d = jj_dict_new(jj, 0);

    update_args(jj, d, a, what);
    return d;
}

const struct jj_builtin jj_dict_methods[] = {
    { "get", dict_get, "key default?" },
    { "items", dict_items, "" },
    { "keys", dict_keys, "" },
    { "values", dict_values, "" },
    { "update", dict_update, "*" },
    { "pop", dict_pop, "key default?" },
    { "popitem", dict_popitem, "" },
    { "setdefault", dict_setdefault, "key default?" },
    { "clear", dict_clear, "" },
    { "copy", dict_copy, "" },
    { NULL, NULL, NULL },
};
