#include "config.h"

#include "templates/jinja_ast.h"

/* Tests: what may stand behind "is". */

#define TEST_IF(name, condition) \
    static struct jj_value name(struct jj *jj, struct jj_value v, struct jj_args *a) \
    { \
        (void)jj; \
        (void)a; \
        return jj_bool(condition); \
    }

TEST_IF(test_defined, v.type != JJ_UNDEFINED)
TEST_IF(test_undefined, v.type == JJ_UNDEFINED)
TEST_IF(test_none, v.type == JJ_NONE)
TEST_IF(test_boolean, v.type == JJ_BOOL)
TEST_IF(test_true, v.type == JJ_BOOL && v.u.b)
TEST_IF(test_false, v.type == JJ_BOOL && !v.u.b)
TEST_IF(test_integer, v.type == JJ_INT || v.type == JJ_BIG)
TEST_IF(test_float, v.type == JJ_FLOAT)
TEST_IF(test_number, jj_is_number(v) || v.type == JJ_BIG)
TEST_IF(test_string, v.type == JJ_STRING)
TEST_IF(test_mapping, v.type == JJ_DICT)
TEST_IF(test_iterable, jj_iterable(v) || v.type == JJ_LOOP)
TEST_IF(test_escaped, v.type == JJ_STRING && v.u.s->safe)

/* What has a length and items by number or key; Undefined has both, a view no items. */
TEST_IF(test_sequence, v.type == JJ_UNDEFINED || v.type == JJ_STRING ||
                           jj_is_sequence(v) || v.type == JJ_RANGE || v.type == JJ_DICT)

TEST_IF(test_callable, v.type == JJ_UNDEFINED || v.type == JJ_MACRO ||
                           v.type == JJ_METHOD || v.type == JJ_FUNCTION ||
                           v.type == JJ_LOOP || v.type == JJ_JOINER)

static bool is_case(struct jj *jj, struct jj_value v, enum jj_class what)
{
    return jj_str_is_case(jj, jj_to_str(jj, v), what);
}

TEST_IF(test_lower, is_case(jj, v, JJ_IS_LOWER))
TEST_IF(test_upper, is_case(jj, v, JJ_IS_UPPER))
TEST_IF(test_filter, v.type == JJ_STRING && jj_filter(v.u.s->p, v.u.s->n) != NULL)
TEST_IF(test_test, v.type == JJ_STRING && jj_test(v.u.s->p, v.u.s->n) != NULL)

static bool remainder_is(struct jj *jj, struct jj_value v, struct jj_value by,
                         int64_t want)
{
    return jj_equal(jj, jj_binary(jj, JJ_T_MOD, v, by), jj_int(want, JINJA_TEMPLATE));
}

TEST_IF(test_odd, remainder_is(jj, v, jj_int(2, JINJA_TEMPLATE), 1))
TEST_IF(test_even, remainder_is(jj, v, jj_int(2, JINJA_TEMPLATE), 0))
TEST_IF(test_divisibleby, remainder_is(jj, v, a->v[0], 0))
TEST_IF(test_in, jj_contains(jj, a->v[0], v))
TEST_IF(test_eq, jj_compare(jj, JJ_T_EQ, v, a->v[0]))
TEST_IF(test_ne, jj_compare(jj, JJ_T_NE, v, a->v[0]))
TEST_IF(test_lt, jj_compare(jj, JJ_T_LT, v, a->v[0]))
TEST_IF(test_le, jj_compare(jj, JJ_T_LE, v, a->v[0]))
TEST_IF(test_gt, jj_compare(jj, JJ_T_GT, v, a->v[0]))
TEST_IF(test_ge, jj_compare(jj, JJ_T_GE, v, a->v[0]))

/* The same object: of numbers and strings, the same type and value. */
static struct jj_value test_sameas(struct jj *jj, struct jj_value v, struct jj_args *a)
{
    struct jj_value w = a->v[0];

    if (v.type != w.type)
        return jj_bool(false);
    if (v.type == JJ_LIST || v.type == JJ_TUPLE || v.type == JJ_DICT)
        return jj_bool(v.u.l == w.u.l);
    return jj_bool(jj_equal(jj, v, w));
}

static const struct jj_builtin tests[] = {
    { "defined", test_defined, "" },   { "undefined", test_undefined, "" },
    { "none", test_none, "" },         { "string", test_string, "" },
    { "mapping", test_mapping, "" },   { "iterable", test_iterable, "" },
    { "sequence", test_sequence, "" }, { "boolean", test_boolean, "" },
    { "true", test_true, "" },         { "false", test_false, "" },
    { "number", test_number, "" },     { "integer", test_integer, "" },
    { "float", test_float, "" },       { "callable", test_callable, "" },
    { "escaped", test_escaped, "" },   { "sameas", test_sameas, "other" },
    { "in", test_in, "seq" },          { "odd", test_odd, "" },
    { "even", test_even, "" },         { "divisibleby", test_divisibleby, "num" },
    { "lower", test_lower, "" },       { "upper", test_upper, "" },
    { "filter", test_filter, "" },     { "test", test_test, "" },
    { "eq", test_eq, "other" },        { "equalto", test_eq, "other" },
    { "==", test_eq, "other" },        { "ne", test_ne, "other" },
    { "!=", test_ne, "other" },        { "lt", test_lt, "other" },
    { "lessthan", test_lt, "other" },  { "<", test_lt, "other" },
    { "le", test_le, "other" },        { "<=", test_le, "other" },
    { "gt", test_gt, "other" },        { "greaterthan", test_gt, "other" },
    { ">", test_gt, "other" },         { "ge", test_ge, "other" },
    { ">=", test_ge, "other" },        { NULL, NULL, NULL },
};

const struct jj_builtin *jj_test(const char *name, size_t n)
{
    return jj_lookup(tests, name, n);
}
