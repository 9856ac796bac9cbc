/* From messages to ids, in four steps: a request (JSON, as templates want it), the
 * rendered pieces, what was said put in its place, ids.
 *
 * Where a template writes what was said as text, the place of an answer is found from the
 * prompt that it was said behind. That one is remembered; of a conversation that was read
 * from a file it is rendered again. */
#include "config.h"

#include "chat/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/encode.h"
#include "chat/said.h"

struct prompt_base {
    int id;                         /* of the answer that was said behind it */
    struct chat_base base;
};

struct chat_prompter {
    const struct chat_model *model;
    struct chat_encoder *enc;
    struct prompt_base *bases;      /* (n) */
    size_t n, cap;
};

struct chat_prompter *chat_prompter_new(const struct chat_model *m)
{
    struct chat_prompter *pr = xcalloc(1, sizeof *pr);

    pr->model = m;
    pr->enc = chat_encoder_new(m->tok);
    return pr;
}

void chat_prompter_forget(struct chat_prompter *pr)
{
    for (size_t i = 0; pr && i < pr->n; i++)
        chat_base_release(&pr->bases[i].base);
    if (pr)
        pr->n = 0;
}

void chat_prompter_free(struct chat_prompter *pr)
{
    if (!pr)
        return;
    chat_prompter_forget(pr);
    free(pr->bases);
    chat_encoder_free(pr->enc);
    free(pr);
}

void chat_prompt_release(struct chat_prompt *p)
{
    tok_ids_release(&p->ids);
    free(p->whys);
    *p = (struct chat_prompt){0};
}

/* ---- the request ---- */

struct path {
    struct chat_conv *conv;
    int *ids;                       /* (n) message of each entry */
    size_t n;
    json_t *messages;               /* the same, for the template */
};

static void path_release(struct path *p)
{
    free(p->ids);
    json_decref(p->messages);
}

/* Any bytes; only a first byte 0xFF would mean something to the readers (pyjson.h), and
 * it is no UTF-8. */
static void set_text(json_t *o, const char *key, const char *s, size_t n)
{
    struct buf b = {0};

    if (n && (unsigned char)*s == 0xff) {
        buf_adds(&b, "\xef\xbf\xbd");
        s++;
        n--;
    }
    buf_add(&b, s, n);
    json_object_set_new(o, key, json_stringn_nocheck(buf_str(&b), b.n));
    buf_release(&b);
}

/* The ids of the message are those of the model at work. */
static bool is_own(const struct chat_conv *conv, const struct chat_conv_message *m)
{
    return m->role == CHAT_ROLE_ASSISTANT && m->ids.n &&
           !strcmp(m->model_key, conv->model_key);
}

/* What an answer left open, for templates that want to close it; NULL for all others. The
 * ids tell: read by the model's syntax once more. The caller frees. */
static char *said_end(const struct chat_model *model, const struct chat_conv_message *m)
{
    struct tmpl_stream *st = tmpl_stream_open(
        model->syntax, m->think_off ? TMPL_RESPONSE : TMPL_THINK, &model->vocab);
    struct tmpl_result result = {0};
    char *left = NULL;

    for (size_t i = 0; tmpl_stream_left(st) && i < m->ids.n; i++) {
        const char *special;
        size_t n;
        const char *text = chat_token_text(model->tok, m->ids.v[i], &n, &special);
        char *name = special ? xmemdup0(text, n) : NULL;
        tmpl_feed(st, text, n, name, &result);
        tmpl_result_reset(&result);
        free(name);
    }
    if (tmpl_stream_left(st))
        left = xstrdup(tmpl_stream_left(st));
    tmpl_result_release(&result);
    tmpl_stream_free(st);
    return left;
}

static void set_said(json_t *o, const struct chat_model *model,
                     const struct chat_conv_message *m)
{
    char *left = said_end(model, m);

    json_object_set_new(o, "_said", json_true());
    if (m->think_off)
        json_object_set_new(o, "_think_off", json_true());
    if (left)
        json_object_set_new(o, "_said_end", json_string(left));
    free(left);
}

static json_t *message_json(const struct path *p, const struct chat_conv_message *m,
                            const struct chat_model *model)
{
    static const char *const roles[] = {
        [CHAT_ROLE_SYSTEM] = "system", [CHAT_ROLE_USER] = "user",
        [CHAT_ROLE_ASSISTANT] = "assistant", [CHAT_ROLE_TOOL] = "tool",
    };
    json_t *o = json_pack("{s:s}", "role", roles[m->role]);

    set_text(o, "content", buf_str(&m->text), m->text.n);
    if (m->think.n)
        set_text(o, tmpl_reasoning_key(model->tmpl), buf_str(&m->think), m->think.n);
    if (m->calls)
        json_object_set(o, "tool_calls", m->calls);
    if (m->name)
        set_text(o, "name", m->name, strlen(m->name));
    if (m->tool_call_id)
        set_text(o, "tool_call_id", m->tool_call_id, strlen(m->tool_call_id));
    if (is_own(p->conv, m))
        set_said(o, model, m);
    return o;
}

static void path_make(struct chat_conv *conv, int head, bool open,
                      const struct chat_model *model, struct path *out)
{
    int *ids;
    size_t n = chat_conv_path(conv, head, &ids);

    *out = (struct path){ .conv = conv, .ids = ids, .messages = json_array() };
    for (size_t i = 0; i < n; i++) {
        const struct chat_conv_message *m = chat_conv_find(conv, ids[i]);
        /* An answer that was stopped before its first token says nothing. */
        if (m->role == CHAT_ROLE_ASSISTANT && !m->ids.n && !m->text.n && !m->think.n &&
            !m->calls)
            continue;
        json_t *o = message_json(out, m, model);
        if (open && i + 1 == n)
            json_object_set_new(o, "_open", json_true());
        out->ids[out->n++] = ids[i];
        json_array_append_new(out->messages, o);
    }
}

static const struct tok_ids *path_ids(void *arg, size_t i)
{
    struct path *p = arg;

    return &chat_conv_find(p->conv, p->ids[i])->ids;
}

/* The name of a token, for the template; NULL: none. The caller frees. */
static char *token_name(const struct tok *t, int32_t id)
{
    size_t n;
    const char *name = id >= 0 ? tok_name(t, id, &n) : NULL;

    return name ? xmemdup0(name, n) : NULL;
}

/* Render the first n messages of the path. */
static bool render(const struct chat_model *m, const struct path *p, size_t n,
                   bool generate, const char *think, struct tmpl_prompt *out,
                   struct err *e)
{
    char *bos = token_name(m->tok, tok_bos(m->tok)),
         *eos = token_name(m->tok, tok_eos(m->tok));
    json_t *options = json_pack("{s:b}", "add_generation_prompt", generate);
    json_t *messages = json_array();
    struct tmpl_request r = {
        .messages = messages, .options = options, .bos = bos, .eos = eos,
    };

    for (size_t i = 0; i < n; i++)
        json_array_append(messages, json_array_get(p->messages, i));
    bool ok = tmpl_think(m->tmpl, think, options, e) &&
              tmpl_render(m->tmpl, &r, &m->vocab, out, e);
    json_decref(options);
    json_decref(messages);
    free(bos);
    free(eos);
    return ok;
}

/* ---- what was said ---- */

static struct chat_base *base_find(struct chat_prompter *pr, int id)
{
    for (size_t i = 0; i < pr->n; i++)
        if (pr->bases[i].id == id)
            return &pr->bases[i].base;
    return NULL;
}

static void base_remember(struct chat_prompter *pr, int id, const struct tmpl_prompt *p)
{
    struct chat_base *base = base_find(pr, id);

    if (base) {
        chat_base_release(base);
    } else {
        MEM_GROW(pr->bases, pr->cap, pr->n + 1);
        pr->bases[pr->n] = (struct prompt_base){ .id = id };
        base = &pr->bases[pr->n++].base;
    }
    chat_base_of(p, base);
}

/* Every answer of the path, but an open one, has its base. */
static bool bases_make(struct chat_prompter *pr, const struct path *p, size_t n,
                       const char *think, struct err *e)
{
    struct tmpl_prompt before = {0};
    bool ok = true;

    for (size_t i = 0; i < n && ok; i++) {
        if (!is_own(p->conv, chat_conv_find(p->conv, p->ids[i])) ||
            base_find(pr, p->ids[i]))
            continue;
        ok = render(pr->model, p, i, true, think, &before, e);
        if (ok)
            base_remember(pr, p->ids[i], &before);
    }
    tmpl_prompt_release(&before);
    return ok;
}

/* Put the said ids of the first n messages in their places. */
static void place_said(struct chat_prompter *pr, struct path *p, size_t n,
                       struct tmpl_prompt *prompt, struct chat_said *said)
{
    struct chat_answer_said *answers = xcalloc(n, sizeof *answers);
    size_t n_answers = 0;

    for (size_t i = 0; i < n; i++) {
        const struct chat_conv_message *m = chat_conv_find(p->conv, p->ids[i]);
        const struct chat_base *base = is_own(p->conv, m) ? base_find(pr, m->id) : NULL;
        if (base)
            answers[n_answers++] = (struct chat_answer_said){
                .message = i, .ids = &m->ids, .think = buf_str(&m->think),
                .think_n = m->think.n, .base = base,
            };
    }
    chat_said_place(pr->model->tok, prompt, answers, n_answers, path_ids, p, said);
    free(answers);
}

/* ---- all of it ---- */

static bool encode(struct chat_prompter *pr, struct path *p,
                   const struct tmpl_prompt *prompt, const struct chat_said *said,
                   struct chat_prompt *out, struct err *e)
{
    struct chat_encoded done;

    if (!chat_encode(pr->enc, prompt, said, path_ids, p, &done, e))
        return false;
    for (size_t i = 0; i < done.ids->n; i++)
        tok_ids_add(&out->ids, done.ids->v[i]);
    out->whys = xcalloc(said->n_reasons, sizeof *out->whys);
    for (size_t i = 0; i < said->n_reasons; i++) {
        size_t piece = said->reasons[i].piece;
        out->whys[out->n_whys++] = (struct chat_why){
            piece ? done.ends[piece - 1] : 0, said->reasons[i].why };
    }
    out->start = prompt->start;
    return true;
}

bool chat_prompt_make(struct chat_prompter *pr, struct chat_conv *conv, int head,
                      int answer, const char *think, struct chat_prompt *out,
                      struct err *e)
{
    bool open = answer == head, keeps = tmpl_keeps_said(pr->model->tmpl);
    struct tmpl_prompt prompt = {0};
    struct chat_said said = {0};
    struct path p;
    size_t closed;

    *out = (struct chat_prompt){0};
    path_make(conv, head, open, pr->model, &p);
    closed = keeps ? 0 : p.n - (open && p.n);
    bool ok = render(pr->model, &p, p.n, !open, think, &prompt, e) &&
              bases_make(pr, &p, closed, think, e);
    if (ok) {
        if (!keeps && !open && answer)
            base_remember(pr, answer, &prompt);
        place_said(pr, &p, closed, &prompt, &said);
        ok = encode(pr, &p, &prompt, &said, out, e);
    }
    if (!ok)
        chat_prompt_release(out);
    chat_said_release(&said);
    tmpl_prompt_release(&prompt);
    path_release(&p);
    return ok;
}
