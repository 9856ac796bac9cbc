/* Families whose calls are JSON between markers. */
#include "config.h"

#include <string.h>

#include "templates/syntax.h"

/* ---- Hermes: <tool_call>{"name": ..., "arguments": {...}}</tool_call> ---- */

/* Qwen, Hermes, Granite 4, Reka, Bielik, MiMo and many others. Of those whose template
 * names no other syntax some write their calls in tags nevertheless; the reader takes
 * both. */
static const struct syn_mark hermes_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<tool_call>", .act = SYN_DO_CALL, .begins = syn_begins_json_or_tag },
    { .text = "</tool_call>", .act = SYN_DO_CALL_END },
};

const struct tmpl_syntax syn_hermes = {
    .name = "hermes",
    .help = "<think>, JSON in <tool_call>: Qwen 2.5 and 3, Hermes, Granite 4",
    .also = "chatml|qwen",
    .in_source = SYN_LIST("<tool_call>"),
    .tokens = SYN_LIST("<tool_call>"),
    SYN_MARKS(hermes_marks),
    .guard = SYN_GUARD_STRINGS | SYN_GUARD_SPANS,
    .span_open = "<parameter=",
    .span_close = "</parameter>",
    .span_exit = "</function>",
    .read = syn_read_tool_call,
};

/* ---- lists of JSON calls ---- */

static const struct syn_mark nemotron_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<TOOLCALL>", .act = SYN_DO_CALL, .begins = syn_begins_json },
    { .text = "</TOOLCALL>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<SPECIAL_12>"),
};

const struct tmpl_syntax syn_nemotron = {
    .name = "nemotron",
    .help = "a list in <TOOLCALL>: Nemotron Nano 2",
    .in_source = SYN_LIST("<TOOLCALL>"),
    SYN_MARKS(nemotron_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

/* The prompt begins the thought with a sentence. Where the model calls without a
 * thought it does so at once. */
static const struct syn_mark apriel_marks[] = {
    { .text = "Here are my reasoning steps:", .act = SYN_DO_THINK },
    { .text = "[BEGIN FINAL RESPONSE]", .act = SYN_DO_ANSWER,
      .in = SYN_IN_OPEN | SYN_IN_THOUGHT },
    { .text = "[END FINAL RESPONSE]", .act = SYN_DO_ANSWER_END },
    { .text = "<thinking>", .act = SYN_DO_THINK },
    { .text = "</thinking>", .act = SYN_DO_THINK_END },
    { .text = "<tool_calls>", .act = SYN_DO_CALL, .begins = syn_begins_json,
      .in = SYN_IN_SAID | SYN_IN(SYN_THINK_START) | SYN_IN(SYN_CALL) },
    { .text = "</tool_calls>", .act = SYN_DO_CALL_END },
};

const struct tmpl_syntax syn_apriel = {
    .name = "apriel",
    .help = "[BEGIN FINAL RESPONSE], a list in <tool_calls>: Apriel 1.5 and 1.6",
    .in_source = SYN_LIST("[BEGIN FINAL RESPONSE]"),
    SYN_MARKS(apriel_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

/* Calls belong to the thoughts: after the results the model goes on thinking. */
static const struct syn_mark apertus_marks[] = {
    { .text = "<|inner_prefix|>", .act = SYN_DO_THINK },
    { .text = "<|inner_suffix|>", .act = SYN_DO_THINK_END },
    { .text = "<|tools_prefix|>", .act = SYN_DO_CALL,
      .in = SYN_IN_SAID | SYN_IN_THOUGHT | SYN_IN(SYN_CALL) },
    { .text = "<|tools_suffix|>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<|assistant_end|>"),
};

const struct tmpl_syntax syn_apertus = {
    .name = "apertus",
    .help = "[{\"NAME\": {...}}] in <|tools_prefix|>, also inside thoughts: Apertus",
    .in_source = SYN_LIST("<|tools_prefix|>"),
    .tokens = SYN_LIST("<|tools_prefix|>", "<|inner_prefix|>"),
    SYN_MARKS(apertus_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json_by_name,
};

static const struct syn_mark granite_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<response>", .act = SYN_DO_ANSWER },
    { .text = "</response>", .act = SYN_DO_ANSWER_END },
    { .text = "<|tool_call|>", .act = SYN_DO_CALL, .until = SYN_UNTIL_JSON_HERE },
    { .text = "<tool_call>", .act = SYN_DO_CALL, .group = 1, .begins = syn_begins_json },
    { .text = "</tool_call>", .act = SYN_DO_CALL_END, .group = 1 },
};

const struct tmpl_syntax syn_granite = {
    .name = "granite",
    .help = "<think>, <response>, a list behind <|tool_call|>: Granite 3",
    .in_source = SYN_LIST("<|tool_call|>"),
    .tokens = SYN_LIST("<|tool_call|>", "<|start_of_role|>"),
    SYN_MARKS(granite_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

/* The members are "tool_call_id", "tool_name" and "parameters". Where the prompt
 * opened the response, its closing marker comes alone. */
static const struct syn_mark cohere_marks[] = {
    { .text = "<|START_THINKING|>", .act = SYN_DO_THINK },
    { .text = "<|END_THINKING|>", .act = SYN_DO_THINK_END },
    { .text = "<|START_RESPONSE|>", .act = SYN_DO_ANSWER },
    { .text = "<|END_RESPONSE|>", .act = SYN_DO_CLOSE, .in = SYN_IN_SAID },
    { .text = "<|START_TEXT|>", .act = SYN_DO_ANSWER },
    { .text = "<|END_TEXT|>", .act = SYN_DO_CLOSE, .in = SYN_IN_SAID },
    { .text = "<|START_ACTION|>", .act = SYN_DO_CALL },
    { .text = "<|END_ACTION|>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<|END_OF_TURN_TOKEN|>"),
};

const struct tmpl_syntax syn_cohere = {
    .name = "cohere",
    .help = "<|START_THINKING|>, <|START_RESPONSE|>, <|START_ACTION|>: Command R7B and A",
    .also = "command-r7b|command-a",
    .in_source = SYN_LIST("<|START_ACTION|>"),
    .tokens = SYN_LIST("<|START_ACTION|>", "<|START_THINKING|>"),
    SYN_MARKS(cohere_marks),
    .guard = SYN_GUARD_STRINGS,
    .exact = true,
    .read = syn_read_json,
};

static const struct syn_mark command_r_marks[] = {
    { .text = "Action:\n```json\n", .act = SYN_DO_CALL, .begins = syn_begins_json },
    { .text = "Action: ```json\n", .act = SYN_DO_CALL, .begins = syn_begins_json },
    { .text = "Action:```json\n", .act = SYN_DO_CALL, .begins = syn_begins_json },
    { .text = "```", .act = SYN_DO_CALL_END, .in = SYN_IN(SYN_CALL) },
    SYN_TURN_END("<|END_OF_TURN_TOKEN|>"),
};

const struct tmpl_syntax syn_command_r = {
    .name = "command-r",
    .help = "\"Action:\" and a list in a code block: Command R and R+",
    .in_source = SYN_LIST("Action:", "\"tool_name\"", "<|CHATBOT_TOKEN|>"),
    SYN_MARKS(command_r_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

static const struct syn_mark firefunction_marks[] = {
    { .text = " functools[", .act = SYN_DO_CALL, .until = SYN_UNTIL_JSON, .keep = 1,
      .begins = syn_begins_json },
    { .text = "functools[", .act = SYN_DO_CALL, .until = SYN_UNTIL_JSON, .keep = 1,
      .begins = syn_begins_json },
};

const struct tmpl_syntax syn_firefunction = {
    .name = "firefunction",
    .help = "a list behind functools: FireFunction 2",
    .in_source = SYN_LIST("functools["),
    SYN_MARKS(firefunction_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

/* A call is a message of its own, which the first version opens by its role. */
static const struct syn_mark gigachat_marks[] = {
    { .text = "<|message_sep|>\n\nfunction call<|role_sep|>\n", .act = SYN_DO_CALL,
      .until = SYN_UNTIL_JSON_HERE },
    { .text = "function call<|role_sep|>\n", .act = SYN_DO_CALL,
      .in = SYN_IN(SYN_START) | SYN_IN(SYN_CALL_END), .until = SYN_UNTIL_JSON_HERE },
    { .text = "<|function_call|>", .act = SYN_DO_CALL, .until = SYN_UNTIL_JSON_HERE },
    SYN_TURN_END("<|message_sep|>"),
};

const struct tmpl_syntax syn_gigachat = {
    .name = "gigachat",
    .help = "a message of the role \"function call\", <|function_call|>: GigaChat 3",
    .in_source = SYN_LIST("function call", "<|role_sep|>"),
    .or_source = SYN_LIST("<|function_call|>"),
    .tokens = SYN_LIST("<|message_sep|>", "<|role_sep|>"),
    SYN_MARKS(gigachat_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = syn_read_json,
};

/* ---- Llama 3 and its relatives: the answer is the call ---- */

/* <|python_tag|>NAME.call(key="value") is how the tools that are built in are called. */
static void llama3_read(struct syn_reading *r)
{
    size_t at = syn_space(r->raw, r->n), name = at;

    while (at < r->n && syn_is_name(r->raw[at]))
        at++;
    if (at - name > 5 && syn_at(r->raw + at, r->n - at, "(") &&
        !memcmp(r->raw + at - 5, ".call", 5))
        syn_read_python(r);
    else
        syn_read_json(r);
}

static const struct syn_mark llama3_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<|python_tag|>", .act = SYN_DO_CALL, .in = SYN_IN_OPEN,
      .named_in = SYN_IN(SYN_ANSWER), .until = SYN_UNTIL_JSON_HERE },
};

const struct tmpl_syntax syn_llama3 = {
    .name = "llama3",
    .help = "an answer that is {\"name\", \"parameters\"}, <|python_tag|>: Llama 3",
    .also = "llama",
    .in_source = SYN_LIST("<|start_header_id|>"),
    .tokens = SYN_LIST("<|start_header_id|>", "<|eot_id|>"),
    SYN_MARKS(llama3_marks),
    .guard = SYN_GUARD_STRINGS,
    .more = ";",
    .bare = "{",
    .bare_key = "parameters",
    .read = llama3_read,
};

static const struct syn_mark cogito_marks[] = { SYN_THINK_TAGS };

const struct tmpl_syntax syn_cogito = {
    .name = "cogito",
    .help = "an answer that is a list of {\"name\", \"arguments\"}: Cogito on Llama",
    .in_source = SYN_LIST("Enable deep thinking subroutine", "<|start_header_id|>"),
    .not_in_source = SYN_LIST("<tool_call>"),
    SYN_MARKS(cogito_marks),
    .bare = "[",
    .bare_key = "arguments",
    .read = syn_read_json,
};
