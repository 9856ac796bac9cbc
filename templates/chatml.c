/* ChatML: <|im_start|>role\n...<|im_end|>\n, as Qwen and many others write it.
 *
 * System messages may stand anywhere. Tools are declared in the first one. Results of
 * tools go in a turn of the user's, one turn for results that follow each other. No
 * default system prompt is added: some models have one in their own template, but a
 * prompt nobody asked for is not ours to write.
 *
 * Thinking off is an empty thought that the prompt already holds, for models whose
 * vocabulary has <think>; on and auto leave the choice to the model. Thoughts are written
 * since the last question only, and an empty one for an answer without: that is how
 * models with <think> were trained. What was said itself keeps its thoughts. A vocabulary
 * without <think> is one of models that do not think: they are shown no thoughts of
 * others. */
#include "config.h"

#include <string.h>

#include "templates/internal.h"

static void chatml_open(struct tmpl_job *j, const char *role)
{
    tmpl_put_special(j, "<|im_start|>");
    tmpl_puts(j, role);
}

static void chatml_close(struct tmpl_job *j, size_t i)
{
    if (tmpl_is_open(j, i))
        return;
    tmpl_put_special(j, "<|im_end|>");
    tmpl_puts(j, "\n");
}

static bool chatml_is_tool(const struct tmpl_job *j, size_t i)
{
    return i < j->n && j->messages[i].role == TMPL_TOOL;
}

static void chatml_result(struct tmpl_job *j, size_t i)
{
    if (!i || !chatml_is_tool(j, i - 1))
        chatml_open(j, "user");
    tmpl_puts(j, "\n");
    tmpl_put_tag(j, "<tool_response>");
    tmpl_puts(j, "\n");
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (!tmpl_is_open(j, i)) {
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "</tool_response>");
    }
    if (!chatml_is_tool(j, i + 1))
        chatml_close(j, i);
}

static void chatml_tools(struct tmpl_job *j)
{
    if (!j->tools)
        return;
    tmpl_puts(j, "# Tools\n\nYou may call one or more functions to assist with the user "
                 "query.\n\nYou are provided with function signatures within "
                 "<tools></tools> XML tags:\n<tools>");
    for (size_t i = 0; i < json_array_size(j->tools); i++) {
        tmpl_puts(j, "\n");
        tmpl_put_json(j, json_array_get(j->tools, i), 0);
    }
    tmpl_puts(j,
              "\n</tools>\n\nFor each function call, return a json object with function "
              "name and arguments within ");
    tmpl_put_tag(j, "<tool_call>");
    tmpl_put_tag(j, "</tool_call>");
    tmpl_puts(j, " XML tags:\n");
    tmpl_put_tag(j, "<tool_call>");
    tmpl_puts(j, "\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n");
    tmpl_put_tag(j, "</tool_call>");
}

/* s without newlines at its ends. */
static const char *strip_lines(const char *s, size_t *n, bool end)
{
    while (*n && *s == '\n') {
        s++;
        --*n;
    }
    while (end && *n && s[*n - 1] == '\n')
        --*n;
    return s;
}

/* The thought and the content. False: the model goes on in the thought. */
static bool chatml_said(struct tmpl_job *j, size_t i)
{
    const struct tmpl_message *m = &j->messages[i];
    size_t last = tmpl_last_user(j), think_n = m->reasoning_len, n = m->content.n;
    bool since = last == j->n || i > last, open = tmpl_is_open(j, i);
    bool in_thought = open && think_n && !n;
    const char *think;

    if (!since || !tmpl_has_special(j, "<think>") ||
        (!think_n && (open || i + 1 < j->n))) {
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
        return true;
    }
    think = strip_lines(m->reasoning, &think_n, !in_thought);
    tmpl_put_tag(j, "<think>");
    tmpl_puts(j, "\n");
    tmpl_put(j, think, think_n);
    if (in_thought) {
        j->out->start = TMPL_THINK;
        return false;
    }
    tmpl_puts(j, "\n");
    tmpl_put_tag(j, "</think>");
    tmpl_puts(j, "\n\n");
    tmpl_put(j, strip_lines(buf_str(&m->content), &n, false), n);
    return true;
}

static bool chatml_calls(struct tmpl_job *j, size_t i, struct err *e)
{
    const struct tmpl_message *m = &j->messages[i];

    for (size_t k = 0; k < json_array_size(m->calls); k++) {
        const json_t *call = json_array_get(m->calls, k);
        if (k || m->content.n)
            tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<tool_call>");
        tmpl_puts(j, "\n{\"name\": \"");
        if (!tmpl_put_call_name(j, call, e))
            return false;
        tmpl_puts(j, "\", \"arguments\": ");
        tmpl_put_arguments(j, call);
        tmpl_puts(j, "}\n");
        tmpl_put_tag(j, "</tool_call>");
    }
    return true;
}

static bool chatml_answer(struct tmpl_job *j, size_t i, struct err *e)
{
    chatml_open(j, "assistant\n");
    if (j->messages[i].said) {
        if (j->messages[i].think_off)
            tmpl_put_no_think(j);
        tmpl_put_said(j, i);
    } else if (chatml_said(j, i) && !chatml_calls(j, i, e)) {
        return false;
    }
    chatml_close(j, i);
    return true;
}

static void chatml_system(struct tmpl_job *j, size_t i)
{
    chatml_open(j, "system\n");
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (i == 0 && j->tools) {
        tmpl_puts(j, "\n\n");
        chatml_tools(j);
    }
    chatml_close(j, i);
}

static bool chatml_render(struct tmpl_job *j, struct err *e)
{
    if (j->tools && !(j->n && j->messages[0].role == TMPL_SYSTEM)) {
        chatml_open(j, "system\n");
        chatml_tools(j);
        tmpl_put_special(j, "<|im_end|>");
        tmpl_puts(j, "\n");
    }
    for (size_t i = 0; i < j->n; i++) {
        switch (j->messages[i].role) {
        case TMPL_SYSTEM:
            chatml_system(j, i);
            break;
        case TMPL_USER:
            chatml_open(j, "user\n");
            tmpl_put_content(j, i, TMPL_KEEP_SPACE);
            chatml_close(j, i);
            break;
        case TMPL_ASSISTANT:
            if (!chatml_answer(j, i, e))
                return false;
            break;
        case TMPL_TOOL:
            chatml_result(j, i);
            break;
        }
    }
    if (!tmpl_wants_answer(j))
        return true;
    chatml_open(j, "assistant\n");
    if (j->think_off)
        tmpl_put_no_think(j);
    return true;
}

const struct tmpl tmpl_chatml = {
    .name = "chatml",
    .help = "<|im_start|>role ... <|im_end|>: Qwen, Hermes, SmolLM2, Yi and others",
    .needs = TMPL_NAMES("<|im_start|>", "<|im_end|>"),
    .tells = TMPL_NAMES("<|im_start|>"),
    .render = chatml_render,
    .keeps_said = true,
    .thinks = true,
    .syntax = &syn_hermes,
};
