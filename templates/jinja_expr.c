#include "config.h"

#include "templates/jinja_ast.h"

/* Expressions, by recursive descent. From loose to tight: if-else, or, and, not,
 * comparisons, + -, ~, * / // %, **, unary + -, then calls, attributes and items, then
 * filters and tests. As in Jinja2, ~ binds tighter than +, ** groups to the left, and a
 * filter behind -x applies to x's negation only without parentheses around it. */

static struct jj_value name_value(struct jj_parser *p, const struct jj_token *t)
{
    return jj_string(jj_str_new(p->jj, t->p, t->n, JINJA_TEMPLATE));
}

static struct jj_node *binary(struct jj_parser *p, enum jj_kind kind, int op,
                              struct jj_node *a, struct jj_node *b)
{
    struct jj_node *n = jj_node_new(p, kind, a->line);

    n->op = op;
    n->a = a;
    n->b = b;
    return n;
}

/* ---- calls, filters, tests ---- */

static void parse_argument(struct jj_parser *p, struct jj_call_args *args)
{
    const struct jj_token *t = jj_peek(p, 0);

    if (jj_skip(p, JJ_T_MUL)) {
        if (args->star || args->stars)
            jj_fail(p->jj, "more than one * in a call");
        args->star = jj_parse_expr(p);
    } else if (jj_skip(p, JJ_T_POW)) {
        if (args->stars)
            jj_fail(p->jj, "more than one ** in a call");
        args->stars = jj_parse_expr(p);
    } else if (t->kind == JJ_T_NAME && jj_peek(p, 1)->kind == JJ_T_ASSIGN) {
        struct jj_node *named = jj_node_new(p, JJ_N_PARAM, t->line);
        if (args->stars)
            jj_fail(p->jj, "an argument behind ** in a call");
        jj_next(p);
        jj_next(p);
        named->value = name_value(p, t);
        named->a = jj_parse_expr(p);
        jj_nodes_add(p, &args->named, named);
    } else {
        if (args->star || args->stars || args->named.n)
            jj_fail(p->jj, "an argument without a name behind named ones");
        jj_nodes_add(p, &args->list, jj_parse_expr(p));
    }
}

static struct jj_call_args *parse_args(struct jj_parser *p)
{
    struct jj_call_args *args = jj_alloc(p->jj, sizeof *args);
    bool more = false;

    jj_expect(p, JJ_T_LPAREN, "'('");
    while (!jj_at(p, JJ_T_RPAREN)) {
        if (more) {
            jj_expect(p, JJ_T_COMMA, "',' or ')'");
            if (jj_at(p, JJ_T_RPAREN))
                break;
        }
        parse_argument(p, args);
        more = true;
    }
    jj_next(p);
    return args;
}

static struct jj_node *parse_call(struct jj_parser *p, struct jj_node *fn)
{
    struct jj_node *n = jj_node_new(p, JJ_N_CALL, jj_peek(p, 0)->line);

    n->a = fn;
    n->args = parse_args(p);
    return n;
}

static struct jj_value parse_dotted_name(struct jj_parser *p)
{
    struct jj_value v = name_value(p, jj_expect(p, JJ_T_NAME, "a name"));

    while (jj_skip(p, JJ_T_DOT)) {
        struct jj_str *more = name_value(p, jj_expect(p, JJ_T_NAME, "a name")).u.s;
        v.u.s = jj_str_concat(p->jj, v.u.s, jj_text(p->jj, ".").u.s);
        v.u.s = jj_str_concat(p->jj, v.u.s, more);
    }
    return v;
}

static void note_unknown(struct jj_parser *p, struct jj_node *node)
{
    if (node->fn)
        return;
    if (p->n_unknown == p->cap_unknown) {
        size_t cap = p->cap_unknown ? p->cap_unknown * 2 : 8;
        p->unknown = jj_grow(p->jj, p->unknown, p->cap_unknown * sizeof *p->unknown,
                             cap * sizeof *p->unknown);
        p->cap_unknown = cap;
    }
    p->unknown[p->n_unknown++] = (struct jj_unknown){ .node = node };
}

/* "| name(args) | ...", or with the first bar left out ({% filter name %}). */
struct jj_node *jj_parse_filters(struct jj_parser *p, struct jj_node *node, bool inlined)
{
    while (inlined || jj_skip(p, JJ_T_PIPE)) {
        struct jj_node *n = jj_node_new(p, JJ_N_FILTER, jj_peek(p, 0)->line);
        inlined = false;
        n->a = node;
        n->value = parse_dotted_name(p);
        n->fn = jj_filter(n->value.u.s->p, n->value.u.s->n);
        if (jj_at(p, JJ_T_LPAREN))
            n->args = parse_args(p);
        note_unknown(p, n);
        node = n;
    }
    return node;
}

static struct jj_node *parse_postfix(struct jj_parser *p, struct jj_node *node);

static bool at_test_argument(const struct jj_parser *p)
{
    switch (jj_peek(p, 0)->kind) {
    case JJ_T_NAME:
        return !jj_at_name(p, "else") && !jj_at_name(p, "or") && !jj_at_name(p, "and");
    case JJ_T_STRING:
    case JJ_T_NUMBER:
    case JJ_T_LBRACKET:
    case JJ_T_LBRACE:
        return true;
    default:
        return false;
    }
}

static struct jj_node *parse_test(struct jj_parser *p, struct jj_node *node)
{
    struct jj_node *n = jj_node_new(p, JJ_N_TEST, jj_next(p)->line);
    bool negated = jj_skip_name(p, "not");

    n->a = node;
    n->value = parse_dotted_name(p);
    n->fn = jj_test(n->value.u.s->p, n->value.u.s->n);
    note_unknown(p, n);
    if (jj_at(p, JJ_T_LPAREN)) {
        n->args = parse_args(p);
    } else if (at_test_argument(p)) {
        if (jj_at_name(p, "is"))
            jj_fail(p->jj, "tests cannot be chained with 'is'");
        n->args = jj_alloc(p->jj, sizeof *n->args);
        jj_nodes_add(p, &n->args->list, parse_postfix(p, jj_parse_primary(p, false)));
    }
    if (!negated)
        return n;
    struct jj_node *not = jj_node_new(p, JJ_N_NOT, n->line);
    not ->a = n;
    return not ;
}

/* ---- items and attributes ---- */

static struct jj_node *parse_slice(struct jj_parser *p, struct jj_node *of,
                                   struct jj_node *from)
{
    struct jj_node *n = jj_node_new(p, JJ_N_SLICE, jj_next(p)->line);

    n->a = of;
    n->b = from;
    if (!jj_at(p, JJ_T_COLON) && !jj_at(p, JJ_T_RBRACKET))
        n->c = jj_parse_expr(p);
    if (jj_skip(p, JJ_T_COLON) && !jj_at(p, JJ_T_RBRACKET))
        n->d = jj_parse_expr(p);
    return n;
}

/* obj[a:b], obj[key], obj[a, b]; obj[] has the empty tuple for its key. */
static struct jj_node *parse_brackets(struct jj_parser *p, struct jj_node *of)
{
    struct jj_node *n = jj_node_new(p, JJ_N_ITEM, jj_next(p)->line);
    struct jj_node *keys = jj_node_new(p, JJ_N_TUPLE, n->line);

    n->a = of;
    if (jj_at(p, JJ_T_COLON)) {
        n = parse_slice(p, of, NULL);
    } else if (!jj_at(p, JJ_T_RBRACKET)) {
        jj_nodes_add(p, &keys->list, jj_parse_expr(p));
        while (jj_skip(p, JJ_T_COMMA))
            jj_nodes_add(p, &keys->list, jj_parse_expr(p));
        if (keys->list.n == 1 && jj_at(p, JJ_T_COLON))
            n = parse_slice(p, of, keys->list.v[0]);
    }
    if (n->kind == JJ_N_ITEM)
        n->b = keys->list.n == 1 ? keys->list.v[0] : keys;
    jj_expect(p, JJ_T_RBRACKET, "']'");
    return n;
}

static struct jj_node *parse_dot(struct jj_parser *p, struct jj_node *of)
{
    struct jj_node *n = jj_node_new(p, JJ_N_ATTR, jj_next(p)->line);
    const struct jj_token *t = jj_peek(p, 0);

    n->a = of;
    if (t->kind == JJ_T_NUMBER && t->value.type == JJ_INT) {
        n->kind = JJ_N_ITEM;
        n->b = jj_node_new(p, JJ_N_CONST, t->line);
        n->b->value = t->value;
        jj_next(p);
    } else {
        n->value = name_value(p, jj_expect(p, JJ_T_NAME, "a name or number behind '.'"));
    }
    return n;
}

static struct jj_node *parse_postfix(struct jj_parser *p, struct jj_node *node)
{
    for (;;) {
        if (jj_at(p, JJ_T_DOT))
            node = parse_dot(p, node);
        else if (jj_at(p, JJ_T_LBRACKET))
            node = parse_brackets(p, node);
        else if (jj_at(p, JJ_T_LPAREN))
            node = parse_call(p, node);
        else
            return node;
    }
}

/* ---- primaries ---- */

static struct jj_node *parse_name(struct jj_parser *p, bool namespaces)
{
    const struct jj_token *t = jj_next(p);
    struct jj_node *n = jj_node_new(p, JJ_N_CONST, t->line);

    if (jj_token_is(t, "true") || jj_token_is(t, "True")) {
        n->value = jj_bool(true);
    } else if (jj_token_is(t, "false") || jj_token_is(t, "False")) {
        n->value = jj_bool(false);
    } else if (jj_token_is(t, "none") || jj_token_is(t, "None")) {
        n->value = jj_none();
    } else if (namespaces && jj_skip(p, JJ_T_DOT)) {
        n->kind = JJ_N_NSREF;
        n->sym = jj_symbol(p, t->p, t->n);
        n->value = name_value(p, jj_expect(p, JJ_T_NAME, "a name"));
    } else {
        n->kind = JJ_N_NAME;
        n->sym = jj_symbol(p, t->p, t->n);
    }
    return n;
}

static struct jj_node *parse_string(struct jj_parser *p)
{
    const struct jj_token *t = jj_next(p);
    struct jj_node *n = jj_node_new(p, JJ_N_CONST, t->line);

    n->value = t->value;
    while (jj_at(p, JJ_T_STRING))
        n->value.u.s = jj_str_concat(p->jj, n->value.u.s, jj_next(p)->value.u.s);
    return n;
}

static struct jj_node *parse_list(struct jj_parser *p)
{
    struct jj_node *n = jj_node_new(p, JJ_N_LIST, jj_next(p)->line);

    while (!jj_at(p, JJ_T_RBRACKET)) {
        if (n->list.n)
            jj_expect(p, JJ_T_COMMA, "',' or ']'");
        if (!jj_at(p, JJ_T_RBRACKET))
            jj_nodes_add(p, &n->list, jj_parse_expr(p));
    }
    jj_next(p);
    return n;
}

static struct jj_node *parse_dict(struct jj_parser *p)
{
    struct jj_node *n = jj_node_new(p, JJ_N_DICT, jj_next(p)->line);

    while (!jj_at(p, JJ_T_RBRACE)) {
        if (n->list.n)
            jj_expect(p, JJ_T_COMMA, "',' or '}'");
        if (jj_at(p, JJ_T_RBRACE))
            break;
        jj_nodes_add(p, &n->list, jj_parse_expr(p));
        jj_expect(p, JJ_T_COLON, "':'");
        jj_nodes_add(p, &n->list, jj_parse_expr(p));
    }
    jj_next(p);
    return n;
}

struct jj_node *jj_parse_primary(struct jj_parser *p, bool namespaces)
{
    const struct jj_token *t = jj_peek(p, 0);
    struct jj_node *n;

    switch (t->kind) {
    case JJ_T_NAME:
        return parse_name(p, namespaces);
    case JJ_T_STRING:
        return parse_string(p);
    case JJ_T_NUMBER:
        n = jj_node_new(p, JJ_N_CONST, t->line);
        n->value = jj_next(p)->value;
        return n;
    case JJ_T_LPAREN:
        jj_next(p);
        n = jj_parse_tuple(p, JJ_TUPLE_PAREN, NULL);
        jj_expect(p, JJ_T_RPAREN, "')'");
        return n;
    case JJ_T_LBRACKET:
        return parse_list(p);
    case JJ_T_LBRACE:
        return parse_dict(p);
    default:
        jj_fail_token(p, "an expression");
    }
}

/* ---- operators ---- */

static struct jj_node *parse_unary(struct jj_parser *p, bool filters)
{
    const struct jj_token *t = jj_peek(p, 0);
    struct jj_node *node;

    jj_enter(p->jj);
    if (jj_skip(p, JJ_T_SUB) || jj_skip(p, JJ_T_ADD)) {
        node = jj_node_new(p, JJ_N_UNARY, t->line);
        node->op = t->kind;
        node->a = parse_unary(p, false);
    } else {
        node = jj_parse_primary(p, false);
    }
    node = parse_postfix(p, node);
    while (filters) {
        if (jj_at(p, JJ_T_PIPE))
            node = jj_parse_filters(p, node, false);
        else if (jj_at_name(p, "is"))
            node = parse_test(p, node);
        else if (jj_at(p, JJ_T_LPAREN))
            node = parse_call(p, node);
        else
            break;
    }
    p->jj->depth--;
    return node;
}

static struct jj_node *parse_pow(struct jj_parser *p)
{
    struct jj_node *a = parse_unary(p, true);

    while (jj_skip(p, JJ_T_POW))
        a = binary(p, JJ_N_BINARY, JJ_T_POW, a, parse_unary(p, true));
    return a;
}

static struct jj_node *parse_product(struct jj_parser *p)
{
    struct jj_node *a = parse_pow(p);

    while (jj_at(p, JJ_T_MUL) || jj_at(p, JJ_T_DIV) || jj_at(p, JJ_T_FLOORDIV) ||
           jj_at(p, JJ_T_MOD)) {
        int op = jj_next(p)->kind;
        a = binary(p, JJ_N_BINARY, op, a, parse_pow(p));
    }
    return a;
}

static struct jj_node *parse_concat(struct jj_parser *p)
{
    struct jj_node *a = parse_product(p), *n;

    if (!jj_at(p, JJ_T_TILDE))
        return a;
    n = jj_node_new(p, JJ_N_CONCAT, a->line);
    jj_nodes_add(p, &n->list, a);
    while (jj_skip(p, JJ_T_TILDE))
        jj_nodes_add(p, &n->list, parse_product(p));
    return n;
}

static struct jj_node *parse_sum(struct jj_parser *p)
{
    struct jj_node *a = parse_concat(p);

    while (jj_at(p, JJ_T_ADD) || jj_at(p, JJ_T_SUB)) {
        int op = jj_next(p)->kind;
        a = binary(p, JJ_N_BINARY, op, a, parse_concat(p));
    }
    return a;
}

/* The comparison that stands here, or 0. */
static int skip_comparison(struct jj_parser *p)
{
    enum jj_token_kind kind = jj_peek(p, 0)->kind;

    if (kind >= JJ_T_EQ && kind <= JJ_T_GE)
        return jj_next(p)->kind;
    if (jj_skip_name(p, "in"))
        return JJ_T_IN;
    if (jj_at_name(p, "not") && jj_token_is(jj_peek(p, 1), "in")) {
        jj_next(p);
        jj_next(p);
        return JJ_T_NOT_IN;
    }
    return 0;
}

static struct jj_node *parse_comparison(struct jj_parser *p)
{
    struct jj_node *a = parse_sum(p), *n = NULL;

    for (int op; (op = skip_comparison(p)) != 0;) {
        if (!n) {
            n = jj_node_new(p, JJ_N_COMPARE, a->line);
            n->a = a;
        }
        struct jj_node *operand = jj_node_new(p, JJ_N_OPERAND, a->line);
        operand->op = op;
        operand->a = parse_sum(p);
        jj_nodes_add(p, &n->list, operand);
    }
    return n ? n : a;
}

static struct jj_node *parse_not(struct jj_parser *p)
{
    struct jj_node *n;

    if (!jj_at_name(p, "not"))
        return parse_comparison(p);
    n = jj_node_new(p, JJ_N_NOT, jj_next(p)->line);
    jj_enter(p->jj);
    n->a = parse_not(p);
    p->jj->depth--;
    return n;
}

static struct jj_node *parse_and(struct jj_parser *p)
{
    struct jj_node *a = parse_not(p);

    while (jj_skip_name(p, "and"))
        a = binary(p, JJ_N_AND, 0, a, parse_not(p));
    return a;
}

static struct jj_node *parse_or(struct jj_parser *p)
{
    struct jj_node *a = parse_and(p);

    while (jj_skip_name(p, "or"))
        a = binary(p, JJ_N_OR, 0, a, parse_and(p));
    return a;
}

/* Filters that do not exist are forgiven inside: keep those that are certain, and those
 * from before this expression. */
static void forgive_unknown(struct jj_parser *p, size_t from)
{
    size_t n = from;

    for (size_t i = from; i < p->n_unknown; i++)
        if (p->unknown[i].certain)
            p->unknown[n++] = p->unknown[i];
    p->n_unknown = n;
}

struct jj_node *jj_parse_expr(struct jj_parser *p)
{
    size_t unknown = p->n_unknown;

    jj_enter(p->jj);
    struct jj_node *a = parse_or(p);
    while (jj_skip_name(p, "if")) {
        struct jj_node *n = jj_node_new(p, JJ_N_COND, a->line);
        n->b = a;
        n->a = parse_or(p);
        if (jj_skip_name(p, "else"))
            n->c = jj_parse_expr(p);
        forgive_unknown(p, unknown);
        a = n;
    }
    p->jj->depth--;
    return a;
}

/* ---- tuples ---- */

static bool at_tuple_end(const struct jj_parser *p, const char *end)
{
    return jj_at(p, JJ_T_PRINT_END) || jj_at(p, JJ_T_TAG_END) || jj_at(p, JJ_T_RPAREN) ||
           (end && jj_at_name(p, end));
}

static struct jj_node *parse_tuple_item(struct jj_parser *p, enum jj_tuple_mode mode)
{
    switch (mode) {
    case JJ_TUPLE_TARGET:
        return jj_parse_primary(p, false);
    case JJ_TUPLE_SET_TARGET:
        return jj_parse_primary(p, true);
    case JJ_TUPLE_NO_COND:
        return parse_or(p);
    default:
        return jj_parse_expr(p);
    }
}

/* One expression, or several with commas between them, which are a tuple. */
struct jj_node *jj_parse_tuple(struct jj_parser *p, enum jj_tuple_mode mode,
                               const char *end)
{
    struct jj_node *n = jj_node_new(p, JJ_N_TUPLE, jj_peek(p, 0)->line);
    bool tuple = false;

    while (!at_tuple_end(p, end)) {
        jj_nodes_add(p, &n->list, parse_tuple_item(p, mode));
        if (!jj_skip(p, JJ_T_COMMA))
            break;
        tuple = true;
    }
    if (tuple)
        return n;
    if (n->list.n)
        return n->list.v[0];
    if (mode != JJ_TUPLE_PAREN)
        jj_fail_token(p, "an expression");
    return n;
}
