/* A vocabulary that is a plain list: the longest token that the text begins with is next.
 * The fake device has one, and tests that want to say what a token is. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

static void list_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                        struct tok_work *w, struct tok_ids *out)
{
    (void)prefix;
    (void)w;
    for (size_t i = 0; i < len;) {
        int32_t id = -1;
        i += tok_names_longest(&t->list, TOK_IN_SPECIAL, text + i, len - i,
                               &id); /* >= 1 */
        tok_ids_add(out, id);
    }
}

static bool list_fill(struct tok *t, const struct tok_list *list, struct err *e)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->len[i] > UINT32_MAX)
            return err_set(e, "token %zu of the list is longer than 4 GiB", i);
        t->v[i] = (struct tok_entry){
            .name = list->text[i],
            .name_len = (uint32_t)list->len[i],
            .bytes = list->text[i],
            .bytes_len = (uint32_t)list->len[i],
            .type = list->special[i] ? TOK_CONTROL : TOK_NORMAL,
        };
        if (list->special[i])
            t->v[i].bytes_len = 0;
        else
            tok_names_add(&t->list, list->text[i], list->len[i], (int32_t)i,
                          TOK_IN_SPECIAL);
    }
    tok_names_sort(&t->list);
    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        t->byte_id[b] = tok_names_find(&t->list, &c, 1);
        if (t->byte_id[b] < 0)
            return err_set(
                e,
                "the token list has no token for the byte 0x%02X; every single "
                "byte must be in it",
                b);
    }
    return true;
}

struct tok *tok_from_list(const struct tok_list *list, struct err *e)
{
    if (list->n > INT32_MAX) {
        err_set(e, "the token list is too long");
        return NULL;
    }
    struct tok *t = tok_new();
    int32_t n = (int32_t)list->n;

    t->v = xcalloc(list->n, sizeof *t->v);
    t->n = list->n;
    t->encode = list_encode;
    t->bos = list->bos >= 0 && list->bos < n ? list->bos : -1;
    t->eos = list->eos >= 0 && list->eos < n ? list->eos : -1;
    t->adds_bos = t->bos >= 0;
    snprintf(t->kind, sizeof t->kind, "list");
    t->origin = xstrdup("the device's own list");
    if (!list_fill(t, list, e)) {
        tok_free(t);
        return NULL;
    }
    tok_index(t);
    return t;
}
