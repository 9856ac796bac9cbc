#ifndef TMPL_JINJA_INT_H
#define TMPL_JINJA_INT_H

/* What the jinja files share; nobody else includes this. Names begin with jj_.
 *
 * Memory: everything a compilation or a rendering makes lives in one arena (struct jj)
 * and goes with it. Nothing is freed alone, so values may be shared and pointed at
 * freely.
 *
 * Failure: an interpreter can fail in hundreds of places, each deep inside an
 * expression, and a template cannot catch an error. So jj_fail() fills the caller's
 * struct err and jumps to the one exit in jinja.c, where the arena is released. Nothing
 * below jinja.c may hold memory or a lock outside the arena.
 *
 * Origin: a string is bytes plus where each came from. Most strings have one origin; one
 * that is mixed carries a map, a byte of origin per byte of text. Slices share both. */

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "templates/jinja.h"

struct jj_node;

enum jj_type {
    JJ_MISSING,             /* not a value: an argument not given, a variable not set */
    JJ_UNDEFINED, JJ_NONE, JJ_BOOL, JJ_INT, JJ_FLOAT,
    JJ_BIG,                 /* an integer beyond 64 bits: its digits, to be printed */
    JJ_STRING,
    JJ_LIST, JJ_TUPLE,
    JJ_VIEW,                /* dict.keys() and the like: sized, iterable, no index */
    JJ_ITER,                /* a generator: consumed once */
    JJ_RANGE, JJ_DICT, JJ_NAMESPACE,
    JJ_MACRO, JJ_METHOD, JJ_FUNCTION, JJ_LOOP, JJ_CYCLER, JJ_JOINER,
};

struct jj_value {
    uint8_t type;
    uint8_t origin;         /* enum jinja_origin; of a string see jj_str */
    union {
        bool b;
        int64_t i;
        double d;
        struct jj_str *s;               /* STRING, BIG */
        struct jj_list *l;              /* LIST TUPLE VIEW ITER; CYCLER */
        struct jj_range *range;
        struct jj_dict *dict;           /* DICT NAMESPACE */
        struct jj_undef *undef;
        struct jj_macro *macro;
        struct jj_method *method;
        struct jj_loop *loop;
        struct jj_joiner *joiner;
        const struct jj_builtin *fn;    /* FUNCTION */
    } u;
};

struct jj_str {
    const char *p;
    const uint8_t *map;     /* (n) origins; NULL: all bytes are of .origin */
    size_t n;
    struct jj_room *room;   /* free space behind p + n that a concatenation may use */
    uint8_t origin;
    bool safe;              /* Markup: + and % escape the other side for HTML */
};

struct jj_list {
    struct jj_value *v;
    size_t n, cap;
    size_t at;              /* ITER: the next to be taken; CYCLER: its position */
    const char *name;       /* VIEW, ITER: the Python type */
};

struct jj_range {
    int64_t start, stop, step;
    size_t n;
};

struct jj_pair {
    struct jj_value key, value;
    uint32_t hash;
};

/* Insertion order is kept. index is an open hash of positions + 1, once n is large. */
struct jj_dict {
    struct jj_pair *v;
    size_t n, cap;
    uint32_t *index;
    size_t n_index;         /* a power of two, or 0 */
};

/* Why something is undefined, told when it is used. */
struct jj_undef {
    const char *hint;       /* the whole message, or NULL */
    struct jj_value obj;    /* MISSING for a variable */
    struct jj_value name;
};

struct jj_kwarg {
    struct jj_str *name;
    struct jj_value value;
};

struct jj_args {
    struct jj_value *v;
    size_t n;
    struct jj_kwarg *kw;
    size_t n_kw;
};

struct jj;
typedef struct jj_value jj_fn(struct jj *jj, struct jj_value self, struct jj_args *a);

/* A filter, test, method or global function. params lists the parameters by name,
 * optional ones with '?' behind: jj_invoke() binds arguments to them, and fn finds
 * a->v[i], MISSING where none was given. "*" leaves the arguments as they were passed. */
struct jj_builtin {
    const char *name;
    jj_fn *fn;
    const char *params;
};

struct jj_method {
    struct jj_value self;
    const struct jj_builtin *fn;
};

struct jj_macro {
    const struct jj_node *node;     /* MACRO or CALL_BLOCK */
    struct jj_scope *scope;         /* where it was defined */
};

struct jj_joiner {
    struct jj_value sep;
    bool used;
};

/* The variables of a block. A name not found here is looked for in up. */
struct jj_slot {
    int sym;
    struct jj_value value;
};

struct jj_scope {
    struct jj_scope *up;
    struct jj_slot *v;
    size_t n, cap;
    bool kept;                      /* a macro refers to it: not to be used again */
};

/* Text being written. */
struct jj_out {
    struct jj *jj;
    char *p;
    uint8_t *map;
    size_t n, cap, limit;
    uint8_t origin;                 /* of all bytes while map is NULL */
};

struct jj_block;

struct jj {
    struct jj_block *blocks;
    size_t used, memory;            /* bytes in blocks, and their limit */
    jmp_buf exit;
    struct err *e;
    int line;                       /* where we are in the template */

    uint64_t steps;                 /* left */
    unsigned depth, max_depth;

    const struct jinja *tmpl;
    struct jj_value *globals;       /* (symbols) of the top level; MISSING: not set */
    struct jj_scope *scope;         /* NULL: the top level */
    struct jj_scope *spare;         /* done, to be used again */
    struct jj_out *out;
    size_t output;                  /* limit of the text */
    const struct tm *now;
};

/* ---- jinja_mem.c: memory, failure, bounds ---- */

_Noreturn void jj_fail(struct jj *jj, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void *jj_alloc(struct jj *jj, size_t n);            /* zeroed */
void *jj_array(struct jj *jj, size_t n, size_t size);
void *jj_grow(struct jj *jj, void *p, size_t old, size_t n);
void jj_release(struct jj *jj);
void jj_charge(struct jj *jj, size_t bytes);        /* for moving so many bytes */
void jj_charge_chars(struct jj *jj, size_t bytes);  /* for looking at each character */
void jj_enter(struct jj *jj);                   /* one level deeper; undo: jj->depth-- */

static inline void jj_step(struct jj *jj)
{
    if (jj->steps-- == 0)
        jj_fail(jj, "the template does not end: more steps than a rendering may take");
}

/* ---- jinja_str.c: strings with origin ---- */

#define JJ_TEXT(s) (int)((s)->n < 200 ? (s)->n : 200), (s)->p

struct jj_str *jj_str_new(struct jj *jj, const char *p, size_t n, uint8_t origin);
struct jj_str *jj_str_slice(struct jj *jj, const struct jj_str *s, size_t from,
                            size_t to);
struct jj_str *jj_str_concat(struct jj *jj, struct jj_str *a, struct jj_str *b);
struct jj_str *jj_str_escape(struct jj *jj, struct jj_str *s);      /* HTML; safe */
struct jj_str *jj_str_mark(struct jj *jj, const struct jj_str *s, bool safe);
uint8_t jj_str_origin(const struct jj_str *s);      /* CONVERSATION if any byte is */
uint8_t jj_str_origin_at(const struct jj_str *s, size_t i);
bool jj_str_eq(const struct jj_str *a, const struct jj_str *b);
bool jj_str_is(const struct jj_str *s, const char *text);
int jj_str_cmp(const struct jj_str *a, const struct jj_str *b);
size_t jj_str_find(const struct jj_str *s, const struct jj_str *what, size_t from);
size_t jj_str_rfind(const struct jj_str *s, const struct jj_str *what, size_t to);
const char *jj_cstr(struct jj *jj, const struct jj_str *s);
#define JJ_NPOS ((size_t)-1)

void jj_out_init(struct jj_out *o, struct jj *jj);
void jj_out_add(struct jj_out *o, const char *p, size_t n, uint8_t origin);
void jj_out_text(struct jj_out *o, const char *text, uint8_t origin);
void jj_out_str(struct jj_out *o, const struct jj_str *s);
void jj_out_part(struct jj_out *o, const struct jj_str *s, size_t from, size_t to);
void jj_out_pad(struct jj_out *o, const struct jj_str *s, size_t times);
struct jj_str *jj_out_finish(struct jj_out *o);

/* ---- jinja_unicode.c: characters as Python counts them ---- */

size_t jj_char(const char *p, size_t n, uint32_t *cp);      /* bytes used, at least 1 */
size_t jj_char_before(const char *p, size_t n, uint32_t *cp);
size_t jj_chars(const struct jj_str *s);                    /* code points */
size_t jj_char_at(const struct jj_str *s, size_t from, size_t k); /* k further: offset */
void jj_put(char out[4], size_t *n, uint32_t cp);
bool jj_is_space(uint32_t cp);
bool jj_is_word(uint32_t cp);                           /* \w of a regular expression */
bool jj_is_printable(uint32_t cp);
bool jj_is_linebreak(uint32_t cp);
enum jj_case { JJ_UPPER, JJ_LOWER, JJ_TITLE, JJ_FOLD };
void jj_out_case(struct jj_out *o, const struct jj_str *s, size_t from, size_t to,
                 enum jj_case how);
struct jj_str *jj_str_case(struct jj *jj, const struct jj_str *s, enum jj_case how);
enum jj_class {
    JJ_IS_ALPHA, JJ_IS_DECIMAL, JJ_IS_DIGIT, JJ_IS_NUMERIC, JJ_IS_UPPER, JJ_IS_LOWER,
    JJ_IS_TITLE, JJ_IS_CASED,
};
bool jj_is(uint32_t cp, enum jj_class what);

/* ---- jinja_value.c ---- */

struct jj_value jj_missing(void);
struct jj_value jj_none(void);
struct jj_value jj_bool(bool b);
struct jj_value jj_int(int64_t i, uint8_t origin);
struct jj_value jj_float(double d, uint8_t origin);
struct jj_value jj_string(struct jj_str *s);
struct jj_value jj_text(struct jj *jj, const char *text);   /* borrowed; the template's */
struct jj_value jj_list(struct jj_list *l, enum jj_type type, uint8_t origin);
struct jj_value jj_undef(struct jj *jj, const char *hint);
struct jj_value jj_undef_name(struct jj *jj, struct jj_value obj, struct jj_value name);
_Noreturn void jj_fail_undef(struct jj *jj, struct jj_value v);

bool jj_truth(struct jj_value v);
bool jj_equal(struct jj *jj, struct jj_value a, struct jj_value b);
int jj_order(struct jj *jj, struct jj_value a, struct jj_value b, const char *op);
bool jj_is_number(struct jj_value v);               /* BOOL INT FLOAT */
bool jj_is_sequence(struct jj_value v);             /* LIST TUPLE */
double jj_number(struct jj_value v);
uint8_t jj_origin(struct jj_value v);               /* also of strings */
const char *jj_type_name(struct jj_value v);        /* Python's: "str", "NoneType" */
bool jj_iterable(struct jj_value v);
bool jj_length(struct jj_value v, size_t *n);       /* false: it has none */

struct jj_list *jj_list_new(struct jj *jj, size_t cap);
void jj_list_add(struct jj *jj, struct jj_list *l, struct jj_value v);
/* The items of anything that can be iterated; a list gives itself, not a copy. */
struct jj_list *jj_items(struct jj *jj, struct jj_value v);
struct jj_value jj_range_at(const struct jj_range *r, size_t i);

/* ---- jinja_dict.c ---- */

struct jj_dict *jj_dict_new(struct jj *jj, size_t cap);
struct jj_value *jj_dict_get(struct jj *jj, const struct jj_dict *d, struct jj_value key);
struct jj_value *jj_dict_gets(struct jj *jj, const struct jj_dict *d, const char *key);
void jj_dict_set(struct jj *jj, struct jj_dict *d, struct jj_value key,
                 struct jj_value v);
bool jj_dict_remove(struct jj *jj, struct jj_dict *d, struct jj_value key);
struct jj_list *jj_dict_list(struct jj *jj, struct jj_value dict, char what); /* k v i */
struct jj_value jj_pair_tuple(struct jj *jj, struct jj_value a, struct jj_value b,
                              uint8_t origin);

/* ---- jinja_text.c: str(), repr(), numbers ---- */

struct jj_str *jj_to_str(struct jj *jj, struct jj_value v);
void jj_out_value(struct jj_out *o, struct jj_value v);     /* str() */
void jj_out_repr(struct jj_out *o, struct jj_value v);
const char *jj_repr_text(struct jj *jj, struct jj_value v);
enum { JJ_FLOAT_ROOM = 64, JJ_FLOAT_COST = 4096 };   /* the cost is for jj_charge() */
void jj_float_repr(struct jj *jj, double d, char out[JJ_FLOAT_ROOM]);
bool jj_parse_int(const struct jj_str *s, int64_t base, int64_t *out);  /* as int() */
bool jj_parse_float(struct jj *jj, const struct jj_str *s, double *out);

/* ---- jinja_json.c, jinja_context.c ---- */

jj_fn jj_tojson;
void jj_context_load(struct jj *jj, const json_t *context);

/* ---- jinja_op.c: operators ---- */

struct jj_value jj_binary(struct jj *jj, int op, struct jj_value a, struct jj_value b);
struct jj_value jj_unary(struct jj *jj, int op, struct jj_value a);
bool jj_compare(struct jj *jj, int op, struct jj_value a, struct jj_value b);
bool jj_contains(struct jj *jj, struct jj_value in, struct jj_value what);

/* ---- jinja_access.c: attributes, items, slices ---- */

struct jj_value jj_attr(struct jj *jj, struct jj_value obj, struct jj_str *name);
struct jj_value jj_item(struct jj *jj, struct jj_value obj, struct jj_value key);
struct jj_value jj_slice(struct jj *jj, struct jj_value obj, const struct jj_value at[3]);
struct jj_value jj_path(struct jj *jj, struct jj_value obj, struct jj_value path);
/* The method of that name that values of this type have, or NULL. */
const struct jj_builtin *jj_method_of(struct jj_value obj, const struct jj_str *name);

/* ---- calls ---- */

struct jj_value jj_call(struct jj *jj, struct jj_value fn, struct jj_args *a);
struct jj_value jj_invoke(struct jj *jj, const struct jj_builtin *fn,
                          struct jj_value self, struct jj_args *a, const char *what);
const struct jj_builtin *jj_lookup(const struct jj_builtin *table, const char *name,
                                   size_t n);
int64_t jj_arg_int(struct jj *jj, struct jj_value v, int64_t missing);
bool jj_arg_bool(struct jj_value v, bool missing);
struct jj_str *jj_arg_str(struct jj *jj, struct jj_value v, const char *what);
bool jj_given(struct jj_value v);                   /* neither MISSING nor None */

const struct jj_builtin *jj_filter(const char *name, size_t n);
const struct jj_builtin *jj_test(const char *name, size_t n);
const struct jj_builtin *jj_global(const char *name, size_t n);
extern const struct jj_builtin jj_str_methods[], jj_str_more[], jj_list_methods[],
    jj_tuple_methods[], jj_dict_methods[], jj_loop_methods[], jj_cycler_methods[];
extern const struct jj_builtin jj_filters_text[], jj_filters_seq[], jj_filters_pick[];

/* ---- methods that filters use too ---- */

struct jj_str *jj_str_replace(struct jj *jj, const struct jj_str *s,
                              const struct jj_str *old, const struct jj_str *new,
                              int64_t max);
struct jj_str *jj_str_capitalize(struct jj *jj, const struct jj_str *s);
bool jj_str_is_case(struct jj *jj, const struct jj_str *s, enum jj_class want);
struct jj_value jj_str_center(struct jj *jj, struct jj_str *s, int64_t width);
struct jj_dict *jj_dict_from(struct jj *jj, struct jj_args *a, const char *what);
jj_fn jj_list_sort;

/* ---- jinja_format.c ---- */

struct jj_value jj_percent(struct jj *jj, struct jj_str *format, struct jj_value args);
jj_fn jj_str_format, jj_str_format_map;

#endif
