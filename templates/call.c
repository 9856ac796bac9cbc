/* Reading calls that are JSON: {"name": "...", "arguments": {...}}.
 *
 * The text is scanned where it stands and the arguments are cut out of it, so that 1.0
 * stays 1.0, long numbers keep their digits and keys their order. Models differ in small
 * things: other words for the members, the object inside a string, none at all for a
 * function that takes none, several calls one behind the other or in a list. Those are
 * read; anything else is an error, and the text stays with the call. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "templates/scan.h"
#include "templates/syntax.h"

/* ---- a call as such ---- */

struct tmpl_call *syn_call(struct syn_reading *r, size_t from, size_t to)
{
    struct tmpl_result *out = r->out;
    struct tmpl_call *c;

    MEM_GROW(out->calls, out->cap_calls, out->n_calls + 1);
    c = &out->calls[out->n_calls++];
    *c = (struct tmpl_call){
        .raw = xmemdup0(r->raw + from, to - from), .raw_len = to - from,
    };
    return c;
}

void syn_wrong(struct tmpl_call *c, const char *what, size_t at, size_t from)
{
    if (c->error)
        return;
    at = at > from ? at - from : 0;
    c->error = xstrdup(what);
    c->error_at = at < c->raw_len ? at : c->raw_len;
}

void syn_set_name(struct tmpl_call *c, const char *s, size_t n)
{
    if (!n || memchr(s, '\0', n) || !utf8_valid(s, n))
        return;
    free(c->name);
    c->name = xmemdup0(s, n);
}

/* ---- the members ---- */

enum member { MEMBER_NAME, MEMBER_ARGS, MEMBER_ID, MEMBER_FUNCTION, MEMBER_OTHER };

static enum member member_of(const char *s, size_t n)
{
    static const struct {
        const char *key;
        enum member is;
    } keys[] = {
        { "\"name\"", MEMBER_NAME }, { "\"tool_name\"", MEMBER_NAME },
        { "\"arguments\"", MEMBER_ARGS }, { "\"parameters\"", MEMBER_ARGS },
        { "\"id\"", MEMBER_ID }, { "\"tool_call_id\"", MEMBER_ID },
        { "\"function\"", MEMBER_FUNCTION },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == n && !memcmp(keys[i].key, s, n))
            return keys[i].is;
    return MEMBER_OTHER;
}

/* Which members an object has, each by its last occurrence. */
struct members {
    struct scan_part is[MEMBER_OTHER];
    size_t n;               /* of all of them */
    bool others;            /* some are none of those */
};

/* The object at s[at]; it was scanned before. */
static void members_find(const char *s, size_t n, size_t at, struct members *out)
{
    struct scan sc = { .s = s, .n = n, .at = at };
    struct scan_member m;
    bool more = true;

    *out = (struct members){0};
    scan_open(&sc);
    while (scan_next_member(&sc, &m, &more) && more) {
        enum member which = member_of(s + m.key.at, m.key.n);
        out->n++;
        if (which == MEMBER_OTHER)
            out->others = true;
        else
            out->is[which] = m.value;
    }
}

/* Arguments inside a string: {"arguments": "{\"a\": 1}"}. */
static char *arguments_in_string(const char *s, size_t n)
{
    char *text = scan_string(s, n);
    struct scan_part part;
    char *args = NULL;

    if (text && scan_whole(text, strlen(text), &part, NULL) && text[part.at] == '{')
        args = xmemdup0(text + part.at, part.n);
    free(text);
    return args;
}

static void set_arguments(struct syn_reading *r, struct tmpl_call *c, struct scan_part p,
                          size_t raw_from)
{
    const char *s = r->raw + p.at;

    if (!p.n || (p.n == 4 && !memcmp(s, "null", 4)))
        c->arguments = xstrdup("{}");
    else if (*s == '{')
        c->arguments = xmemdup0(s, p.n);
    else if (*s == '"')
        c->arguments = arguments_in_string(s, p.n);
    if (!c->arguments)
        syn_wrong(c, "the arguments of the call are not a JSON object", p.at, raw_from);
}

void syn_json_arguments(struct syn_reading *r, struct tmpl_call *c, size_t from,
                        size_t to, size_t raw_from)
{
    struct pyjson_bad bad;
    struct scan_part part;

    from += syn_space(r->raw + from, to - from);
    if (from == to)
        c->arguments = xstrdup("{}");
    else if (scan_whole(r->raw + from, to - from, &part, &bad))
        set_arguments(r, c, (struct scan_part){ from + part.at, part.n }, raw_from);
    else
        syn_wrong(c, bad.what, from + bad.at, raw_from);
}

void syn_read_arguments(struct syn_reading *r)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);

    if (r->name)
        syn_set_name(c, r->name, strlen(r->name));
    if (!c->name)
        syn_wrong(c, "the call has no name", 0, 0);
    syn_json_arguments(r, c, 0, r->n, 0);
}

/* ---- a call as an object ---- */

static void read_name(struct syn_reading *r, struct tmpl_call *c, struct scan_part p,
                      size_t raw_from, size_t at)
{
    char *name = p.n ? scan_string(r->raw + p.at, p.n) : NULL;

    if (!p.n)
        syn_wrong(c, "the call has no \"name\"", at, raw_from);
    else if (!name || !*name)
        syn_wrong(c, "the \"name\" of the call is not a name", p.at, raw_from);
    else
        syn_set_name(c, name, strlen(name));
    free(name);
}

/* v is the object, which was scanned; the call's raw begins at raw_from. */
static void read_object(struct syn_reading *r, struct tmpl_call *c, struct scan_part v,
                        size_t raw_from)
{
    struct members m, inner;
    struct scan_part f;

    members_find(r->raw, v.at + v.n, v.at, &m);
    f = m.is[MEMBER_FUNCTION];
    if (f.n && r->raw[f.at] == '{' && !m.is[MEMBER_NAME].n) {
        members_find(r->raw, f.at + f.n, f.at, &inner);
        m.is[MEMBER_NAME] = inner.is[MEMBER_NAME];
        if (inner.is[MEMBER_ARGS].n)
            m.is[MEMBER_ARGS] = inner.is[MEMBER_ARGS];
    } else if (f.n && !m.is[MEMBER_NAME].n) {
        m.is[MEMBER_NAME] = f;
    }
    read_name(r, c, m.is[MEMBER_NAME], raw_from, v.at);
    set_arguments(r, c, m.is[MEMBER_ARGS], raw_from);
    if (m.is[MEMBER_ID].n)
        c->id = scan_string(r->raw + m.is[MEMBER_ID].at, m.is[MEMBER_ID].n);
    if (c->id && !*c->id) {
        free(c->id);
        c->id = NULL;
    }
}

/* {"NAME": {...}} */
static void read_object_by_name(struct syn_reading *r, struct tmpl_call *c,
                                struct scan_part v, size_t raw_from)
{
    struct scan sc = { .s = r->raw, .n = v.at + v.n, .at = v.at };
    struct scan_member m = {0}, next;
    bool more = true;

    scan_open(&sc);
    scan_next_member(&sc, &m, &more);
    if (more && scan_next_member(&sc, &next, &more) && !more) {
        read_name(r, c, m.key, raw_from, v.at);
        set_arguments(r, c, m.value, raw_from);
    } else {
        read_object(r, c, v, raw_from);
    }
}

/* ---- several calls ---- */

typedef void read_object_fn(struct syn_reading *r, struct tmpl_call *c,
                            struct scan_part v, size_t raw_from);

struct call_list {
    struct scan_part *v;        /* (n) values that are calls */
    size_t n, cap;
    bool listed;                /* some stand in a list */
    struct pyjson_bad bad;      /* what is NULL: all could be read */
    size_t bad_from;            /* behind the last value that could */
};

static void call_list_add(struct call_list *l, struct scan_part v)
{
    MEM_GROW(l->v, l->cap, l->n + 1);
    l->v[l->n++] = v;
    l->bad_from = v.at + v.n;
}

static bool call_list_scan(struct call_list *l, struct scan *sc)
{
    struct scan_part v;
    bool more = true;

    if (scan_peek(sc) != '[') {
        v.at = sc->at;
        if (!scan_value(sc))
            return false;
        v.n = sc->at - v.at;
        call_list_add(l, v);
        return true;
    }
    l->listed = true;
    scan_open(sc);
    for (;;) {
        if (!scan_next_item(sc, &v, &more))
            return false;
        if (!more)
            return true;
        call_list_add(l, v);
    }
}

/* JSON values with white space, commas or semicolons between them. */
static void call_list_find(struct call_list *l, const char *s, size_t n)
{
    struct scan sc = { .s = s, .n = n };

    do {
        scan_space(&sc);
        while (l->n && (scan_peek(&sc) == ',' || scan_peek(&sc) == ';')) {
            sc.at++;
            scan_space(&sc);
        }
        if (sc.at == n && l->n)
            return;
    } while (call_list_scan(l, &sc) && (l->n || sc.at < n));
    l->bad = sc.bad;
}

/* What stands behind the only value is no JSON: the value may not be all there is to
 * say. */
static bool has_rest(const struct call_list *l, const char *s, size_t n)
{
    size_t at = l->bad_from + syn_space(s + l->bad_from, n - l->bad_from);

    return l->bad.what && l->n == 1 && !l->listed && s[at] != '{' && s[at] != '[';
}

/* One call alone has the whole text; of several each has its own. */
static void read_list(struct syn_reading *r, read_object_fn *read)
{
    struct call_list l = {0};

    call_list_find(&l, r->raw, r->n);
    if (has_rest(&l, r->raw, r->n)) {
        syn_wrong(syn_call(r, 0, r->n), "something stands behind the value", l.bad.at, 0);
        free(l.v);
        return;
    }
    bool alone = l.n == 1 && !l.listed && !l.bad.what;
    for (size_t i = 0; i < l.n; i++) {
        struct scan_part v = l.v[i];
        size_t from = alone ? 0 : v.at;
        struct tmpl_call *c = syn_call(r, from, alone ? r->n : v.at + v.n);
        if (r->raw[v.at] == '{')
            read(r, c, v, from);
        else
            syn_wrong(c, "the call is not a JSON object", v.at, from);
    }
    if (l.bad.what) {
        size_t from = l.n ? l.bad_from : 0;
        syn_wrong(syn_call(r, from, r->n), l.bad.what, l.bad.at, from);
    }
    free(l.v);
}

void syn_read_json(struct syn_reading *r)
{
    read_list(r, read_object);
}

void syn_read_json_by_name(struct syn_reading *r)
{
    read_list(r, read_object_by_name);
}

bool syn_is_json_call(const char *raw, size_t n)
{
    struct call_list l = {0};
    bool ok;

    call_list_find(&l, raw, n);
    ok = l.n && !l.bad.what;
    for (size_t i = 0; ok && i < l.n; i++) {
        struct members m;
        char *name;
        ok = raw[l.v[i].at] == '{';
        if (!ok)
            break;
        members_find(raw, l.v[i].at + l.v[i].n, l.v[i].at, &m);
        name = m.is[MEMBER_NAME].n ? scan_string(raw + m.is[MEMBER_NAME].at,
                                                 m.is[MEMBER_NAME].n)
                                   : NULL;
        ok = name && *name && m.is[MEMBER_ARGS].n && raw[m.is[MEMBER_ARGS].at] == '{';
        free(name);
    }
    free(l.v);
    return ok;
}

/* ---- what a call looks like ---- */

enum syn_sure syn_begins_json(const char *raw, size_t n)
{
    size_t at = syn_space(raw, n);

    if (at == n)
        return SYN_WAIT;
    return raw[at] == '{' || raw[at] == '[' ? SYN_YES : SYN_NO;
}

enum syn_sure syn_begins_tag(const char *raw, size_t n)
{
    size_t at = syn_space(raw, n);

    if (at == n)
        return SYN_WAIT;
    if (raw[at] != '<')
        return SYN_NO;
    if (at + 1 == n)
        return SYN_WAIT;
    return raw[at + 1] == '/' ? SYN_NO : SYN_YES;
}

enum syn_sure syn_begins_json_or_tag(const char *raw, size_t n)
{
    enum syn_sure sure = syn_begins_json(raw, n);

    return sure == SYN_NO ? syn_begins_tag(raw, n) : sure;
}

enum syn_sure syn_begins_name(const char *raw, size_t n, const char *ends)
{
    size_t from = syn_space(raw, n), at = from;

    while (at < n && syn_is_name(raw[at]))
        at++;
    if (at == n)
        return SYN_WAIT;
    return at > from && raw[at] && strchr(ends, raw[at]) ? SYN_YES : SYN_NO;
}

enum syn_sure syn_begins_name_then(const char *raw, size_t n, const char *then,
                                   const char *const *one_of)
{
    char end[] = { *then, '\0' };
    enum syn_sure sure = syn_begins_name(raw, n, end);
    size_t at = syn_space(raw, n), len = strlen(then);

    if (sure != SYN_YES)
        return sure;
    while (raw[at] != *then)
        at++;
    if (memcmp(raw + at, then, n - at < len ? n - at : len))
        return SYN_NO;
    if (n - at < len)
        return SYN_WAIT;
    at += len;
    at += syn_space(raw + at, n - at);
    sure = SYN_NO;
    for (; *one_of; one_of++) {
        len = strlen(*one_of);
        if (syn_at(raw + at, n - at, *one_of))
            return SYN_YES;
        if (n - at < len && !memcmp(raw + at, *one_of, n - at))
            sure = SYN_WAIT;
    }
    return sure;
}
