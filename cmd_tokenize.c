/* `vitrine tokenize`: text to ids and back. Everything is exact bytes; a newline at the
 * end of the text is part of it. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_check.h"
#include "cmd_ids.h"
#include "cmd_text.h"

struct tokenize {
    const struct chat_settings *set;
    const struct tok *tok;
};

static bool encode(const struct tokenize *t, const struct buf *text, struct tok_ids *ids,
                   struct err *e)
{
    if (t->set->bos) {
        if (tok_bos(t->tok) < 0)
            return err_set(e, "--bos: this vocabulary has no token that opens a text");
        tok_ids_add(ids, tok_bos(t->tok));
    }
    (t->set->special ? tok_encode_special : tok_encode)(t->tok, buf_str(text), text->n,
                                                        TOK_AT_START, ids);
    return true;
}

static void decode(const struct tokenize *t, const struct tok_ids *ids, struct buf *text)
{
    tok_decode(t->tok, ids->v, ids->n, TOK_AT_START,
               t->set->special ? TOK_SPECIALS_SHOW : TOK_SPECIALS_HIDE, text);
}

static json_t *ids_json(const struct tok_ids *ids)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ids->n; i++)
        json_array_append_new(list, json_integer(ids->v[i]));
    return list;
}

/* One line of --jsonl. */
static bool one_value(void *arg, const json_t *in, struct err *e)
{
    const struct tokenize *t = arg;
    struct tok_ids ids = {0};
    struct buf text = {0};
    bool ok;

    if (t->set->decode) {
        ok = cmd_ids_from_json(in, t->tok, &ids, e);
        if (ok) {
            decode(t, &ids, &text);
            cmd_json_line(cmd_json_from_text(buf_str(&text), text.n));
        }
    } else {
        ok = cmd_json_text(in, &text, e) && encode(t, &text, &ids, e);
        if (ok)
            cmd_json_line(ids_json(&ids));
    }
    tok_ids_release(&ids);
    buf_release(&text);
    return ok;
}

static json_t *token_json(const struct tok *tok, int32_t id)
{
    json_t *o = json_pack("{s:i}", "id", (int)id);
    size_t n;
    const char *p = tok_bytes(tok, id, &n);

    if (tok_is_special(tok, id)) {
        const char *name = tok_name(tok, id, &n);
        cmd_json_bytes(o, "text", "bytes", name, n);
        json_object_set_new(o, "special", json_true());
    } else {
        cmd_json_bytes(o, "text", "bytes", p, n);
    }
    return o;
}

static void print_ids(const struct tok_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        printf("%s%d", i ? " " : "", (int)ids->v[i]);
    putchar('\n');
}

static bool whole(const struct tokenize *t, const struct buf *in, struct err *e)
{
    struct tok_ids ids = {0};
    struct buf text = {0};
    bool ok;

    if (t->set->decode) {
        ok = cmd_ids_parse(buf_str(in), in->n, t->tok, &ids, e);
        if (ok)
            decode(t, &ids, &text);
        if (ok && t->set->json) {
            cmd_json_print(cmd_json_from_text(buf_str(&text), text.n));
        } else if (ok) {
            cmd_put_exact(buf_str(&text), text.n);
        }
    } else {
        ok = encode(t, in, &ids, e);
        if (ok && t->set->json) {
            json_t *list = json_array();
            for (size_t i = 0; i < ids.n; i++)
                json_array_append_new(list, token_json(t->tok, ids.v[i]));
            cmd_json_print(list);
        } else if (ok) {
            print_ids(&ids);
        }
    }
    tok_ids_release(&ids);
    buf_release(&text);
    return ok;
}

int cmd_tokenize(struct cmd_call *c)
{
    const char *path = c->n_args ? c->args[0] : NULL;
    struct tokenize t = { .set = &c->set };
    struct buf in = {0};
    struct err e = {0};
    int status = CMD_OK;

    if (!cmd_at_most(c, 1))
        return ERR_USAGE;
    if (c->set.json && c->set.jsonl)
        return cmd_usage(c, "--json and --jsonl exclude each other");
    if (c->set.check && (c->set.jsonl || c->set.decode || c->set.bos || c->set.special))
        return cmd_usage(c, "--check goes with --json only; its file says the rest");
    if (c->set.check && path)
        return cmd_usage(c, "--check names the file, there is no other");
    if (c->set.decode && c->set.bos)
        return cmd_usage(c, "--bos means nothing with --decode");

    struct chat_model *m = chat_model_open(&c->set, CHAT_MODEL_VOCAB, NULL, &e);
    if (!m)
        return cmd_fail(c, &e);
    t.tok = m->tok;
    if (c->set.check) {
        status = cmd_check(c, m->tok);
    } else if (c->set.jsonl) {
        status = cmd_jsonl(path, one_value, &t, &e);
        if (e.text[0])
            status = cmd_fail(c, &e);
    } else if (!cmd_read(path, &in, &e) || !whole(&t, &in, &e)) {
        status = cmd_fail(c, &e);
    }
    buf_release(&in);
    chat_model_free(m);
    return status;
}
