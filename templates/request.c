/* Reading a request: JSON that a user wrote, with nothing in it taken for granted. The
 * renderers of ours get messages with a known role, one text, and calls that are a list;
 * what they could not write is refused here, by the number of its message. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

bool tmpl_get_string(const json_t *o, const char *key, const char **s, size_t *n,
                     struct err *e)
{
    const json_t *v = json_object_get(o, key);

    *s = NULL;
    *n = 0;
    if (!v || json_is_null(v))
        return true;
    if (!pyjson_is_string(v))
        return err_set_kind(e, ERR_USAGE, "\"%s\" is not a string", key);
    *s = json_string_value(v);
    *n = json_string_length(v);
    return true;
}

bool tmpl_get_bool(const json_t *o, const char *key, bool value, bool *out, struct err *e)
{
    const json_t *v = json_object_get(o, key);

    *out = value;
    if (!v || json_is_null(v))
        return true;
    if (!json_is_boolean(v))
        return err_set_kind(e, ERR_USAGE, "\"%s\" is not true or false", key);
    *out = json_is_true(v);
    return true;
}

bool tmpl_get_list(const json_t *o, const char *key, const json_t **out, struct err *e)
{
    const json_t *v = json_object_get(o, key);

    *out = json_array_size(v) ? v : NULL;
    if (v && !json_is_null(v) && !json_is_array(v))
        return err_set_kind(e, ERR_USAGE, "\"%s\" is not a list", key);
    return true;
}

const json_t *tmpl_function(const json_t *call)
{
    const json_t *function = json_object_get(call, "function");

    return function ? function : call;
}

/* ---- content ---- */

/* What a part is instead of text; NULL: it may be text. */
static const char *part_medium(const char *type)
{
    static const char *const media[] = { "image", "video", "audio" };

    for (size_t i = 0; type && i < sizeof media / sizeof *media; i++) {
        size_t n = strlen(media[i]);
        const char *at = strncmp(type, "input_", 6) ? type : type + 6;
        if (!strncmp(at, media[i], n) && (!at[n] || !strcmp(at + n, "_url")))
            return media[i];
    }
    return NULL;
}

static bool get_part(const json_t *part, struct buf *out, struct err *e)
{
    const char *type, *text, *medium;
    size_t n;

    if (pyjson_is_string(part)) {
        buf_add(out, json_string_value(part), json_string_length(part));
        return true;
    }
    if (!json_is_object(part))
        return err_set_kind(e, ERR_USAGE, "a part of the content is not an object");
    if (!tmpl_get_string(part, "type", &type, &n, e))
        return false;
    if ((medium = part_medium(type)))
        return err_set_kind(e, ERR_USAGE,
                            "%s input is not supported by a text-only build", medium);
    if (!tmpl_get_string(part, "text", &text, &n, e))
        return false;
    if (!text)
        return err_set_kind(e, ERR_USAGE,
                            "a part of the content (type \"%s\") has no text",
                            type ? type : "none");
    buf_add(out, text, n);
    return true;
}

bool tmpl_get_content(const json_t *content, struct buf *out, struct err *e)
{
    if (!content || json_is_null(content))
        return true;
    if (pyjson_is_string(content)) {
        buf_add(out, json_string_value(content), json_string_length(content));
        return true;
    }
    if (!json_is_array(content))
        return err_set_kind(e, ERR_USAGE,
                            "the content is neither text nor a list of parts");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (!get_part(json_array_get(content, i), out, e))
            return false;
    return true;
}

/* ---- messages ---- */

static bool read_role(const json_t *m, enum tmpl_role *out, struct err *e)
{
    static const struct {
        const char *name;
        enum tmpl_role role;
    } known[] = {
        { "system", TMPL_SYSTEM },       { "developer", TMPL_SYSTEM },
        { "user", TMPL_USER },           { "assistant", TMPL_ASSISTANT },
        { "tool", TMPL_TOOL },
    };
    const char *name;
    size_t n;

    if (!tmpl_get_string(m, "role", &name, &n, e))
        return false;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++) {
        if (!strcmp(known[i].name, name)) {
            *out = known[i].role;
            return true;
        }
    }
    return err_set_kind(
        e, ERR_USAGE,
        "the role \"%s\" is unknown: it is one of system, developer, user, "
        "assistant and tool",
        name ? name : "");
}

static bool read_message(const json_t *o, struct tmpl_message *m, struct err *e)
{
    size_t n;

    if (!json_is_object(o))
        return err_set_kind(e, ERR_USAGE, "it is not an object");
    if (!read_role(o, &m->role, e) ||
        !tmpl_get_content(json_object_get(o, "content"), &m->content, e) ||
        !tmpl_get_string(o, "reasoning_content", &m->reasoning, &m->reasoning_len, e) ||
        (!m->reasoning_len &&
         !tmpl_get_string(o, "reasoning", &m->reasoning, &m->reasoning_len, e)))
        return false;
    return tmpl_get_list(o, "tool_calls", &m->calls, e) &&
           tmpl_get_string(o, "name", &m->name, &n, e) &&
           tmpl_get_string(o, "tool_call_id", &m->tool_call_id, &n, e) &&
           tmpl_get_bool(o, "_said", false, &m->said, e) &&
           tmpl_get_bool(o, "_think_off", false, &m->think_off, e) &&
           tmpl_get_bool(o, "_open", false, &m->open, e);
}

static bool check_shapes(const struct tmpl_request *r, struct err *e)
{
    if (!json_is_array(r->messages))
        return err_set_kind(e, ERR_USAGE, "the messages are not a list");
    if (r->tools && !json_is_null(r->tools) && !json_is_array(r->tools))
        return err_set_kind(e, ERR_USAGE, "the tools are not a list");
    if (r->options && !json_is_null(r->options) && !json_is_object(r->options))
        return err_set_kind(e, ERR_USAGE, "the options are not an object");
    return true;
}

bool tmpl_job_read(struct tmpl_job *j, struct err *e)
{
    const struct tmpl_request *r = j->request;
    bool think;

    if (!check_shapes(r, e) ||
        !tmpl_get_bool(r->options, "add_generation_prompt", false, &j->generate, e) ||
        !tmpl_get_bool(r->options, "enable_thinking", true, &think, e))
        return false;
    j->think_off = !think;
    j->tools = json_array_size(r->tools) ? r->tools : NULL;
    if (j->tmpl->reads_json)
        return true;
    j->messages = xcalloc(json_array_size(r->messages), sizeof *j->messages);
    for (size_t i = 0; i < json_array_size(r->messages); i++) {
        j->n = i + 1;
        if (!read_message(json_array_get(r->messages, i), &j->messages[i], e))
            return err_wrap(e, "message %zu", i + 1);
    }
    return true;
}

void tmpl_job_release(struct tmpl_job *j)
{
    for (size_t i = 0; i < j->n; i++)
        buf_release(&j->messages[i].content);
    free(j->messages);
    j->messages = NULL;
    j->n = 0;
}

bool tmpl_is_open(const struct tmpl_job *j, size_t i)
{
    return i + 1 == j->n && j->messages[i].open;
}

bool tmpl_wants_answer(const struct tmpl_job *j)
{
    return j->generate && !(j->n && tmpl_is_open(j, j->n - 1));
}

size_t tmpl_last_user(const struct tmpl_job *j)
{
    for (size_t i = j->n; i-- > 0;)
        if (j->messages[i].role == TMPL_USER)
            return i;
    return j->n;
}
