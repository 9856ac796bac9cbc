/* XTML, a call as the model writes it: attributes, typed arguments, JSON of them.
 *
 * Numbers, lists and objects are put into the arguments as they are written, so that 1.0
 * stays 1.0; jansson's object keeps keys in order and the last of two values. Nothing
 * that is wrong with a call loses text: raw has all of it. */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "templates/pyjson.h"
#include "templates/xtml_int.h"

static void xtml_call_wrong(struct xtml_call *c, const char *what, size_t at)
{
    if (c->error)
        return;
    c->error = what;
    c->error_at = at;
}

/* ---- attributes ---- */

static bool xtml_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A value without its entities; there are two. */
static char *xtml_unescape(const char *s, size_t n)
{
    struct buf b = {0};

    for (size_t i = 0; i < n; i++) {
        if (n - i >= 6 && !memcmp(s + i, "&quot;", 6)) {
            buf_addc(&b, '"');
            i += 5;
        } else if (n - i >= 5 && !memcmp(s + i, "&amp;", 5)) {
            buf_addc(&b, '&');
            i += 4;
        } else {
            buf_addc(&b, s[i]);
        }
    }
    return b.n ? buf_take(&b) : xstrdup("");
}

struct xtml_wanted {
    const char *key;
    char *value;            /* NULL: it is not there */
};

/* Read key="value" pairs behind the tag of header; of a key that comes twice the last
 * counts. False: there is something else, or a value is no text. */
static bool xtml_attributes(const char *s, size_t n, struct xtml_wanted *wanted,
                            size_t n_wanted)
{
    size_t i = 0;

    while (i < n && !xtml_is_space(s[i]))
        i++;
    for (;;) {
        while (i < n && xtml_is_space(s[i]))
            i++;
        if (i == n)
            return true;
        size_t key = i;
        while (i < n && s[i] != '=' && s[i] != '"' && !xtml_is_space(s[i]))
            i++;
        size_t key_len = i - key;
        if (!key_len || n - i < 2 || s[i] != '=' || s[i + 1] != '"')
            return false;
        const char *value = s + i + 2;
        const char *quote = memchr(value, '"', n - i - 2);
        if (!quote)
            return false;
        size_t len = (size_t)(quote - value);
        i = (size_t)(quote - s) + 1;
        if (memchr(value, '\0', len) || !utf8_valid(value, len))
            return false;
        for (size_t k = 0; k < n_wanted; k++) {
            if (strlen(wanted[k].key) != key_len ||
                memcmp(wanted[k].key, s + key, key_len))
                continue;
            free(wanted[k].value);
            wanted[k].value = xtml_unescape(value, len);
        }
    }
}

/* ---- a call ---- */

void xtml_call_begin(struct xtml_call *c, const char *header, size_t n)
{
    struct xtml_wanted tool = { "tool", NULL };
    bool readable = xtml_attributes(header, n, &tool, 1);
    size_t at = strlen(XTML_OPEN);

    c->arguments = json_object();
    if (readable && tool.value && *tool.value)
        c->name = tool.value;
    else
        free(tool.value);
    if (!readable)
        xtml_call_wrong(c, "the attributes of the call cannot be read", at);
    else if (!c->name)
        xtml_call_wrong(c, "the call has no name", at);
}

void xtml_call_argument(struct xtml_call *c, const char *header, size_t n, size_t at)
{
    static const char *const json_types[] = {
        "number", "boolean", "null", "object", "array",
    };
    struct xtml_wanted wanted[] = { { "key", NULL }, { "type", NULL } };

    buf_reset(&c->value);
    c->is_text = true;
    if (!xtml_attributes(header, n, wanted, 2))
        xtml_call_wrong(c, "the attributes of an argument cannot be read", at);
    else if (!wanted[0].value)
        xtml_call_wrong(c, "an argument has no key", at);
    else
        c->key = xstrdup(wanted[0].value);
    for (size_t i = 0; wanted[1].value && i < sizeof json_types / sizeof *json_types; i++)
        if (!strcmp(wanted[1].value, json_types[i]))
            c->is_text = false;
    if (c->block)
        xtml_call_wrong(c, "an argument stands beside a block of JSON", at);
    free(wanted[0].value);
    free(wanted[1].value);
}

void xtml_call_block(struct xtml_call *c, size_t at)
{
    buf_reset(&c->value);
    if (c->block)
        xtml_call_wrong(c, "the call has two blocks of JSON", at);
    else if (json_object_size(c->arguments))
        xtml_call_wrong(c, "a block of JSON stands beside an argument", at);
    c->block_at = c->raw.n;
}

static bool xtml_is_json(const struct buf *b)
{
    json_t *v = pyjson_load(buf_str(b), b->n, PYJSON_STRICT, NULL);

    json_decref(v);
    return v != NULL;
}

void xtml_call_argument_end(struct xtml_call *c, enum xtml_value_end end)
{
    struct buf text = {0};

    if (!c->key || (end == XTML_VALUE_CUT && !c->is_text)) {
        free(c->key);
        c->key = NULL;
        return;
    }
    if (!c->is_text && xtml_is_json(&c->value))
        buf_add(&text, c->value.p, c->value.n);
    else
        pyjson_add_string(&text, buf_str(&c->value), c->value.n);
    json_object_set_new_nocheck(c->arguments, c->key,
                                json_stringn_nocheck(text.p, text.n));
    buf_release(&text);
    free(c->key);
    c->key = NULL;
}

void xtml_call_block_end(struct xtml_call *c, enum xtml_value_end end)
{
    struct pyjson_bad bad = {0};
    json_t *v = pyjson_load(buf_str(&c->value), c->value.n, PYJSON_STRICT, &bad);

    if (end == XTML_VALUE_DONE && !v)
        xtml_call_wrong(c, "the block of JSON cannot be read", c->block_at + bad.at);
    else if (end == XTML_VALUE_DONE && !json_is_object(v))
        xtml_call_wrong(c, "the block of JSON is not an object", c->block_at);
    json_decref(v);
    free(c->block);
    c->block = xmemdup0(buf_str(&c->value), c->value.n);
}

/* The arguments that came one by one, as one object. */
static char *xtml_join_arguments(const struct xtml_call *c)
{
    struct buf b = {0};

    buf_addc(&b, '{');
    for (void *it = json_object_iter(c->arguments); it;
         it = json_object_iter_next(c->arguments, it)) {
        const char *key = json_object_iter_key(it);
        const json_t *value = json_object_iter_value(it);
        if (b.n > 1)
            buf_addc(&b, ',');
        pyjson_add_string(&b, key, strlen(key));
        buf_addc(&b, ':');
        buf_add(&b, json_string_value(value), json_string_length(value));
    }
    buf_addc(&b, '}');
    return buf_take(&b);
}

void xtml_call_end(struct xtml_call *c, enum xtml_call_end end, uint64_t at,
                   size_t *number, struct tmpl_result *out)
{
    struct tmpl_call call = { .at = at, .truncated = end == XTML_CALL_CUT };
    struct buf id = {0};

    if (end == XTML_CALL_CUT)
        xtml_call_wrong(c, "the text ended before the call did", c->raw.n);
    if (c->name) {
        buf_addf(&id, "call_%zu", (*number)++);
        call.id = buf_take(&id);
        call.name = c->name;
        c->name = NULL;
        if (!c->block)
            call.arguments = xtml_join_arguments(c);
        else if (!c->error)
            call.arguments = xstrdup(c->block);
    }
    call.block = c->block;
    c->block = NULL;
    if (c->error) {
        call.error = xstrdup(c->error);
        call.error_at = c->error_at;
    }
    assert(c->raw.n);
    call.raw_len = c->raw.n;
    call.raw = buf_take(&c->raw);
    MEM_GROW(out->calls, out->cap_calls, out->n_calls + 1);
    out->calls[out->n_calls++] = call;
    xtml_call_release(c);
}

void xtml_call_release(struct xtml_call *c)
{
    buf_release(&c->raw);
    buf_release(&c->value);
    json_decref(c->arguments);
    free(c->name);
    free(c->key);
    free(c->block);
    *c = (struct xtml_call){0};
}
