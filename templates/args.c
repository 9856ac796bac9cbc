/* Arguments that come one by one, and what the readers of calls share. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "templates/scan.h"
#include "templates/syntax.h"

bool syn_is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_' || c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

size_t syn_space(const char *s, size_t n)
{
    size_t at = 0;

    while (at < n && (s[at] == ' ' || (s[at] >= '\t' && s[at] <= '\r')))
        at++;
    return at;
}

size_t syn_find(const char *s, size_t n, const char *needle)
{
    const char *at = n ? memmem(s, n, needle, strlen(needle)) : NULL;

    return at ? (size_t)(at - s) : n;
}

bool syn_at(const char *s, size_t n, const char *word)
{
    size_t len = strlen(word);

    return n >= len && !memcmp(s, word, len);
}

/* jansson's object keeps keys in order; its keys are the keys as JSON, as any byte may
 * stand in them, and its values the values as JSON. */
json_t *syn_arguments_new(void)
{
    return json_object();
}

void syn_argument(json_t *args, const char *key, size_t n, const char *json, size_t len)
{
    struct buf whole = {0}, k = {0};

    for (size_t i = 0; i < n; i++)      /* JSON keys have no NUL here; see pyjson.h */
        if (key[i])
            buf_addc(&whole, key[i]);
        else
            utf8_put(&whole, 0xfffd);
    pyjson_add_string(&k, buf_str(&whole), whole.n);
    buf_release(&whole);
    json_object_set_new_nocheck(args, k.p, json_stringn_nocheck(json, len));
    buf_release(&k);
}

void syn_argument_string(json_t *args, const char *key, size_t n, const char *s,
                         size_t len)
{
    struct buf v = {0};

    pyjson_add_string(&v, s, len);
    syn_argument(args, key, n, v.p, v.n);
    buf_release(&v);
}

void syn_argument_text(json_t *args, const char *key, size_t n, const char *s, size_t len)
{
    struct scan_part part;

    if (scan_whole(s, len, &part, NULL))
        syn_argument(args, key, n, s + part.at, part.n);
    else
        syn_argument_string(args, key, n, s, len);
}

char *syn_arguments_take(json_t *args)
{
    struct buf b = {0};

    buf_addc(&b, '{');
    for (void *it = json_object_iter(args); it; it = json_object_iter_next(args, it)) {
        const json_t *v = json_object_iter_value(it);
        if (b.n > 1)
            buf_adds(&b, ", ");
        buf_adds(&b, json_object_iter_key(it));
        buf_adds(&b, ": ");
        buf_add(&b, json_string_value(v), json_string_length(v));
    }
    buf_addc(&b, '}');
    json_decref(args);
    return buf_take(&b);
}
