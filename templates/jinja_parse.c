#include "config.h"

#include "templates/jinja_ast.h"

/* Statements. Each tag has one row in the table at the end; the tags that close a block
 * are known to whoever opened it. Blocks that would load other templates parse, and fail
 * when they are reached, for there is nowhere to load from. */

static void parse_body(struct jj_parser *p, struct jj_nodes *out,
                       const char *const *ends);
static struct jj_node *parse_target(struct jj_parser *p, enum jj_tuple_mode mode,
                                    const char *end);

/* ---- the tools of both parsers ---- */

const struct jj_token *jj_peek(const struct jj_parser *p, size_t further)
{
    size_t i = p->at + further;

    return &p->tokens.v[i < p->tokens.n ? i : p->tokens.n - 1];
}

const struct jj_token *jj_next(struct jj_parser *p)
{
    const struct jj_token *t = jj_peek(p, 0);

    jj_step(p->jj);
    p->jj->line = t->line;
    if (p->at + 1 < p->tokens.n)
        p->at++;
    return t;
}

bool jj_at(const struct jj_parser *p, enum jj_token_kind kind)
{
    return jj_peek(p, 0)->kind == kind;
}

bool jj_token_is(const struct jj_token *t, const char *name)
{
    return t->kind == JJ_T_NAME && t->n == strlen(name) && memcmp(t->p, name, t->n) == 0;
}

bool jj_at_name(const struct jj_parser *p, const char *name)
{
    return jj_token_is(jj_peek(p, 0), name);
}

bool jj_skip(struct jj_parser *p, enum jj_token_kind kind)
{
    if (!jj_at(p, kind))
        return false;
    jj_next(p);
    return true;
}

bool jj_skip_name(struct jj_parser *p, const char *name)
{
    if (!jj_at_name(p, name))
        return false;
    jj_next(p);
    return true;
}

void jj_fail_token(struct jj_parser *p, const char *wanted)
{
    const struct jj_token *t = jj_peek(p, 0);

    p->jj->line = t->line;
    if (t->kind == JJ_T_END || t->kind == JJ_T_DATA)
        jj_fail(p->jj, "expected %s, got the end of the template", wanted);
    jj_fail(p->jj, "expected %s, got '%.*s'", wanted, JJ_TEXT(t));
}

const struct jj_token *jj_expect(struct jj_parser *p, enum jj_token_kind kind,
                                 const char *what)
{
    if (!jj_at(p, kind))
        jj_fail_token(p, what);
    return jj_next(p);
}

struct jj_node *jj_node_new(struct jj_parser *p, enum jj_kind kind, int line)
{
    struct jj_node *n = jj_alloc(p->jj, sizeof *n);

    n->kind = kind;
    n->line = line;
    return n;
}

void jj_nodes_add(struct jj_parser *p, struct jj_nodes *l, struct jj_node *node)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4;
        l->v = jj_grow(p->jj, l->v, l->cap * sizeof *l->v, cap * sizeof *l->v);
        l->cap = cap;
    }
    l->v[l->n++] = node;
}

int jj_symbol(struct jj_parser *p, const char *name, size_t n)
{
    struct jinja *t = p->tmpl;
    struct jj_value key = jj_string(jj_str_new(p->jj, name, n, JINJA_TEMPLATE));
    struct jj_value *known = jj_dict_get(p->jj, t->by_name, key);

    if (known)
        return (int)known->u.i;
    if (t->n_symbols == t->cap_symbols) {
        size_t cap = t->cap_symbols ? t->cap_symbols * 2 : 64;
        t->symbols = jj_grow(p->jj, t->symbols, t->cap_symbols * sizeof *t->symbols,
                             cap * sizeof *t->symbols);
        t->cap_symbols = cap;
    }
    key.u.s->p = jj_cstr(p->jj, key.u.s);
    t->symbols[t->n_symbols] = key.u.s;
    jj_dict_set(p->jj, t->by_name, key, jj_int((int64_t)t->n_symbols, JINJA_TEMPLATE));
    return (int)t->n_symbols++;
}

/* ---- blocks ---- */

static void end_tag(struct jj_parser *p)
{
    jj_expect(p, JJ_T_TAG_END, "the end of the tag");
}

/* The body of a block up to and with its end tag. */
static void parse_block(struct jj_parser *p, struct jj_nodes *out, const char *end)
{
    const char *const ends[] = { end, NULL };

    jj_skip(p, JJ_T_COLON);
    end_tag(p);
    parse_body(p, out, ends);
    jj_next(p);
}

static struct jj_node *parse_if(struct jj_parser *p, int line)
{
    static const char *const ends[] = { "elif", "else", "endif", NULL };
    struct jj_node *n = jj_node_new(p, JJ_N_IF, line);
    size_t unknown = p->n_unknown;
    bool more = true;

    while (more) {
        struct jj_node *branch = jj_node_new(p, JJ_N_BRANCH, jj_peek(p, 0)->line);
        branch->a = jj_parse_tuple(p, JJ_TUPLE_NO_COND, NULL);
        jj_skip(p, JJ_T_COLON);
        end_tag(p);
        parse_body(p, &branch->body, ends);
        jj_nodes_add(p, &n->list, branch);
        more = jj_skip_name(p, "elif");
    }
    if (jj_skip_name(p, "else")) {
        struct jj_node *branch = jj_node_new(p, JJ_N_BRANCH, line);
        parse_block(p, &branch->body, "endif");
        jj_nodes_add(p, &n->list, branch);
    } else {
        jj_next(p);
    }
    /* What does not exist is only an error of those who come here. */
    size_t kept = unknown;
    for (size_t i = unknown; i < p->n_unknown; i++)
        if (p->unknown[i].certain)
            p->unknown[kept++] = p->unknown[i];
    p->n_unknown = kept;
    return n;
}

static void certain_from(struct jj_parser *p, size_t from)
{
    for (size_t i = from; i < p->n_unknown; i++)
        p->unknown[i].certain = true;
}

static struct jj_node *parse_for(struct jj_parser *p, int line)
{
    static const char *const ends[] = { "else", "endfor", NULL };
    struct jj_node *n = jj_node_new(p, JJ_N_FOR, line);

    p->loops++;
    n->a = parse_target(p, JJ_TUPLE_TARGET, "in");
    p->loops--;
    if (!jj_skip_name(p, "in"))
        jj_fail(p->jj, "expected 'in' behind the loop variable");
    n->b = jj_parse_tuple(p, JJ_TUPLE_NO_COND, "recursive");

    size_t unknown = p->n_unknown;
    if (jj_skip_name(p, "if"))
        n->c = jj_parse_expr(p);
    n->flag = jj_skip_name(p, "recursive");
    jj_skip(p, JJ_T_COLON);
    end_tag(p);
    p->loops++;
    parse_body(p, &n->body, ends);
    p->loops--;
    if (jj_skip_name(p, "else"))
        parse_block(p, &n->orelse, "endfor");
    else
        jj_next(p);
    certain_from(p, unknown);
    return n;
}

/* ---- assignment ---- */

static void check_target(struct jj_parser *p, const struct jj_node *target)
{
    if (target->kind == JJ_N_TUPLE) {
        for (size_t i = 0; i < target->list.n; i++)
            check_target(p, target->list.v[i]);
        return;
    }
    if (target->kind != JJ_N_NAME && target->kind != JJ_N_NSREF)
        jj_fail(p->jj, "this cannot be assigned to");
    if (target->kind == JJ_N_NAME && p->loops && target->sym == p->tmpl->sym_loop)
        jj_fail(p->jj, "'loop' cannot be assigned to inside a loop");
}

static struct jj_node *parse_target(struct jj_parser *p, enum jj_tuple_mode mode,
                                    const char *end)
{
    struct jj_node *target = jj_parse_tuple(p, mode, end);

    check_target(p, target);
    return target;
}

static struct jj_node *parse_set(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_SET, line);
    size_t unknown;

    n->a = parse_target(p, JJ_TUPLE_SET_TARGET, NULL);
    if (jj_skip(p, JJ_T_ASSIGN)) {
        n->b = jj_parse_tuple(p, JJ_TUPLE_FULL, NULL);
        return n;
    }
    n->kind = JJ_N_SET_BLOCK;
    unknown = p->n_unknown;
    n->b = jj_parse_filters(p, NULL, false);
    parse_block(p, &n->body, "endset");
    certain_from(p, unknown);
    return n;
}

static struct jj_node *parse_with(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_WITH, line);
    size_t unknown = p->n_unknown;

    while (!jj_at(p, JJ_T_TAG_END)) {
        if (n->list.n)
            jj_expect(p, JJ_T_COMMA, "','");
        jj_nodes_add(p, &n->list, parse_target(p, JJ_TUPLE_TARGET, NULL));
        jj_expect(p, JJ_T_ASSIGN, "'='");
        jj_nodes_add(p, &n->list, jj_parse_expr(p));
    }
    parse_block(p, &n->body, "endwith");
    certain_from(p, unknown);
    return n;
}

/* ---- macros ---- */

static void parse_params(struct jj_parser *p, struct jj_nodes *params)
{
    bool defaults = false;

    jj_expect(p, JJ_T_LPAREN, "'('");
    while (!jj_at(p, JJ_T_RPAREN)) {
        if (params->n)
            jj_expect(p, JJ_T_COMMA, "',' or ')'");
        const struct jj_token *t = jj_expect(p, JJ_T_NAME, "the name of a parameter");
        struct jj_node *n = jj_node_new(p, JJ_N_PARAM, t->line);
        n->sym = jj_symbol(p, t->p, t->n);
        if (jj_skip(p, JJ_T_ASSIGN)) {
            n->a = jj_parse_expr(p);
            defaults = true;
        } else if (defaults) {
            jj_fail(p->jj, "a parameter without a default behind one with it");
        }
        jj_nodes_add(p, params, n);
    }
    jj_next(p);
}

/* A macro takes extra arguments exactly if its body mentions them. The tokens say so as
 * well as the tree does. */
static int macro_takes(struct jj_parser *p, size_t from, const struct jj_node *n)
{
    struct jinja *t = p->tmpl;
    const int syms[] = { t->sym_caller, t->sym_kwargs, t->sym_varargs };
    const char *const names[] = { "caller", "kwargs", "varargs" };
    int takes = 0;

    jj_charge_chars(p->jj, (p->at - from));
    for (size_t i = from; i < p->at; i++)
        for (int k = 0; k < 3; k++)
            if (jj_token_is(&p->tokens.v[i], names[k]))
                takes |= 1 << k;
    for (size_t i = 0; i < n->list.n; i++)
        for (int k = 0; k < 3; k++)
            if (n->list.v[i]->sym == syms[k])
                takes &= ~(1 << k);
    return takes;
}

static void parse_macro_body(struct jj_parser *p, struct jj_node *n, const char *end,
                             size_t unknown)
{
    size_t from = p->at;
    int loops = p->loops;

    p->loops = 0;
    parse_block(p, &n->body, end);
    p->loops = loops;
    n->takes = macro_takes(p, from, n);
    certain_from(p, unknown);
}

static struct jj_node *parse_macro(struct jj_parser *p, int line)
{
    const struct jj_token *t = jj_expect(p, JJ_T_NAME, "the name of the macro");
    struct jj_node *n = jj_node_new(p, JJ_N_MACRO, line);
    size_t unknown = p->n_unknown;

    n->sym = jj_symbol(p, t->p, t->n);
    parse_params(p, &n->list);
    parse_macro_body(p, n, "endmacro", unknown);
    return n;
}

static struct jj_node *parse_call_block(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_CALL_BLOCK, line);
    size_t unknown = p->n_unknown;

    if (jj_at(p, JJ_T_LPAREN))
        parse_params(p, &n->list);
    n->sym = p->tmpl->sym_caller;
    n->a = jj_parse_expr(p);
    if (n->a->kind != JJ_N_CALL)
        jj_fail(p->jj, "expected a call");
    parse_macro_body(p, n, "endcall", unknown);
    return n;
}

/* ---- the rest ---- */

static struct jj_node *parse_filter_block(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_FILTER_BLOCK, line);
    size_t unknown = p->n_unknown;

    n->b = jj_parse_filters(p, NULL, true);
    parse_block(p, &n->body, "endfilter");
    certain_from(p, unknown);
    return n;
}

static struct jj_node *parse_print(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_PRINT, line);
    struct jj_node *nothing = jj_node_new(p, JJ_N_CONST, line);

    nothing->value = jj_text(p->jj, "");
    n->a = jj_node_new(p, JJ_N_CONCAT, line);
    jj_nodes_add(p, &n->a->list, nothing);
    while (!jj_at(p, JJ_T_TAG_END)) {
        if (n->a->list.n > 1)
            jj_expect(p, JJ_T_COMMA, "','");
        jj_nodes_add(p, &n->a->list, jj_parse_expr(p));
    }
    return n;
}

/* Only marks what the model said, for training. As in transformers, its body is a scope,
 * and no loop around it can be left from inside. */
static struct jj_node *parse_generation(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_SCOPE, line);
    size_t unknown = p->n_unknown;
    int loops = p->loops;

    p->loops = 0;
    parse_block(p, &n->body, "endgeneration");
    p->loops = loops;
    certain_from(p, unknown);
    return n;
}

static struct jj_node *parse_block_tag(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_SCOPE, line);
    const struct jj_token *name = jj_expect(p, JJ_T_NAME, "the name of the block");
    size_t unknown = p->n_unknown;
    int loops = p->loops;

    while (jj_skip_name(p, "scoped") || jj_skip_name(p, "required"))
        ;
    p->loops = 0;
    parse_block(p, &n->body, "endblock");
    p->loops = loops;
    if (jj_at(p, JJ_T_NAME) && jj_peek(p, 0)->n == name->n &&
        memcmp(jj_peek(p, 0)->p, name->p, name->n) == 0)
        jj_next(p);
    certain_from(p, unknown);
    return n;
}

static struct jj_node *parse_break(struct jj_parser *p, int line)
{
    if (!p->loops)
        jj_fail(p->jj, "'break' outside a loop");
    return jj_node_new(p, JJ_N_BREAK, line);
}

static struct jj_node *parse_continue(struct jj_parser *p, int line)
{
    if (!p->loops)
        jj_fail(p->jj, "'continue' outside a loop");
    return jj_node_new(p, JJ_N_CONTINUE, line);
}

static struct jj_node *parse_absent(struct jj_parser *p, int line)
{
    struct jj_node *n = jj_node_new(p, JJ_N_ABSENT, line);

    while (!jj_at(p, JJ_T_TAG_END) && !jj_at(p, JJ_T_END))
        jj_next(p);
    n->value = jj_text(p->jj, "a chat template cannot load other templates");
    return n;
}

static const struct {
    const char *tag;
    struct jj_node *(*parse)(struct jj_parser *p, int line);
} tags[] = {
    { "if", parse_if },
    { "for", parse_for },
    { "set", parse_set },
    { "macro", parse_macro },
    { "call", parse_call_block },
    { "filter", parse_filter_block },
    { "with", parse_with },
    { "print", parse_print },
    { "generation", parse_generation },
    { "block", parse_block_tag },
    { "break", parse_break },
    { "continue", parse_continue },
    { "include", parse_absent },
    { "import", parse_absent },
    { "from", parse_absent },
    { "extends", parse_absent },
};

static struct jj_node *parse_tag(struct jj_parser *p)
{
    const struct jj_token *t = jj_expect(p, JJ_T_NAME, "the name of a tag");

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (jj_token_is(t, tags[i].tag)) {
            jj_enter(p->jj);
            struct jj_node *n = tags[i].parse(p, t->line);
            p->jj->depth--;
            end_tag(p);
            return n;
        }
    jj_fail(p->jj, "unknown or misplaced tag '%.*s'", JJ_TEXT(t));
}

static bool at_end(const struct jj_parser *p, const char *const *ends)
{
    for (; ends && *ends; ends++)
        if (jj_at_name(p, *ends))
            return true;
    return false;
}

/* Text, prints and tags up to one of the ends, whose name is the next token then; ends
 * NULL: up to the end of the template. */
static void parse_body(struct jj_parser *p, struct jj_nodes *out, const char *const *ends)
{
    for (;;) {
        const struct jj_token *t = jj_next(p);
        struct jj_node *n;

        switch (t->kind) {
        case JJ_T_END:
            if (ends)
                jj_fail(p->jj, "the template ends before '%s'", ends[0]);
            return;
        case JJ_T_DATA:
            n = jj_node_new(p, JJ_N_TEXT, t->line);
            n->value = t->value;
            break;
        case JJ_T_PRINT_BEGIN:
            n = jj_node_new(p, JJ_N_PRINT, t->line);
            n->a = jj_parse_tuple(p, JJ_TUPLE_FULL, NULL);
            jj_expect(p, JJ_T_PRINT_END, "'}}'");
            break;
        default:
            if (at_end(p, ends))
                return;
            n = parse_tag(p);
        }
        jj_nodes_add(p, out, n);
    }
}

void jj_parse(struct jj_parser *p)
{
    parse_body(p, &p->tmpl->body, NULL);
    if (p->n_unknown) {
        const struct jj_node *n = p->unknown[0].node;
        p->jj->line = n->line;
        jj_fail(p->jj, "there is no %s named '%.*s'",
                n->kind == JJ_N_FILTER ? "filter" : "test", JJ_TEXT(n->value.u.s));
    }
}
