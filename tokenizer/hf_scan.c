/* tokenizer.json in a moment: the two lists that are nearly all of it are read where they
 * stand, without a tree in memory. The rest goes to jansson, which also checks it; here
 * the text is only followed closely enough to find the lists. */
#include "config.h"

#include "tokenizer/hf.h"

#include <string.h>

#include "base/utf8.h"

enum { HF_DEPTH = 64 };

static const char *scan_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Behind the string that begins at p; NULL if it has no end. */
static const char *scan_string(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return NULL;
        size_t slashes = 0;
        while (p[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            return p + 1;
    }
    return NULL;
}

/* Behind the value that begins at p; NULL if it has no end. */
static const char *scan_value(const char *p, const char *end)
{
    size_t depth = 0;

    while (p && p < end) {
        switch (*p) {
        case '"':
            p = scan_string(p, end);
            break;
        case '{':
        case '[':
            p = ++depth > HF_DEPTH ? NULL : p + 1;
            break;
        case '}':
        case ']':
            if (depth-- == 0)
                return p; /* the one around the value */
            p++;
            break;
        case ',':
            if (depth == 0)
                return p;
            p++;
            break;
        default:
            p++;
            continue;
        }
        if (p && depth == 0 && p < end && (p[-1] == '"' || p[-1] == '}' || p[-1] == ']'))
            return p;
    }
    return p;
}

/* A member of an object that is looked for; its key is written plainly. */
struct scan_member {
    const char *key;
    const char *from, *to; /* the value; to is NULL if it has no end */
};

/* Walk the object at p and note the values of n members, the last of equals. With stop,
 * the walk ends where the first of them begins. */
static void scan_members(const char *p, const char *end, struct scan_member *m, size_t n,
                         bool stop)
{
    p = scan_space(p, end);
    if (p == end || *p != '{')
        return;
    p = scan_space(p + 1, end);
    while (p < end && *p == '"') {
        struct scan_member *hit = NULL;
        const char *name = p + 1, *behind = scan_string(p, end);
        if (!behind)
            return;
        p = scan_space(behind, end);
        if (p == end || *p != ':')
            return;
        p = scan_space(p + 1, end);
        for (size_t i = 0; i < n; i++)
            if ((size_t)(behind - name) == strlen(m[i].key) + 1 &&
                memcmp(name, m[i].key, strlen(m[i].key)) == 0)
                hit = &m[i];
        if (hit)
            hit->from = p;
        if (hit && stop)
            return;
        p = scan_value(p, end);
        if (hit)
            hit->to = p;
        p = p ? scan_space(p, end) : NULL;
        if (!p || p == end || *p != ',')
            return;
        p = scan_space(p + 1, end);
    }
}

/* Copy the text up to a list, null in its place, and give what is inside of it. */
static void scan_take(const char **at, const struct scan_member *m, char open,
                      struct buf *rest, struct hf_list *l)
{
    if (!m->to || m->to - m->from < 2 || *m->from != open || m->from < *at)
        return;
    buf_add(rest, *at, (size_t)(m->from - *at));
    buf_adds(rest, "null");
    l->p = m->from + 1;
    l->end = m->to - 1;
    *at = m->to;
}

bool hf_scan(const char *text, size_t len, struct buf *rest, struct hf_list *vocab,
             struct hf_list *merges, const char **why)
{
    struct scan_member model = { .key = "model" };
    struct scan_member m[2] = { { .key = "vocab" }, { .key = "merges" } };
    const char *end = text + len, *at = text;

    scan_members(text, end, &model, 1, true);
    *why = "it has no \"model\"";
    if (!model.from || model.from == end || *model.from != '{')
        return false;
    scan_members(model.from, end, m, 2, false);
    if (m[0].from && m[1].from && m[1].from < m[0].from) {
        scan_take(&at, &m[1], '[', rest, merges);
        scan_take(&at, &m[0], '{', rest, vocab);
    } else {
        scan_take(&at, &m[0], '{', rest, vocab);
        scan_take(&at, &m[1], '[', rest, merges);
    }
    buf_add(rest, at, (size_t)(end - at));
    return true;
}

/* ---- elements ---- */

static int scan_hex(const char *p)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* Append what an escape stands for; p is behind the backslash. Returns behind it, or
 * NULL. */
static const char *scan_escape(const char *p, const char *end, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = p < end && *p ? strchr(from, *p) : NULL;

    if (known) {
        buf_addc(out, to[known - from]);
        return p + 1;
    }
    if (end - p < 5 || *p != 'u')
        return NULL;
    int cp = scan_hex(p + 1);
    p += 5;
    if (cp >= 0xD800 && cp < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        int low = scan_hex(p + 2);
        if (low < 0xDC00 || low > 0xDFFF)
            return NULL;
        cp = 0x10000 + (cp - 0xD800) * 0x400 + (low - 0xDC00);
        p += 6;
    }
    if (cp < 0 || (cp >= 0xD800 && cp <= 0xDFFF))
        return NULL;
    utf8_put(out, (uint32_t)cp);
    return p;
}

/* Read the string at l->p. One without escapes, as nearly all are, stays where it is;
 * others are written to text. */
static bool list_string(struct hf_list *l, struct buf *text, struct hf_str *out)
{
    const char *p = l->p,
               *behind = p < l->end && *p == '"' ? scan_string(p, l->end) : NULL;

    if (!behind)
        return false;
    l->p = scan_space(behind, l->end);
    *out = (struct hf_str){ p + 1, (size_t)(behind - p) - 2 };
    if (!memchr(out->p, '\\', out->n))
        return true;
    buf_reset(text);
    for (p++; p < behind - 1;) {
        const char *slash = memchr(p, '\\', (size_t)(behind - 1 - p));
        buf_add(text, p, (size_t)((slash ? slash : behind - 1) - p));
        if (!slash)
            break;
        p = scan_escape(slash + 1, behind - 1, text);
        if (!p)
            return false;
    }
    *out = (struct hf_str){ buf_str(text), text->n };
    return true;
}

static bool list_char(struct hf_list *l, char c)
{
    if (l->p == l->end || *l->p != c)
        return false;
    l->p = scan_space(l->p + 1, l->end);
    return true;
}

/* Go to the next element. False at the end; the comma between two must be there. */
static bool list_next(struct hf_list *l)
{
    if (!l->p || l->broken)
        return false;
    l->p = scan_space(l->p, l->end);
    if (l->p == l->end && !l->begun)
        return false;
    if (l->begun) {
        if (l->p == l->end)
            return false;
        l->broken = !list_char(l, ',');
    }
    l->begun = true;
    return !l->broken;
}

static bool list_number(struct hf_list *l, int64_t *id)
{
    bool minus = l->p < l->end && *l->p == '-';
    const char *p = l->p + minus, *from = p;
    int64_t v = 0;

    while (p < l->end && *p >= '0' && *p <= '9' && p - from < 18)
        v = v * 10 + (*p++ - '0');
    if (p == from || (p < l->end && *p != ',' && scan_space(p, l->end) == p))
        return false;
    *id = minus ? -v : v;
    l->p = scan_space(p, l->end);
    return true;
}

bool hf_next_token(struct hf_list *l, struct hf_str *name, int64_t *id)
{
    if (!list_next(l))
        return false;
    l->broken =
        !list_string(l, &l->left, name) || !list_char(l, ':') || !list_number(l, id);
    return !l->broken;
}

bool hf_next_merge(struct hf_list *l, struct hf_str *left, struct hf_str *right)
{
    if (!list_next(l))
        return false;
    right->p = NULL;
    if (list_char(l, '['))
        l->broken = !list_string(l, &l->left, left) || !list_char(l, ',') ||
                    !list_string(l, &l->right, right) || !list_char(l, ']');
    else
        l->broken = !list_string(l, &l->left, left);
    return !l->broken;
}

void hf_list_release(struct hf_list *l)
{
    buf_release(&l->left);
    buf_release(&l->right);
    *l = (struct hf_list){0};
}
