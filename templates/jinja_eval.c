#include "config.h"

#include "templates/jinja_ast.h"

/* Expressions to values. One step is charged for each node; the depth of the recursion is
 * bounded, and with it the stack. */

struct jj_value jj_var(struct jj *jj, int sym)
{
    for (const struct jj_scope *s = jj->scope; s; s = s->up)
        for (size_t i = 0; i < s->n; i++)
            if (s->v[i].sym == sym)
                return s->v[i].value;
    return jj->globals[sym];
}

static struct jj_value eval_name(struct jj *jj, const struct jj_node *node)
{
    struct jj_value v = jj_var(jj, node->sym);

    if (v.type != JJ_MISSING)
        return v;
    return jj_undef_name(jj, jj_missing(), jj_string(jj->tmpl->symbols[node->sym]));
}

/* ---- arguments ---- */

static void add_named(struct jj *jj, struct jj_args *to, struct jj_str *name,
                      struct jj_value v)
{
    for (size_t i = 0; i < to->n_kw; i++)
        if (jj_str_eq(to->kw[i].name, name))
            jj_fail(jj, "keyword argument '%.*s' is given twice", JJ_TEXT(name));
    to->kw[to->n_kw++] = (struct jj_kwarg){ name, v };
}

static void eval_stars(struct jj *jj, const struct jj_node *stars, struct jj_args *to)
{
    struct jj_value v = jj_eval(jj, stars);

    if (v.type != JJ_DICT)
        jj_fail(jj, "the argument behind ** must be a mapping, not %s", jj_type_name(v));

    const struct jj_dict *d = v.u.dict;
    to->kw = jj_grow(jj, to->kw, to->n_kw * sizeof *to->kw,
                     (to->n_kw + d->n) * sizeof *to->kw);
    for (size_t i = 0; i < d->n; i++) {
        if (d->v[i].key.type != JJ_STRING)
            jj_fail(jj, "keywords must be strings");
        add_named(jj, to, d->v[i].key.u.s, d->v[i].value);
    }
}

void jj_eval_args(struct jj *jj, const struct jj_call_args *from, struct jj_args *to)
{
    memset(to, 0, sizeof *to);
    if (!from)
        return;
    to->v = jj_array(jj, from->list.n, sizeof *to->v);
    for (size_t i = 0; i < from->list.n; i++)
        to->v[to->n++] = jj_eval(jj, from->list.v[i]);
    if (from->star) {
        const struct jj_list *l = jj_items(jj, jj_eval(jj, from->star));
        to->v = jj_grow(jj, to->v, to->n * sizeof *to->v, (to->n + l->n) * sizeof *to->v);
        for (size_t i = 0; i < l->n; i++)
            to->v[to->n++] = l->v[i];
    }
    to->kw = jj_array(jj, from->named.n, sizeof *to->kw);
    for (size_t i = 0; i < from->named.n; i++)
        add_named(jj, to, from->named.v[i]->value.u.s, jj_eval(jj, from->named.v[i]->a));
    if (from->stars)
        eval_stars(jj, from->stars, to);
}

/* ---- calls ---- */

/* obj.name(...) goes to the method directly, without making a value of it first. */
static struct jj_value eval_call(struct jj *jj, const struct jj_node *node)
{
    const struct jj_builtin *method = NULL;
    struct jj_value fn, obj = jj_missing();
    struct jj_args args;

    if (node->a->kind == JJ_N_ATTR) {
        obj = jj_eval(jj, node->a->a);
        method = jj_method_of(obj, node->a->value.u.s);
        fn = method ? jj_missing() : jj_attr(jj, obj, node->a->value.u.s);
    } else {
        fn = jj_eval(jj, node->a);
    }
    jj_eval_args(jj, node->args, &args);
    jj->line = node->line;
    return method ? jj_invoke(jj, method, obj, &args, "") : jj_call(jj, fn, &args);
}

static struct jj_value apply(struct jj *jj, const struct jj_node *node,
                             const struct jj_value *block)
{
    struct jj_value in;
    struct jj_args args;

    jj_enter(jj);
    if (!node->a)
        in = *block;
    else if (block && node->a->kind == JJ_N_FILTER)
        in = apply(jj, node->a, block);
    else
        in = jj_eval(jj, node->a);
    jj->line = node->line;
    if (!node->fn)
        jj_fail(jj, "there is no filter named '%.*s'", JJ_TEXT(node->value.u.s));
    jj_eval_args(jj, node->args, &args);
    in = jj_invoke(jj, node->fn, in, &args, "filter ");
    jj->depth--;
    return in;
}

/* The chain of filters of a block, on what the block wrote. */
struct jj_value jj_apply(struct jj *jj, const struct jj_node *filters, struct jj_value in)
{
    return apply(jj, filters, &in);
}

static struct jj_value eval_test(struct jj *jj, const struct jj_node *node)
{
    struct jj_value in = jj_eval(jj, node->a);
    struct jj_args args;

    jj->line = node->line;
    if (!node->fn)
        jj_fail(jj, "there is no test named '%.*s'", JJ_TEXT(node->value.u.s));
    jj_eval_args(jj, node->args, &args);
    return jj_invoke(jj, node->fn, in, &args, "test ");
}

/* ---- the others ---- */

static struct jj_value eval_compare(struct jj *jj, const struct jj_node *node)
{
    struct jj_value left = jj_eval(jj, node->a);

    for (size_t i = 0; i < node->list.n; i++) {
        const struct jj_node *operand = node->list.v[i];
        struct jj_value right = jj_eval(jj, operand->a);
        if (!jj_compare(jj, operand->op, left, right))
            return jj_bool(false);
        left = right;
    }
    return jj_bool(true);
}

static struct jj_value eval_cond(struct jj *jj, const struct jj_node *node)
{
    if (jj_truth(jj_eval(jj, node->a)))
        return jj_eval(jj, node->b);
    if (node->c)
        return jj_eval(jj, node->c);
    return jj_undef(jj, "an inline if was false and has no else");
}

/* Joining with ~ gives a plain string, whatever its parts are. */
static struct jj_value eval_concat(struct jj *jj, const struct jj_node *node)
{
    struct jj_str *s = jj_to_str(jj, jj_eval(jj, node->list.v[0]));

    for (size_t i = 1; i < node->list.n; i++)
        s = jj_str_concat(jj, s, jj_to_str(jj, jj_eval(jj, node->list.v[i])));
    return jj_string(s->safe ? jj_str_mark(jj, s, false) : s);
}

static struct jj_value eval_list(struct jj *jj, const struct jj_node *node)
{
    struct jj_list *l = jj_list_new(jj, node->list.n);

    for (size_t i = 0; i < node->list.n; i++)
        jj_list_add(jj, l, jj_eval(jj, node->list.v[i]));
    return jj_list(l, node->kind == JJ_N_LIST ? JJ_LIST : JJ_TUPLE, JINJA_TEMPLATE);
}

static struct jj_value eval_dict(struct jj *jj, const struct jj_node *node)
{
    struct jj_value v = { .type = JJ_DICT };

    v.u.dict = jj_dict_new(jj, node->list.n / 2);
    for (size_t i = 0; i + 1 < node->list.n; i += 2) {
        struct jj_value key = jj_eval(jj, node->list.v[i]);
        jj_dict_set(jj, v.u.dict, key, jj_eval(jj, node->list.v[i + 1]));
    }
    return v;
}

static struct jj_value eval_slice(struct jj *jj, const struct jj_node *node)
{
    struct jj_value of = jj_eval(jj, node->a), at[3];

    at[0] = node->b ? jj_eval(jj, node->b) : jj_none();
    at[1] = node->c ? jj_eval(jj, node->c) : jj_none();
    at[2] = node->d ? jj_eval(jj, node->d) : jj_none();
    return jj_slice(jj, of, at);
}

static struct jj_value eval_binary(struct jj *jj, const struct jj_node *node)
{
    struct jj_value a = jj_eval(jj, node->a), b = jj_eval(jj, node->b);

    jj->line = node->line;
    return jj_binary(jj, node->op, a, b);
}

static struct jj_value eval_item(struct jj *jj, const struct jj_node *node)
{
    struct jj_value a = jj_eval(jj, node->a), b = jj_eval(jj, node->b);

    jj->line = node->line;
    return jj_item(jj, a, b);
}

static struct jj_value eval_logic(struct jj *jj, const struct jj_node *node)
{
    struct jj_value a = jj_eval(jj, node->a);

    return jj_truth(a) == (node->kind == JJ_N_OR) ? a : jj_eval(jj, node->b);
}

static struct jj_value eval(struct jj *jj, const struct jj_node *node)
{
    switch (node->kind) {
    case JJ_N_CONST:
        return node->value;
    case JJ_N_NAME:
        return eval_name(jj, node);
    case JJ_N_ATTR:
        return jj_attr(jj, jj_eval(jj, node->a), node->value.u.s);
    case JJ_N_ITEM:
        return eval_item(jj, node);
    case JJ_N_SLICE:
        return eval_slice(jj, node);
    case JJ_N_CALL:
        return eval_call(jj, node);
    case JJ_N_FILTER:
        return apply(jj, node, NULL);
    case JJ_N_TEST:
        return eval_test(jj, node);
    case JJ_N_NOT:
        return jj_bool(!jj_truth(jj_eval(jj, node->a)));
    case JJ_N_UNARY:
        return jj_unary(jj, node->op, jj_eval(jj, node->a));
    case JJ_N_BINARY:
        return eval_binary(jj, node);
    case JJ_N_AND:
    case JJ_N_OR:
        return eval_logic(jj, node);
    case JJ_N_COMPARE:
        return eval_compare(jj, node);
    case JJ_N_COND:
        return eval_cond(jj, node);
    case JJ_N_CONCAT:
        return eval_concat(jj, node);
    case JJ_N_LIST:
    case JJ_N_TUPLE:
        return eval_list(jj, node);
    case JJ_N_DICT:
        return eval_dict(jj, node);
    default:
        break;
    }
    jj_fail(jj, "not an expression");
}

struct jj_value jj_eval(struct jj *jj, const struct jj_node *node)
{
    jj_step(jj);
    jj_enter(jj);
    jj->line = node->line;
    struct jj_value v = eval(jj, node);
    jj->depth--;
    return v;
}
