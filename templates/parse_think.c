/* Families that think aloud and call nothing. */
#include "config.h"

#include <string.h>

#include "templates/syntax.h"

const struct tmpl_syntax syn_none = {
    .name = "none",
    .help = "no markers: everything is the answer",
    .also = "plain",
    .read = syn_read_json,
};

static const struct syn_mark think_marks[] = { SYN_THINK_TAGS };

const struct tmpl_syntax syn_think = {
    .name = "think",
    .help = "<think> and no calls",
    .in_source = SYN_LIST("<think>"),
    .or_source = SYN_LIST("</think>"),
    .tokens = SYN_LIST("<think>"),
    SYN_MARKS(think_marks),
    .read = syn_read_json,
};

static const struct syn_mark thought_marks[] = {
    { .text = "<thought>", .act = SYN_DO_THINK },
    { .text = "</thought>", .act = SYN_DO_THINK_END },
    SYN_TURN_END("[|endofturn|]"),
};

const struct tmpl_syntax syn_thought = {
    .name = "thought",
    .help = "<thought>: EXAONE Deep",
    .also = "exaone",
    .in_source = SYN_LIST("<thought>"),
    .or_source = SYN_LIST("</thought>"),
    SYN_MARKS(thought_marks),
    .read = syn_read_json,
};

static const struct syn_mark marco_marks[] = {
    { .text = "<Thought>", .act = SYN_DO_THINK },
    { .text = "</Thought>", .act = SYN_DO_THINK_END },
    { .text = "<Output>", .act = SYN_DO_ANSWER },
    { .text = "</Output>", .act = SYN_DO_ANSWER_END },
};

const struct tmpl_syntax syn_marco = {
    .name = "marco",
    .help = "<Thought> and <Output>: Marco-o1",
    .in_source = SYN_LIST("<Thought>"),
    SYN_MARKS(marco_marks),
    .read = syn_read_json,
};

static bool ends_in(const char *s, size_t n, const char *word)
{
    size_t len = strlen(word);

    return n >= len && !memcmp(s + n - len, word, len);
}

static bool k3_start(const char *prompt, size_t n, enum tmpl_channel *start)
{
    *start = ends_in(prompt, n, "<|open|>think<|sep|>")      ? TMPL_THINK
             : ends_in(prompt, n, "<|open|>response<|sep|>") ? TMPL_RESPONSE
                                                             : TMPL_CONTROL;
    return true;
}

/* Kimi K3 has a machine of its own, xtml_parse.c. */
const struct tmpl_syntax syn_kimi_k3 = {
    .name = "kimi-k3",
    .help = "XTML channels: Kimi K3",
    .also = "xtml|k3",
    .in_source = SYN_LIST("<|end_of_msg|>", "<|sep|>"),
    .tokens = SYN_LIST("<|end_of_msg|>", "<|open|>", "<|sep|>"),
    .start = k3_start,
    .xtml = true,
};
