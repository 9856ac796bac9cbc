#include "config.h"

#include "templates/jinja_ast.h"

/* Calls: macros, and the binding of arguments to builtins. */

struct jj_value jj_macro_new(struct jj *jj, const struct jj_node *node)
{
    struct jj_macro *m = jj_alloc(jj, sizeof *m);

    m->node = node;
    m->scope = jj->scope;
    for (struct jj_scope *s = jj->scope; s && !s->kept; s = s->up)
        s->kept = true;
    return (struct jj_value){ .type = JJ_MACRO, .u.macro = m };
}

static struct jj_str *macro_name(struct jj *jj, const struct jj_macro *m)
{
    return jj->tmpl->symbols[m->node->sym];
}

/* The named argument of that name, marked as used; MISSING if there is none. */
static struct jj_value take_named(struct jj_args *a, const struct jj_str *name)
{
    for (size_t i = 0; i < a->n_kw; i++)
        if (a->kw[i].name && jj_str_eq(a->kw[i].name, name)) {
            a->kw[i].name = NULL;
            return a->kw[i].value;
        }
    return jj_missing();
}

static struct jj_value rest_named(struct jj *jj, struct jj_args *a)
{
    struct jj_value v = { .type = JJ_DICT };

    v.u.dict = jj_dict_new(jj, a->n_kw);
    for (size_t i = 0; i < a->n_kw; i++)
        if (a->kw[i].name)
            jj_dict_set(jj, v.u.dict, jj_string(a->kw[i].name), a->kw[i].value);
    return v;
}

static struct jj_value rest_positional(struct jj *jj, struct jj_args *a, size_t from)
{
    struct jj_list *l = jj_list_new(jj, 0);

    for (size_t i = from; i < a->n; i++)
        jj_list_add(jj, l, a->v[i]);
    return jj_list(l, JJ_TUPLE, JINJA_TEMPLATE);
}

/* What is left over goes where the macro wants it, or is an error. */
static void bind_rest(struct jj *jj, const struct jj_macro *m, struct jj_args *a)
{
    const struct jj_node *node = m->node;
    const struct jinja *t = jj->tmpl;

    if (node->takes & JJ_TAKES_CALLER) {
        struct jj_value caller = take_named(a, t->symbols[t->sym_caller]);
        jj_set_var(jj, t->sym_caller,
                   jj_given(caller) ? caller : jj_undef(jj, "no caller defined"));
    }
    if (node->takes & JJ_TAKES_KWARGS)
        jj_set_var(jj, t->sym_kwargs, rest_named(jj, a));
    for (size_t i = 0; i < a->n_kw && !(node->takes & JJ_TAKES_KWARGS); i++)
        if (a->kw[i].name)
            jj_fail(jj, "macro '%s' takes no keyword argument '%.*s'",
                    macro_name(jj, m)->p, JJ_TEXT(a->kw[i].name));
    if (node->takes & JJ_TAKES_VARARGS)
        jj_set_var(jj, t->sym_varargs, rest_positional(jj, a, node->list.n));
    else if (a->n > node->list.n)
        jj_fail(jj, "macro '%s' takes not more than %zu argument(s)",
                macro_name(jj, m)->p, node->list.n);
}

static struct jj_value not_provided(struct jj *jj, const struct jj_str *name)
{
    struct jj_out o;

    jj_out_init(&o, jj);
    jj_out_text(&o, "parameter '", 0);
    jj_out_str(&o, name);
    jj_out_text(&o, "' was not provided", 0);
    return jj_undef(jj, jj_cstr(jj, jj_out_finish(&o)));
}

/* A default sees the parameters before it. */
static void bind_params(struct jj *jj, const struct jj_macro *m, struct jj_args *a)
{
    const struct jj_nodes *params = &m->node->list;
    struct jj_value *v = jj_array(jj, params->n, sizeof *v);

    for (size_t i = 0; i < params->n; i++)
        v[i] = i < a->n ? a->v[i] : take_named(a, jj->tmpl->symbols[params->v[i]->sym]);
    bind_rest(jj, m, a);
    for (size_t i = 0; i < params->n; i++) {
        const struct jj_node *param = params->v[i];
        if (v[i].type == JJ_MISSING)
            v[i] = param->a ? jj_eval(jj, param->a)
                            : not_provided(jj, jj->tmpl->symbols[param->sym]);
        jj_set_var(jj, param->sym, v[i]);
    }
}

struct jj_value jj_macro_call(struct jj *jj, struct jj_macro *m, struct jj_args *a)
{
    struct jj_scope *before = jj->scope;
    struct jj_out *out_before = jj->out, out;
    int line = jj->line;

    jj_enter(jj);
    jj->scope = m->scope;
    struct jj_scope *s = jj_push(jj);
    bind_params(jj, m, a);
    jj_out_init(&out, jj);
    jj->out = &out;
    jj_exec(jj, &m->node->body);
    jj->out = out_before;
    jj_pop(jj, s);
    jj->scope = before;
    jj->line = line;
    jj->depth--;
    return jj_string(jj_out_finish(&out));
}

/* ---- builtins ---- */

enum { MAX_PARAMS = 6 };

const struct jj_builtin *jj_lookup(const struct jj_builtin *table, const char *name,
                                   size_t n)
{
    for (; table->name; table++)
        if (table->name[0] == (n ? name[0] : '\0') && strlen(table->name) == n &&
            memcmp(table->name, name, n) == 0)
            return table;
    return NULL;
}

/* The next word of a list of parameters; false behind the last. */
static bool next_param(const char **at, struct jj_str *name, bool *optional)
{
    while (**at == ' ')
        (*at)++;
    name->p = *at;
    while (**at && **at != ' ')
        (*at)++;
    name->n = (size_t)(*at - name->p);
    *optional = name->n && name->p[name->n - 1] == '?';
    name->n -= *optional;
    return name->n > 0;
}

struct jj_value jj_invoke(struct jj *jj, const struct jj_builtin *fn,
                          struct jj_value self, struct jj_args *a, const char *what)
{
    struct jj_value v[MAX_PARAMS];
    struct jj_args bound = { .v = v };
    const char *at = fn->params;
    struct jj_str name = {0};
    bool optional;

    jj_step(jj);
    if (fn->params[0] == '*')
        return fn->fn(jj, self, a);
    for (; next_param(&at, &name, &optional) && bound.n < MAX_PARAMS; bound.n++) {
        v[bound.n] = bound.n < a->n ? a->v[bound.n] : take_named(a, &name);
        if (v[bound.n].type == JJ_MISSING && !optional)
            jj_fail(jj, "%s%s() misses its argument '%.*s'", what, fn->name,
                    JJ_TEXT(&name));
    }
    if (a->n > bound.n)
        jj_fail(jj, "%s%s() takes at most %zu arguments (%zu given)", what, fn->name,
                bound.n, a->n);
    for (size_t i = 0; i < a->n_kw; i++)
        if (a->kw[i].name)
            jj_fail(jj, "%s%s() got an unexpected argument '%.*s'", what, fn->name,
                    JJ_TEXT(a->kw[i].name));
    return fn->fn(jj, self, &bound);
}

struct jj_value jj_call(struct jj *jj, struct jj_value fn, struct jj_args *a)
{
    switch ((enum jj_type)fn.type) {
    case JJ_FUNCTION:
        return jj_invoke(jj, fn.u.fn, jj_missing(), a, "");
    case JJ_METHOD:
        return jj_invoke(jj, fn.u.method->fn, fn.u.method->self, a, "");
    case JJ_MACRO:
        return jj_macro_call(jj, fn.u.macro, a);
    case JJ_LOOP:
        return jj_loop_call(jj, fn.u.loop, a);
    case JJ_JOINER:
        if (fn.u.joiner->used)
            return fn.u.joiner->sep;
        fn.u.joiner->used = true;
        return jj_text(jj, "");
    case JJ_UNDEFINED:
        jj_fail_undef(jj, fn);
    default:
        jj_fail(jj, "'%s' object is not callable", jj_type_name(fn));
    }
}

/* ---- arguments of builtins ---- */

int64_t jj_arg_int(struct jj *jj, struct jj_value v, int64_t missing)
{
    if (v.type == JJ_MISSING)
        return missing;
    if (v.type == JJ_UNDEFINED)
        jj_fail_undef(jj, v);
    if (v.type != JJ_INT && v.type != JJ_BOOL)
        jj_fail(jj, "'%s' object cannot be interpreted as an integer", jj_type_name(v));
    return v.type == JJ_BOOL ? v.u.b : v.u.i;
}

bool jj_arg_bool(struct jj_value v, bool missing)
{
    return v.type == JJ_MISSING ? missing : jj_truth(v);
}

struct jj_str *jj_arg_str(struct jj *jj, struct jj_value v, const char *what)
{
    if (v.type == JJ_UNDEFINED)
        jj_fail_undef(jj, v);
    if (v.type != JJ_STRING)
        jj_fail(jj, "%s must be str, not %s", what, jj_type_name(v));
    return v.u.s;
}
