/* Llama 3: <|start_header_id|>role<|end_header_id|>\n\n...<|eot_id|>, content trimmed.
 *
 * Results of tools have the role "ipython". The lines with knowledge cut-off and date
 * that the templates of 3.1 and later add are left out: they would change the prompt from
 * day to day, and whoever wants them writes them into the system message. */
#include "config.h"

#include "templates/internal.h"

static const char *const llama3_needs[] = {
    "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", NULL,
};

/* rnj-1 has the same markers with one newline behind the header. A source may write its
 * newlines as they are or as \n. */
static bool llama3_recognise(const char *source, size_t len)
{
    bool one = tmpl_source_has(source, len, "<|end_header_id|>\n") ||
               tmpl_source_has(source, len, "<|end_header_id|>\\n");
    bool two = tmpl_source_has(source, len, "<|end_header_id|>\n\n") ||
               tmpl_source_has(source, len, "<|end_header_id|>\\n\\n");
    return two || !one;
}

static void llama3_open(struct tmpl_job *j, const char *role)
{
    tmpl_put_special(j, "<|start_header_id|>");
    tmpl_puts(j, role);
    tmpl_put_special(j, "<|end_header_id|>");
    tmpl_puts(j, "\n\n");
}

static void llama3_render(struct tmpl_job *j)
{
    static const char *const roles[] = {
        [TMPL_SYSTEM] = "system",
        [TMPL_USER] = "user",
        [TMPL_ASSISTANT] = "assistant",
        [TMPL_TOOL] = "ipython",
    };

    /* A relative with another BOS gets that one from the chat layer. */
    if (tmpl_has_special(j, "<|begin_of_text|>"))
        tmpl_put_special(j, "<|begin_of_text|>");
    for (size_t i = 0; i < j->n; i++) {
        llama3_open(j, roles[j->messages[i].role]);
        if (j->messages[i].role == TMPL_ASSISTANT)
            tmpl_put_answer(j, i, TMPL_TRIM_SPACE);
        else
            tmpl_put_content(j, i, TMPL_TRIM_SPACE);
        if (!tmpl_is_open(j, i))
            tmpl_put_special(j, "<|eot_id|>");
    }
    if (tmpl_wants_answer(j))
        llama3_open(j, "assistant");
}

const struct tmpl tmpl_llama3 = {
    .name = "llama3",
    .help = "<|start_header_id|>role<|end_header_id|> ... <|eot_id|>: Llama 3",
    .mark = "<|start_header_id|>",
    .recognise = llama3_recognise,
    .needs = llama3_needs,
    .render = llama3_render,
    .syntax = &syn_llama3,
};
