/* An answer that is a call and nothing else, {"name": ..., "parameters": ...}, has no
 * marker. It is held back as long as it can be one, which the first key that no call
 * has decides: an answer that is some other JSON streams from there on. Only shape is
 * looked at here; whether it is a call is decided by whoever reads it when it has
 * ended. */
#include "config.h"

#include <string.h>

#include "templates/syntax.h"

static bool bare_is_key(const struct syn_bare *b, const char *args_key)
{
    const char *const keys[] = { "name", "type", "id", args_key };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == b->key_len && !memcmp(keys[i], b->key, b->key_len))
            return true;
    return false;
}

static bool bare_in_string(struct syn_bare *b, char c, const char *args_key)
{
    if (b->escaped) {
        b->escaped = false;
    } else if (c == '\\') {
        b->escaped = true;
    } else if (c == '"') {
        b->in_string = false;
        return !b->is_key || bare_is_key(b, args_key);
    } else if ((unsigned char)c < 0x20) {
        return false;
    }
    if (!b->is_key)
        return true;
    if (b->key_len == sizeof b->key)
        return false;
    b->key[b->key_len++] = c;
    return true;
}

static bool bare_opens(struct syn_bare *b, char c)
{
    if (!b->depth)
        b->call_depth = c == '[' ? 2 : 1;
    else if (b->depth < b->call_depth && c != '{')
        return false;
    if (++b->depth == b->call_depth) {
        if (c != '{')
            return false;
        b->wants_key = true;
    }
    return true;
}

bool syn_bare_feed(struct syn_bare *b, char c, const char *args_key)
{
    if (b->in_string)
        return bare_in_string(b, c, args_key);
    switch (c) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
        return true;
    case '{':
    case '[':
        return bare_opens(b, c);
    case '}':
    case ']':
        b->wants_key = false;
        return b->depth-- > 0;
    case '"':
        if (b->depth < b->call_depth || !b->depth)
            return false;
        b->in_string = true;
        b->is_key = b->depth == b->call_depth && b->wants_key;
        b->wants_key = false;
        b->key_len = 0;
        return true;
    case ',':
        if (b->depth == b->call_depth)
            b->wants_key = true;
        return b->depth > 0;
    case ';':
        return !b->depth;
    default:
        return b->depth >= b->call_depth && b->depth > 0;
    }
}
