/* XTML, one message after the other: who speaks, and results in the order of their
 * calls. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/pyjson.h"
#include "templates/xtml_int.h"

/* ---- system and user ---- */

static bool xtml_person(struct xtml_job *j, const json_t *m, const char *role,
                        struct err *e)
{
    bool open;

    if (!tmpl_get_bool(m, "_open", false, &open, e))
        return false;
    xtml_open(j, "message");
    xtml_attr(j, "role", role, strlen(role));
    if (!xtml_attr_of(j, m, "name", e))
        return false;
    xtml_sep(j);
    if (!xtml_content(j, json_object_get(m, "content"), e))
        return false;
    if (!open)
        xtml_end_message(j);
    return true;
}

static bool xtml_system(struct xtml_job *j, const json_t *m, struct err *e)
{
    const json_t *tools;

    if (!tmpl_get_list(m, "tools", &tools, e))
        return false;
    if (!tools)
        return xtml_person(j, m, "system", e);
    xtml_tools(j, tools, XTML_MORE_TOOLS);
    return true;
}

/* ---- results ---- */

struct xtml_result {
    const json_t *message;
    size_t at;              /* in the run */
    const json_t *call;     /* NULL: none has its id */
    size_t position;        /* of that call */
};

/* Ids are compared as text: some write numbers. */
static bool xtml_same_id(const json_t *a, const json_t *b)
{
    struct buf text = {0};
    bool same;

    if (json_typeof(a) == json_typeof(b))
        return json_equal(a, b);
    if (!json_is_string(a)) {
        const json_t *swap = a;
        a = b;
        b = swap;
    }
    if (!json_is_string(a) || !json_is_integer(b))
        return false;
    pyjson_add(&text, b, PYJSON_COMPACT);
    same = text.n == json_string_length(a) &&
           !memcmp(text.p, json_string_value(a), text.n);
    buf_release(&text);
    return same;
}

/* The first call with the id of the result m. */
static void xtml_match(const json_t *calls, const json_t *m, struct xtml_result *r)
{
    const json_t *id = json_object_get(m, "tool_call_id");

    if (!id)
        id = json_object_get(m, "id");
    if (!id || json_is_null(id))
        return;
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i);
        const json_t *of = json_object_get(call, "id");
        if (of && !json_is_null(of) && xtml_same_id(of, id)) {
            r->call = call;
            r->position = i;
            return;
        }
    }
}

static int xtml_by_position(const void *a, const void *b)
{
    const struct xtml_result *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool xtml_result_name(struct xtml_job *j, const struct xtml_result *r,
                             const char **name, size_t *n, struct err *e)
{
    if (r->call && !tmpl_get_string(tmpl_function(r->call), "name", name, n, e))
        return false;
    if (!*name && !tmpl_get_string(r->message, "tool", name, n, e))
        return false;
    if (!*name && !tmpl_get_string(r->message, "name", name, n, e))
        return false;
    if (!*name && j->n_results <= json_array_size(j->calls) &&
        !tmpl_get_string(tmpl_function(json_array_get(j->calls, j->n_results - 1)), "name",
                     name, n, e))
        return false;
    return *name || err_set(e, "tool message has no resolvable tool name: it needs "
                               "\"tool\", \"name\" or the \"tool_call_id\" of a call");
}

static bool xtml_one_result(struct xtml_job *j, const struct xtml_result *r,
                            struct err *e)
{
    const char *name = NULL;
    size_t n = 0;
    bool open;

    j->n_results++;
    if (!tmpl_get_bool(r->message, "_open", false, &open, e))
        return false;
    if (open)
        return err_set(e, "the model cannot go on in the result of a tool");
    if (!xtml_result_name(j, r, &name, &n, e))
        return false;
    xtml_open(j, "message");
    xtml_attr(j, "role", "tool", 4);
    xtml_attr(j, "tool", name, n);
    xtml_attr_number(j, "index", j->n_results);
    xtml_sep(j);
    if (!xtml_content(j, json_object_get(r->message, "content"), e))
        return false;
    xtml_end_message(j);
    return true;
}

/* Results that all belong to calls come in the order of these; one that belongs to none
 * leaves its whole run as it is. */
bool xtml_results(struct xtml_job *j, const json_t *messages, size_t from, size_t to,
                  struct err *e)
{
    size_t n = to - from;
    struct xtml_result *run = xcalloc(n, sizeof *run);
    bool all = true, ok = true;

    for (size_t i = 0; i < n; i++) {
        run[i].message = json_array_get(messages, from + i);
        run[i].at = i;
        xtml_match(j->calls, run[i].message, &run[i]);
        all = all && run[i].call;
    }
    if (all)
        qsort(run, n, sizeof *run, xtml_by_position);
    for (size_t i = 0; i < n && ok; i++) {
        if (!all)
            run[i].call = NULL;
        ok = xtml_one_result(j, &run[i], e) ||
             err_wrap(e, "message %zu", from + run[i].at + 1);
    }
    free(run);
    return ok;
}

/* ---- all of them ---- */

enum xtml_role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL, ROLE_UNKNOWN };

static enum xtml_role xtml_role(const json_t *m)
{
    static const struct {
        const char *name;
        enum xtml_role role;
    } known[] = {
        { "system", ROLE_SYSTEM },       { "developer", ROLE_SYSTEM },
        { "user", ROLE_USER },           { "assistant", ROLE_ASSISTANT },
        { "tool", ROLE_TOOL },
    };
    const json_t *role = json_object_get(m, "role");

    for (size_t i = 0; pyjson_is_string(role) && i < sizeof known / sizeof *known; i++)
        if (!strcmp(json_string_value(role), known[i].name))
            return known[i].role;
    return ROLE_UNKNOWN;
}

static bool xtml_message(struct xtml_job *j, const json_t *m, size_t i,
                         enum xtml_role role, struct err *e)
{
    const char *name;
    size_t n;

    switch (role) {
    case ROLE_SYSTEM:
        return xtml_system(j, m, e);
    case ROLE_USER:
        return xtml_person(j, m, "user", e);
    case ROLE_ASSISTANT:
        return xtml_assistant(j, m, i, e);
    default:
        if (!tmpl_get_string(m, "role", &name, &n, e))
            return false;
        return err_set(e, "the role \"%s\" is unknown: it is one of system, developer, "
                          "user, assistant and tool", name ? name : "");
    }
}

bool xtml_messages(struct xtml_job *j, const json_t *messages, size_t from, size_t to,
                   struct err *e)
{
    for (size_t i = from; i < to; i++) {
        const json_t *m = json_array_get(messages, i);
        enum xtml_role role = xtml_role(m);

        if (role == ROLE_TOOL) {
            size_t end = i + 1;
            while (end < to && xtml_role(json_array_get(messages, end)) == ROLE_TOOL)
                end++;
            if (!xtml_results(j, messages, i, end, e))
                return false;
            i = end - 1;
        } else if (!xtml_message(j, m, i, role, e)) {
            return err_wrap(e, "message %zu", i + 1);
        }
    }
    return true;
}
