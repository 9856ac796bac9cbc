/* `vitrine render`: a conversation to the prompt that a model gets, with or without the
 * model. Numbers, NaN included, are read as Python reads them (pyjson.h), as they come
 * out of tojson. What was typed as a conversation can hold no sampled ids: the keys that
 * say so are taken out, "_open" stays. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/encode.h"
#include "chat/model.h"
#include "chat/template.h"
#include "cmd.h"
#include "cmd_text.h"
#include "templates/pyjson.h"

struct render {
    const struct chat_settings *set;
    struct chat_model *m;           /* NULL: a template without a model */
    const struct tmpl *tmpl;        /* of the model, or own */
    const struct tmpl *own;
    struct buf why;
    char *bos, *eos;
    struct chat_encoder *enc;
    struct tmpl_prompt prompt;      /* of one request */
    struct chat_encoded done;       /* ids NULL without a model */
};

/* ---- the template ---- */

static char *token_name(const struct render *r, const char *given,
                        int32_t (*of)(const struct tok *t))
{
    size_t n;
    const char *name;

    if (given)
        return xstrdup(given);
    if (!r->m || of(r->m->tok) < 0)
        return NULL;
    name = tok_name(r->m->tok, of(r->m->tok), &n);
    return xmemdup0(name, n);
}

static bool open_model(struct render *r, struct err *e)
{
    r->m = chat_model_open(r->set, CHAT_MODEL_VOCAB, NULL, e);
    if (!r->m)
        return false;
    r->enc = chat_encoder_new(r->m->tok);
    if (r->set->template_file)
        return true;
    if (!chat_model_choose_template(r->m, r->set, e))
        return false;
    r->tmpl = r->m->tmpl;
    buf_adds(&r->why, r->m->why_template);
    return true;
}

static bool open_template(struct render *r, struct err *e)
{
    const struct tmpl_vocab *vocab;

    /* A template that is named needs no model; without a name it is the model's. */
    if (r->set->model || (!r->set->template_name && !r->set->template_file))
        if (!open_model(r, e))
            return false;
    vocab = r->m ? &r->m->vocab : NULL;
    if (r->set->template_file) {
        r->tmpl = r->own = chat_template_file(r->set->template_file, vocab, e);
        buf_adds(&r->why, "named by --template-file");
    } else if (!r->m) {
        struct chat_template_from from = { .named = r->set->template_name };
        r->tmpl = r->own = chat_template_choose(&from, &r->why, e);
    }
    r->bos = token_name(r, r->set->bos_token, tok_bos);
    r->eos = token_name(r, r->set->eos_token, tok_eos);
    return r->tmpl != NULL;
}

static void render_release(struct render *r)
{
    tmpl_prompt_release(&r->prompt);
    chat_encoder_free(r->enc);
    tmpl_free(r->own);
    chat_model_free(r->m);
    buf_release(&r->why);
    free(r->bos);
    free(r->eos);
}

/* ---- one request ---- */

static json_t *own_messages(const json_t *messages)
{
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(messages); i++) {
        json_t *m = json_copy(json_array_get(messages, i));
        json_object_del(m, "_said");
        json_object_del(m, "_said_end");
        json_object_del(m, "_think_off");
        json_array_append_new(list, m);
    }
    return list;
}

enum generate { GENERATE_AS_SAID, GENERATE_UNLESS_SAID };

static json_t *own_options(const struct render *r, const json_t *options,
                           enum generate generate, struct err *e)
{
    json_t *own = json_is_object(options) ? json_copy((json_t *)options) : json_object();

    if (generate == GENERATE_UNLESS_SAID &&
        !json_object_get(own, "add_generation_prompt"))
        json_object_set_new(own, "add_generation_prompt", json_true());
    if (tmpl_think(r->tmpl, r->set->think, own, e))
        return own;
    json_decref(own);
    return NULL;
}

static bool check_request(const json_t *in, struct err *e)
{
    const json_t *o = json_object_get(in, "options");

    if (!json_is_object(in) || !json_is_array(json_object_get(in, "messages")))
        return err_set_kind(e, ERR_USAGE, "needs a list of messages, or an object with "
                                          "\"messages\"");
    return !o || json_is_null(o) || json_is_object(o) ||
           err_set_kind(e, ERR_USAGE, "the options are not an object");
}

static void warn(void *arg, const char *text)
{
    (void)arg;
    cmd_note("warning: %s", text);
}

static bool is_end(void *arg, const char *name)
{
    const struct render *r = arg;
    int32_t id = tok_special(r->m->tok, name);

    return id >= 0 && tok_is_end(r->m->tok, id);
}

/* Render a request, and encode it if there is a model. */
static bool render(struct render *r, const json_t *in, enum generate generate,
                   struct err *e)
{
    struct tmpl_check check = { warn, r->m ? is_end : NULL, r };
    struct tmpl_request req = {
        .tools = json_object_get(in, "tools"), .bos = r->bos, .eos = r->eos,
        .now = r->set->now,
    };
    json_t *options, *messages;
    bool ok;

    if (!check_request(in, e))
        return false;
    options = own_options(r, json_object_get(in, "options"), generate, e);
    if (!options)
        return false;
    req.options = options;
    req.messages = messages = own_messages(json_object_get(in, "messages"));
    r->done = (struct chat_encoded){0};
    ok = tmpl_render(r->tmpl, &req, r->m ? &r->m->vocab : NULL, &r->prompt, e);
    if (ok && r->enc)
        ok = chat_encode(r->enc, &r->prompt, NULL, NULL, NULL, &r->done, e);
    if (ok && generate == GENERATE_UNLESS_SAID)
        tmpl_check(&req, &r->prompt, &check);
    json_decref(options);
    json_decref(messages);
    return ok;
}

static json_t *parse(const char *text, size_t n, struct err *e)
{
    struct pyjson_bad bad = {0};
    json_t *in = pyjson_load(text, n, PYJSON_NAN, &bad);

    if (!in)
        err_set_kind(e, ERR_USAGE, "not JSON: %s, at byte %zu", bad.what, bad.at);
    return in;
}

/* ---- showing it ---- */

static void put_text(const struct render *r, size_t at, size_t n, bool tty)
{
    struct buf shown = {0};
    const char *p = buf_str(&r->prompt.text) + at;

    if (tty)
        utf8_visible(&shown, p, n, UTF8_LINES);
    else
        buf_add(&shown, p, n);
    fwrite(buf_str(&shown), 1, shown.n, stdout);
    buf_release(&shown);
}

/* In a terminal a special token stands out, as its name might be typed by anybody. */
static void print_text(const struct render *r)
{
    bool tty = isatty(STDOUT_FILENO), color = cmd_color(r->set);

    for (size_t i = 0; i < r->prompt.n; i++) {
        const struct tmpl_piece *piece = &r->prompt.v[i];
        bool special = piece->kind == TMPL_PIECE_SPECIAL;
        if (special && color)
            fputs("\033[7m", stdout);
        else if (special && tty)
            fputs("[[", stdout);
        put_text(r, piece->at, piece->len, tty);
        if (special && color)
            fputs("\033[0m", stdout);
        else if (special && tty)
            fputs("]]", stdout);
    }
    if (tty)
        putchar('\n');
}

static json_t *ids_json(const struct tok_ids *ids, size_t from, size_t to)
{
    json_t *list = json_array();

    for (size_t i = from; i < to; i++)
        json_array_append_new(list, json_integer(ids->v[i]));
    return list;
}

/* Whose the bytes of the piece are: [[length, "template" or "conversation"], ...]. */
static json_t *spans_json(const struct render *r, const struct tmpl_piece *piece)
{
    const struct tmpl_prompt *p = &r->prompt;
    json_t *list = json_array();
    size_t at = piece->at, end = piece->at + piece->len;

    for (size_t i = 0; i <= p->n_spans && at < end; i++) {
        size_t to = i < p->n_spans && p->spans[i].to < end ? p->spans[i].to : end;
        bool own = i < p->n_spans && p->spans[i].origin == TMPL_FROM_TEMPLATE;
        if (i < p->n_spans && to <= at)
            continue;
        json_array_append_new(list, json_pack("[I, s]", (json_int_t)(to - at),
                                              own ? "template" : "conversation"));
        at = to;
    }
    return list;
}

static json_t *piece_json(const struct render *r, size_t i)
{
    const struct tmpl_piece *piece = &r->prompt.v[i];
    const char *text = buf_str(&r->prompt.text) + piece->at;
    bool special = piece->kind == TMPL_PIECE_SPECIAL;
    json_t *o = json_object();

    cmd_json_bytes(o, special ? "special" : "text", special ? "special_bytes" : "bytes",
                   text, piece->len);
    if (!special)
        json_object_set_new(o, "spans", spans_json(r, piece));
    if (r->done.ids) {
        size_t from = i ? r->done.ends[i - 1] : r->done.first;
        json_object_set_new(o, "ids", ids_json(r->done.ids, from, r->done.ends[i]));
    }
    return o;
}

/* A token that stands before all pieces, because the vocabulary asks for it. */
static json_t *bos_json(const struct render *r)
{
    size_t n;
    const char *name = tok_name(r->m->tok, r->done.ids->v[0], &n);
    json_t *o = json_object();

    cmd_json_bytes(o, "special", "special_bytes", name, n);
    json_object_set_new(o, "added", json_true());
    json_object_set_new(o, "ids", ids_json(r->done.ids, 0, 1));
    return o;
}

static void print_json(const struct render *r)
{
    static const char *const starts[] = {
        [TMPL_THINK] = "think", [TMPL_RESPONSE] = "response",
        [TMPL_TOOL_CALL] = "tool", [TMPL_CONTROL] = "control",
    };
    json_t *o = json_object(), *pieces = json_array();

    json_object_set_new(o, "template", json_string(tmpl_name(r->tmpl)));
    json_object_set_new(o, "why", json_string(buf_str(&r->why)));
    json_object_set_new(o, "start", json_string(starts[r->prompt.start]));
    cmd_json_bytes(o, "text", "bytes", buf_str(&r->prompt.text), r->prompt.text.n);
    if (r->done.ids && r->done.first)
        json_array_append_new(pieces, bos_json(r));
    for (size_t i = 0; i < r->prompt.n; i++)
        json_array_append_new(pieces, piece_json(r, i));
    json_object_set_new(o, "pieces", pieces);
    if (r->done.ids)
        json_object_set_new(o, "ids", ids_json(r->done.ids, 0, r->done.ids->n));
    cmd_json_print(o);
}

/* ---- the command ---- */

/* One line of --jsonl. */
static bool one_line(void *arg, const char *line, size_t n, struct err *e)
{
    struct render *r = arg;
    json_t *in = parse(line, n, e);
    bool ok = in && render(r, in, GENERATE_AS_SAID, e);

    if (ok) {
        json_t *o = json_object();
        cmd_json_bytes(o, "text", "bytes", buf_str(&r->prompt.text), r->prompt.text.n);
        if (r->done.ids)
            json_object_set_new(o, "ids", ids_json(r->done.ids, 0, r->done.ids->n));
        cmd_json_line(o);
    }
    json_decref(in);
    return ok;
}

static bool whole(struct render *r, const char *path, struct err *e)
{
    struct buf text = {0};
    json_t *in = NULL;
    bool ok = cmd_read(path, &text, e) && (in = parse(buf_str(&text), text.n, e));

    if (ok && json_is_array(in))
        in = json_pack("{s:o}", "messages", in);
    ok = ok && render(r, in, GENERATE_UNLESS_SAID, e);
    if (ok && r->set->json)
        print_json(r);
    else if (ok)
        print_text(r);
    json_decref(in);
    buf_release(&text);
    return ok;
}

int cmd_render(struct cmd_call *c)
{
    const char *path = c->n_args ? c->args[0] : NULL;
    struct render r = { .set = &c->set };
    struct err e = {0};
    int status = CMD_OK;

    if (!cmd_at_most(c, 1))
        return ERR_USAGE;
    if (c->set.json && c->set.jsonl)
        return cmd_usage(c, "--json and --jsonl exclude each other");
    if (c->set.template_name && c->set.template_file)
        return cmd_usage(c, "--template and --template-file exclude each other");
    if (!open_template(&r, &e)) {
        status = cmd_fail(c, &e);
    } else if (c->set.jsonl) {
        status = cmd_lines(path, one_line, &r, &e);
        if (e.text[0])
            status = cmd_fail(c, &e);
    } else if (!whole(&r, path, &e)) {
        status = cmd_fail(c, &e);
    }
    render_release(&r);
    return status;
}
