#include "config.h"

#include "chat/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/pyjson.h"

void chat_conv_init(struct chat_conv *c)
{
    *c = (struct chat_conv){ .next_id = 1 };
}

void chat_conv_release(struct chat_conv *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct chat_conv_message *m = &c->v[i];
        buf_release(&m->text);
        buf_release(&m->think);
        tok_ids_release(&m->ids);
        free(m->name);
        free(m->tool_call_id);
        free(m->model_key);
        json_decref(m->calls);
    }
    free(c->v);
    free(c->model_key);
    *c = (struct chat_conv){0};
}

/* Messages are numbered in the order they come, so the array is sorted by id. */
struct chat_conv_message *chat_conv_find(struct chat_conv *c, int id)
{
    size_t lo = 0, hi = c->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->v[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->v[lo].id == id ? &c->v[lo] : NULL;
}

size_t chat_conv_path(struct chat_conv *c, int head, int **ids)
{
    size_t n = 0;

    for (int id = head; id; id = chat_conv_find(c, id)->parent)
        n++;
    *ids = xcalloc(n, sizeof **ids);
    size_t at = n;
    for (int id = head; id; id = chat_conv_find(c, id)->parent)
        (*ids)[--at] = id;
    return n;
}

char *chat_conv_model_key(const json_t *session)
{
    const json_t *m = json_object_get(session, "model");
    const char *hash = json_string_value(json_object_get(m, "sha256"));

    if (hash && *hash)
        return xstrdup(hash);
    struct buf b = {0};
    static const char *const parts[] = { "name", "arch", "quant", "path" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *s = json_string_value(json_object_get(m, parts[i]));
        buf_addf(&b, "%s\n", s ? s : "");
    }
    buf_addf(&b, "%lld", (long long)json_integer_value(json_object_get(m, "bytes")));
    return buf_take(&b);
}

static bool chat_conv_add(struct chat_conv *c, const struct chat_event *ev)
{
    /* A parent comes before its child and ids grow: so paths end and search works. */
    if (ev->message < c->next_id || ev->message == INT32_MAX ||
        (ev->msg.parent && !chat_conv_find(c, ev->msg.parent)))
        return false;
    MEM_GROW(c->v, c->cap, c->n + 1);
    struct chat_conv_message *m = &c->v[c->n++];
    *m = (struct chat_conv_message){ .id = ev->message,
                                     .parent = ev->msg.parent,
                                     .role = ev->msg.role,
                                     .attempt = ev->msg.attempt };
    buf_add(&m->text, ev->msg.text, ev->msg.len);
    m->name = ev->msg.name ? xstrdup(ev->msg.name) : NULL;
    m->tool_call_id = ev->msg.tool_call_id ? xstrdup(ev->msg.tool_call_id) : NULL;
    m->model_key = xstrdup(c->model_key ? c->model_key : "");
    c->head = m->id;
    c->next_id = m->id + 1;
    return true;
}

static void chat_conv_add_token(struct chat_conv_message *m, const struct chat_event *ev)
{
    for (size_t k = 0; k < ev->token.n_spans; k++) {
        const struct chat_span *s = &ev->token.spans[k];
        if (s->ch == CHAT_CH_RESPONSE)
            buf_add(&m->text, ev->token.bytes + s->from, s->to - s->from);
        else if (s->ch == CHAT_CH_THINK)
            buf_add(&m->think, ev->token.bytes + s->from, s->to - s->from);
    }
    tok_ids_add(&m->ids, ev->token.id);
}

static json_t *chat_conv_arguments(const char *text)
{
    json_t *v = pyjson_load(text, strlen(text), PYJSON_NAN | PYJSON_NUMBER_TEXT, NULL);

    if (json_is_object(v))
        return v;
    json_decref(v);
    return json_string(text);
}

/* A call that could not be read stays what it was: a part of the answer. */
static void chat_conv_add_call(struct chat_conv_message *m, const struct chat_event *ev)
{
    const char *id = ev->call.id, *name = ev->call.name;
    json_t *function = name && ev->call.arguments && !ev->call.error ? json_string(name) : NULL;

    if (!function) {
        buf_adds(&m->text, ev->call.raw ? ev->call.raw : "");
        return;
    }
    function = json_pack("{s:o, s:o}", "name", function, "arguments",
                         chat_conv_arguments(ev->call.arguments));
    if (!m->calls)
        m->calls = json_array();
    json_array_append_new(m->calls, json_pack("{s:o*, s:s, s:o}", "id",
                                              id ? json_string(id) : NULL, "type",
                                              "function", "function", function));
}

bool chat_conv_apply(struct chat_conv *c, const struct chat_event *ev)
{
    struct chat_conv_message *m;

    switch (ev->type) {
    case CHAT_EV_SESSION:
        free(c->model_key);
        c->model_key = chat_conv_model_key(ev->session);
        return true;
    case CHAT_EV_MESSAGE:
        return chat_conv_add(c, ev);
    case CHAT_EV_TOKEN:
        m = chat_conv_find(c, ev->message);
        if (!m)
            return false;
        /* An answer that was stopped may go on: what comes after its stop belongs to it. */
        m->stopped = false;
        chat_conv_add_token(m, ev);
        return true;
    case CHAT_EV_PROMPT:
        m = chat_conv_find(c, ev->message);
        /* An answer that goes on stays behind the prompt that it began behind. */
        if (m && !m->ids.n)
            m->think_off = ev->prompt.think_off;
        return m != NULL;
    case CHAT_EV_TOOL_CALL:
        m = chat_conv_find(c, ev->message);
        if (m)
            chat_conv_add_call(m, ev);
        return m != NULL;
    case CHAT_EV_STOP:
        m = chat_conv_find(c, ev->message);
        if (!m)
            return false;
        m->stopped = true;
        m->why = ev->stop.why;
        /* The token that ended the turn is evidence, not something to say again: the
         * template closes the turn itself. */
        if ((m->why == CHAT_STOP_EOS || m->why == CHAT_STOP_END_OF_TURN) && m->ids.n)
            m->ids.n--;
        /* A question that did not fit stays in the file, but the conversation goes on from
         * before it; otherwise nothing could be said any more. */
        if (m->why == CHAT_STOP_CONTEXT && !m->ids.n && c->head == m->id) {
            const struct chat_conv_message *asked = chat_conv_find(c, m->parent);
            c->head = asked ? asked->parent : 0;
        }
        return true;
    default:
        return true;
    }
}
