#include "config.h"

#include "templates/jinja_int.h"

/* Dictionaries: pairs in the order of insertion, and from nine pairs on an open hash of
 * their positions. Keys are equal as in Python: 1, 1.0 and True are one key. */

enum { SMALL = 8 };

static uint32_t hash_bytes(const void *p, size_t n, uint32_t h)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

static uint32_t hash(struct jj *jj, struct jj_value v, uint32_t h)
{
    double d;

    switch ((enum jj_type)v.type) {
    case JJ_BOOL:
    case JJ_INT:
    case JJ_FLOAT:
        d = jj_number(v);
        if (d == 0)
            d = 0; /* one key for 0.0 and -0.0 */
        return hash_bytes(&d, sizeof d, h);
    case JJ_BIG:
    case JJ_STRING:
        jj_charge(jj, v.u.s->n);
        return hash_bytes(v.u.s->p, v.u.s->n, h);
    case JJ_TUPLE:
        jj_enter(jj);
        for (size_t i = 0; i < v.u.l->n; i++)
            h = hash(jj, v.u.l->v[i], h * 31);
        jj->depth--;
        return h;
    case JJ_LIST:
    case JJ_DICT:
        jj_fail(jj, "unhashable type: '%s'", jj_type_name(v));
    case JJ_NONE:
    case JJ_UNDEFINED:
        return h + v.type;
    case JJ_RANGE:
        return h + (uint32_t)v.u.range->n;
    default:
        return hash_bytes(&v.u, sizeof v.u, h);
    }
}

struct jj_dict *jj_dict_new(struct jj *jj, size_t cap)
{
    struct jj_dict *d = jj_alloc(jj, sizeof *d);

    if (cap) {
        d->v = jj_array(jj, cap, sizeof *d->v);
        d->cap = cap;
    }
    return d;
}

static void index_put(struct jj_dict *d, size_t at)
{
    size_t i = d->v[at].hash & (d->n_index - 1);

    while (d->index[i])
        i = (i + 1) & (d->n_index - 1);
    d->index[i] = (uint32_t)at + 1;
}

static void index_make(struct jj *jj, struct jj_dict *d)
{
    size_t n = 32;

    while (n < d->cap * 2)
        n *= 2;
    if (n > UINT32_MAX)
        jj_fail(jj, "a dictionary has too many entries");
    d->index = jj_array(jj, n, sizeof *d->index);
    d->n_index = n;
    for (size_t i = 0; i < d->n; i++)
        index_put(d, i);
}

static struct jj_pair *find(struct jj *jj, const struct jj_dict *d, struct jj_value key,
                            uint32_t h)
{
    if (!d->n_index) {
        for (size_t i = 0; i < d->n; i++)
            if (d->v[i].hash == h && jj_equal(jj, d->v[i].key, key))
                return &d->v[i];
        return NULL;
    }
    for (size_t i = h & (d->n_index - 1); d->index[i]; i = (i + 1) & (d->n_index - 1)) {
        struct jj_pair *p = &d->v[d->index[i] - 1];
        if (p->hash == h && jj_equal(jj, p->key, key))
            return p;
    }
    return NULL;
}

struct jj_value *jj_dict_get(struct jj *jj, const struct jj_dict *d, struct jj_value key)
{
    struct jj_pair *p = find(jj, d, key, hash(jj, key, 2166136261u));

    return p ? &p->value : NULL;
}

struct jj_value *jj_dict_gets(struct jj *jj, const struct jj_dict *d, const char *key)
{
    struct jj_str s = { .p = key, .n = strlen(key) };

    return jj_dict_get(jj, d, jj_string(&s));
}

void jj_dict_set(struct jj *jj, struct jj_dict *d, struct jj_value key, struct jj_value v)
{
    uint32_t h = hash(jj, key, 2166136261u);
    struct jj_pair *p = find(jj, d, key, h);

    if (p) {
        p->value = v;
        return;
    }
    if (d->n == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 4;
        d->v = jj_grow(jj, d->v, d->cap * sizeof *d->v, cap * sizeof *d->v);
        d->cap = cap;
        d->n_index = 0;
    }
    d->v[d->n++] = (struct jj_pair){ key, v, h };
    if (d->n_index)
        index_put(d, d->n - 1);
    else if (d->n > SMALL)
        index_make(jj, d);
}

bool jj_dict_remove(struct jj *jj, struct jj_dict *d, struct jj_value key)
{
    struct jj_pair *p = find(jj, d, key, hash(jj, key, 2166136261u));

    if (!p)
        return false;
    size_t at = (size_t)(p - d->v);
    jj_charge(jj, (d->n - at) * sizeof *p);
    memmove(p, p + 1, (d->n - at - 1) * sizeof *p);
    d->n--;
    d->n_index = 0;
    if (d->n > SMALL)
        index_make(jj, d);
    return true;
}

struct jj_value jj_pair_tuple(struct jj *jj, struct jj_value a, struct jj_value b,
                              uint8_t origin)
{
    struct jj_list *l = jj_list_new(jj, 2);

    jj_list_add(jj, l, a);
    jj_list_add(jj, l, b);
    return jj_list(l, JJ_TUPLE, origin);
}

/* Its keys, values or items (tuples) as a list of their own. */
struct jj_list *jj_dict_list(struct jj *jj, struct jj_value dict, char what)
{
    const struct jj_dict *d = dict.u.dict;
    struct jj_list *l = jj_list_new(jj, d->n);

    for (size_t i = 0; i < d->n; i++) {
        jj_step(jj);
        jj_list_add(jj, l,
                    what == 'k' ? d->v[i].key
                    : what == 'v'
                        ? d->v[i].value
                        : jj_pair_tuple(jj, d->v[i].key, d->v[i].value, dict.origin));
    }
    return l;
}
