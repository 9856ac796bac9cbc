/* Families whose calls stand in sections, each call between tokens, its name and its
 * arguments with a token between them: Kimi K2, DeepSeek V3, V3.1 and R1, Solar. */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "templates/syntax.h"

/* raw[from, to) without the white space around it is the name. */
static void section_name(struct syn_reading *r, struct tmpl_call *c, size_t from,
                         size_t to)
{
    from += syn_space(r->raw + from, to - from);
    while (to > from && syn_space(r->raw + to - 1, 1))
        to--;
    syn_set_name(c, r->raw + from, to - from);
    if (!c->name)
        syn_wrong(c, "the call has no name", from, 0);
}

/* ---- Kimi K2 ---- */

#define K2_ARGS "<|tool_call_argument_begin|>"

/* functions.NAME:IDX is the call's id as well. */
static void k2_read(struct syn_reading *r)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);
    size_t from = syn_space(r->raw, r->n), args = syn_find(r->raw, r->n, K2_ARGS);
    size_t to = args < r->n ? args : from + strcspn(r->raw + from, "{");

    if (args == r->n)
        args = to;
    else
        args += strlen(K2_ARGS);
    while (to > from && syn_space(r->raw + to - 1, 1))
        to--;
    size_t name = from, end = to;
    if (syn_at(r->raw + name, end - name, "functions."))
        name += strlen("functions.");
    while (end > name && r->raw[end - 1] >= '0' && r->raw[end - 1] <= '9')
        end--;
    if (end < to && end > name && r->raw[end - 1] == ':') {
        end--;
        if (!memchr(r->raw + from, '\0', to - from))
            c->id = xmemdup0(r->raw + from, to - from);
    } else {
        end = to;
    }
    section_name(r, c, name, end);
    if (args == r->n && !syn_at(r->raw + to, r->n - to, K2_ARGS))
        syn_wrong(c, "the call has no arguments", args, 0);
    else
        syn_json_arguments(r, c, args, r->n, 0);
}

/* A section inside a thought ends it, if it is one of tokens. */
static const struct syn_mark k2_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<|tool_calls_section_begin|>", .act = SYN_DO_SECTION,
      .named_in = SYN_IN_THOUGHT },
    { .text = "<|tool_calls_section_end|>", .act = SYN_DO_SECTION_END },
    { .text = "<|tool_call_begin|>", .act = SYN_DO_CALL },
    { .text = "<|tool_call_end|>", .act = SYN_DO_CALL_END },
};

const struct tmpl_syntax syn_kimi_k2 = {
    .name = "kimi-k2",
    .help = "<think>, <|tool_calls_section_begin|>, functions.NAME:IDX: Kimi K2",
    .also = "k2",
    .in_source = SYN_LIST("<|tool_calls_section_begin|>"),
    .tokens = SYN_LIST("<|tool_calls_section_begin|>"),
    SYN_MARKS(k2_marks),
    .inside = SYN_LIST(K2_ARGS),
    .guard = SYN_GUARD_STRINGS,
    .read = k2_read,
};

/* ---- DeepSeek ---- */

#define DS_SEP "<｜tool▁sep｜>"

/* V3.1: NAME<sep>{...}. V3 and R1: function<sep>NAME, and the arguments in a code
 * block. */
static void deepseek_read(struct syn_reading *r)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);
    size_t sep = syn_find(r->raw, r->n, DS_SEP), at, end, n;

    if (sep == r->n) {
        syn_wrong(c, "the call has no arguments", r->n, 0);
        return;
    }
    at = sep + strlen(DS_SEP);
    at += syn_space(r->raw + at, r->n - at);
    if (at == r->n || r->raw[at] == '{') {
        section_name(r, c, 0, sep);
        syn_json_arguments(r, c, at, r->n, 0);
        return;
    }
    end = at + syn_find(r->raw + at, r->n - at, "\n");
    section_name(r, c, at, end);
    at = end + syn_space(r->raw + end, r->n - end);
    if (syn_at(r->raw + at, r->n - at, "```")) {
        at += syn_find(r->raw + at, r->n - at, "\n");
        for (n = r->n; n > at && syn_space(r->raw + n - 1, 1);)
            n--;
        end = n - at >= 3 && !memcmp(r->raw + n - 3, "```", 3) ? n - 3 : r->n;
    } else {
        end = r->n;
    }
    syn_json_arguments(r, c, at, end, 0);
}

static const struct syn_mark deepseek_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<｜tool▁calls▁begin｜>", .act = SYN_DO_SECTION },
    { .text = "<｜tool▁calls▁end｜>", .act = SYN_DO_SECTION_END },
    { .text = "<｜tool▁call▁begin｜>", .act = SYN_DO_CALL },
    { .text = "<｜tool▁call▁end｜>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<｜end▁of▁sentence｜>"),
};

const struct tmpl_syntax syn_deepseek = {
    .name = "deepseek",
    .help =
        "<think>, <｜tool▁call▁begin｜>: DeepSeek V3, V3.1, R1 and what was made of them",
    .also = "deepseek-v3|deepseek-v3.1|deepseek-r1",
    .in_source = SYN_LIST("<｜tool▁call▁begin｜>"),
    .tokens = SYN_LIST("<｜tool▁call▁begin｜>"),
    SYN_MARKS(deepseek_marks),
    .inside = SYN_LIST(DS_SEP),
    .guard = SYN_GUARD_STRINGS,
    .read = deepseek_read,
};

/* ---- Solar ---- */

#define SOLAR_NAME "<|tool_call:name|>"
#define SOLAR_ARGS "<|tool_call:args|>"

static void solar_read(struct syn_reading *r)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);
    size_t name = syn_find(r->raw, r->n, SOLAR_NAME), args, from, to = name;

    if (name == r->n) {
        syn_wrong(c, "the call has no name", r->n, 0);
        return;
    }
    from = syn_space(r->raw, name);
    while (to > from && syn_space(r->raw + to - 1, 1))
        to--;
    if (to > from && !memchr(r->raw + from, '\0', to - from))
        c->id = xmemdup0(r->raw + from, to - from);
    name += strlen(SOLAR_NAME);
    args = name + syn_find(r->raw + name, r->n - name, SOLAR_ARGS);
    section_name(r, c, name, args);
    if (args == r->n)
        syn_wrong(c, "the call has no arguments", args, 0);
    else
        syn_json_arguments(r, c, args + strlen(SOLAR_ARGS), r->n, 0);
}

/* Thought, answer and calls are messages, each with an opening of its own. */
static const struct syn_mark solar_marks[] = {
    { .text = "<|begin|>assistant", .act = SYN_DO_NOTHING,
      .in = SYN_IN(SYN_START) | SYN_IN(SYN_IDLE) | SYN_IN(SYN_CALL_END) },
    { .text = "<|think|>", .act = SYN_DO_THINK },
    { .text = "<|content|>", .act = SYN_DO_ANSWER },
    { .text = "<|end|>", .act = SYN_DO_CLOSE },
    { .text = "<|tool_calls|>", .act = SYN_DO_SECTION },
    { .text = "<|tool_call:begin|>", .act = SYN_DO_CALL },
    { .text = "<|tool_call:end|>", .act = SYN_DO_CALL_END },
    { .text = "<|calls|>", .act = SYN_DO_SECTION_END, .ends = true },
};

const struct tmpl_syntax syn_solar = {
    .name = "solar",
    .help = "<|think|>, <|content|>, <|tool_call:begin|>: Solar Open",
    .in_source = SYN_LIST("<|tool_call:begin|>"),
    .tokens = SYN_LIST("<|tool_call:begin|>"),
    SYN_MARKS(solar_marks),
    .inside = SYN_LIST(SOLAR_NAME, SOLAR_ARGS),
    .guard = SYN_GUARD_STRINGS,
    .exact = true,
    .read = solar_read,
};
