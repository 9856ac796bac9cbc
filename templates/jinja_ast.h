#ifndef TMPL_JINJA_AST_H
#define TMPL_JINJA_AST_H

/* From source to tree: the tokens (jinja_lex.c), the tree (jinja_parse.c for statements,
 * jinja_expr.c for expressions) and the compiled template. All of it lives in the arena
 * of the compilation, which struct jinja keeps. Constants are the template's own text. */

#include "templates/jinja_int.h"

enum jj_token_kind {
    JJ_T_END, JJ_T_DATA,
    JJ_T_PRINT_BEGIN, JJ_T_PRINT_END,       /* {{ }} */
    JJ_T_TAG_BEGIN, JJ_T_TAG_END,           /* {% %} */
    JJ_T_NAME, JJ_T_STRING, JJ_T_NUMBER,
    JJ_T_ADD, JJ_T_SUB, JJ_T_MUL, JJ_T_DIV, JJ_T_FLOORDIV, JJ_T_MOD, JJ_T_POW,
    JJ_T_EQ, JJ_T_NE, JJ_T_LT, JJ_T_LE, JJ_T_GT, JJ_T_GE, JJ_T_IN, JJ_T_NOT_IN,
    JJ_T_ASSIGN, JJ_T_DOT, JJ_T_COLON, JJ_T_PIPE, JJ_T_COMMA, JJ_T_TILDE, JJ_T_SEMICOLON,
    JJ_T_LPAREN, JJ_T_RPAREN, JJ_T_LBRACKET, JJ_T_RBRACKET, JJ_T_LBRACE, JJ_T_RBRACE,
};

struct jj_token {
    enum jj_token_kind kind;
    int line;
    const char *p;              /* NAME: its letters; others: as written */
    size_t n;
    struct jj_value value;      /* DATA, STRING, NUMBER */
};

struct jj_tokens {
    struct jj_token *v;
    size_t n, cap;
};

/* A node uses the fields named behind its kind. */
enum jj_kind {
    /* expressions */
    JJ_N_CONST,         /* value */
    JJ_N_NAME,          /* sym */
    JJ_N_ATTR,          /* a . value */
    JJ_N_ITEM,          /* a [ b ] */
    JJ_N_SLICE,         /* a [ b : c : d ], each may be NULL */
    JJ_N_CALL,          /* a ( args ) */
    JJ_N_FILTER,        /* a | value ( args ); fn; a NULL: what a block wrote */
    JJ_N_TEST,          /* a is value ( args ); fn */
    JJ_N_NOT,           /* a */
    JJ_N_UNARY,         /* op a */
    JJ_N_BINARY,        /* a op b */
    JJ_N_AND, JJ_N_OR,  /* a b */
    JJ_N_COMPARE,       /* a, list of OPERANDs */
    JJ_N_OPERAND,       /* op a */
    JJ_N_COND,          /* a if b else c; c may be NULL */
    JJ_N_CONCAT,        /* list */
    JJ_N_LIST, JJ_N_TUPLE,  /* list */
    JJ_N_DICT,          /* list: key, value, key, value */
    JJ_N_NSREF,         /* only as a target: sym . value */
    /* statements */
    JJ_N_TEXT,          /* value */
    JJ_N_PRINT,         /* a */
    JJ_N_IF,            /* list of BRANCHes */
    JJ_N_BRANCH,        /* a test or NULL, body */
    JJ_N_FOR,           /* a target, b iterable, c test or NULL, body, orelse;
                           flag: recursive */
    JJ_N_SET,           /* a target, b value */
    JJ_N_SET_BLOCK,     /* a target, b filters or NULL, body */
    JJ_N_MACRO,         /* sym, list of PARAMs, body, takes */
    JJ_N_CALL_BLOCK,    /* a the call, list of PARAMs, body, takes */
    JJ_N_PARAM,         /* sym, a default or NULL */
    JJ_N_FILTER_BLOCK,  /* b filters, body */
    JJ_N_WITH,          /* list: target, value, ...; body */
    JJ_N_SCOPE,         /* body */
    JJ_N_BREAK, JJ_N_CONTINUE,
    JJ_N_ABSENT,        /* value: what to say when it is reached */
};

struct jj_nodes {
    struct jj_node **v;
    size_t n, cap;
};

struct jj_call_args {
    struct jj_nodes list;
    struct jj_nodes named;          /* value: the name, a */
    struct jj_node *star, *stars;   /* *args, **kwargs; may be NULL */
};

enum { JJ_TAKES_CALLER = 1, JJ_TAKES_KWARGS = 2, JJ_TAKES_VARARGS = 4 };

struct jj_node {
    enum jj_kind kind;
    int op;                         /* enum jj_token_kind */
    int line;
    int sym;
    bool flag;
    int takes;
    struct jj_value value;
    struct jj_node *a, *b, *c, *d;
    struct jj_nodes list, body, orelse;
    struct jj_call_args *args;
    const struct jj_builtin *fn;
};

struct jinja {
    struct jj jj;                   /* the arena of all this */
    struct jj_nodes body;
    struct jj_str **symbols;
    size_t n_symbols, cap_symbols;
    struct jj_dict *by_name;
    int sym_loop, sym_caller, sym_kwargs, sym_varargs;
};

/* A filter or test that does not exist is an error of the template, unless it stands in a
 * conditional part; then only reaching it is. */
struct jj_unknown {
    struct jj_node *node;
    bool certain;
};

struct jj_parser {
    struct jj *jj;
    struct jinja *tmpl;
    struct jj_tokens tokens;
    size_t at;
    int loops;                      /* open loops that a {% break %} here could leave */
    struct jj_unknown *unknown;
    size_t n_unknown, cap_unknown;
};

/* jinja_lex.c */
void jj_lex(struct jj *jj, const char *source, size_t n, struct jj_tokens *out);

/* jinja_parse.c */
void jj_parse(struct jj_parser *p);

/* jinja_expr.c */
struct jj_node *jj_parse_expr(struct jj_parser *p);
struct jj_node *jj_parse_primary(struct jj_parser *p, bool namespaces);
struct jj_node *jj_parse_filters(struct jj_parser *p, struct jj_node *node, bool inlined);

enum jj_tuple_mode { JJ_TUPLE_FULL, JJ_TUPLE_NO_COND, JJ_TUPLE_PAREN, JJ_TUPLE_TARGET,
                     JJ_TUPLE_SET_TARGET };
struct jj_node *jj_parse_tuple(struct jj_parser *p, enum jj_tuple_mode mode,
                               const char *end);

/* The tools of both, in jinja_parse.c. */
_Noreturn void jj_fail_token(struct jj_parser *p, const char *wanted);
bool jj_token_is(const struct jj_token *t, const char *name);
const struct jj_token *jj_peek(const struct jj_parser *p, size_t further);
const struct jj_token *jj_next(struct jj_parser *p);
bool jj_at(const struct jj_parser *p, enum jj_token_kind kind);
bool jj_at_name(const struct jj_parser *p, const char *name);
bool jj_skip(struct jj_parser *p, enum jj_token_kind kind);
bool jj_skip_name(struct jj_parser *p, const char *name);
const struct jj_token *jj_expect(struct jj_parser *p, enum jj_token_kind kind,
                                 const char *what);
struct jj_node *jj_node_new(struct jj_parser *p, enum jj_kind kind, int line);
void jj_nodes_add(struct jj_parser *p, struct jj_nodes *l, struct jj_node *node);
int jj_symbol(struct jj_parser *p, const char *name, size_t n);

/* ---- evaluation: jinja_eval.c, jinja_exec.c, jinja_macro.c ---- */

enum jj_flow { JJ_GO_ON, JJ_BREAK, JJ_CONTINUE };

struct jj_value jj_eval(struct jj *jj, const struct jj_node *node);
enum jj_flow jj_exec(struct jj *jj, const struct jj_nodes *body);
/* Run a body in a scope of its own and give what it wrote. */
struct jj_str *jj_capture(struct jj *jj, const struct jj_nodes *body);
void jj_assign(struct jj *jj, const struct jj_node *target, struct jj_value v);
void jj_eval_args(struct jj *jj, const struct jj_call_args *from, struct jj_args *to);
struct jj_value jj_apply(struct jj *jj, const struct jj_node *filters,
                         struct jj_value in);

struct jj_value jj_var(struct jj *jj, int sym);             /* MISSING if not set */
void jj_set_var(struct jj *jj, int sym, struct jj_value v);
struct jj_scope *jj_push(struct jj *jj);
void jj_pop(struct jj *jj, struct jj_scope *s);

enum jj_flow jj_exec_for(struct jj *jj, const struct jj_node *node);
struct jj_value jj_loop_attr(struct jj *jj, struct jj_loop *loop,
                             const struct jj_str *name);
struct jj_value jj_loop_call(struct jj *jj, struct jj_loop *loop, struct jj_args *a);
size_t jj_loop_length(struct jj *jj, struct jj_loop *loop);

struct jj_value jj_macro_new(struct jj *jj, const struct jj_node *node);
struct jj_value jj_macro_call(struct jj *jj, struct jj_macro *m, struct jj_args *a);

#endif
