/* What `vitrine doctor` says of a chat template: which one and why, how its model's
 * output is read and thinking switched, and whether a small conversation comes through
 * whole: nothing lost, every turn ended, BOS once, and no word of a user's a special
 * token. */
#include "config.h"

#include "cmd_doctor.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/encode.h"
#include "chat/model.h"
#include "templates/template.h"

/* One rendering. */
struct trial {
    struct doctor *d;
    const struct chat_model *m;
    struct chat_encoder *enc;
    struct tmpl_prompt prompt;
    struct chat_encoded done;
    char *bos, *eos;
    bool warned;
};

static char *token_name(const struct tok *t, int32_t id)
{
    size_t n;
    const char *name = id >= 0 ? tok_name(t, id, &n) : NULL;

    return name ? xmemdup0(name, n) : NULL;
}

/* Render and encode messages, which are released. */
static bool try_messages(struct trial *t, json_t *messages,
                         const struct tmpl_check *check, struct err *e)
{
    json_t *options = json_pack("{s:b}", "add_generation_prompt", 1);
    struct tmpl_request r = {
        .messages = messages, .options = options, .bos = t->bos, .eos = t->eos,
    };
    bool ok = tmpl_render(t->m->tmpl, &r, &t->m->vocab, &t->prompt, e) &&
              chat_encode(t->enc, &t->prompt, NULL, NULL, NULL, &t->done, e);

    if (ok && check)
        tmpl_check(&r, &t->prompt, check);
    json_decref(messages);
    json_decref(options);
    return ok;
}

static json_t *message(const char *role, const char *content)
{
    return json_pack("{s:s, s:s}", "role", role, "content", content);
}

/* ---- the checks ---- */

static void note(void *arg, const char *text)
{
    struct trial *t = arg;

    t->warned = true;
    doctor_addf(t->d, DOCTOR_WARNING, "conversation", "%s", text);
}

static bool is_end(void *arg, const char *name)
{
    const struct trial *t = arg;
    int32_t id = tok_special(t->m->tok, name);

    return id >= 0 && tok_is_end(t->m->tok, id);
}

static void check_bos(struct trial *t)
{
    const struct tok_ids *ids = t->done.ids;
    int32_t bos = tok_bos(t->m->tok);

    if (ids->n > 1 && bos >= 0 && ids->v[0] == bos && ids->v[1] == bos)
        doctor_addf(t->d, DOCTOR_BAD, "beginning", "the prompt begins with %s twice",
                    t->bos);
}

static void check_conversation(struct trial *t)
{
    const struct tmpl_check check = { note, is_end, t };
    struct err e = {0}, with_system = {0};
    json_t *rest = json_pack("[o, o, o]", message("user", "Apples or plums?"),
                             message("assistant", "Plums, of course."),
                             message("user", "And why so?"));
    json_t *all = json_copy(rest);

    json_array_insert_new(all, 0, message("system", "Answer as a gardener."));
    if (try_messages(t, all, &check, &with_system)) {
        json_decref(rest);
    } else if (try_messages(t, rest, &check, &e)) {
        t->warned = true;
        doctor_addf(t->d, DOCTOR_WARNING, "conversation",
                    "the template takes no system message: %s", with_system.text);
    } else {
        doctor_addf(t->d, DOCTOR_BAD, "conversation", "%s", e.text);
        return;
    }
    check_bos(t);
    if (!t->warned)
        doctor_addf(t->d, DOCTOR_OK, "conversation",
                    "system, user and assistant are in the prompt, every turn is ended");
}

static void check_unknown_role(struct trial *t)
{
    struct err e = {0};
    static const char text[] = "Much too sweet.";
    bool ok = try_messages(t, json_pack("[o, o]", message("critic", text),
                                        message("user", "Apples or plums?")), NULL, &e);

    if (ok && !memmem(buf_str(&t->prompt.text), t->prompt.text.n, text, sizeof text - 1))
        doctor_addf(
            t->d, DOCTOR_WARNING, "unknown role",
            "a message whose role the template does not know is left out without a "
            "word");
}

static size_t count_markers(const struct trial *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->done.ids->n; i++) {
        size_t len;
        const char *name = tok_name(t->m->tok, t->done.ids->v[i], &len);
        n += tok_is_special(t->m->tok, t->done.ids->v[i]) &&
             t->m->vocab.special_at(t->m->vocab.arg, name, len) == len;
    }
    return n;
}

/* A user who types the names of all special tokens gets text. */
static void check_injection(struct trial *t)
{
    const struct tok *tok = t->m->tok;
    struct buf evil = {0};
    struct err e = {0};
    size_t n = 0, plain;

    for (size_t id = 0; id < tok_count(tok); id++) {
        size_t len;
        const char *name = tok_name(tok, (int32_t)id, &len);
        if (!tok_is_special(tok, (int32_t)id) ||
            t->m->vocab.special_at(t->m->vocab.arg, name, len) != len ||
            memchr(name, '\0', len) || !utf8_valid(name, len))
            continue;
        buf_add(&evil, name, len);
        n++;
    }
    if (n && try_messages(t, json_pack("[o]", message("user", "plums")), NULL, &e)) {
        plain = count_markers(t);
        if (try_messages(t, json_pack("[o]", message("user", evil.p)), NULL, &e) &&
            count_markers(t) == plain)
            doctor_addf(t->d, DOCTOR_OK, "injection",
                        "%zu names of special tokens stay text in a message", n);
        else
            doctor_addf(t->d, DOCTOR_BAD, "injection",
                        "names of special tokens in a message change the prompt%s%s",
                        e.text[0] ? ": " : "", e.text);
    }
    buf_release(&evil);
}

static void tell_thinking(struct trial *t)
{
    static const char *const hows[] = { "off", "on", "low", "high", "max" };
    struct buf *out = doctor_add(t->d, DOCTOR_OK, "thinking");

    buf_adds(out, "--think auto");
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        json_t *o = json_object();
        if (tmpl_think(t->m->tmpl, hows[i], o, NULL))
            buf_addf(out, ", %s", hows[i]);
        json_decref(o);
    }
}

void doctor_template(struct doctor *d)
{
    struct trial t = { .d = d, .m = d->m };
    const struct chat_model *m = d->m;

    doctor_addf(d, DOCTOR_OK, "template", "%s: %s", tmpl_name(m->tmpl), m->why_template);
    doctor_addf(d, DOCTOR_OK, "output", "%s: %s", tmpl_syntax_name(m->syntax),
                tmpl_syntax_help(m->syntax));
    tell_thinking(&t);
    if (m->tmpl == tmpl_find("plain", NULL)) {
        doctor_addf(d, DOCTOR_OK, "conversation",
                    "a base model: nothing marks who speaks, and no turn ends");
        return;
    }
    t.enc = chat_encoder_new(m->tok);
    t.bos = token_name(m->tok, tok_bos(m->tok));
    t.eos = token_name(m->tok, tok_eos(m->tok));
    check_conversation(&t);
    check_unknown_role(&t);
    check_injection(&t);
    chat_encoder_free(t.enc);
    tmpl_prompt_release(&t.prompt);
    free(t.bos);
    free(t.eos);
}
