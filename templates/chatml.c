/* ChatML: <|im_start|>role\n...<|im_end|>\n, as Qwen and many others write it.
 *
 * System messages may stand anywhere. Results of tools go in a turn of the user's, one
 * turn for results that follow each other. No default system prompt is added: some models
 * have one in their own template, but a prompt nobody asked for is not ours to write.
 *
 * Thinking off is an empty thought that the prompt already holds, for models whose
 * vocabulary has <think>; on and auto leave the choice to the model. */
#include "config.h"

#include "templates/internal.h"

static const char *const chatml_needs[] = { "<|im_start|>", "<|im_end|>", NULL };

/* Phi-4 writes <|im_sep|> where ChatML has a newline. */
static bool chatml_recognise(const char *source, size_t len)
{
    return !tmpl_source_has(source, len, "<|im_sep|>");
}

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

static void chatml_tool(struct tmpl_job *j, size_t i)
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

static void chatml_message(struct tmpl_job *j, size_t i)
{
    switch (j->messages[i].role) {
    case TMPL_SYSTEM:
        chatml_open(j, "system\n");
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
        break;
    case TMPL_USER:
        chatml_open(j, "user\n");
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
        break;
    case TMPL_ASSISTANT:
        chatml_open(j, "assistant\n");
        if (j->messages[i].said && j->messages[i].think_off)
            tmpl_put_no_think(j);
        tmpl_put_answer(j, i, TMPL_KEEP_SPACE);
        break;
    case TMPL_TOOL:
        chatml_tool(j, i);
        return;
    }
    chatml_close(j, i);
}

static void chatml_render(struct tmpl_job *j)
{
    for (size_t i = 0; i < j->n; i++)
        chatml_message(j, i);
    if (!tmpl_wants_answer(j))
        return;
    chatml_open(j, "assistant\n");
    if (j->options->think == TMPL_THINK_OFF)
        tmpl_put_no_think(j);
}

const struct tmpl tmpl_chatml = {
    .name = "chatml",
    .help = "<|im_start|>role ... <|im_end|>: Qwen, Hermes, SmolLM2, Yi and others",
    .mark = "<|im_start|>",
    .recognise = chatml_recognise,
    .needs = chatml_needs,
    .render = chatml_render,
    .syntax = &syn_hermes,
};
