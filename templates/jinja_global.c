#include "config.h"

#include <locale.h>

#include "templates/jinja_int.h"

/* Global functions: Jinja2's own, and the two that transformers adds. A variable of the
 * same name hides them. */

enum { MAX_RANGE = 100000 }; /* as Jinja2's sandbox has it */

static struct jj_value fn_range(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_range *r = jj_alloc(jj, sizeof *r);
    int64_t first = jj_arg_int(jj, a->v[0], 0), second = jj_arg_int(jj, a->v[1], 0);
    bool two = a->v[1].type != JJ_MISSING;
    uint64_t span = 0, step;

    (void)self;
    r->start = two ? first : 0;
    r->stop = two ? second : first;
    r->step = jj_arg_int(jj, a->v[2], 1);
    if (r->step == 0)
        jj_fail(jj, "range() arg 3 must not be zero");
    if (r->step > 0 && r->stop > r->start)
        span = (uint64_t)r->stop - (uint64_t)r->start;
    else if (r->step < 0 && r->stop < r->start)
        span = (uint64_t)r->start - (uint64_t)r->stop;
    step = r->step > 0 ? (uint64_t)r->step : -(uint64_t)r->step;
    span = span ? (span - 1) / step + 1 : 0;
    if (span > MAX_RANGE)
        jj_fail(jj, "range too big: more than %d items", MAX_RANGE);
    r->n = (size_t)span;
    return (struct jj_value){ .type = JJ_RANGE, .u.range = r };
}

static struct jj_value fn_dict(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)self;
    return (struct jj_value){ .type = JJ_DICT, .u.dict = jj_dict_from(jj, a, "dict") };
}

static struct jj_value fn_namespace(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    (void)self;
    return (struct jj_value){ .type = JJ_NAMESPACE,
                              .u.dict = jj_dict_from(jj, a, "namespace") };
}

static struct jj_value fn_raise_exception(struct jj *jj, struct jj_value self,
                                          struct jj_args *a)
{
    const struct jj_str *s = jj_to_str(jj, a->v[0]);

    (void)self;
    jj_fail(jj, "%.*s", (int)(s->n < 700 ? s->n : 700), s->p);
}

/* English names whatever the locale is. An empty result is also what strftime() says when
 * the room is too small, so a byte is put before it. */
static struct jj_value fn_strftime_now(struct jj *jj, struct jj_value self,
                                       struct jj_args *a)
{
    const struct jj_str *format = jj_arg_str(jj, a->v[0], "the format of strftime_now");
    size_t room = 256 + format->n * 32, n;
    char *fmt = jj_alloc(jj, format->n + 2), *text = jj_alloc(jj, room);
    locale_t c;

    (void)self;
    jj_charge(jj, 4096 + room);
    c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    fmt[0] = '.';
    if (format->n)
        memcpy(fmt + 1, format->p, format->n);
    n = strftime_l(text, room, fmt, jj->now, c);
    freelocale(c);
    if (n == 0)
        jj_fail(jj, "strftime_now: the format gives too long a text");
    return jj_string(jj_str_new(jj, text + 1, n - 1, jj_str_origin(format)));
}

static struct jj_value fn_joiner(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_joiner *j = jj_alloc(jj, sizeof *j);

    (void)self;
    j->sep = a->v[0].type == JJ_MISSING ? jj_text(jj, ", ") : a->v[0];
    return (struct jj_value){ .type = JJ_JOINER, .u.joiner = j };
}

static struct jj_value fn_cycler(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = jj_list_new(jj, a->n);

    (void)self;
    if (a->n == 0)
        jj_fail(jj, "at least one item has to be provided");
    for (size_t i = 0; i < a->n; i++)
        jj_list_add(jj, l, a->v[i]);
    return jj_list(l, JJ_CYCLER, JINJA_TEMPLATE);
}

static struct jj_value cycler_next(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_list *l = self.u.l;
    struct jj_value v = l->v[l->at];

    (void)jj;
    (void)a;
    l->at = (l->at + 1) % l->n;
    return v;
}

static struct jj_value cycler_reset(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    (void)jj;
    (void)a;
    self.u.l->at = 0;
    return jj_none();
}

const struct jj_builtin jj_cycler_methods[] = {
    { "next", cycler_next, "" },
    { "reset", cycler_reset, "" },
    { NULL, NULL, NULL },
};

static const struct jj_builtin globals[] = {
    { "range", fn_range, "start stop? step?" },
    { "dict", fn_dict, "*" },
    { "namespace", fn_namespace, "*" },
    { "raise_exception", fn_raise_exception, "message" },
    { "strftime_now", fn_strftime_now, "format" },
    { "joiner", fn_joiner, "sep?" },
    { "cycler", fn_cycler, "*" },
    { NULL, NULL, NULL },
};

const struct jj_builtin *jj_global(const char *name, size_t n)
{
    return jj_lookup(globals, name, n);
}
