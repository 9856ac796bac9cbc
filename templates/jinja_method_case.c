#include "config.h"

#include "templates/jinja_int.h"

/* Methods of str that change or test characters, or fill up to a width. */

static struct jj_value finish(struct jj_out *o, const struct jj_str *like)
{
    struct jj_str *s = jj_out_finish(o);

    s->safe = like->safe;
    return jj_string(s);
}

/* ---- case ---- */

static struct jj_value str_upper(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_case(jj, self.u.s, JJ_UPPER));
}

static struct jj_value str_lower(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_case(jj, self.u.s, JJ_LOWER));
}

static struct jj_value str_casefold(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_case(jj, self.u.s, JJ_FOLD));
}

struct jj_str *jj_str_capitalize(struct jj *jj, const struct jj_str *s)
{
    size_t first = jj_char_at(s, 0, 1);
    struct jj_out o;

    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    jj_out_case(&o, s, 0, first, JJ_TITLE);
    jj_out_case(&o, s, first, s->n, JJ_LOWER);
    return finish(&o, s).u.s;
}

static struct jj_value str_capitalize(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    (void)a;
    return jj_string(jj_str_capitalize(jj, self.u.s));
}

/* A letter is a title letter when no letter stands before it. */
static struct jj_value str_title(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_str *s = self.u.s;
    bool before = false;
    struct jj_out o;

    (void)a;
    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp;
        len = jj_char(s->p + i, s->n - i, &cp);
        jj_out_case(&o, s, i, i + len, before ? JJ_LOWER : JJ_TITLE);
        before = jj_is(cp, JJ_IS_CASED);
    }
    return finish(&o, s);
}

static struct jj_value str_swapcase(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    const struct jj_str *s = self.u.s;
    struct jj_out o;

    (void)a;
    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp;
        len = jj_char(s->p + i, s->n - i, &cp);
        if (jj_is(cp, JJ_IS_UPPER))
            jj_out_case(&o, s, i, i + len, JJ_LOWER);
        else if (jj_is(cp, JJ_IS_LOWER))
            jj_out_case(&o, s, i, i + len, JJ_UPPER);
        else
            jj_out_part(&o, s, i, i + len);
    }
    return finish(&o, s);
}

/* ---- tests ---- */

typedef bool char_test(uint32_t cp);

static bool all(struct jj *jj, const struct jj_str *s, char_test *test)
{
    uint32_t cp;

    jj_charge_chars(jj, s->n);
    for (size_t i = 0; i < s->n;) {
        i += jj_char(s->p + i, s->n - i, &cp);
        if (!test(cp))
            return false;
    }
    return true;
}

static bool is_alpha(uint32_t cp)
{
    return jj_is(cp, JJ_IS_ALPHA);
}

static bool is_decimal(uint32_t cp)
{
    return jj_is(cp, JJ_IS_DECIMAL);
}

static bool is_digit(uint32_t cp)
{
    return jj_is(cp, JJ_IS_DIGIT);
}

static bool is_numeric(uint32_t cp)
{
    return jj_is(cp, JJ_IS_NUMERIC);
}

static bool is_alnum(uint32_t cp)
{
    return jj_is(cp, JJ_IS_ALPHA) || jj_is(cp, JJ_IS_DIGIT) || jj_is(cp, JJ_IS_NUMERIC);
}

static bool is_ascii(uint32_t cp)
{
    return cp < 0x80;
}

static struct jj_value nonempty(struct jj *jj, struct jj_value self, char_test *test)
{
    return jj_bool(self.u.s->n > 0 && all(jj, self.u.s, test));
}

#define STR_IS(name, test) \
    static struct jj_value name(struct jj *jj, struct jj_value self, struct jj_args *a) \
    { \
        (void)a; \
        return nonempty(jj, self, test); \
    }

STR_IS(str_isalpha, is_alpha)
STR_IS(str_isdecimal, is_decimal)
STR_IS(str_isdigit, is_digit)
STR_IS(str_isnumeric, is_numeric)
STR_IS(str_isalnum, is_alnum)
STR_IS(str_isspace, jj_is_space)

static struct jj_value str_isascii(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_bool(all(jj, self.u.s, is_ascii));
}

static struct jj_value str_isprintable(struct jj *jj, struct jj_value self,
                                       struct jj_args *a)
{
    (void)a;
    return jj_bool(all(jj, self.u.s, jj_is_printable));
}

static struct jj_value str_isidentifier(struct jj *jj, struct jj_value self,
                                        struct jj_args *a)
{
    uint32_t cp = 0;

    (void)a;
    if (self.u.s->n)
        jj_char(self.u.s->p, self.u.s->n, &cp);
    return jj_bool(self.u.s->n && (cp == '_' || is_alpha(cp)) &&
                   all(jj, self.u.s, jj_is_word));
}

/* Every letter is of that case, and there is one. */
bool jj_str_is_case(struct jj *jj, const struct jj_str *s, enum jj_class want)
{
    bool any = false;
    uint32_t cp;

    jj_charge_chars(jj, s->n);
    for (size_t i = 0; i < s->n;) {
        i += jj_char(s->p + i, s->n - i, &cp);
        if (jj_is(cp, want))
            any = true;
        else if (jj_is(cp, JJ_IS_CASED))
            return false;
    }
    return any;
}

static struct jj_value str_isupper(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_bool(jj_str_is_case(jj, self.u.s, JJ_IS_UPPER));
}

static struct jj_value str_islower(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    (void)a;
    return jj_bool(jj_str_is_case(jj, self.u.s, JJ_IS_LOWER));
}

static struct jj_value str_istitle(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_str *s = self.u.s;
    bool before = false, any = false;
    uint32_t cp;

    (void)a;
    jj_charge_chars(jj, s->n);
    for (size_t i = 0; i < s->n;) {
        i += jj_char(s->p + i, s->n - i, &cp);
        bool upper = jj_is(cp, JJ_IS_UPPER) || jj_is(cp, JJ_IS_TITLE);
        bool lower = jj_is(cp, JJ_IS_LOWER);
        if ((upper && before) || (lower && !before))
            return jj_bool(false);
        before = upper || lower;
        any = any || before;
    }
    return jj_bool(any);
}

/* ---- filling up ---- */

/* left in 2: the share of the padding that goes to the left, 0, 1 (centred) or 2. */
static struct jj_value justify(struct jj *jj, struct jj_str *s, int64_t width,
                               struct jj_str *fill, int left)
{
    size_t n = s->n ? jj_chars(s) : 0;
    size_t pad = width > 0 && (uint64_t)width > n ? (size_t)width - n : 0;
    size_t before = left == 0 ? 0 : left == 2 ? pad : pad / 2 + (pad & (size_t)width & 1);
    struct jj_out o;

    jj_charge(jj, s->n);
    if (pad == 0)
        return jj_string(s);
    jj_out_init(&o, jj);
    jj_out_pad(&o, fill, before);
    jj_out_str(&o, s);
    jj_out_pad(&o, fill, pad - before);
    return finish(&o, s);
}

static struct jj_value justify_args(struct jj *jj, struct jj_value self,
                                    struct jj_args *a, int left)
{
    struct jj_str *fill = a->v[1].type == JJ_MISSING
                              ? jj_text(jj, " ").u.s
                              : jj_arg_str(jj, a->v[1], "the fill character");

    if (fill->n == 0 || jj_chars(fill) != 1)
        jj_fail(jj, "the fill character must be exactly one character long");
    return justify(jj, self.u.s, jj_arg_int(jj, a->v[0], 0), fill, left);
}

struct jj_value jj_str_center(struct jj *jj, struct jj_str *s, int64_t width)
{
    return justify(jj, s, width, jj_text(jj, " ").u.s, 1);
}

static struct jj_value str_ljust(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return justify_args(jj, self, a, 0);
}

static struct jj_value str_center(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return justify_args(jj, self, a, 1);
}

static struct jj_value str_rjust(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return justify_args(jj, self, a, 2);
}

static struct jj_value str_zfill(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_str *s = self.u.s;
    bool sign = s->n && (s->p[0] == '-' || s->p[0] == '+');
    struct jj_str *digits = jj_str_slice(jj, s, sign, s->n);
    struct jj_out o;

    digits =
        justify(jj, digits, jj_arg_int(jj, a->v[0], 0) - sign, jj_text(jj, "0").u.s, 2)
            .u.s;
    jj_out_init(&o, jj);
    jj_out_part(&o, s, 0, sign);
    jj_out_str(&o, digits);
    return finish(&o, s);
}

static struct jj_value str_expandtabs(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    const struct jj_str *s = self.u.s;
    int64_t size = jj_arg_int(jj, a->v[0], 8), column = 0;
    struct jj_out o;

    jj_out_init(&o, jj);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp;
        len = jj_char(s->p + i, s->n - i, &cp);
        jj_step(jj);
        if (cp == '\t') {
            int64_t n = size > 0 ? size - column % size : 0;
            struct jj_str *space = jj_str_new(jj, " ", 1, jj_str_origin_at(s, i));
            jj_out_pad(&o, space, (size_t)n);
            column += n;
        } else {
            jj_out_part(&o, s, i, i + len);
            column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        }
    }
    return finish(&o, s);
}

const struct jj_builtin jj_str_more[] = {
    { "upper", str_upper, "" },
    { "lower", str_lower, "" },
    { "title", str_title, "" },
    { "capitalize", str_capitalize, "" },
    { "casefold", str_casefold, "" },
    { "swapcase", str_swapcase, "" },
    { "isalpha", str_isalpha, "" },
    { "isalnum", str_isalnum, "" },
    { "isdigit", str_isdigit, "" },
    { "isdecimal", str_isdecimal, "" },
    { "isnumeric", str_isnumeric, "" },
    { "isspace", str_isspace, "" },
    { "isascii", str_isascii, "" },
    { "isprintable", str_isprintable, "" },
    { "isidentifier", str_isidentifier, "" },
    { "isupper", str_isupper, "" },
    { "islower", str_islower, "" },
    { "istitle", str_istitle, "" },
    { "ljust", str_ljust, "width fillchar?" },
    { "center", str_center, "width fillchar?" },
    { "rjust", str_rjust, "width fillchar?" },
    { "zfill", str_zfill, "width" },
    { "expandtabs", str_expandtabs, "tabsize?" },
    { NULL, NULL, NULL },
};
