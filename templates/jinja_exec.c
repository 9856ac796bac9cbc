#include "config.h"

#include "templates/jinja_ast.h"

/* Statements: they write to jj->out and set variables. Scopes are as in Jinja2: a loop's
 * pass, a macro, {% with %}, {% set %} and {% filter %} blocks have their own; {% if %}
 * has none. A scope that no macro refers to is used again when it is done. */

struct jj_scope *jj_push(struct jj *jj)
{
    struct jj_scope *s = jj->spare;

    if (s)
        jj->spare = s->up;
    else
        s = jj_alloc(jj, sizeof *s);
    s->up = jj->scope;
    s->n = 0;
    jj->scope = s;
    return s;
}

void jj_pop(struct jj *jj, struct jj_scope *s)
{
    jj->scope = s->up;
    if (!s->kept) {
        s->up = jj->spare;
        jj->spare = s;
    }
}

void jj_set_var(struct jj *jj, int sym, struct jj_value v)
{
    struct jj_scope *s = jj->scope;

    if (!s) {
        jj->globals[sym] = v;
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].sym == sym) {
            s->v[i].value = v;
            return;
        }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        s->v = jj_grow(jj, s->v, s->cap * sizeof *s->v, cap * sizeof *s->v);
        s->cap = cap;
    }
    s->v[s->n++] = (struct jj_slot){ sym, v };
}

static void assign_attr(struct jj *jj, const struct jj_node *target, struct jj_value v)
{
    struct jj_value ns = jj_var(jj, target->sym);

    if (ns.type == JJ_MISSING)
        jj_fail(jj, "'%s' is undefined", jj->tmpl->symbols[target->sym]->p);
    if (ns.type != JJ_NAMESPACE)
        jj_fail(jj, "cannot assign attribute on non-namespace object '%s'",
                jj->tmpl->symbols[target->sym]->p);
    jj_dict_set(jj, ns.u.dict, target->value, v);
}

void jj_assign(struct jj *jj, const struct jj_node *target, struct jj_value v)
{
    jj_step(jj);
    if (target->kind == JJ_N_NAME) {
        jj_set_var(jj, target->sym, v);
    } else if (target->kind == JJ_N_NSREF) {
        assign_attr(jj, target, v);
    } else {
        const struct jj_list *l = jj_items(jj, v);
        if (l->n != target->list.n)
            jj_fail(jj, "%s values to unpack (expected %zu, got %zu)",
                    l->n > target->list.n ? "too many" : "not enough", target->list.n,
                    l->n);
        for (size_t i = 0; i < target->list.n; i++)
            jj_assign(jj, target->list.v[i], l->v[i]);
    }
}

struct jj_str *jj_capture(struct jj *jj, const struct jj_nodes *body)
{
    struct jj_out *before = jj->out, out;
    struct jj_scope *s = jj_push(jj);

    jj_out_init(&out, jj);
    jj->out = &out;
    jj_exec(jj, body);
    jj->out = before;
    jj_pop(jj, s);
    return jj_out_finish(&out);
}

static enum jj_flow exec_if(struct jj *jj, const struct jj_node *node)
{
    for (size_t i = 0; i < node->list.n; i++) {
        const struct jj_node *branch = node->list.v[i];
        if (!branch->a || jj_truth(jj_eval(jj, branch->a)))
            return jj_exec(jj, &branch->body);
    }
    return JJ_GO_ON;
}

static void exec_set_block(struct jj *jj, const struct jj_node *node)
{
    struct jj_value v = jj_string(jj_capture(jj, &node->body));

    jj_assign(jj, node->a, node->b ? jj_apply(jj, node->b, v) : v);
}

/* The values are those of outside: with a = 1, b = a takes the outer a. */
static enum jj_flow exec_with(struct jj *jj, const struct jj_node *node)
{
    size_t n = node->list.n / 2;
    struct jj_value *v = jj_array(jj, n, sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = jj_eval(jj, node->list.v[2 * i + 1]);

    struct jj_scope *s = jj_push(jj);
    for (size_t i = 0; i < n; i++)
        jj_assign(jj, node->list.v[2 * i], v[i]);
    enum jj_flow flow = jj_exec(jj, &node->body);
    jj_pop(jj, s);
    return flow;
}

static enum jj_flow exec_scope(struct jj *jj, const struct jj_node *node)
{
    struct jj_scope *s = jj_push(jj);
    enum jj_flow flow = jj_exec(jj, &node->body);

    jj_pop(jj, s);
    return flow;
}

static void exec_call_block(struct jj *jj, const struct jj_node *node)
{
    struct jj_value caller = jj_macro_new(jj, node), fn = jj_eval(jj, node->a->a);
    struct jj_args args;

    jj_eval_args(jj, node->a->args, &args);
    args.kw = jj_grow(jj, args.kw, args.n_kw * sizeof *args.kw,
                      (args.n_kw + 1) * sizeof *args.kw);
    args.kw[args.n_kw++] = (struct jj_kwarg){ jj->tmpl->symbols[node->sym], caller };
    jj->line = node->line;
    jj_out_value(jj->out, jj_call(jj, fn, &args));
}

static enum jj_flow exec(struct jj *jj, const struct jj_node *node)
{
    switch (node->kind) {
    case JJ_N_TEXT:
        jj_out_str(jj->out, node->value.u.s);
        break;
    case JJ_N_PRINT:
        jj_out_value(jj->out, jj_eval(jj, node->a));
        break;
    case JJ_N_IF:
        return exec_if(jj, node);
    case JJ_N_FOR:
        return jj_exec_for(jj, node);
    case JJ_N_SET:
        jj_assign(jj, node->a, jj_eval(jj, node->b));
        break;
    case JJ_N_SET_BLOCK:
        exec_set_block(jj, node);
        break;
    case JJ_N_MACRO:
        jj_set_var(jj, node->sym, jj_macro_new(jj, node));
        break;
    case JJ_N_CALL_BLOCK:
        exec_call_block(jj, node);
        break;
    case JJ_N_FILTER_BLOCK:
        jj_out_value(jj->out,
                     jj_apply(jj, node->b, jj_string(jj_capture(jj, &node->body))));
        break;
    case JJ_N_WITH:
        return exec_with(jj, node);
    case JJ_N_SCOPE:
        return exec_scope(jj, node);
    case JJ_N_BREAK:
        return JJ_BREAK;
    case JJ_N_CONTINUE:
        return JJ_CONTINUE;
    case JJ_N_ABSENT:
        jj_fail(jj, "%s", node->value.u.s->p);
    default:
        jj_fail(jj, "not a statement");
    }
    return JJ_GO_ON;
}

enum jj_flow jj_exec(struct jj *jj, const struct jj_nodes *body)
{
    enum jj_flow flow = JJ_GO_ON;

    jj_enter(jj);
    for (size_t i = 0; flow == JJ_GO_ON && i < body->n; i++) {
        jj_step(jj);
        jj->line = body->v[i]->line;
        flow = exec(jj, body->v[i]);
    }
    jj->depth--;
    return flow;
}
