/* Two families whose calls are markup of another shape: MiniMax M3, where lists and
 * objects are elements, and MiroThinker, where server, tool and arguments have an
 * element each. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "templates/syntax.h"

/* ---- MiniMax M3 ---- */

/* The token that stands before each tag. */
#define NS "]<]minimax[>["
#define NS_LEN (sizeof NS - 1)
#define M3_DEPTH 64

struct m3 {
    const char *s;
    size_t n, at;
    int depth;
    const char *what;           /* is wrong at at; NULL: nothing */
};

static bool m3_wrong(struct m3 *m, const char *what)
{
    m->what = what;
    return false;
}

/* NS<key> at the place: true, and the place is behind it. */
static bool m3_open(struct m3 *m, const char **key, size_t *n)
{
    size_t at = m->at + NS_LEN + 1, end;

    if (!syn_at(m->s + m->at, m->n - m->at, NS "<") ||
        syn_at(m->s + m->at, m->n - m->at, NS "</"))
        return m3_wrong(m, "an element was expected");
    end = at + syn_find(m->s + at, m->n - at, ">");
    if (end == m->n || end == at)
        return m3_wrong(m, "the tag of an element cannot be read");
    *key = m->s + at;
    *n = end - at;
    m->at = end + 1;
    return true;
}

static bool m3_close(struct m3 *m, const char *key, size_t n)
{
    const char *s = m->s + m->at;
    size_t left = m->n - m->at, head = NS_LEN + 2;

    if (!syn_at(s, left, NS "</") || left < head + n + 1 || memcmp(s + head, key, n) ||
        s[head + n] != '>')
        return m3_wrong(m, "the closing tag of an element is missing");
    m->at += head + n + 1;
    return true;
}

static void m3_skip_space(struct m3 *m)
{
    m->at += syn_space(m->s + m->at, m->n - m->at);
}

static bool m3_opens(const struct m3 *m)
{
    size_t at = m->at + syn_space(m->s + m->at, m->n - m->at);

    return syn_at(m->s + at, m->n - at, NS "<") && !syn_at(m->s + at, m->n - at, NS "</");
}

static bool m3_value(struct m3 *m, json_t *args, const char *key, size_t n);

/* Elements up to a closing tag: all of them <item> make a list. */
static bool m3_elements(struct m3 *m, json_t *args, const char *key, size_t key_n)
{
    json_t *members = syn_arguments_new();
    struct buf items = {0};
    bool ok = true, list = true;

    while (ok && m3_opens(m)) {
        const char *k;
        size_t n;
        json_t *one = syn_arguments_new();
        m3_skip_space(m);
        ok = m3_open(m, &k, &n) && m3_value(m, one, "", 0) && m3_close(m, k, n);
        if (ok) {
            const json_t *v = json_object_iter_value(json_object_iter(one));
            const char *text = json_string_value(v);
            size_t len = json_string_length(v);
            list = list && n == 4 && !memcmp(k, "item", 4);
            buf_adds(&items, items.n ? ", " : "[");
            buf_add(&items, text, len);
            syn_argument(members, k, n, text, len);
        }
        json_decref(one);
    }
    m3_skip_space(m);
    char *object = syn_arguments_take(members);
    buf_addc(&items, ']');
    if (ok)
        syn_argument(args, key, key_n, list ? items.p : object,
                     list ? items.n : strlen(object));
    buf_release(&items);
    free(object);
    return ok;
}

/* The content of an element becomes args[key]. */
static bool m3_value(struct m3 *m, json_t *args, const char *key, size_t n)
{
    bool ok = true;

    if (m3_opens(m)) {
        if (m->depth == M3_DEPTH)
            return m3_wrong(m, "too many elements inside each other");
        m->depth++;
        ok = m3_elements(m, args, key, n);
        m->depth--;
        return ok;
    }
    size_t end = m->at + syn_find(m->s + m->at, m->n - m->at, NS "</");
    if (end == m->n)
        return m3_wrong(m, "an element does not end");
    syn_argument_text(args, key, n, m->s + m->at, end - m->at);
    m->at = end;
    return true;
}

/* <invoke name="NAME">: the name. */
static bool m3_invoke(struct m3 *m, const char **name, size_t *n)
{
    static const char word[] = "invoke name=\"";
    const char *tag;
    size_t len;

    if (!m3_open(m, &tag, &len))
        return false;
    if (!syn_at(tag, len, word) || tag[len - 1] != '"' || len <= strlen(word) + 1)
        return m3_wrong(m, "the tag of the call cannot be read");
    *name = tag + strlen(word);
    *n = len - strlen(word) - 1;
    return true;
}

static void m3_read(struct syn_reading *r)
{
    struct m3 m = { .s = r->raw, .n = r->n };

    m3_skip_space(&m);
    while (m.at < m.n && !m.what) {
        json_t *args = syn_arguments_new();
        size_t from = m.at, n = 0, k_n;
        const char *name = NULL, *k;
        bool ok = m3_invoke(&m, &name, &n);

        while (ok && m3_opens(&m)) {
            m3_skip_space(&m);
            ok = m3_open(&m, &k, &k_n) && m3_value(&m, args, k, k_n) &&
                 m3_close(&m, k, k_n);
        }
        m3_skip_space(&m);
        ok = ok && m3_close(&m, "invoke", 6);
        size_t to = ok ? m.at : m.n;
        m3_skip_space(&m);
        bool alone = r->out->n_calls == r->first && (!ok || m.at == m.n);
        if (alone)
            from = 0;
        struct tmpl_call *c = syn_call(r, from, alone ? m.n : to);
        syn_set_name(c, name, n);
        char *text = syn_arguments_take(args);
        if (ok)
            c->arguments = text;
        else
            free(text);
        if (!ok)
            syn_wrong(c, m.what, m.at, from);
    }
}

static const struct syn_mark m3_marks[] = {
    { .text = "<mm:think>", .act = SYN_DO_THINK },
    { .text = "</mm:think>", .act = SYN_DO_THINK_END },
    { .text = NS "<tool_call>", .act = SYN_DO_CALL },
    { .text = NS "</tool_call>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("[e~["),
};

const struct tmpl_syntax syn_minimax_m3 = {
    .name = "minimax-m3",
    .help = "<mm:think>, elements in " NS "<tool_call>: MiniMax M3",
    .in_source = SYN_LIST(NS),
    .tokens = SYN_LIST(NS),
    SYN_MARKS(m3_marks),
    .inside = SYN_LIST(NS),
    .read = m3_read,
};

/* ---- MiroThinker ---- */

/* The text between <word> and </word> from at on; *at is behind it. */
static bool mcp_part(const struct syn_reading *r, size_t *at, const char *open,
                     const char *close, const char **what, size_t *from, size_t *to)
{
    *at += syn_space(r->raw + *at, r->n - *at);
    if (!syn_at(r->raw + *at, r->n - *at, open)) {
        *what = "an element is missing";
        return false;
    }
    *from = *at + strlen(open);
    *to = *from + syn_find(r->raw + *from, r->n - *from, close);
    if (*to == r->n) {
        *what = "an element does not end";
        return false;
    }
    *at = *to + strlen(close);
    *from += syn_space(r->raw + *from, *to - *from);
    while (*to > *from && syn_space(r->raw + *to - 1, 1))
        --*to;
    return true;
}

/* <server_name>, <tool_name>, <arguments>, and again. The tool's name is the call's. */
static void mcp_read(struct syn_reading *r)
{
    size_t at = syn_space(r->raw, r->n), from, to, name, name_to;
    const char *what = NULL;

    while (at < r->n && !what) {
        size_t begin = at;
        struct tmpl_call *c;
        bool named, ok;

        named = mcp_part(r, &at, "<server_name>", "</server_name>", &what, &from, &to) &&
                mcp_part(r, &at, "<tool_name>", "</tool_name>", &what, &name, &name_to);
        ok = named && mcp_part(r, &at, "<arguments>", "</arguments>", &what, &from, &to);
        size_t end = ok ? at : r->n;
        size_t next = end + syn_space(r->raw + end, r->n - end);
        bool alone = r->out->n_calls == r->first && next == r->n;
        if (alone)
            begin = 0;
        c = syn_call(r, begin, alone ? r->n : end);
        if (named)
            syn_set_name(c, r->raw + name, name_to - name);
        if (ok)
            syn_json_arguments(r, c, from, to, begin);
        else
            syn_wrong(c, what, at, begin);
        at = next;
    }
}

static const struct syn_mark mcp_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<use_mcp_tool>", .act = SYN_DO_CALL, .begins = syn_begins_tag },
    { .text = "</use_mcp_tool>", .act = SYN_DO_CALL_END },
    { .text = "<tool_call>", .act = SYN_DO_CALL, .group = 1, .begins = syn_begins_json },
    { .text = "</tool_call>", .act = SYN_DO_CALL_END, .group = 1 },
};

static void miro_read(struct syn_reading *r)
{
    if (syn_begins_json(r->raw, r->n) == SYN_YES)
        syn_read_json(r);
    else
        mcp_read(r);
}

const struct tmpl_syntax syn_mcp = {
    .name = "mcp",
    .help = "<think>, <use_mcp_tool>, JSON in <tool_call>: MiroThinker",
    .also = "mirothinker",
    .in_source = SYN_LIST("<use_mcp_tool>"),
    SYN_MARKS(mcp_marks),
    .guard = SYN_GUARD_STRINGS | SYN_GUARD_SPANS,
    .span_open = "<arguments>",
    .span_close = "</arguments>",
    .read = miro_read,
};
