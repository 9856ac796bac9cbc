#include "config.h"

#include "templates/jinja_ast.h"

/* Filters on sequences: sorting, grouping, cutting, joining. Keys for sorting are made
 * once for each item; strings in them count without case unless case_sensitive is given.
 */

struct keyed {
    struct jj_value key, item;
};

static struct jj_value fold(struct jj *jj, struct jj_value v, bool case_sensitive)
{
    if (v.type != JJ_STRING || case_sensitive)
        return v;
    return jj_string(jj_str_case(jj, v.u.s, JJ_LOWER));
}

static struct jj_list *copy(struct jj *jj, struct jj_value v)
{
    const struct jj_list *from = jj_items(jj, v);
    struct jj_list *l = jj_list_new(jj, from->n);

    for (size_t i = 0; i < from->n; i++) {
        jj_step(jj);
        jj_list_add(jj, l, from->v[i]);
    }
    return l;
}

static struct jj_value generator(struct jj_list *l, const char *name, uint8_t origin)
{
    l->name = name;
    return jj_list(l, JJ_ITER, origin);
}

/* ---- sorting ---- */

/* Stable, also backwards: equal items keep their order. */
static void merge(struct jj *jj, struct keyed *v, struct keyed *room, size_t n,
                  bool backwards)
{
    size_t half = n / 2, a = 0, b = half, k = 0;

    if (n < 2)
        return;
    merge(jj, v, room, half, backwards);
    merge(jj, v + half, room, n - half, backwards);
    while (a < half && b < n) {
        bool second = backwards ? jj_order(jj, v[a].key, v[b].key, "<") < 0
                                : jj_order(jj, v[b].key, v[a].key, "<") < 0;
        room[k++] = second ? v[b++] : v[a++];
    }
    while (a < half)
        room[k++] = v[a++];
    memcpy(v, room, k * sizeof *v);
}

static struct jj_list *sorted(struct jj *jj, struct keyed *v, size_t n, bool backwards)
{
    struct jj_list *l = jj_list_new(jj, n);

    merge(jj, v, jj_array(jj, n, sizeof *v), n, backwards);
    for (size_t i = 0; i < n; i++)
        jj_list_add(jj, l, v[i].item);
    return l;
}

/* The values of "a.b,c" as a list: sort by a.b, then by c. */
static struct jj_value many_keys(struct jj *jj, struct jj_value item,
                                 struct jj_value path, bool case_sensitive)
{
    struct jj_list *l = jj_list_new(jj, 1);
    const struct jj_str *s = path.type == JJ_STRING ? path.u.s : NULL;

    if (!s)
        jj_list_add(jj, l, fold(jj, jj_path(jj, item, path), case_sensitive));
    for (size_t from = 0, to; s && from <= s->n; from = to + 1) {
        const char *comma = s->n ? memchr(s->p + from, ',', s->n - from) : NULL;
        to = comma ? (size_t)(comma - s->p) : s->n;
        struct jj_value part = jj_string(jj_str_slice(jj, s, from, to));
        jj_list_add(jj, l, fold(jj, jj_path(jj, item, part), case_sensitive));
    }
    return jj_list(l, JJ_LIST, JINJA_TEMPLATE);
}

/* sort(reverse, case_sensitive, attribute) */
static struct jj_value filter_sort(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct keyed *v = jj_array(jj, from->n, sizeof *v);
    bool case_sensitive = jj_arg_bool(a->v[1], false);

    for (size_t i = 0; i < from->n; i++)
        v[i] = (struct keyed){ many_keys(jj, from->v[i], a->v[2], case_sensitive),
                               from->v[i] };
    return jj_list(sorted(jj, v, from->n, jj_arg_bool(a->v[0], false)), JJ_LIST,
                   self.origin);
}

struct jj_value jj_list_sort(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = self.u.l;
    struct keyed *v = jj_array(jj, l->n, sizeof *v);

    for (size_t i = 0; i < l->n; i++)
        v[i] = (struct keyed){ l->v[i], l->v[i] };
    const struct jj_list *done = sorted(jj, v, l->n, jj_arg_bool(a->v[0], false));
    for (size_t i = 0; i < done->n; i++)
        l->v[i] = done->v[i];
    return jj_none();
}

/* dictsort(case_sensitive, by, reverse) */
static struct jj_value filter_dictsort(struct jj *jj, struct jj_value self,
                                       struct jj_args *a)
{
    bool case_sensitive = jj_arg_bool(a->v[0], false);
    bool by_value = a->v[1].type == JJ_STRING && jj_str_is(a->v[1].u.s, "value");

    if (a->v[1].type != JJ_MISSING && !by_value &&
        !(a->v[1].type == JJ_STRING && jj_str_is(a->v[1].u.s, "key")))
        jj_fail(jj, "you can only sort by either \"key\" or \"value\"");
    if (self.type == JJ_UNDEFINED)
        jj_fail_undef(jj, self);
    if (self.type != JJ_DICT)
        jj_fail(jj, "'%s' object has no attribute 'items'", jj_type_name(self));

    const struct jj_list *from = jj_dict_list(jj, self, 'i');
    struct keyed *v = jj_array(jj, from->n, sizeof *v);
    for (size_t i = 0; i < from->n; i++)
        v[i] = (struct keyed){ fold(jj, from->v[i].u.l->v[by_value], case_sensitive),
                               from->v[i] };
    return jj_list(sorted(jj, v, from->n, jj_arg_bool(a->v[2], false)), JJ_LIST,
                   self.origin);
}

/* groupby(attribute, default, case_sensitive) */
static struct jj_value filter_groupby(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_list *groups = jj_list_new(jj, 0), *group = NULL;
    struct keyed *v = jj_array(jj, from->n, sizeof *v);
    struct jj_value key = jj_missing();

    for (size_t i = 0; i < from->n; i++) {
        struct jj_value k = jj_path(jj, from->v[i], a->v[0]);
        if (k.type == JJ_UNDEFINED && jj_given(a->v[1]))
            k = a->v[1];
        v[i] = (struct keyed){ fold(jj, k, jj_arg_bool(a->v[2], false)), from->v[i] };
    }
    merge(jj, v, jj_array(jj, from->n, sizeof *v), from->n, false);
    for (size_t i = 0; i < from->n; i++) {
        if (!group || !jj_equal(jj, key, v[i].key)) {
            key = v[i].key;
            group = jj_list_new(jj, 0);
            struct jj_value real = jj_path(jj, v[i].item, a->v[0]);
            if (real.type == JJ_UNDEFINED && jj_given(a->v[1]))
                real = a->v[1];
            struct jj_value pair = jj_pair_tuple(
                jj, real, jj_list(group, JJ_LIST, self.origin), self.origin);
            pair.u.l->name = "group";
            jj_list_add(jj, groups, pair);
        }
        jj_list_add(jj, group, v[i].item);
    }
    return jj_list(groups, JJ_LIST, self.origin);
}

/* ---- choosing ---- */

/* unique(case_sensitive, attribute) */
static struct jj_value filter_unique(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_list *l = jj_list_new(jj, 0);
    struct jj_dict *seen = jj_dict_new(jj, 0);

    for (size_t i = 0; i < from->n; i++) {
        struct jj_value key =
            fold(jj, jj_path(jj, from->v[i], a->v[1]), jj_arg_bool(a->v[0], false));
        if (jj_dict_get(jj, seen, key))
            continue;
        jj_dict_set(jj, seen, key, jj_none());
        jj_list_add(jj, l, from->v[i]);
    }
    return generator(l, "generator", self.origin);
}

static struct jj_value extreme(struct jj *jj, struct jj_value self, struct jj_args *a,
                               int sign)
{
    const struct jj_list *from = jj_items(jj, self);
    bool case_sensitive = jj_arg_bool(a->v[0], false);
    struct jj_value best_key = jj_missing(), best = jj_missing();

    for (size_t i = 0; i < from->n; i++) {
        struct jj_value key = fold(jj, jj_path(jj, from->v[i], a->v[1]), case_sensitive);
        if (i && jj_order(jj, key, best_key, sign < 0 ? "<" : ">") * sign <= 0)
            continue;
        best_key = key;
        best = from->v[i];
    }
    if (from->n == 0)
        return jj_undef(jj, "no aggregated item, sequence was empty");
    return best;
}

static struct jj_value filter_min(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return extreme(jj, self, a, -1);
}

static struct jj_value filter_max(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return extreme(jj, self, a, 1);
}

static struct jj_value filter_first(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    struct jj_list *l;
    size_t at = 0;

    (void)a;
    if (self.type == JJ_STRING && self.u.s->n)
        return jj_item(jj, self, jj_int(0, JINJA_TEMPLATE));
    if (self.type == JJ_ITER) {
        l = self.u.l;
        at = l->at;
        l->at += at < l->n;
    } else {
        l = jj_items(jj, self);
    }
    return at < l->n ? l->v[at] : jj_undef(jj, "no first item, sequence was empty");
}

static struct jj_value filter_last(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    if (self.type == JJ_ITER || !jj_iterable(self))
        jj_fail(jj, "'%s' object is not reversible", jj_type_name(self));
    if (self.type == JJ_STRING && self.u.s->n)
        return jj_item(jj, self, jj_int(-1, JINJA_TEMPLATE));

    const struct jj_list *l = jj_items(jj, self);
    return l->n ? l->v[l->n - 1] : jj_undef(jj, "no last item, sequence was empty");
}

/* ---- making lists ---- */

static struct jj_value filter_list(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_list(copy(jj, self), JJ_LIST, jj_origin(self));
}

static struct jj_value filter_items(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    (void)a;
    if (self.type == JJ_UNDEFINED)
        return generator(jj_list_new(jj, 0), "generator", JINJA_TEMPLATE);
    if (self.type != JJ_DICT)
        jj_fail(jj, "Can only get item pairs from a mapping.");
    return generator(jj_dict_list(jj, self, 'i'), "generator", self.origin);
}

static struct jj_value filter_reverse(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    const struct jj_value backwards[3] = { jj_none(), jj_none(),
                                           jj_int(-1, JINJA_TEMPLATE) };

    (void)a;
    if (self.type == JJ_STRING)
        return jj_slice(jj, self, backwards);
    if (!jj_iterable(self))
        jj_fail(jj, "argument must be iterable");

    struct jj_list *l = copy(jj, self);
    for (size_t i = 0; i < l->n / 2; i++) {
        struct jj_value v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
    if (self.type == JJ_ITER)
        return jj_list(l, JJ_LIST, self.origin);
    return generator(l, "reversed", self.origin);
}

static size_t group_size(struct jj *jj, struct jj_value v)
{
    int64_t n = jj_arg_int(jj, v, 1);

    if (n < 1)
        jj_fail(jj, "the number of items must be positive");
    return (size_t)n;
}

/* batch(linecount, fill_with): lists of linecount items. */
static struct jj_value filter_batch(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_list *lines = jj_list_new(jj, 0), *line = NULL;
    size_t size = group_size(jj, a->v[0]);

    for (size_t i = 0; i < from->n; i++) {
        jj_step(jj);
        if (i % size == 0) {
            line = jj_list_new(jj, 0);
            jj_list_add(jj, lines, jj_list(line, JJ_LIST, self.origin));
        }
        jj_list_add(jj, line, from->v[i]);
    }
    while (line && jj_given(a->v[1]) && line->n < size) {
        jj_step(jj);
        jj_list_add(jj, line, a->v[1]);
    }
    return generator(lines, "generator", self.origin);
}

/* slice(slices, fill_with): that many lists, the first ones longer by one where needed.
 */
static struct jj_value filter_slice(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_list *slices = jj_list_new(jj, 0);
    size_t n = group_size(jj, a->v[0]), at = 0;

    for (size_t i = 0; i < n; i++) {
        struct jj_list *l = jj_list_new(jj, 0);
        size_t size = from->n / n + (i < from->n % n);
        jj_step(jj);
        for (size_t k = 0; k < size; k++)
            jj_list_add(jj, l, from->v[at++]);
        if (jj_given(a->v[1]) && i >= from->n % n)
            jj_list_add(jj, l, a->v[1]);
        jj_list_add(jj, slices, jj_list(l, JJ_LIST, self.origin));
    }
    return generator(slices, "generator", self.origin);
}

/* ---- one value of many ---- */

/* join(d, attribute) */
static struct jj_value filter_join(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_str *sep = a->v[0].type == JJ_MISSING ? NULL : jj_to_str(jj, a->v[0]);
    struct jj_out o;

    jj_out_init(&o, jj);
    for (size_t i = 0; i < from->n; i++) {
        jj_step(jj);
        if (i && sep)
            jj_out_str(&o, sep);
        jj_out_value(&o, jj_path(jj, from->v[i], a->v[1]));
    }
    return jj_string(jj_out_finish(&o));
}

/* sum(attribute, start) */
static struct jj_value filter_sum(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_list *from = jj_items(jj, self);
    struct jj_value sum =
        a->v[1].type == JJ_MISSING ? jj_int(0, JINJA_TEMPLATE) : a->v[1];

    if (sum.type == JJ_STRING)
        jj_fail(jj, "sum() can't sum strings [use ''.join(seq) instead]");
    for (size_t i = 0; i < from->n; i++)
        sum = jj_binary(jj, JJ_T_ADD, sum, jj_path(jj, from->v[i], a->v[0]));
    return sum;
}

const struct jj_builtin jj_filters_seq[] = {
    { "batch", filter_batch, "linecount fill_with?" },
    { "dictsort", filter_dictsort, "case_sensitive? by? reverse?" },
    { "first", filter_first, "" },
    { "groupby", filter_groupby, "attribute default? case_sensitive?" },
    { "items", filter_items, "" },
    { "join", filter_join, "d? attribute?" },
    { "last", filter_last, "" },
    { "list", filter_list, "" },
    { "max", filter_max, "case_sensitive? attribute?" },
    { "min", filter_min, "case_sensitive? attribute?" },
    { "reverse", filter_reverse, "" },
    { "slice", filter_slice, "slices fill_with?" },
    { "sort", filter_sort, "reverse? case_sensitive? attribute?" },
    { "sum", filter_sum, "attribute? start?" },
    { "unique", filter_unique, "case_sensitive? attribute?" },
    { NULL, NULL, NULL },
};
