/* XTML, the messages of a conversation: content, the channels and calls of an assistant,
 * and what a message leaves open when the model is to go on in it. */
#include "config.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "templates/internal.h"
#include "templates/pyjson.h"
#include "templates/xtml_int.h"

/* ---- content ---- */

bool xtml_is_blank(const char *s, size_t n)
{
    size_t k;

    while ((k = tmpl_space(s, n))) {
        s += k;
        n -= k;
    }
    return n == 0;
}

bool xtml_is_empty(const json_t *content)
{
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *text = json_object_get(json_array_get(content, i), "text");
        if (!json_is_string(text) || json_string_length(text))
            return false;
    }
    return !content || json_is_null(content) || json_is_array(content) ||
           (json_is_string(content) && !json_string_length(content));
}

/* What a part is instead of text; NULL: it may be text. */
static const char *xtml_medium(const char *type)
{
    static const struct {
        const char *type, *medium;
    } known[] = {
        { "image", "image" },      { "image_url", "image" }, { "input_image", "image" },
        { "video", "video" },      { "video_url", "video" }, { "input_video", "video" },
        { "audio", "audio" },      { "audio_url", "audio" }, { "input_audio", "audio" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].type, type))
            return known[i].medium;
    return NULL;
}

static bool xtml_part(struct xtml_job *j, const json_t *part, struct err *e)
{
    const char *type, *text, *medium;
    size_t n;

    if (!json_is_object(part))
        return err_set(e, "a part of the content is not an object");
    if (!tmpl_get_string(part, "type", &type, &n, e))
        return false;
    medium = type ? xtml_medium(type) : NULL;
    if (medium)
        return err_set(e, "%s input is not supported by a text-only build", medium);
    if (!tmpl_get_string(part, "text", &text, &n, e))
        return false;
    if (!text)
        return err_set(e, "a part of the content (type \"%s\") has no text",
                       type ? type : "none");
    xtml_put(j, text, n);
    return true;
}

bool xtml_content(struct xtml_job *j, const json_t *content, struct err *e)
{
    if (!content || json_is_null(content))
        return true;
    if (pyjson_is_string(content)) {
        xtml_put(j, json_string_value(content), json_string_length(content));
        return true;
    }
    if (!json_is_array(content))
        return err_set(e, "the content is neither text nor a list of parts");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (!xtml_part(j, json_array_get(content, i), e))
            return false;
    return true;
}

/* ---- calls ---- */

static const char *xtml_type(const json_t *v)
{
    if (pyjson_is_number(v))
        return "number";
    switch (json_typeof(v)) {
    case JSON_STRING:
        return "string";
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_TRUE:
    case JSON_FALSE:
        return "boolean";
    default:
        return "null";
    }
}

static void xtml_argument(struct xtml_job *j, const char *key, const json_t *v)
{
    const char *type = xtml_type(v);

    xtml_open(j, "argument");
    xtml_attr(j, "key", key, strlen(key));
    xtml_attr(j, "type", type, strlen(type));
    xtml_sep(j);
    if (pyjson_is_string(v)) {
        xtml_put(j, json_string_value(v), json_string_length(v));
    } else {
        struct buf b = {0};
        pyjson_add(&b, v, PYJSON_SPACES);
        xtml_put(j, b.p, b.n);
        buf_release(&b);
    }
    xtml_close_tag(j, "argument");
}

static bool xtml_arguments(struct xtml_job *j, const json_t *arguments, struct err *e)
{
    json_t *object = (json_t *)arguments;       /* jansson iterates without const */

    if (!json_is_object(arguments))
        return err_set(e, "tool call arguments must be a JSON object");
    for (void *it = json_object_iter(object); it; it = json_object_iter_next(object, it))
        xtml_argument(j, json_object_iter_key(it), json_object_iter_value(it));
    return true;
}

/* Arguments as JSON text: numbers stay as they are written there, which is how the model
 * wrote them if it did. Text that is no JSON is given back to it as it is. */
static bool xtml_arguments_text(struct xtml_job *j, const char *s, size_t n,
                                struct err *e)
{
    json_t *arguments;
    bool ok;

    if (xtml_is_blank(s, n))
        return true;
    arguments = pyjson_load(s, n, PYJSON_NAN | PYJSON_NUMBER_TEXT, NULL);
    if (arguments) {
        ok = xtml_arguments(j, arguments, e);
        json_decref(arguments);
        return ok;
    }
    xtml_open(j, "json");
    xtml_attr(j, "type", "object", 6);
    xtml_sep(j);
    xtml_put(j, s, n);
    xtml_close_tag(j, "json");
    return true;
}

static bool xtml_one_call(struct xtml_job *j, const json_t *call, size_t number,
                          struct err *e)
{
    const json_t *function = tmpl_function(call);
    const json_t *arguments = json_object_get(function, "arguments");
    const char *name;
    size_t n;
    bool ok = true;

    if (!tmpl_get_string(function, "name", &name, &n, e))
        return false;
    if (!n)
        return err_set(e, "the call has no name");
    xtml_open(j, "call");
    xtml_attr(j, "tool", name, n);
    xtml_attr_number(j, "index", number);
    xtml_sep(j);
    if (pyjson_is_string(arguments))
        ok = xtml_arguments_text(j, json_string_value(arguments),
                                 json_string_length(arguments), e);
    else if (arguments && !json_is_null(arguments))
        ok = xtml_arguments(j, arguments, e);
    xtml_close_tag(j, "call");
    return ok;
}

static bool xtml_calls(struct xtml_job *j, const json_t *calls, struct err *e)
{
    for (size_t i = 0; i < json_array_size(calls); i++)
        if (!xtml_one_call(j, json_array_get(calls, i), i + 1, e))
            return err_wrap(e, "call %zu", i + 1);
    return true;
}

/* ---- an assistant ---- */

/* What closes a message that ended in a state of the stream; "/" before a tag closes it.
 * A message without a response channel gets an empty one: every message has one. */
static const struct xtml_closing {
    const char *state, *tags[5];
} xtml_closings[] = {
    { "done", { NULL } },
    { "idle", { "response", "/response", "/message" } },
    { "think", { "/think", "response", "/response", "/message" } },
    { "response", { "/response", "/message" } },
    { "epilogue", { "/message" } },
    { "tools", { "/tools", "/message" } },
    { "call", { "/call", "/tools", "/message" } },
    { "argument", { "/argument", "/call", "/tools", "/message" } },
    { "json", { "/json", "/call", "/tools", "/message" } },
};

static bool xtml_close_said(struct xtml_job *j, const json_t *m, struct err *e)
{
    const struct xtml_closing *c = xtml_closings;
    const char *state;
    size_t n, i = 0;

    if (!tmpl_get_string(m, "_said_end", &state, &n, e))
        return false;
    if (!state)
        state = "done";
    if (!strncmp(state, "sep ", 4)) {
        xtml_sep(j);
        state += 4;
    }
    while (i < sizeof xtml_closings / sizeof *c && strcmp(c[i].state, state))
        i++;
    if (i == sizeof xtml_closings / sizeof *c)
        return err_set(e, "\"_said_end\" is \"%s\", which no message ends with", state);
    for (const char *const *tag = c[i].tags; *tag; tag++) {
        /* What came outside of the channels was the response. */
        if (!strcmp(state, "idle") && strcmp(*tag, "/message") &&
            !xtml_is_empty(json_object_get(m, "content")))
            continue;
        if (**tag == '/')
            xtml_close_tag(j, *tag + 1);
        else
            xtml_open_tag(j, *tag);
    }
    xtml_put_special(j, XTML_END_OF_MSG);
    return true;
}

/* The turn as it was sampled, behind what the prompt then ended with. */
static bool xtml_said_turn(struct xtml_job *j, const json_t *m, size_t i, bool think_off,
                           bool open, struct err *e)
{
    if (think_off && j->thinking) {
        xtml_open_tag(j, "think");
        xtml_close_tag(j, "think");
    }
    xtml_open_tag(j, think_off ? "response" : "think");
    xtml_put_said(j, i);
    if (!open)
        return xtml_close_said(j, m, e);
    j->out->start = think_off ? TMPL_RESPONSE : TMPL_THINK;
    return true;
}

/* The thoughts, from where the two names for them say. False in *more: the model is to go
 * on inside them. */
static bool xtml_thoughts(struct xtml_job *j, const json_t *m, bool open, bool *more,
                          struct err *e)
{
    const char *s;
    size_t n;

    if (!tmpl_get_string(m, "reasoning_content", &s, &n, e) ||
        (!n && !tmpl_get_string(m, "reasoning", &s, &n, e)))
        return false;
    *more = !open || !xtml_is_empty(json_object_get(m, "content")) ||
            json_array_size(json_object_get(m, "tool_calls"));
    xtml_open_tag(j, "think");
    if (!*more || !xtml_is_blank(s, n))
        xtml_put(j, s, n);
    if (*more)
        xtml_close_tag(j, "think");
    else
        j->out->start = TMPL_THINK;
    return true;
}

static bool xtml_written_turn(struct xtml_job *j, const json_t *m, bool open,
                              struct err *e)
{
    bool more = true;

    if (j->thinking && !xtml_thoughts(j, m, open, &more, e))
        return false;
    if (!more)
        return true;
    xtml_open_tag(j, "response");
    if (!xtml_content(j, json_object_get(m, "content"), e))
        return false;
    if (open && !j->calls) {
        j->out->start = TMPL_RESPONSE;
        return true;
    }
    xtml_close_tag(j, "response");
    if (j->calls) {
        xtml_open_tag(j, "tools");
        if (!xtml_calls(j, j->calls, e))
            return false;
        if (open) {
            j->out->start = TMPL_TOOL_CALL;
            return true;
        }
        xtml_close_tag(j, "tools");
    }
    xtml_end_message(j);
    return true;
}

bool xtml_assistant(struct xtml_job *j, const json_t *m, size_t i, struct err *e)
{
    bool said, think_off, open;

    if (!tmpl_get_list(m, "tool_calls", &j->calls, e) ||
        !tmpl_get_bool(m, "_said", false, &said, e) ||
        !tmpl_get_bool(m, "_think_off", false, &think_off, e) ||
        !tmpl_get_bool(m, "_open", false, &open, e))
        return false;
    j->n_results = 0;
    /* Without thinking no past thought is shown, and sampled ids would show it. */
    if (!j->thinking && !think_off)
        said = false;
    xtml_open(j, "message");
    xtml_attr(j, "role", "assistant", 9);
    if (!said && !xtml_attr_of(j, m, "name", e))    /* no generation prompt has a name */
        return false;
    xtml_sep(j);
    if (said)
        return xtml_said_turn(j, m, i, think_off, open, e);
    return xtml_written_turn(j, m, open, e);
}
