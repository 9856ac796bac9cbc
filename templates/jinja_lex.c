#include "config.h"

#include <stdlib.h>

#include "templates/jinja_ast.h"

/* From text to tokens, with Jinja2's rules for white space under trim_blocks and
 * lstrip_blocks:
 *
 *   {%- {{- {#-   strip all white space before      -%} -}} -#}   ... and all behind
 *   {%  {#        strip spaces and tabs before, if only they stand between the tag and
 * the start of its line; {%+ {#+ keep them
 *   %}  #}        swallow one line break behind; +%} +#} keep it
 *
 * {{ }} strips nothing by itself. Line breaks become \n, and one at the end of the
 * template is dropped. Inside brackets an end tag is no end tag, so {{ {'a': {}} }}
 * works. */

enum { MAX_BRACKETS = 256 };

struct lexer {
    struct jj *jj;
    const char *p;
    size_t n, at;
    int line;
    size_t counted;  /* lines are counted up to here */
    bool line_start; /* the last token ended with a line break */
    char brackets[MAX_BRACKETS];
    size_t n_brackets;
    struct jj_tokens *out;
};

static const struct {
    const char *text;
    enum jj_token_kind kind;
} operators[] = {
    { "//", JJ_T_FLOORDIV }, { "**", JJ_T_POW },      { "==", JJ_T_EQ },
    { "!=", JJ_T_NE },       { ">=", JJ_T_GE },       { "<=", JJ_T_LE },
    { "+", JJ_T_ADD },       { "-", JJ_T_SUB },       { "/", JJ_T_DIV },
    { "*", JJ_T_MUL },       { "%", JJ_T_MOD },       { "~", JJ_T_TILDE },
    { "[", JJ_T_LBRACKET },  { "]", JJ_T_RBRACKET },  { "(", JJ_T_LPAREN },
    { ")", JJ_T_RPAREN },    { "{", JJ_T_LBRACE },    { "}", JJ_T_RBRACE },
    { ">", JJ_T_GT },        { "<", JJ_T_LT },        { "=", JJ_T_ASSIGN },
    { ".", JJ_T_DOT },       { ":", JJ_T_COLON },     { "|", JJ_T_PIPE },
    { ",", JJ_T_COMMA },     { ";", JJ_T_SEMICOLON },
};

static char ahead(const struct lexer *x, size_t k)
{
    return x->at + k < x->n ? x->p[x->at + k] : '\0';
}

static bool starts(const struct lexer *x, size_t at, const char *text)
{
    size_t n = strlen(text);

    return at <= x->n && n <= x->n - at && memcmp(x->p + at, text, n) == 0;
}

static void count_lines(struct lexer *x, size_t to)
{
    for (; x->counted < to; x->counted++)
        x->line += x->p[x->counted] == '\n';
    x->jj->line = x->line;
}

static struct jj_token *emit(struct lexer *x, enum jj_token_kind kind, size_t from,
                             size_t to)
{
    struct jj_tokens *o = x->out;

    count_lines(x, from);
    if (o->n == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 256;
        o->v = jj_grow(x->jj, o->v, o->cap * sizeof *o->v, cap * sizeof *o->v);
        o->cap = cap;
    }
    o->v[o->n] = (struct jj_token){
        .kind = kind, .line = x->line, .p = x->p + from, .n = to - from
    };
    return &o->v[o->n++];
}

static size_t skip_space(const struct lexer *x, size_t at)
{
    uint32_t cp;

    while (at < x->n) {
        size_t len = jj_char(x->p + at, x->n - at, &cp);
        if (!jj_is_space(cp))
            break;
        at += len;
    }
    return at;
}

static size_t skip_space_back(const struct lexer *x, size_t from, size_t to)
{
    uint32_t cp;

    while (to > from) {
        size_t len = jj_char_before(x->p + from, to - from, &cp);
        if (!jj_is_space(cp))
            break;
        to -= len;
    }
    return to;
}

/* Emit the text [from, to) in front of a tag whose sign is given; variable tags strip
 * only on demand. */
static void emit_data(struct lexer *x, size_t from, size_t to, char sign, bool variable)
{
    size_t end = to;

    if (sign == '-') {
        end = skip_space_back(x, from, to);
    } else if (sign != '+' && !variable) {
        size_t line = skip_space_back(x, from, to);
        /* Back to the start of the tag's line, if nothing else stands on it. */
        const char *nl = memrchr(x->p + from, '\n', to - from);
        size_t start = nl ? (size_t)(nl - x->p) + 1 : from;
        if ((nl || x->line_start) && line <= start)
            end = start;
    }
    if (end > from) {
        struct jj_token *t = emit(x, JJ_T_DATA, from, end);
        t->value = jj_string(jj_str_new(x->jj, x->p + from, end - from, JINJA_TEMPLATE));
    }
}

/* Behind an end tag at at: its sign has been seen. */
static size_t after_tag(struct lexer *x, size_t at, char sign, bool trim)
{
    if (sign == '-')
        at = skip_space(x, at);
    else if (sign != '+' && trim && at < x->n && x->p[at] == '\n')
        at++;
    x->line_start = at > 0 && x->p[at - 1] == '\n';
    return at;
}

/* ---- inside a tag ---- */

/* The end of the letters, digits and underscores at at. */
static size_t skip_word(const struct lexer *x, size_t at)
{
    uint32_t cp;

    while (at < x->n) {
        size_t len = jj_char(x->p + at, x->n - at, &cp);
        if (!jj_is_word(cp))
            break;
        at += len;
    }
    return at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with single underscores between them. */
static size_t skip_digits(const struct lexer *x, size_t at)
{
    while (at < x->n && (is_digit(x->p[at]) ||
                         (x->p[at] == '_' && at + 1 < x->n && is_digit(x->p[at + 1]))))
        at++;
    return at;
}

static size_t float_end(const struct lexer *x)
{
    size_t at = skip_digits(x, x->at), whole = at;

    if (at < x->n && x->p[at] == '.' && at + 1 < x->n && is_digit(x->p[at + 1]))
        at = skip_digits(x, at + 1);
    if (at < x->n && (x->p[at] | 0x20) == 'e') {
        size_t k = at + 1;
        if (k < x->n && (x->p[k] == '+' || x->p[k] == '-'))
            k++;
        if (k < x->n && is_digit(x->p[k]))
            at = skip_digits(x, k);
    }
    return at > whole && !(x->at > 0 && x->p[x->at - 1] == '.') ? at : 0;
}

/* 0x1F and its like; 0 when no digit of the base follows. */
static size_t prefixed_end(const struct lexer *x)
{
    static const char digits[] = "0123456789abcdef";
    char c = (char)(ahead(x, 1) | 0x20);
    size_t n = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0, end = 0;

    for (size_t at = x->at + 2; n && at < x->n; at++) {
        char d = x->p[at] >= 'A' && x->p[at] <= 'F' ? (char)(x->p[at] | 0x20) : x->p[at];
        if (d && memchr(digits, d, n))
            end = at + 1;
        else if (d != '_' || x->p[at - 1] == '_')
            break;
    }
    return ahead(x, 0) == '0' ? end : 0;
}

static size_t int_end(const struct lexer *x)
{
    size_t at = prefixed_end(x);

    if (at)
        return at;
    if (ahead(x, 0) != '0')
        return skip_digits(x, x->at);
    for (at = x->at + 1; at < x->n && (x->p[at] == '0' || x->p[at] == '_');)
        at++;
    return x->p[at - 1] == '_' ? at - 1 : at;
}

static void lex_number(struct lexer *x)
{
    size_t end = float_end(x);
    bool real = end > 0;

    if (!real)
        end = int_end(x);

    struct jj_token *t = emit(x, JJ_T_NUMBER, x->at, end);
    struct jj_str s = { .p = t->p, .n = t->n };
    int64_t i = 0;
    double d = 0;
    if (real && jj_parse_float(x->jj, &s, &d)) {
        t->value = jj_float(d, JINJA_TEMPLATE);
    } else if (!real && jj_parse_int(&s, 0, &i)) {
        t->value = jj_int(i, JINJA_TEMPLATE);
    } else if (!real && t->n >= 19 && strspn(t->p, "0123456789") >= t->n) {
        t->value = jj_string(jj_str_new(x->jj, t->p, t->n, JINJA_TEMPLATE));
        t->value.type = JJ_BIG;
    } else {
        jj_fail(x->jj, "bad number %.*s", JJ_TEXT(t));
    }
    x->at = end;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \xHH \uHHHH \UHHHHHHHH: the character; at stands behind the letter. */
static size_t unescape_code(struct lexer *x, struct jj_out *o, size_t at, size_t end,
                            size_t digits)
{
    uint32_t cp = 0;
    char text[4];
    size_t n;

    for (size_t k = 0; k < digits; k++, at++) {
        int d = at < end ? hex_digit(x->p[at]) : -1;
        if (d < 0)
            jj_fail(x->jj, "truncated escape in a string");
        cp = cp * 16 + (uint32_t)d;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
        jj_fail(x->jj, "a string names U+%04X, which is no character", cp);
    jj_put(text, &n, cp);
    jj_out_add(o, text, n, JINJA_TEMPLATE);
    return at;
}

static size_t unescape_octal(struct lexer *x, struct jj_out *o, size_t at, size_t end)
{
    uint32_t cp = 0;
    char text[4];
    size_t n;

    for (size_t k = 0; k < 3 && at < end && x->p[at] >= '0' && x->p[at] < '8'; k++)
        cp = cp * 8 + (uint32_t)(x->p[at++] - '0');
    jj_put(text, &n, cp);
    jj_out_add(o, text, n, JINJA_TEMPLATE);
    return at;
}

/* The escape behind a backslash at at - 1. Python keeps unknown ones as they are. */
static size_t unescape(struct lexer *x, struct jj_out *o, size_t at, size_t end)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    char c = x->p[at];
    const char *known = c ? strchr(from, c) : NULL;

    if (known) {
        jj_out_add(o, &to[known - from], 1, JINJA_TEMPLATE);
        return at + 1;
    }
    if (c == '\n')
        return at + 1;
    if (c == 'x' || c == 'u' || c == 'U')
        return unescape_code(x, o, at + 1, end, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (c >= '0' && c < '8')
        return unescape_octal(x, o, at, end);
    if (c == 'N')
        jj_fail(x->jj, "characters by name (\\N) are not known here");
    jj_out_add(o, "\\", 1, JINJA_TEMPLATE);
    return at;
}

static void lex_string(struct lexer *x)
{
    char quote = x->p[x->at];
    size_t end = x->at + 1, from = end;
    struct jj_out o;

    while (end < x->n && x->p[end] != quote)
        end += x->p[end] == '\\' ? 2 : 1;
    count_lines(x, x->at);
    if (end >= x->n)
        jj_fail(x->jj, "a string is not closed");
    jj_out_init(&o, x->jj);
    for (size_t i = from; i < end;) {
        if (x->p[i] == '\\') {
            i = unescape(x, &o, i + 1, end);
            continue;
        }
        size_t n = 1;
        while (i + n < end && x->p[i + n] != '\\')
            n++;
        jj_out_add(&o, x->p + i, n, JINJA_TEMPLATE);
        i += n;
    }
    emit(x, JJ_T_STRING, x->at, end + 1)->value = jj_string(jj_out_finish(&o));
    x->at = end + 1;
}

static void balance(struct lexer *x, char c)
{
    static const char open[] = "([{", close[] = ")]}";
    const char *k = strchr(open, c);

    if (k) {
        if (x->n_brackets == MAX_BRACKETS)
            jj_fail(x->jj, "more than %d brackets inside each other", MAX_BRACKETS);
        x->brackets[x->n_brackets++] = close[k - open];
    } else if (strchr(close, c)) {
        if (x->n_brackets == 0)
            jj_fail(x->jj, "unexpected '%c'", c);
        if (x->brackets[--x->n_brackets] != c)
            jj_fail(x->jj, "unexpected '%c', expected '%c'", c,
                    x->brackets[x->n_brackets]);
    }
}

static void lex_operator(struct lexer *x)
{
    count_lines(x, x->at);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (starts(x, x->at, operators[i].text)) {
            size_t n = strlen(operators[i].text);
            emit(x, operators[i].kind, x->at, x->at + n);
            if (n == 1)
                balance(x, x->p[x->at]);
            x->at += n;
            return;
        }
    jj_fail(x->jj, "unexpected character '%.*s'",
            (int)(x->n - x->at < 4 ? x->n - x->at : 1), x->p + x->at);
}

/* At the end of the tag: emit it and step behind. */
static bool lex_tag_end(struct lexer *x, bool variable)
{
    const char *end = variable ? "}}" : "%}";
    char sign =
        ahead(x, 0) == '-' || (ahead(x, 0) == '+' && !variable) ? ahead(x, 0) : '\0';
    size_t at = x->at + (sign != '\0');

    if (x->n_brackets || !starts(x, at, end))
        return false;
    emit(x, variable ? JJ_T_PRINT_END : JJ_T_TAG_END, x->at, at + 2);
    x->at = after_tag(x, at + 2, sign, !variable);
    return true;
}

static void lex_tag(struct lexer *x, bool variable)
{
    x->n_brackets = 0;
    for (;;) {
        x->at = skip_space(x, x->at);
        count_lines(x, x->at);
        if (x->at >= x->n)
            jj_fail(x->jj, "a tag is not closed");
        if (lex_tag_end(x, variable))
            return;

        char c = x->p[x->at];
        size_t word = skip_word(x, x->at);
        if (is_digit(c)) {
            lex_number(x);
        } else if (word > x->at) {
            emit(x, JJ_T_NAME, x->at, word);
            x->at = word;
        } else if (c == '\'' || c == '"') {
            lex_string(x);
        } else {
            lex_operator(x);
        }
    }
}

/* ---- outside ---- */

static void lex_comment(struct lexer *x)
{
    const char *end = memmem(x->p + x->at, x->n - x->at, "#}", 2);

    count_lines(x, x->at);
    if (!end)
        jj_fail(x->jj, "a comment is not closed");
    char sign = end > x->p + x->at && (end[-1] == '-' || end[-1] == '+') ? end[-1] : '\0';
    x->at = after_tag(x, (size_t)(end - x->p) + 2, sign, true);
}

/* "{% NAME %}" at at: where it ends, or 0. Gives the signs at both ends. */
static size_t plain_tag(const struct lexer *x, size_t at, const char *name, char sign[2])
{
    if (!starts(x, at, "{%"))
        return 0;
    at += 2;
    sign[0] = at < x->n && (x->p[at] == '-' || x->p[at] == '+') ? x->p[at++] : '\0';
    at = skip_space(x, at);
    if (!starts(x, at, name))
        return 0;
    at = skip_space(x, at + strlen(name));
    sign[1] = at < x->n && (x->p[at] == '-' || x->p[at] == '+') ? x->p[at++] : '\0';
    return starts(x, at, "%}") ? at + 2 : 0;
}

/* Behind {% raw %}: text up to {% endraw %}. */
static void lex_raw(struct lexer *x)
{
    char sign[2];

    count_lines(x, x->at);
    for (size_t i = x->at; i + 1 < x->n; i++) {
        size_t end = x->p[i] == '{' ? plain_tag(x, i, "endraw", sign) : 0;
        if (end) {
            emit_data(x, x->at, i, sign[0], false);
            x->at = after_tag(x, end, sign[1], true);
            return;
        }
    }
    jj_fail(x->jj, "{%% raw %%} is not closed");
}

/* One tag at at, with the text [from, at) before it. */
static void lex_open(struct lexer *x, size_t from, size_t at)
{
    char kind = x->p[at + 1], sign[2];
    size_t raw = plain_tag(x, at, "raw", sign);

    if (raw && sign[1] != '+') {
        emit_data(x, from, at, sign[0], false);
        x->at = after_tag(x, raw, sign[1], false);
        lex_raw(x);
        return;
    }
    x->at = at + 2;
    sign[0] = ahead(x, 0) == '-' || ahead(x, 0) == '+' ? ahead(x, 0) : '\0';
    x->at += sign[0] != '\0';
    emit_data(x, from, at, sign[0], kind == '{');
    if (kind == '#') {
        lex_comment(x);
        return;
    }
    emit(x, kind == '{' ? JJ_T_PRINT_BEGIN : JJ_T_TAG_BEGIN, at, x->at);
    lex_tag(x, kind == '{');
}

static void lex_all(struct lexer *x)
{
    for (size_t from = 0, at = 0; from < x->n;) {
        const char *brace = at < x->n ? memchr(x->p + at, '{', x->n - at) : NULL;
        if (!brace || brace + 1 == x->p + x->n) {
            emit_data(x, from, x->n, '+', true);
            break;
        }
        at = (size_t)(brace - x->p);
        if (brace[1] != '{' && brace[1] != '%' && brace[1] != '#') {
            at++;
            continue;
        }
        lex_open(x, from, at);
        from = at = x->at;
    }
    emit(x, JJ_T_END, x->n, x->n);
}

void jj_lex(struct jj *jj, const char *source, size_t n, struct jj_tokens *out)
{
    struct lexer x = { .jj = jj, .line = 1, .line_start = true, .out = out };
    char *p = jj_alloc(jj, n + 1);
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (source[i] == '\r' && i + 1 < n && source[i + 1] == '\n')
            continue;
        p[k++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (k && p[k - 1] == '\n')
        k--;
    x.p = p;
    x.n = k;
    lex_all(&x);
}
