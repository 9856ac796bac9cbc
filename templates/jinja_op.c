#include "config.h"

#include <math.h>

#include "templates/jinja_ast.h"

/* Operators, with Python's rules. Integers have 64 bits; a result beyond them is an
 * error, never a wrong number. */

static const char *op_text(int op)
{
    switch (op) {
    case JJ_T_ADD:
        return "+";
    case JJ_T_SUB:
        return "-";
    case JJ_T_MUL:
        return "*";
    case JJ_T_DIV:
        return "/";
    case JJ_T_FLOORDIV:
        return "//";
    case JJ_T_MOD:
        return "%";
    case JJ_T_POW:
        return "**";
    case JJ_T_LT:
        return "<";
    case JJ_T_LE:
        return "<=";
    case JJ_T_GT:
        return ">";
    case JJ_T_GE:
        return ">=";
    default:
        return "?";
    }
}

static _Noreturn void fail_types(struct jj *jj, int op, struct jj_value a,
                                 struct jj_value b)
{
    if (a.type == JJ_UNDEFINED || b.type == JJ_UNDEFINED)
        jj_fail_undef(jj, a.type == JJ_UNDEFINED ? a : b);
    if (a.type == JJ_BIG || b.type == JJ_BIG)
        jj_fail(jj,
                "integers beyond 64 bits can be printed and compared for equality only");
    if (op == JJ_T_ADD && (a.type == JJ_STRING || jj_is_sequence(a)))
        jj_fail(jj, "can only concatenate %s (not \"%s\") to %s", jj_type_name(a),
                jj_type_name(b), jj_type_name(a));
    jj_fail(jj, "unsupported operand type(s) for %s: '%s' and '%s'", op_text(op),
            jj_type_name(a), jj_type_name(b));
}

/* ---- numbers ---- */

static int64_t int_pow(struct jj *jj, int64_t base, int64_t exponent)
{
    int64_t r = 1;

    while (exponent > 0) {
        if ((exponent & 1) && __builtin_mul_overflow(r, base, &r))
            jj_fail(jj, "the result of ** has more than 64 bits");
        exponent >>= 1;
        if (exponent && __builtin_mul_overflow(base, base, &base))
            jj_fail(jj, "the result of ** has more than 64 bits");
    }
    return r;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static struct jj_value int_op(struct jj *jj, int op, int64_t a, int64_t b, uint8_t origin)
{
    int64_t r = 0;
    bool over = false;

    if ((op == JJ_T_FLOORDIV || op == JJ_T_MOD) && b == 0)
        jj_fail(jj, "integer division or modulo by zero");
    switch (op) {
    case JJ_T_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case JJ_T_SUB:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case JJ_T_MUL:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    case JJ_T_POW:
        r = int_pow(jj, a, b);
        break;
    default:
        if (b == -1)
            over = __builtin_sub_overflow(0, a, &r); /* INT64_MIN / -1 */
        else
            r = floor_div(a, b);
        if (op == JJ_T_MOD)
            r = b == -1 ? 0 : a - b * r;
        over = over && op == JJ_T_FLOORDIV;
    }
    if (over)
        jj_fail(jj, "the result of %s has more than 64 bits", op_text(op));
    return jj_int(r, origin);
}

static struct jj_value float_op(struct jj *jj, int op, double a, double b, uint8_t origin)
{
    double r;

    if (b == 0 && (op == JJ_T_DIV || op == JJ_T_FLOORDIV || op == JJ_T_MOD))
        jj_fail(jj, "division by zero");
    switch (op) {
    case JJ_T_ADD:
        r = a + b;
        break;
    case JJ_T_SUB:
        r = a - b;
        break;
    case JJ_T_MUL:
        r = a * b;
        break;
    case JJ_T_DIV:
        r = a / b;
        break;
    case JJ_T_POW:
        if (a == 0 && b < 0)
            jj_fail(jj, "0.0 cannot be raised to a negative power");
        if (a < 0 && floor(b) != b)
            jj_fail(jj, "a negative number cannot be raised to a fraction");
        r = pow(a, b);
        break;
    default:
        r = fmod(a, b);
        if (r != 0 && (r < 0) != (b < 0))
            r += b;
        if (r == 0)
            r = copysign(0, b);
        if (op == JJ_T_FLOORDIV) {
            double q = (a - r) / b, f = floor(q);
            r = q == 0 ? copysign(0, a / b) : q - f > 0.5 ? f + 1 : f;
        }
    }
    return jj_float(r, origin);
}

static struct jj_value number_op(struct jj *jj, int op, struct jj_value a,
                                 struct jj_value b)
{
    uint8_t origin = a.origin | b.origin;

    if (a.type == JJ_FLOAT || b.type == JJ_FLOAT || op == JJ_T_DIV)
        return float_op(jj, op, jj_number(a), jj_number(b), origin);

    int64_t x = jj_arg_int(jj, a, 0), y = jj_arg_int(jj, b, 0);
    if (op == JJ_T_POW && y < 0)
        return float_op(jj, op, (double)x, (double)y, origin);
    return int_op(jj, op, x, y, origin);
}

/* ---- sequences ---- */

static struct jj_value add_strings(struct jj *jj, struct jj_str *a, struct jj_str *b)
{
    bool safe = a->safe || b->safe;

    if (safe) {
        a = jj_str_escape(jj, a);
        b = jj_str_escape(jj, b);
    }
    struct jj_str *s = jj_str_concat(jj, a, b);
    return jj_string(s->safe == safe ? s : jj_str_mark(jj, s, safe));
}

static struct jj_value add_lists(struct jj *jj, struct jj_value a, struct jj_value b)
{
    struct jj_list *l = jj_list_new(jj, a.u.l->n + b.u.l->n);

    jj_charge(jj, l->cap * sizeof *l->v);
    for (size_t i = 0; i < a.u.l->n; i++)
        jj_list_add(jj, l, a.u.l->v[i]);
    for (size_t i = 0; i < b.u.l->n; i++)
        jj_list_add(jj, l, b.u.l->v[i]);
    return jj_list(l, a.type, a.origin | b.origin);
}

static struct jj_value repeat(struct jj *jj, struct jj_value what, struct jj_value times)
{
    int64_t n = jj_arg_int(jj, times, 0);
    size_t count = n > 0 ? (size_t)n : 0;
    struct jj_out o;

    if (what.type == JJ_STRING) {
        jj_out_init(&o, jj);
        jj_out_pad(&o, what.u.s, count);
        struct jj_str *s = jj_out_finish(&o);
        s->safe = what.u.s->safe;
        return jj_string(s);
    }
    struct jj_list *l = jj_list_new(jj, 0);
    for (size_t k = 0; k < count && what.u.l->n; k++)
        for (size_t i = 0; i < what.u.l->n; i++) {
            jj_step(jj);
            jj_list_add(jj, l, what.u.l->v[i]);
        }
    return jj_list(l, what.type, what.origin);
}

static bool is_int(struct jj_value v)
{
    return v.type == JJ_INT || v.type == JJ_BOOL;
}

static bool repeatable(struct jj_value v)
{
    return v.type == JJ_STRING || jj_is_sequence(v);
}

struct jj_value jj_binary(struct jj *jj, int op, struct jj_value a, struct jj_value b)
{
    if (a.type == JJ_STRING && op == JJ_T_MOD)
        return jj_percent(jj, a.u.s, b);
    if (jj_is_number(a) && jj_is_number(b))
        return number_op(jj, op, a, b);
    if (op == JJ_T_ADD && a.type == JJ_STRING && b.type == JJ_STRING)
        return add_strings(jj, a.u.s, b.u.s);
    if (op == JJ_T_ADD && a.type == b.type && jj_is_sequence(a))
        return add_lists(jj, a, b);
    if (op == JJ_T_MUL && repeatable(a) && is_int(b))
        return repeat(jj, a, b);
    if (op == JJ_T_MUL && is_int(a) && repeatable(b))
        return repeat(jj, b, a);
    fail_types(jj, op, a, b);
}

struct jj_value jj_unary(struct jj *jj, int op, struct jj_value a)
{
    if (a.type == JJ_UNDEFINED)
        jj_fail_undef(jj, a);
    if (!jj_is_number(a))
        jj_fail(jj, "bad operand type for unary %s: '%s'", op_text(op), jj_type_name(a));
    if (a.type == JJ_FLOAT)
        return jj_float(op == JJ_T_SUB ? -a.u.d : a.u.d, a.origin);
    if (op != JJ_T_SUB)
        return jj_int(jj_arg_int(jj, a, 0), a.origin);
    return int_op(jj, JJ_T_SUB, 0, jj_arg_int(jj, a, 0), a.origin);
}

/* ---- comparisons ---- */

bool jj_contains(struct jj *jj, struct jj_value in, struct jj_value what)
{
    if (in.type == JJ_STRING) {
        if (what.type != JJ_STRING)
            jj_fail(jj, "'in <string>' requires string as left operand, not %s",
                    jj_type_name(what));
        jj_charge(jj, in.u.s->n);
        return jj_str_find(in.u.s, what.u.s, 0) != JJ_NPOS;
    }
    if (in.type == JJ_DICT)
        return jj_dict_get(jj, in.u.dict, what) != NULL;
    if (!jj_iterable(in))
        jj_fail(jj, "argument of type '%s' is not iterable", jj_type_name(in));

    const struct jj_list *l = jj_items(jj, in);
    for (size_t i = 0; i < l->n; i++)
        if (jj_equal(jj, l->v[i], what))
            return true;
    return false;
}

static bool is_nan(struct jj_value v)
{
    return v.type == JJ_FLOAT && isnan(v.u.d);
}

bool jj_compare(struct jj *jj, int op, struct jj_value a, struct jj_value b)
{
    if (op == JJ_T_EQ || op == JJ_T_NE)
        return jj_equal(jj, a, b) == (op == JJ_T_EQ);
    if (op == JJ_T_IN || op == JJ_T_NOT_IN)
        return jj_contains(jj, b, a) == (op == JJ_T_IN);

    int c = jj_order(jj, a, b, op_text(op));
    if (is_nan(a) || is_nan(b))
        return false;
    switch (op) {
    case JJ_T_LT:
        return c < 0;
    case JJ_T_LE:
        return c <= 0;
    case JJ_T_GT:
        return c > 0;
    default:
        return c >= 0;
    }
}
