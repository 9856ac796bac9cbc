#include "config.h"

#include "cmd_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static bool check(long long id, const struct tok *t, struct err *e)
{
    if (id >= 0 && (unsigned long long)id < tok_count(t))
        return true;
    return err_set(e, "%lld is no token id of this vocabulary, which has 0 to %zu", id,
                   tok_count(t) - 1);
}

bool cmd_ids_parse(const char *text, size_t len, const struct tok *t, struct tok_ids *out,
                   struct err *e)
{
    static const char between[] = " \t\r\n,[]";

    if (memchr(text, '\0', len))
        return err_set(e, "the list of token ids holds a NUL byte");

    for (const char *p = text + strspn(text, between); *p; p += strspn(p, between)) {
        size_t n = strcspn(p, between);
        char *end;
        if (!strchr("-0123456789", *p))
            return err_set(e, "'%.*s' is no token id", (int)(n < 40 ? n : 40), p);
        errno = 0;
        long long id = strtoll(p, &end, 10);
        if (end != p + n || errno)
            return err_set(e, "'%.*s' is no token id", (int)(n < 40 ? n : 40), p);
        if (!check(id, t, e))
            return false;
        tok_ids_add(out, (int32_t)id);
        p += n;
    }
    return true;
}

bool cmd_ids_from_json(const json_t *list, const struct tok *t, struct tok_ids *out,
                       struct err *e)
{
    size_t i;
    const json_t *one;

    if (!json_is_array(list))
        return err_set(e, "needs a list of token ids");
    json_array_foreach(list, i, one) {
        if (!json_is_integer(one))
            return err_set(e, "element %zu of the list is no token id", i);
        if (!check(json_integer_value(one), t, e))
            return false;
        tok_ids_add(out, (int32_t)json_integer_value(one));
    }
    return true;
}

void cmd_ids_raw(const struct tok *t, const char *text, size_t len, bool special,
                 struct tok_ids *out)
{
    struct tok_ids ids = {0};

    (special ? tok_encode_special : tok_encode)(t, text, len, TOK_AT_START, &ids);
    if (tok_adds_bos(t) && (!ids.n || ids.v[0] != tok_bos(t)))
        tok_ids_add(out, tok_bos(t));
    for (size_t i = 0; i < ids.n; i++)
        tok_ids_add(out, ids.v[i]);
    tok_ids_release(&ids);
}
