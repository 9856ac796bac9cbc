/* Events and their JSON. The tables below are the only place where the names stand. A number
 * that JSON cannot hold (the log-probability of an impossible token is -inf) is null. */
#include "config.h"

#include "chat/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char *const chat_event_types[] = {
    [CHAT_EV_SESSION] = "session",
    [CHAT_EV_MESSAGE] = "message",
    [CHAT_EV_PROMPT] = "prompt",
    [CHAT_EV_TOKEN] = "token",
    [CHAT_EV_TOOL_CALL] = "tool_call",
    [CHAT_EV_TOOL_RESULT] = "tool_result",
    [CHAT_EV_STOP] = "stop",
    [CHAT_EV_STATUS] = "status",
    [CHAT_EV_NOTICE] = "notice",
    [CHAT_EV_ERROR] = "error",
    [CHAT_EV_RESET] = "reset",
    [CHAT_EV_READY] = "ready",
};
static const char *const chat_roles[] = { "system", "user", "assistant", "tool" };
static const char *const chat_channels[] = { "think", "response", "tool", "control" };
static const char *const chat_stops[] = {
    [CHAT_STOP_EOS] = "eos",         [CHAT_STOP_END_OF_TURN] = "end_of_turn",
    [CHAT_STOP_LENGTH] = "length",   [CHAT_STOP_CONTEXT] = "context",
    [CHAT_STOP_STRING] = "stop_string", [CHAT_STOP_USER] = "user",
    [CHAT_STOP_LOOP] = "loop",       [CHAT_STOP_ERROR] = "error",
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int chat_name_index(const char *const *table, size_t n, const char *name)
{
    for (size_t i = 0; name && i < n; i++)
        if (!strcmp(table[i], name))
            return (int)i;
    return -1;
}

const char *chat_event_type_name(enum chat_event_type t)
{
    return chat_event_types[t];
}

const char *chat_role_name(enum chat_role r)
{
    return chat_roles[r];
}

int chat_role_parse(const char *name)
{
    return chat_name_index(chat_roles, COUNT(chat_roles), name);
}

const char *chat_stop_name(enum chat_stop s)
{
    return chat_stops[s];
}

void chat_event_release(struct chat_event *ev)
{
    switch (ev->type) {
    case CHAT_EV_SESSION:
        json_decref(ev->session);
        break;
    case CHAT_EV_MESSAGE:
        free(ev->msg.text);
        free(ev->msg.name);
        free(ev->msg.tool_call_id);
        break;
    case CHAT_EV_PROMPT:
        free(ev->prompt.why);
        break;
    case CHAT_EV_TOKEN:
        free(ev->token.bytes);
        free(ev->token.spans);
        free(ev->token.top);
        break;
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        free(ev->call.id);
        free(ev->call.name);
        free(ev->call.arguments);
        free(ev->call.raw);
        free(ev->call.error);
        break;
    case CHAT_EV_STOP:
        free(ev->stop.error);
        break;
    case CHAT_EV_NOTICE:
    case CHAT_EV_ERROR:
        free(ev->note.text);
        break;
    case CHAT_EV_STATUS:
    case CHAT_EV_RESET:
    case CHAT_EV_READY:
        break;
    }
    *ev = (struct chat_event){ .type = CHAT_EV_STATUS };
}

static char *chat_dup(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

static void *chat_dup_array(const void *p, size_t n, size_t size)
{
    void *q = xcalloc(n, size);
    if (n)
        memcpy(q, p, n * size);
    return q;
}

void chat_event_copy(struct chat_event *dst, const struct chat_event *src)
{
    *dst = *src;
    switch (src->type) {
    case CHAT_EV_SESSION:
        json_incref(dst->session);
        break;
    case CHAT_EV_MESSAGE:
        dst->msg.text = xmemdup0(src->msg.text, src->msg.len);
        dst->msg.name = chat_dup(src->msg.name);
        dst->msg.tool_call_id = chat_dup(src->msg.tool_call_id);
        break;
    case CHAT_EV_PROMPT:
        dst->prompt.why = chat_dup(src->prompt.why);
        break;
    case CHAT_EV_TOKEN:
        dst->token.bytes = xmemdup0(src->token.bytes, src->token.len);
        dst->token.spans =
            chat_dup_array(src->token.spans, src->token.n_spans, sizeof *src->token.spans);
        dst->token.top =
            chat_dup_array(src->token.top, src->token.n_top, sizeof *src->token.top);
        break;
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        dst->call.id = chat_dup(src->call.id);
        dst->call.name = chat_dup(src->call.name);
        dst->call.arguments = chat_dup(src->call.arguments);
        dst->call.raw = chat_dup(src->call.raw);
        dst->call.error = chat_dup(src->call.error);
        break;
    case CHAT_EV_STOP:
        dst->stop.error = chat_dup(src->stop.error);
        break;
    case CHAT_EV_NOTICE:
    case CHAT_EV_ERROR:
        dst->note.text = chat_dup(src->note.text);
        break;
    case CHAT_EV_STATUS:
    case CHAT_EV_RESET:
    case CHAT_EV_READY:
        break;
    }
}

void chat_events_add(struct chat_events *evs, struct chat_event *ev)
{
    MEM_GROW(evs->v, evs->cap, evs->n + 1);
    evs->v[evs->n++] = *ev;
}

void chat_events_reset(struct chat_events *evs)
{
    for (size_t i = 0; i < evs->n; i++)
        chat_event_release(&evs->v[i]);
    evs->n = 0;
}

void chat_events_release(struct chat_events *evs)
{
    chat_events_reset(evs);
    free(evs->v);
    *evs = (struct chat_events){0};
}

/* ---- writing ---- */

static void chat_put(json_t *o, const char *key, json_t *value)
{
    json_object_set_new_nocheck(o, key, value);
}

static void chat_put_real(json_t *o, const char *key, double v)
{
    chat_put(o, key, isfinite(v) ? json_real(v) : json_null());
}

/* Text under key, or bytes as base64 under raw_key when they are not UTF-8. */
static void chat_put_bytes(json_t *o, const char *key, const char *raw_key, const char *p,
                           size_t n)
{
    if (utf8_valid(p, n)) {
        chat_put(o, key, json_stringn_nocheck(p, n));
        return;
    }
    struct buf b = {0};
    base64_encode(&b, p, n);
    chat_put(o, raw_key, json_stringn_nocheck(b.p, b.n));
    buf_release(&b);
}

static void chat_put_str(json_t *o, const char *key, const char *raw_key, const char *s)
{
    if (s)
        chat_put_bytes(o, key, raw_key, s, strlen(s));
}

static void chat_token_to_json(const struct chat_event *ev, json_t *o)
{
    json_t *top = json_array();

    chat_put(o, "i", json_integer(ev->token.i));
    chat_put(o, "id", json_integer(ev->token.id));
    chat_put_bytes(o, "text", "bytes", ev->token.bytes ? ev->token.bytes : "",
                   ev->token.len);
    chat_put(o, "ch",
             json_string(chat_channels[ev->token.n_spans ? ev->token.spans[0].ch
                                                         : CHAT_CH_CONTROL]));
    if (ev->token.n_spans > 1) {
        json_t *spans = json_array();
        for (size_t k = 0; k < ev->token.n_spans; k++) {
            const struct chat_span *s = &ev->token.spans[k];
            json_t *one = json_array();
            json_array_append_new(one, json_string(chat_channels[s->ch]));
            json_array_append_new(one, json_integer((json_int_t)s->from));
            json_array_append_new(one, json_integer((json_int_t)s->to));
            json_array_append_new(spans, one);
        }
        chat_put(o, "spans", spans);
    }
    chat_put_real(o, "lp", ev->token.lp);
    chat_put(o, "rank", json_integer(ev->token.rank));
    chat_put_real(o, "ent", ev->token.ent);
    for (size_t k = 0; k < ev->token.n_top; k++) {
        json_t *one = json_array();
        float lp = ev->token.top[k].lp;
        json_array_append_new(one, json_integer(ev->token.top[k].id));
        json_array_append_new(one, isfinite(lp) ? json_real(lp) : json_null());
        json_array_append_new(top, one);
    }
    chat_put(o, "top", top);
    chat_put(o, "us", json_integer(ev->token.us));
}

static void chat_call_to_json(const struct chat_event *ev, json_t *o)
{
    chat_put_str(o, "id", "id_bytes", ev->call.id);
    chat_put_str(o, "name", "name_bytes", ev->call.name);
    if (ev->call.arguments) {
        json_t *args = json_loads(ev->call.arguments, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
        chat_put(o, "arguments", args ? args : json_string(ev->call.arguments));
    }
    if (ev->call.error || ev->type == CHAT_EV_TOOL_RESULT)
        chat_put_str(o, "raw", "raw_bytes", ev->call.raw);
    if (ev->call.error) {
        chat_put_str(o, "error", "error_bytes", ev->call.error);
        chat_put(o, "error_at", json_integer((json_int_t)ev->call.error_at));
    }
}

json_t *chat_event_to_json(const struct chat_event *ev)
{
    if (ev->type > CHAT_EV_STOP)
        return NULL;

    json_t *o = json_object();
    chat_put(o, "type", json_string(chat_event_types[ev->type]));
    if (ev->type == CHAT_EV_SESSION) {
        json_object_update(o, ev->session);
        return o;
    }
    if (ev->type != CHAT_EV_MESSAGE)
        chat_put(o, "message", json_integer(ev->message));
    switch (ev->type) {
    case CHAT_EV_MESSAGE:
        chat_put(o, "id", json_integer(ev->message));
        chat_put(o, "parent", ev->msg.parent ? json_integer(ev->msg.parent) : json_null());
        chat_put(o, "role", json_string(chat_roles[ev->msg.role]));
        chat_put_bytes(o, "content", "content_bytes", ev->msg.text ? ev->msg.text : "",
                       ev->msg.len);
        chat_put_str(o, "name", "name_bytes", ev->msg.name);
        chat_put_str(o, "tool_call_id", "tool_call_id_bytes", ev->msg.tool_call_id);
        if (ev->msg.attempt)
            chat_put(o, "attempt", json_integer(ev->msg.attempt));
        break;
    case CHAT_EV_PROMPT:
        chat_put(o, "tokens", json_integer(ev->prompt.tokens));
        chat_put(o, "reused", json_integer(ev->prompt.reused));
        if (ev->prompt.why) {
            chat_put(o, "diverged_at", json_integer(ev->prompt.diverged_at));
            chat_put(o, "why", json_string(ev->prompt.why));
        }
        if (ev->prompt.think_off)
            chat_put(o, "think", json_string("off"));
        break;
    case CHAT_EV_TOKEN:
        chat_token_to_json(ev, o);
        break;
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        chat_call_to_json(ev, o);
        break;
    case CHAT_EV_STOP:
        chat_put(o, "why", json_string(chat_stops[ev->stop.why]));
        chat_put(o, "tokens", json_integer(ev->stop.tokens));
        chat_put_real(o, "prefill_tps", ev->stop.prefill_tps);
        chat_put_real(o, "decode_tps", ev->stop.decode_tps);
        if (ev->stop.error)
            chat_put(o, "error", json_string(ev->stop.error));
        break;
    default:
        break;
    }
    return o;
}

void chat_event_dump(const struct chat_event *ev, struct buf *out)
{
    json_t *o = chat_event_to_json(ev);
    if (!o)
        return;
    /* Nine digits bring a float back exactly. */
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text) {
        buf_adds(out, text);
        buf_addc(out, '\n');
    }
    free(text);
    json_decref(o);
}

/* ---- reading: a field that is missing or of another kind has its neutral value, except
 * those without which the event means nothing ---- */

static json_int_t chat_get_int(const json_t *o, const char *key, json_int_t lo, json_int_t hi,
                               json_int_t other)
{
    const json_t *v = json_object_get(o, key);
    json_int_t i = json_is_integer(v) ? json_integer_value(v) : other;
    return i < lo || i > hi ? other : i;
}

static double chat_real(const json_t *v, double other)
{
    return json_is_number(v) ? json_number_value(v) : other;
}

/* The text under key or the base64 under raw_key; NULL when neither is there. */
static char *chat_get_bytes(const json_t *o, const char *key, const char *raw_key,
                            size_t *len)
{
    const json_t *v = json_object_get(o, key);
    struct buf b = {0};

    if (json_is_string(v)) {
        buf_add(&b, json_string_value(v), json_string_length(v));
    } else {
        v = json_object_get(o, raw_key);
        if (!json_is_string(v) ||
            !base64_decode(&b, json_string_value(v), json_string_length(v)))
            return NULL;
    }
    if (len)
        *len = b.n;
    return buf_take(&b);
}

static bool chat_spans_from_json(const json_t *o, struct chat_event *ev)
{
    const json_t *spans = json_object_get(o, "spans");
    int ch = chat_name_index(chat_channels, COUNT(chat_channels),
                             json_string_value(json_object_get(o, "ch")));
    size_t n = json_array_size(spans);

    if (n == 0) {
        if (ch < 0)
            return false;
        ev->token.spans = xcalloc(1, sizeof *ev->token.spans);
        ev->token.n_spans = 1;
        ev->token.spans[0] = (struct chat_span){ (enum chat_channel)ch, 0, ev->token.len };
        return true;
    }
    ev->token.spans = xcalloc(n, sizeof *ev->token.spans);
    ev->token.n_spans = n;
    size_t at = 0;
    for (size_t k = 0; k < n; k++) {
        const json_t *one = json_array_get(spans, k);
        ch = chat_name_index(chat_channels, COUNT(chat_channels),
                             json_string_value(json_array_get(one, 0)));
        json_int_t from = json_integer_value(json_array_get(one, 1));
        json_int_t to = json_integer_value(json_array_get(one, 2));
        if (ch < 0 || from < 0 || (size_t)from != at || to < from ||
            (size_t)to > ev->token.len)
            return false;
        at = (size_t)to;
        ev->token.spans[k] = (struct chat_span){ (enum chat_channel)ch, (size_t)from, at };
    }
    return at == ev->token.len;
}

static bool chat_token_from_json(const json_t *o, struct chat_event *ev)
{
    const json_t *top = json_object_get(o, "top");

    ev->token.i = (uint32_t)chat_get_int(o, "i", 0, UINT32_MAX, 0);
    ev->token.id = (int32_t)chat_get_int(o, "id", 0, INT32_MAX, -1);
    ev->token.bytes = chat_get_bytes(o, "text", "bytes", &ev->token.len);
    if (ev->token.id < 0 || !ev->token.bytes || !chat_spans_from_json(o, ev))
        return false;
    ev->token.lp = (float)chat_real(json_object_get(o, "lp"), -INFINITY);
    ev->token.ent = (float)chat_real(json_object_get(o, "ent"), NAN);
    ev->token.rank = (int32_t)chat_get_int(o, "rank", 0, INT32_MAX, 0);
    ev->token.us = chat_get_int(o, "us", 0, INT64_MAX, 0);
    ev->token.n_top = json_array_size(top);
    ev->token.top = xcalloc(ev->token.n_top, sizeof *ev->token.top);
    for (size_t k = 0; k < ev->token.n_top; k++) {
        const json_t *one = json_array_get(top, k);
        ev->token.top[k].id = (int32_t)json_integer_value(json_array_get(one, 0));
        ev->token.top[k].lp = (float)chat_real(json_array_get(one, 1), -INFINITY);
    }
    return true;
}

static bool chat_message_from_json(const json_t *o, struct chat_event *ev)
{
    int role = chat_role_parse(json_string_value(json_object_get(o, "role")));

    ev->message = (int)chat_get_int(o, "id", 1, INT32_MAX, 0);
    ev->msg.parent = (int)chat_get_int(o, "parent", 1, INT32_MAX, 0);
    ev->msg.attempt = (unsigned)chat_get_int(o, "attempt", 0, INT32_MAX, 0);
    ev->msg.text = chat_get_bytes(o, "content", "content_bytes", &ev->msg.len);
    ev->msg.name = chat_get_bytes(o, "name", "name_bytes", NULL);
    ev->msg.tool_call_id = chat_get_bytes(o, "tool_call_id", "tool_call_id_bytes", NULL);
    if (role < 0 || !ev->message || !ev->msg.text)
        return false;
    ev->msg.role = (enum chat_role)role;
    return true;
}

static void chat_call_from_json(const json_t *o, struct chat_event *ev)
{
    const json_t *args = json_object_get(o, "arguments");

    ev->call.id = chat_get_bytes(o, "id", "id_bytes", NULL);
    ev->call.name = chat_get_bytes(o, "name", "name_bytes", NULL);
    if (args) {
        char *text = json_dumps(args, JSON_COMPACT | JSON_ENCODE_ANY);
        ev->call.arguments = text ? xstrdup(text) : NULL;
        free(text);
    }
    ev->call.raw = chat_get_bytes(o, "raw", "raw_bytes", NULL);
    ev->call.error = chat_get_bytes(o, "error", "error_bytes", NULL);
    ev->call.error_at = (size_t)chat_get_int(o, "error_at", 0, INT64_MAX, 0);
}

bool chat_event_from_json(const json_t *j, struct chat_event *out, struct err *e)
{
    const char *name = json_string_value(json_object_get(j, "type"));
    int type = chat_name_index(chat_event_types, CHAT_EV_STOP + 1, name);
    bool ok = true;

    if (!name)
        return err_set(e, "not an event: it has no type");
    if (type < 0)
        return err_set_kind(e, ERR_NONE, "unknown event type %s", name);
    *out = (struct chat_event){ .type = (enum chat_event_type)type };
    out->message = (int)chat_get_int(j, "message", 1, INT32_MAX, 0);
    switch (out->type) {
    case CHAT_EV_SESSION:
        out->session = json_deep_copy(j);
        break;
    case CHAT_EV_MESSAGE:
        ok = chat_message_from_json(j, out);
        break;
    case CHAT_EV_PROMPT:
        out->prompt.tokens = (uint32_t)chat_get_int(j, "tokens", 0, UINT32_MAX, 0);
        out->prompt.reused = (uint32_t)chat_get_int(j, "reused", 0, UINT32_MAX, 0);
        out->prompt.diverged_at = (uint32_t)chat_get_int(j, "diverged_at", 0, UINT32_MAX, 0);
        out->prompt.why = chat_get_bytes(j, "why", "why_bytes", NULL);
        out->prompt.think_off = json_is_string(json_object_get(j, "think")) &&
                                !strcmp(json_string_value(json_object_get(j, "think")), "off");
        break;
    case CHAT_EV_TOKEN:
        ok = out->message && chat_token_from_json(j, out);
        break;
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        chat_call_from_json(j, out);
        break;
    case CHAT_EV_STOP: {
        int why = chat_name_index(chat_stops, COUNT(chat_stops),
                                  json_string_value(json_object_get(j, "why")));
        ok = why >= 0;
        out->stop.why = ok ? (enum chat_stop)why : CHAT_STOP_ERROR;
        out->stop.tokens = (uint32_t)chat_get_int(j, "tokens", 0, UINT32_MAX, 0);
        out->stop.prefill_tps = chat_real(json_object_get(j, "prefill_tps"), 0);
        out->stop.decode_tps = chat_real(json_object_get(j, "decode_tps"), 0);
        out->stop.error = chat_get_bytes(j, "error", "error_bytes", NULL);
        break;
    }
    default:
        break;
    }
    if (ok)
        return true;
    chat_event_release(out);
    return err_set(e, "a %s event lacks a field or has one of another kind", name);
}
