/* Llama 3: <|start_header_id|>role<|end_header_id|>\n\n...<|eot_id|>, content trimmed.
 *
 * Models since 3.1 are known by <|python_tag|> in their vocabulary. They always begin
 * with a system message that tells two dates, which are those that the templates of 3.1
 * write when nobody names others; a later date of today would change the prompt from day
 * to day. They know tools: these are declared in the first message of the user's, a call
 * is the whole answer, one at a time, and the result comes from the role "ipython", as
 * JSON. */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

static void llama3_open(struct tmpl_job *j, const char *role)
{
    tmpl_put_special(j, "<|start_header_id|>");
    tmpl_puts(j, role);
    tmpl_put_special(j, "<|end_header_id|>");
    tmpl_puts(j, "\n\n");
}

static bool llama3_is_31(const struct tmpl_job *j)
{
    return tmpl_has_special(j, "<|python_tag|>");
}

static void llama3_dates(struct tmpl_job *j)
{
    if (!llama3_is_31(j))
        return;
    if (j->tools)
        tmpl_puts(j, "Environment: ipython\n");
    tmpl_puts(j, "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
}

static void llama3_tools(struct tmpl_job *j)
{
    tmpl_puts(
        j, "Given the following functions, please respond with a JSON for a function "
           "call with its proper arguments that best answers the given prompt.\n\n"
           "Respond in the format {\"name\": function name, \"parameters\": dictionary "
           "of argument name and its value}.Do not use variables.\n\n");
    for (size_t i = 0; i < json_array_size(j->tools); i++) {
        tmpl_put_json(j, json_array_get(j->tools, i), 4);
        tmpl_puts(j, "\n\n");
    }
}

static bool llama3_call(struct tmpl_job *j, size_t i, struct err *e)
{
    const json_t *calls = j->messages[i].calls, *call = json_array_get(calls, 0);

    if (json_array_size(calls) != 1)
        return err_set_kind(e, ERR_USAGE, "message %zu: Llama 3 makes one call at a time",
                            i + 1);
    tmpl_puts(j, "{\"name\": \"");
    if (!tmpl_put_call_name(j, call, e))
        return false;
    tmpl_puts(j, "\", \"parameters\": ");
    tmpl_put_arguments(j, call);
    tmpl_puts(j, "}");
    return true;
}

static void llama3_result(struct tmpl_job *j, size_t i)
{
    struct buf b = {0};

    pyjson_add_string(&b, buf_str(&j->messages[i].content), j->messages[i].content.n);
    tmpl_put(j, b.p, b.n);
    buf_release(&b);
}

/* What stands between header and end; *tools is false once they are declared. */
static bool llama3_body(struct tmpl_job *j, size_t i, bool *tools, struct err *e)
{
    const struct tmpl_message *m = &j->messages[i];

    switch (m->role) {
    case TMPL_SYSTEM:
        if (i == 0)
            llama3_dates(j);
        break;
    case TMPL_USER:
        if (*tools)
            llama3_tools(j);
        *tools = false;
        break;
    case TMPL_ASSISTANT:
        if (m->said) {
            tmpl_put_said(j, i);
            return true;
        }
        if (m->calls)
            return llama3_call(j, i, e);
        break;
    case TMPL_TOOL:
        if (llama3_is_31(j)) {
            llama3_result(j, i);
            return true;
        }
        break;
    }
    tmpl_put_content(j, i, TMPL_STRIP_SPACE);
    return true;
}

static bool llama3_render(struct tmpl_job *j, struct err *e)
{
    const char *const roles[] = {
        [TMPL_SYSTEM] = "system",
        [TMPL_USER] = "user",
        [TMPL_ASSISTANT] = "assistant",
        [TMPL_TOOL] = llama3_is_31(j) ? "ipython" : "tool",
    };
    bool tools = j->tools && llama3_is_31(j);

    /* A relative with another BOS gets that one from the chat layer. */
    if (tmpl_has_special(j, "<|begin_of_text|>"))
        tmpl_put_special(j, "<|begin_of_text|>");
    if (llama3_is_31(j) && !(j->n && j->messages[0].role == TMPL_SYSTEM)) {
        llama3_open(j, "system");
        llama3_dates(j);
        tmpl_put_special(j, "<|eot_id|>");
    }
    for (size_t i = 0; i < j->n; i++) {
        llama3_open(j, roles[j->messages[i].role]);
        if (!llama3_body(j, i, &tools, e))
            return false;
        if (!tmpl_is_open(j, i))
            tmpl_put_special(j, "<|eot_id|>");
    }
    if (tools)
        return err_set_kind(e, ERR_USAGE, "Llama 3 is told of tools in a message of the "
                                          "user's, and there is none");
    if (tmpl_wants_answer(j))
        llama3_open(j, "assistant");
    return true;
}

const struct tmpl tmpl_llama3 = {
    .name = "llama3",
    .help = "<|start_header_id|>role<|end_header_id|> ... <|eot_id|>: Llama 3",
    .needs = TMPL_NAMES("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    .tells = TMPL_NAMES("<|start_header_id|>"),
    .render = llama3_render,
    .keeps_said = true,
    .syntax = &syn_llama3,
};
