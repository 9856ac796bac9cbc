/* Calls that are Python: [f(a=1, b="x"), g()] of LFM2, brave_search.call(query="x") of
 * Llama 3. Arguments are literals, which become JSON as they are read; numbers keep their
 * digits. Positional arguments have no names and are an error. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "templates/scan.h"
#include "templates/syntax.h"

#define PY_DEPTH 64

struct py {
    const char *s;
    size_t n, at;
    int depth;
    const char *what;           /* is wrong at at; NULL: nothing */
};

static bool py_wrong(struct py *p, const char *what)
{
    p->what = p->at == p->n ? "the text ends too early" : what;
    return false;
}

static int py_peek(const struct py *p)
{
    return p->at < p->n ? (unsigned char)p->s[p->at] : -1;
}

static void py_space(struct py *p)
{
    p->at += syn_space(p->s + p->at, p->n - p->at);
}

static bool py_take(struct py *p, char c)
{
    py_space(p);
    if (py_peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* ---- strings ---- */

static int py_hex(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xhh, \uhhhh, \Uhhhhhhhh; a surrogate pair in two \u is one character. */
static bool py_code(struct py *p, int digits, uint32_t *cp)
{
    *cp = 0;
    for (int i = 0; i < digits; i++, p->at++) {
        int d = p->at < p->n ? py_hex((unsigned char)p->s[p->at]) : -1;
        if (d < 0)
            return py_wrong(p, "an escape without its digits");
        *cp = *cp << 4 | (uint32_t)d;
    }
    if (digits == 4 && *cp >= 0xd800 && *cp < 0xdc00 && p->n - p->at >= 6 &&
        !memcmp(p->s + p->at, "\\u", 2)) {
        uint32_t low;
        size_t back = p->at;
        p->at += 2;
        if (!py_code(p, 4, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            *cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = back;
    }
    if (*cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
        return py_wrong(p, "an escape that is no character");
    return true;
}

/* Behind a backslash. */
static bool py_escape(struct py *p, struct buf *out)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    int c = py_peek(p);
    const char *name = c > 0 ? strchr(names, c) : NULL;
    uint32_t cp;

    if (c < 0)
        return py_wrong(p, "");
    p->at++;
    if (name) {
        buf_addc(out, values[name - names]);
    } else if (c == 'x' || c == 'u' || c == 'U') {
        if (!py_code(p, c == 'x' ? 2 : c == 'u' ? 4 : 8, &cp))
            return false;
        utf8_put(out, cp);
    } else if (c != '\n') {                     /* Python leaves others as they are */
        buf_addc(out, '\\');
        buf_addc(out, (char)c);
    }
    return true;
}

/* At a quote, or three. The templates put strings between quotes as they are, so one that
 * closes a string has something behind it that may follow a string. */
static bool py_closes(const struct py *p, const char *quotes)
{
    size_t at = p->at + strlen(quotes);

    if (!syn_at(p->s + p->at, p->n - p->at, quotes))
        return false;
    at += syn_space(p->s + at, p->n - at);
    return at == p->n || (p->s[at] && strchr(",)]}:", p->s[at]));
}

static bool py_string(struct py *p, struct buf *json)
{
    static const char *const triple[] = { "'''", "\"\"\"" };
    const char *quotes = triple[p->s[p->at] == '"'];
    struct buf text = {0};
    bool ok = true;

    if (!syn_at(p->s + p->at, p->n - p->at, quotes))
        quotes += 2;
    p->at += strlen(quotes);
    while (ok) {
        if (p->at == p->n) {
            ok = py_wrong(p, "");
        } else if (py_closes(p, quotes)) {
            p->at += strlen(quotes);
            break;
        } else if (p->s[p->at] == '\\') {
            p->at++;
            ok = py_escape(p, &text);
        } else {
            buf_addc(&text, p->s[p->at++]);
        }
    }
    if (ok)
        pyjson_add_string(json, buf_str(&text), text.n);
    buf_release(&text);
    return ok;
}

/* ---- other literals ---- */

static bool py_value(struct py *p, struct buf *json);

/* Numbers as JSON has them, and the words of both languages. */
static bool py_word(struct py *p, struct buf *json)
{
    static const char *const words[][2] = {
        { "True", "true" }, { "False", "false" }, { "None", "null" },
        { "true", "true" }, { "false", "false" }, { "null", "null" },
    };
    size_t from = p->at, end = from, n;
    struct scan_part part;

    while (end < p->n && (syn_is_name(p->s[end]) || p->s[end] == '+'))
        end++;
    n = end - from;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i][0]) == n && !memcmp(words[i][0], p->s + from, n)) {
            buf_adds(json, words[i][1]);
            p->at = end;
            return true;
        }
    }
    if (n && strchr("-0123456789", p->s[from]) && p->s[from] &&
        scan_whole(p->s + from, n, &part, NULL)) {
        buf_add(json, p->s + from, n);
        p->at = end;
        return true;
    }
    return py_wrong(p, "no value");
}

/* A list or a tuple. */
static bool py_list(struct py *p, struct buf *json, char close)
{
    bool first = true;

    p->at++;
    buf_addc(json, '[');
    while (!py_take(p, close)) {
        if (!first && !py_take(p, ','))
            return py_wrong(p, "\",\" or the closing bracket is missing");
        if (!first && py_take(p, close))
            break;
        if (!first)
            buf_adds(json, ", ");
        if (!py_value(p, json))
            return false;
        first = false;
    }
    buf_addc(json, ']');
    return true;
}

static bool py_dict(struct py *p, struct buf *json)
{
    bool first = true;

    p->at++;
    buf_addc(json, '{');
    while (!py_take(p, '}')) {
        if (!first && !py_take(p, ','))
            return py_wrong(p, "\",\" or \"}\" is missing");
        if (!first && py_take(p, '}'))
            break;
        if (!first)
            buf_adds(json, ", ");
        py_space(p);
        if (py_peek(p) != '\'' && py_peek(p) != '"')
            return py_wrong(p, "a key in quotes is missing");
        if (!py_string(p, json))
            return false;
        if (!py_take(p, ':'))
            return py_wrong(p, "\":\" is missing");
        buf_adds(json, ": ");
        if (!py_value(p, json))
            return false;
        first = false;
    }
    buf_addc(json, '}');
    return true;
}

static bool py_value(struct py *p, struct buf *json)
{
    bool ok;

    py_space(p);
    if (p->depth == PY_DEPTH)
        return py_wrong(p, "too many brackets inside each other");
    p->depth++;
    switch (py_peek(p)) {
    case '\'':
    case '"':
        ok = py_string(p, json);
        break;
    case '[':
        ok = py_list(p, json, ']');
        break;
    case '(':
        ok = py_list(p, json, ')');
        break;
    case '{':
        ok = py_dict(p, json);
        break;
    default:
        ok = py_word(p, json);
        break;
    }
    p->depth--;
    return ok;
}

bool syn_python_value(const char *s, size_t n, struct buf *json)
{
    struct py p = { .s = s, .n = n };
    size_t before = json->n;
    bool ok = py_value(&p, json);

    py_space(&p);
    if (!ok || p.at < n)
        buf_truncate(json, before);
    return ok && p.at == n;
}

/* ---- calls ---- */

static void py_name(struct py *p, size_t *from, size_t *n)
{
    py_space(p);
    *from = p->at;
    while (p->at < p->n && syn_is_name(p->s[p->at]))
        p->at++;
    *n = p->at - *from;
}

static bool py_arguments(struct py *p, json_t *args)
{
    size_t key, n;
    bool first = true;

    while (!py_take(p, ')')) {
        struct buf value = {0};
        if (!first && !py_take(p, ','))
            return py_wrong(p, "\",\" or \")\" is missing");
        if (!first && py_take(p, ')'))
            return true;
        py_name(p, &key, &n);
        if (!n || !py_take(p, '=')) {
            p->at = key;
            return py_wrong(p, "an argument has no name");
        }
        bool ok = py_value(p, &value);
        if (ok)
            syn_argument(args, p->s + key, n, value.p, value.n);
        buf_release(&value);
        if (!ok)
            return false;
        first = false;
    }
    return true;
}

/* NAME(...); of NAME.call(...) the name is what stands before the point. */
static bool py_call(struct py *p, struct syn_reading *r, bool listed)
{
    size_t begin = p->at, name, n, from = listed ? begin : 0;
    json_t *args = syn_arguments_new();
    bool ok;

    py_name(p, &name, &n);
    if (!n)
        ok = py_wrong(p, "a call was expected");
    else if (!py_take(p, '('))
        ok = py_wrong(p, "\"(\" is missing");
    else
        ok = py_arguments(p, args);
    struct tmpl_call *c = syn_call(r, from, listed && ok ? p->at : r->n);
    if (n > 5 && !memcmp(p->s + name + n - 5, ".call", 5))
        n -= 5;
    syn_set_name(c, p->s + name, n);
    char *text = syn_arguments_take(args);
    if (ok)
        c->arguments = text;
    else
        free(text);
    if (!ok)
        syn_wrong(c, p->what, p->at, from);
    return ok;
}

void syn_read_python(struct syn_reading *r)
{
    struct py p = { .s = r->raw, .n = r->n };
    bool listed = py_take(&p, '['), ok = true;

    if (listed && py_take(&p, ']'))
        return;
    do {
        py_space(&p);
        ok = py_call(&p, r, listed);
    } while (ok && listed && py_take(&p, ','));
    if (!ok)
        return;
    size_t end = p.at;
    bool closed = !listed || py_take(&p, ']');
    py_space(&p);
    if (!closed || p.at < p.n) {
        py_wrong(&p, closed ? "something stands behind the call" : "\"]\" is missing");
        syn_wrong(syn_call(r, listed ? end : 0, r->n), p.what, p.at, listed ? end : 0);
    }
}

/* ---- LFM2 ---- */

/* Asked to, LFM2 writes its calls as JSON. */
static void lfm2_read(struct syn_reading *r)
{
    size_t at = syn_space(r->raw, r->n), next = at;

    if (at < r->n && r->raw[at] == '[')
        next = at + 1 + syn_space(r->raw + at + 1, r->n - at - 1);
    if (next < r->n && r->raw[next] == '{')
        syn_read_json(r);
    else
        syn_read_python(r);
}

static const struct syn_mark lfm2_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<|tool_call_start|>", .act = SYN_DO_CALL },
    { .text = "<|tool_call_end|>", .act = SYN_DO_CALL_END },
};

const struct tmpl_syntax syn_lfm2 = {
    .name = "lfm2",
    .help = "<think>, [NAME(key=value)] in <|tool_call_start|>: LFM2",
    .in_source = SYN_LIST("<|tool_call_start|>"),
    .or_source = SYN_LIST("<|tool_list_start|>"),
    .tokens = SYN_LIST("<|tool_call_start|>"),
    SYN_MARKS(lfm2_marks),
    .read = lfm2_read,
};
