/* Reading a call: {"name": "...", "arguments": {...}}.
 *
 * jansson says whether the text is JSON and what is wrong where. The arguments are then
 * cut out of the text itself, so that 1.0 stays 1.0, long numbers keep their digits and
 * keys their order; numbers are decoded as reals because only their syntax matters here.
 * Models differ in small things: "parameters" for "arguments", the object inside a
 * string, none at all for a function that takes none. Those are read; anything else is an
 * error, and the raw text stays with the call. */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/internal.h"

#define CALL_JSON (JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL)

static void call_error(struct tmpl_call *c, const char *text, size_t at)
{
    c->error = xstrdup(text);
    c->error_at = at < c->raw_len ? at : c->raw_len;
}

/* ---- finding a member in text that is known to be a JSON object ---- */

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* s is at a quote; behind the closing one. */
static const char *skip_string(const char *s)
{
    for (s++; *s != '"'; s++)
        if (*s == '\\')
            s++;
    return s + 1;
}

static const char *skip_value(const char *s)
{
    int depth = 0;

    do {
        if (*s == '"') {
            s = skip_string(s);
            continue;
        }
        if (*s == '{' || *s == '[')
            depth++;
        else if (*s == '}' || *s == ']')
            depth--;
        s++;
    } while (depth || !strchr(" \t\r\n,}]", *s));
    return s;
}

/* The value of key as it is written; false when no key is spelled so. Of several the last
 * counts, as for jansson. */
static bool find_member(const char *s, const char *key, const char **from, size_t *n)
{
    size_t key_len = strlen(key);
    bool found = false;

    s = skip_space(s) + 1;
    for (s = skip_space(s); *s != '}'; s = skip_space(s)) {
        const char *name = s;
        s = skip_string(s);
        bool same = (size_t)(s - name) == key_len + 2 && !memcmp(name + 1, key, key_len);
        s = skip_space(skip_space(s) + 1);      /* over the colon */
        const char *value = s;
        s = skip_value(s);
        if (same) {
            *from = value;
            *n = (size_t)(s - value);
            found = true;
        }
        s = skip_space(s);
        if (*s == ',')
            s++;
    }
    return found;
}

/* ---- the call ---- */

static size_t member_at(const struct tmpl_call *c, const char *key)
{
    const char *from;
    size_t n;

    return find_member(c->raw, key, &from, &n) ? (size_t)(from - c->raw) : 0;
}

static void read_name(struct tmpl_call *c, const json_t *call)
{
    const json_t *name = json_object_get(call, "name");
    const char *s = json_string_value(name);

    if (!name)
        call_error(c, "the call has no \"name\"", 0);
    else if (!s || !*s || strlen(s) != json_string_length(name))
        call_error(c, "the \"name\" of the call is not a name", member_at(c, "name"));
    else
        c->name = xstrdup(s);
}

static void read_arguments(struct tmpl_call *c, const json_t *call)
{
    const char *key = json_object_get(call, "arguments") ? "arguments" : "parameters";
    const json_t *args = json_object_get(call, key);
    const char *s = json_string_value(args), *from;
    size_t n;

    if (!args) {
        c->arguments = xstrdup("{}");
    } else if (s) {
        json_t *inner = json_loadb(s, json_string_length(args), CALL_JSON, NULL);
        if (json_is_object(inner))
            c->arguments = xmemdup0(s, json_string_length(args));
        json_decref(inner);
    } else if (json_is_object(args)) {
        if (find_member(c->raw, key, &from, &n)) {
            c->arguments = xmemdup0(from, n);
        } else {                                /* the key is spelled with escapes */
            char *text = json_dumps(args, JSON_COMPACT);
            c->arguments = text ? xstrdup(text) : NULL;
            free(text);
        }
    }
    if (!c->arguments && !c->error)
        call_error(c, "the arguments of the call are not a JSON object",
                   member_at(c, key));
}

void tmpl_call_read(struct tmpl_call *c)
{
    json_error_t bad;
    json_t *call = json_loadb(c->raw, c->raw_len, CALL_JSON, &bad);
    const char *id;

    if (!call) {
        call_error(c, bad.text, bad.position > 0 ? (size_t)bad.position : 0);
        return;
    }
    if (json_is_object(call)) {
        read_name(c, call);
        read_arguments(c, call);
        id = json_string_value(json_object_get(call, "id"));
        if (id && *id)
            c->id = xstrdup(id);
    } else {
        call_error(c, "the call is not a JSON object", 0);
    }
    json_decref(call);
}

bool tmpl_call_is_whole(const char *raw, size_t len)
{
    json_t *call = json_loadb(raw, len, CALL_JSON, NULL);
    const json_t *type = json_object_get(call, "type");
    size_t members = type ? 3 : 2;

    bool whole = json_is_string(json_object_get(call, "name")) &&
                 json_is_object(json_object_get(call, "parameters")) &&
                 json_object_size(call) == members && (!type || json_is_string(type));
    json_decref(call);
    return whole;
}
