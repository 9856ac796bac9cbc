/* GLM: [gMASK]<sop><|user|>\n...<|assistant|>..., nothing at the end of a turn.
 *
 * Two rows. Models since 4.5, which have <think> in their vocabulary, put a thought
 * before every answer, an empty one up to the last question, and write a call as its name
 * and pairs of <arg_key> and <arg_value>. Those before write a call as a turn whose
 * header is its name. */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

static bool glm_is_45(const struct tmpl_job *j)
{
    return j->tmpl == &tmpl_glm45;
}

/* ---- tools ---- */

static void glm_tools_45(struct tmpl_job *j)
{
    tmpl_puts(j,
              "\n# Tools\n\nYou may call one or more functions to assist with the user "
              "query.\n\nYou are provided with function signatures within "
              "<tools></tools> XML tags:\n<tools>\n");
    for (size_t i = 0; i < json_array_size(j->tools); i++) {
        tmpl_put_json(j, json_array_get(j->tools, i), 0);
        tmpl_puts(j, "\n");
    }
    tmpl_puts(
        j, "</tools>\n\nFor each function call, output the function name and arguments "
           "within the following XML format:\n");
    tmpl_put_tag(j, "<tool_call>");
    tmpl_puts(j, "{function-name}\n");
    for (int i = 1; i <= 2; i++) {
        tmpl_put_tag(j, "<arg_key>");
        tmpl_puts(j, i == 1 ? "{arg-key-1}" : "{arg-key-2}");
        tmpl_put_tag(j, "</arg_key>");
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<arg_value>");
        tmpl_puts(j, i == 1 ? "{arg-value-1}" : "{arg-value-2}");
        tmpl_put_tag(j, "</arg_value>");
        tmpl_puts(j, "\n");
    }
    tmpl_puts(j, "...\n");
    tmpl_put_tag(j, "</tool_call>");
}

static bool glm_tools_4(struct tmpl_job *j, struct err *e)
{
    tmpl_puts(j, "\n你是一个名为 ChatGLM 的人工智能助手。你是基于智谱AI训练的语言模型 GLM-4 "
                 "模型开发的，你的任务是针对用户的问题和要求提供适当的答复和支持。\n\n"
                 "# 可用工具");
    for (size_t i = 0; i < json_array_size(j->tools); i++) {
        const json_t *f = tmpl_function(json_array_get(j->tools, i));
        tmpl_puts(j, "\n## ");
        if (!tmpl_put_call_name(j, f, e))
            return false;
        tmpl_puts(j, "\n\n");
        tmpl_put_json(j, f, 4);
        tmpl_puts(j, "\n在调用上述函数时，请使用 Json 格式表示调用的参数。");
    }
    return true;
}

static bool glm_tools(struct tmpl_job *j, struct err *e)
{
    if (!j->tools)
        return true;
    tmpl_put_special(j, "<|system|>");
    if (!glm_is_45(j))
        return glm_tools_4(j, e);
    glm_tools_45(j);
    return true;
}

/* ---- an answer ---- */

static bool glm_arguments(struct tmpl_job *j, const json_t *call, struct err *e)
{
    json_t *args = (json_t *)json_object_get(tmpl_function(call), "arguments");
    json_t *own = NULL;

    if (pyjson_is_string(args) && json_string_length(args))
        args = own = pyjson_load(json_string_value(args), json_string_length(args),
                                 PYJSON_NAN | PYJSON_NUMBER_TEXT, NULL);
    if (args && !json_is_null(args) && !json_is_object(args)) {
        json_decref(own);
        return err_set_kind(e, ERR_USAGE, "the arguments of a call are not an object");
    }
    for (void *it = json_object_iter(args); it; it = json_object_iter_next(args, it)) {
        const json_t *v = json_object_iter_value(it);
        const char *key = json_object_iter_key(it);
        tmpl_put_tag(j, "<arg_key>");
        tmpl_put(j, key, strlen(key));
        tmpl_put_tag(j, "</arg_key>");
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<arg_value>");
        if (pyjson_is_string(v))
            tmpl_put(j, json_string_value(v), json_string_length(v));
        else
            tmpl_put_json(j, v, 0);
        tmpl_put_tag(j, "</arg_value>");
        tmpl_puts(j, "\n");
    }
    json_decref(own);
    return true;
}

static bool glm_calls_45(struct tmpl_job *j, size_t i, struct err *e)
{
    const json_t *calls = j->messages[i].calls;

    for (size_t c = 0; c < json_array_size(calls); c++) {
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<tool_call>");
        if (!tmpl_put_call_name(j, json_array_get(calls, c), e))
            return false;
        tmpl_puts(j, "\n");
        if (!glm_arguments(j, json_array_get(calls, c), e))
            return err_wrap(e, "message %zu", i + 1);
        tmpl_put_tag(j, "</tool_call>");
    }
    return true;
}

static bool glm_answer_45(struct tmpl_job *j, size_t i, struct err *e)
{
    const struct tmpl_message *m = &j->messages[i];
    size_t last = tmpl_last_user(j), think_n = m->reasoning_len, n = m->content.n;
    const char *think = tmpl_trim(m->reasoning, &think_n), *s;

    tmpl_puts(j, "\n");
    tmpl_put_tag(j, "<think>");
    if (last == j->n || i > last)
        tmpl_put(j, think, think_n);
    if (tmpl_is_open(j, i) && m->reasoning_len && !m->content.n) {
        j->out->start = TMPL_THINK;
        return true;
    }
    tmpl_put_tag(j, "</think>");
    s = tmpl_trim(buf_str(&m->content), &n);
    if (n) {
        tmpl_puts(j, "\n");
        if (tmpl_is_open(j, i))
            tmpl_put_content(j, i, TMPL_STRIP_SPACE);
        else
            tmpl_put(j, s, n);
    }
    return glm_calls_45(j, i, e);
}

static bool glm_answer_4(struct tmpl_job *j, size_t i, struct err *e)
{
    const struct tmpl_message *m = &j->messages[i];

    if (m->content.n || !m->calls) {
        tmpl_puts(j, "\n");
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    }
    for (size_t c = 0; c < json_array_size(m->calls); c++) {
        if (c || m->content.n)
            tmpl_put_special(j, "<|assistant|>");
        if (!tmpl_put_call_name(j, json_array_get(m->calls, c), e))
            return false;
        tmpl_puts(j, "\n");
        tmpl_put_arguments(j, json_array_get(m->calls, c));
    }
    return true;
}

static bool glm_answer(struct tmpl_job *j, size_t i, struct err *e)
{
    const struct tmpl_message *m = &j->messages[i];

    tmpl_put_special(j, "<|assistant|>");
    if (!m->said)
        return (glm_is_45(j) ? glm_answer_45 : glm_answer_4)(j, i, e);
    if (m->think_off && glm_is_45(j)) {
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<think>");
        tmpl_put_tag(j, "</think>");
    }
    tmpl_put_said(j, i);
    return true;
}

/* ---- the conversation ---- */

static void glm_question(struct tmpl_job *j, size_t i)
{
    static const char no[] = "/nothink";
    const struct buf *s = &j->messages[i].content;
    size_t n = sizeof no - 1;
    bool there = s->n >= n && !memcmp(s->p + s->n - n, no, n);

    tmpl_put_special(j, "<|user|>");
    tmpl_puts(j, "\n");
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (glm_is_45(j) && j->think_off && !there && !tmpl_is_open(j, i))
        tmpl_puts(j, no);
}

static void glm_result(struct tmpl_job *j, size_t i)
{
    bool first = !i || j->messages[i - 1].role != TMPL_TOOL;

    if (first || !glm_is_45(j))
        tmpl_put_special(j, "<|observation|>");
    tmpl_puts(j, "\n");
    if (glm_is_45(j)) {
        tmpl_put_tag(j, "<tool_response>");
        tmpl_puts(j, "\n");
    }
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (glm_is_45(j) && !tmpl_is_open(j, i)) {
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "</tool_response>");
    }
}

static bool glm_render(struct tmpl_job *j, struct err *e)
{
    tmpl_put_special(j, "[gMASK]");
    tmpl_put_special(j, "<sop>");
    if (!glm_tools(j, e))
        return false;
    for (size_t i = 0; i < j->n; i++) {
        switch (j->messages[i].role) {
        case TMPL_SYSTEM:
            tmpl_put_special(j, "<|system|>");
            tmpl_puts(j, "\n");
            tmpl_put_content(j, i, TMPL_KEEP_SPACE);
            break;
        case TMPL_USER:
            glm_question(j, i);
            break;
        case TMPL_ASSISTANT:
            if (!glm_answer(j, i, e))
                return false;
            break;
        case TMPL_TOOL:
            glm_result(j, i);
            break;
        }
    }
    if (!tmpl_wants_answer(j))
        return true;
    tmpl_put_special(j, "<|assistant|>");
    if (glm_is_45(j) && j->think_off) {
        tmpl_puts(j, "\n");
        tmpl_put_tag(j, "<think>");
        tmpl_put_tag(j, "</think>");
    }
    return true;
}

const struct tmpl tmpl_glm4 = {
    .name = "glm4",
    .help = "[gMASK]<sop><|user|> ... <|assistant|>: GLM-4",
    .needs = TMPL_NAMES("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>",
                        "<|observation|>"),
    .tells = TMPL_NAMES("[gMASK]"),
    .render = glm_render,
    .keeps_said = true,
    .syntax = &syn_glm4,
};

const struct tmpl tmpl_glm45 = {
    .name = "glm4.5",
    .help = "the same with thoughts and calls of their own: GLM-4.5 and later",
    .needs = TMPL_NAMES("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>",
                        "<|observation|>", "<think>", "</think>"),
    .tells = TMPL_NAMES("[gMASK]"),
    .render = glm_render,
    .keeps_said = true,
    .thinks = true,
    .syntax = &syn_glm,
};
