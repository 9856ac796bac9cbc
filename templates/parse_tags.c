/* Families whose calls are tags, each argument in one of its own: Qwen3-Coder
 * <function=NAME><parameter=KEY>, Seed, MiniMax <invoke name="NAME">, DeepSeek's DSML,
 * MiniCPM, MiroThinker.
 *
 * A value is the text up to the closing tag that another argument or the end of the
 * call follows, so that a text about such tags may stand in it. What is JSON becomes
 * JSON, as the templates write lists and numbers so, or as Python where the template
 * prints them with its own words; everything else is a string. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/syntax.h"

enum tag_value {
    TAG_EXACT,          /* the text as it is */
    TAG_LINES,          /* one line break before and behind it belong to the tags */
    TAG_CDATA,          /* may stand in <![CDATA[...]]> and is a string then */
};

struct tags {
    const char *call, *call_end;        /* "<function=", "</function>" */
    const char *arg, *arg_end;          /* "<parameter=", "</parameter>" */
    bool named;                         /* name="NAME" in the tags, not =NAME */
    bool python;                        /* the template writes lists and objects so */
    enum tag_value value;
};

/* What stands in a tag: a name, and whether it says that the value is a string. */
struct tag {
    size_t name, n;             /* in the text */
    bool is_string;
    size_t end;                 /* behind the tag */
};

/* Where a word stands next, once looked for: many searches that find nothing must not take
 * many times the text. */
struct tag_found {
    size_t from, at;
    bool known;
};

/* The text being read. */
struct tag_reader {
    struct syn_reading *r;
    const struct tags *t;
    size_t at;
    struct tag_found arg_end, call_end;
};

static bool tag_at(const struct tag_reader *tr, size_t at, const char *word)
{
    return syn_at(tr->r->raw + at, tr->r->n - at, word);
}

static size_t tag_find(const struct tag_reader *tr, size_t at, const char *word)
{
    return at + syn_find(tr->r->raw + at, tr->r->n - at, word);
}

static size_t tag_find_again(struct tag_reader *tr, size_t at, const char *word,
                             struct tag_found *found)
{
    if (!found->known || at < found->from || at > found->at)
        *found = (struct tag_found){ at, tag_find(tr, at, word), true };
    return found->at;
}

static size_t tag_space(const struct tag_reader *tr, size_t at)
{
    return at + syn_space(tr->r->raw + at, tr->r->n - at);
}

/* Behind "<parameter": attributes, of which name and string matter. */
static bool tag_attributes(const struct tag_reader *tr, size_t at, struct tag *tag)
{
    const char *s = tr->r->raw;
    size_t n = tr->r->n;

    for (;;) {
        at = tag_space(tr, at);
        if (at == n)
            return false;
        if (s[at] == '>')
            break;
        size_t key = at;
        while (at < n && s[at] != '=' && s[at] != '>' && !syn_space(s + at, 1))
            at++;
        size_t key_n = at - key;
        if (n - at < 2 || s[at] != '=' || s[at + 1] != '"')
            return false;
        size_t value = at + 2;
        at = tag_find(tr, value, "\"");
        if (at == n)
            return false;
        if (key_n == 4 && !memcmp(s + key, "name", 4)) {
            tag->name = value;
            tag->n = at - value;
        } else if (key_n == 6 && !memcmp(s + key, "string", 6)) {
            tag->is_string = at - value == 4 && !memcmp(s + value, "true", 4);
        }
        at++;
    }
    tag->end = at + 1;
    return tag->n > 0;
}

/* A tag that begins with word stands at at. */
static bool tag_read(const struct tag_reader *tr, size_t at, const char *word,
                     struct tag *tag)
{
    *tag = (struct tag){0};
    at += strlen(word);
    if (tr->t->named)
        return tag_attributes(tr, at, tag);
    tag->name = at;
    at = tag_find(tr, at, ">");
    tag->n = at - tag->name;
    tag->end = at + 1;
    return at < tr->r->n && tag->n && !memchr(tr->r->raw + tag->name, '\n', tag->n);
}

/* An argument begins on a line of its own in [at, end): where its line break is, or end. */
static size_t tag_next_line(const struct tag_reader *tr, size_t at, size_t end)
{
    for (; at < end; at++)
        if (tr->r->raw[at] == '\n' && tag_at(tr, at + 1, tr->t->arg))
            return at;
    return end;
}

/* Where the value that begins at at ends; *behind is where reading goes on. False: it
 * does not end. Models forget closing tags: before another argument, before the end. */
static bool tag_value_end(struct tag_reader *tr, size_t at, size_t *end, size_t *behind)
{
    const char *close = tr->t->arg_end;
    size_t n = tr->r->n, first = n, passed = 0, k;

    for (k = tag_find_again(tr, at, close, &tr->arg_end); k < n;
         k = tag_find(tr, k + 1, close)) {
        size_t next = tag_space(tr, k + strlen(close));
        if (first == n)
            first = k;
        if (next == n || tag_at(tr, next, tr->t->arg) ||
            tag_at(tr, next, tr->t->call_end)) {
            first = k;
            break;
        }
        passed++;
    }
    *end = first;
    *behind = first + strlen(close);
    if (first == n)
        *end = *behind = first = tag_find_again(tr, at, tr->t->call_end, &tr->call_end);
    if (!passed && tr->t->value == TAG_LINES && tag_next_line(tr, at, first) < first)
        *end = *behind = tag_next_line(tr, at, first);
    return *end < n;
}

static void tag_trim_lines(const char *s, size_t *at, size_t *end)
{
    if (*at < *end && s[*at] == '\r')
        *at += *at + 1 < *end && s[*at + 1] == '\n';
    if (*at < *end && s[*at] == '\n')
        ++*at;
    if (*at < *end && s[*end - 1] == '\n')
        --*end;
    else
        return;
    if (*at < *end && s[*end - 1] == '\r')
        --*end;
}

static void tag_argument(const struct tag_reader *tr, json_t *args, const struct tag *tag,
                         size_t at, size_t end)
{
    static const char open[] = "<![CDATA[", close[] = "]]>";
    const char *s = tr->r->raw;
    bool is_string = tag->is_string;
    struct buf json = {0};

    if (tr->t->value == TAG_LINES) {
        tag_trim_lines(s, &at, &end);
    } else if (tr->t->value == TAG_CDATA && end - at >= strlen(open) + strlen(close) &&
               tag_at(tr, at, open) && !memcmp(s + end - strlen(close), close, 3)) {
        at += strlen(open);
        end -= strlen(close);
        is_string = true;
    }
    if (is_string)
        syn_argument_string(args, s + tag->name, tag->n, s + at, end - at);
    else if (tr->t->python && at < end && (s[at] == '[' || s[at] == '{') &&
             syn_python_value(s + at, end - at, &json))
        syn_argument(args, s + tag->name, tag->n, json.p, json.n);
    else
        syn_argument_text(args, s + tag->name, tag->n, s + at, end - at);
    buf_release(&json);
}

/* The arguments of a call, up to and over its closing tag. NULL: what is wrong is set. */
static json_t *tag_arguments(struct tag_reader *tr, const char **what)
{
    json_t *args = syn_arguments_new();
    struct tag tag;
    size_t end, behind;

    for (;;) {
        tr->at = tag_space(tr, tr->at);
        if (tag_at(tr, tr->at, tr->t->call_end)) {
            tr->at += strlen(tr->t->call_end);
            return args;
        }
        if (tr->at == tr->r->n)
            *what = "the call does not end";
        else if (!tag_at(tr, tr->at, tr->t->arg))
            *what = "an argument was expected";
        else if (!tag_read(tr, tr->at, tr->t->arg, &tag))
            *what = "the tag of an argument cannot be read";
        else if (!tag_value_end(tr, tag.end, &end, &behind))
            *what = "the value of an argument does not end";
        else
            *what = NULL;
        if (*what)
            break;
        tag_argument(tr, args, &tag, tag.end, end);
        tr->at = behind;
    }
    json_decref(args);
    return NULL;
}

/* One call; its raw is all there is when it is alone. False: nothing behind it is
 * read. */
static bool tag_call(struct tag_reader *tr, size_t *last)
{
    struct syn_reading *r = tr->r;
    size_t from = tr->at;
    const char *what = NULL;
    struct tag tag;
    json_t *args = NULL;
    bool named = false;

    if (!tag_at(tr, from, tr->t->call)) {
        what = "a call was expected";
    } else if (!tag_read(tr, from, tr->t->call, &tag)) {
        what = "the tag of the call cannot be read";
    } else {
        named = true;
        tr->at = tag.end;
        args = tag_arguments(tr, &what);
    }
    size_t to = args ? tr->at : r->n;
    if (!*last && (!args || tag_space(tr, to) == r->n)) {
        from = 0;
        to = r->n;
    }
    struct tmpl_call *c = syn_call(r, from, to);
    if (named)
        syn_set_name(c, r->raw + tag.name, tag.n);
    if (args)
        c->arguments = syn_arguments_take(args);
    if (what)
        syn_wrong(c, what, tr->at, from);
    *last = to;
    return args;
}

static void tag_calls(struct syn_reading *r, const struct tags *t)
{
    struct tag_reader tr = { .r = r, .t = t, .at = syn_space(r->raw, r->n) };
    size_t last = 0;

    while (tr.at < r->n && tag_call(&tr, &last))
        tr.at = tag_space(&tr, tr.at);
}

/* ---- <tool_call> ---- */

static const struct tags qwen_tags = {
    .call = "<function=", .call_end = "</function>",
    .arg = "<parameter=", .arg_end = "</parameter>", .value = TAG_LINES,
};

void syn_read_tool_call(struct syn_reading *r)
{
    if (r->raw[syn_space(r->raw, r->n)] == '<')
        tag_calls(r, &qwen_tags);
    else
        syn_read_json(r);
}

static enum syn_sure function_begins(const char *raw, size_t n)
{
    return syn_begins_name_then(raw, n, ">", SYN_LIST("<parameter=", "</function>"));
}

/* Some models forget <tool_call> and write the rest. */
static const struct syn_mark qwen_coder_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<tool_call>", .act = SYN_DO_CALL, .begins = syn_begins_json_or_tag },
    { .text = "</tool_call>", .act = SYN_DO_CALL_END },
    { .text = "<function=", .act = SYN_DO_CALL, .in = SYN_IN_SAID, .group = 1, .keep = 10,
      .begins = function_begins },
    { .text = "</function>", .act = SYN_DO_CALL_END, .group = 1, .keep = 11 },
};

const struct tmpl_syntax syn_qwen_coder = {
    .name = "qwen-coder",
    .help =
        "<think>, <function=NAME> in <tool_call>: Qwen3-Coder and 3.5, Nemotron 3, Step",
    .also = "qwen3-coder|qwen35|step|nemotron3",
    .in_source = SYN_LIST("<function=", "<parameter="),
    SYN_MARKS(qwen_coder_marks),
    .guard = SYN_GUARD_STRINGS | SYN_GUARD_SPANS,
    .span_open = "<parameter=",
    .span_close = "</parameter>",
    .span_exit = "</function>",
    .read = syn_read_tool_call,
};

/* ---- Seed-OSS ---- */

static void seed_read(struct syn_reading *r)
{
    static const struct tags t = {
        .call = "<function=",
        .call_end = "</function>",
        .arg = "<parameter=",
        .arg_end = "</parameter>",
        .value = TAG_EXACT,
        .python = true,
    };
    tag_calls(r, &t);
}

/* <seed:cot_budget_reflect> stands inside thoughts: what the model says of its budget. */
static const struct syn_mark seed_marks[] = {
    { .text = "<seed:think>", .act = SYN_DO_THINK },
    { .text = "</seed:think>", .act = SYN_DO_THINK_END },
    { .text = "<seed:cot_budget_reflect>", .act = SYN_DO_NOTHING, .in = SYN_IN_THOUGHT },
    { .text = "</seed:cot_budget_reflect>", .act = SYN_DO_NOTHING, .in = SYN_IN_THOUGHT },
    { .text = "<seed:tool_call>", .act = SYN_DO_CALL, .begins = syn_begins_tag },
    { .text = "</seed:tool_call>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<seed:eos>"),
};

const struct tmpl_syntax syn_seed = {
    .name = "seed",
    .help = "<seed:think>, <function=NAME> in <seed:tool_call>: Seed-OSS",
    .also = "seed-oss",
    .in_source = SYN_LIST("<seed:think>"),
    .tokens = SYN_LIST("<seed:think>"),
    SYN_MARKS(seed_marks),
    .guard = SYN_GUARD_SPANS,
    .span_open = "<parameter=",
    .span_close = "</parameter>",
    .span_exit = "</function>",
    .read = seed_read,
};

/* ---- MiniMax M2 ---- */

static void minimax_read(struct syn_reading *r)
{
    static const struct tags t = {
        .call = "<invoke", .call_end = "</invoke>", .named = true,
        .arg = "<parameter", .arg_end = "</parameter>", .value = TAG_EXACT,
    };
    tag_calls(r, &t);
}

static const struct syn_mark minimax_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<minimax:tool_call>", .act = SYN_DO_CALL, .begins = syn_begins_tag },
    { .text = "</minimax:tool_call>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("[e~["),
};

const struct tmpl_syntax syn_minimax = {
    .name = "minimax",
    .help = "<think>, <invoke name=NAME> in <minimax:tool_call>: MiniMax M2",
    .also = "minimax-m2",
    .in_source = SYN_LIST("<minimax:tool_call>"),
    .tokens = SYN_LIST("<minimax:tool_call>"),
    SYN_MARKS(minimax_marks),
    .guard = SYN_GUARD_SPANS,
    .span_open = "<parameter name=",
    .span_close = "</parameter>",
    .span_exit = "</invoke>",
    .read = minimax_read,
};

/* ---- DeepSeek V3.2 and V4 ---- */

#define DSML "｜DSML｜"

static void dsml_read(struct syn_reading *r)
{
    static const struct tags t = {
        .call = "<" DSML "invoke",
        .call_end = "</" DSML "invoke>",
        .named = true,
        .arg = "<" DSML "parameter",
        .arg_end = "</" DSML "parameter>",
        .value = TAG_EXACT,
    };
    tag_calls(r, &t);
}

static const struct syn_mark dsml_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<" DSML "function_calls>", .act = SYN_DO_CALL, .begins = syn_begins_tag },
    { .text = "</" DSML "function_calls>", .act = SYN_DO_CALL_END },
    { .text = "<" DSML "tool_calls>", .act = SYN_DO_CALL, .group = 1,
      .begins = syn_begins_tag },
    { .text = "</" DSML "tool_calls>", .act = SYN_DO_CALL_END, .group = 1 },
    SYN_TURN_END("<｜end▁of▁sentence｜>"),
};

const struct tmpl_syntax syn_dsml = {
    .name = "dsml",
    .help = "<think>, <" DSML "invoke name=NAME>: DeepSeek V3.2 and V4",
    .also = "deepseek-v3.2|deepseek-v4",
    .in_source = SYN_LIST(DSML),
    .tokens = SYN_LIST(DSML),
    SYN_MARKS(dsml_marks),
    .inside = SYN_LIST(DSML),
    .guard = SYN_GUARD_SPANS,
    .span_open = "<" DSML "parameter",
    .span_close = "</" DSML "parameter>",
    .span_exit = "</" DSML "invoke>",
    .read = dsml_read,
};

/* ---- MiniCPM 5 ---- */

static void minicpm_read(struct syn_reading *r)
{
    static const struct tags t = {
        .call = "<function", .call_end = "</function>", .named = true,
        .arg = "<param", .arg_end = "</param>", .value = TAG_CDATA, .python = true,
    };
    tag_calls(r, &t);
}

static enum syn_sure minicpm_begins(const char *raw, size_t n)
{
    return syn_begins_name_then(raw, n, "\">", SYN_LIST("<param ", "</function>"));
}

static const struct syn_mark minicpm_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<function name=\"", .act = SYN_DO_CALL, .in = SYN_IN_SAID, .keep = 16,
      .begins = minicpm_begins },
    { .text = "</function>", .act = SYN_DO_CALL_END, .keep = 11 },
};

const struct tmpl_syntax syn_minicpm = {
    .name = "minicpm",
    .help = "<think>, <function name=NAME><param name=KEY>: MiniCPM 5",
    .also = "minicpm5",
    .in_source = SYN_LIST("<function name=\""),
    SYN_MARKS(minicpm_marks),
    .guard = SYN_GUARD_SPANS,
    .span_open = "<param name=",
    .span_close = "</param>",
    .read = minicpm_read,
};
