/* GLM 4.5 and later, Laguna, Hunyuan: a name, then pairs of elements,
 * <arg_key>KEY</arg_key><arg_value>VALUE</arg_value>, with or without line breaks between
 * them. Strings stand there as they are, other values as JSON. */
#include "config.h"

#include <string.h>

#include "templates/syntax.h"

struct glm_tags {
    const char *key, *key_end, *value, *value_end;
    const char *sep;            /* behind the name; NULL: nothing */
};

/* The text between two tags at *at, which is behind them then. */
static bool glm_part(const struct syn_reading *r, size_t *at, const char *open,
                     const char *close, size_t *from, size_t *to)
{
    if (!syn_at(r->raw + *at, r->n - *at, open))
        return false;
    *from = *at + strlen(open);
    *to = *from + syn_find(r->raw + *from, r->n - *from, close);
    *at = *to + strlen(close);
    return *to < r->n;
}

static json_t *glm_arguments(struct syn_reading *r, size_t *at, const struct glm_tags *t)
{
    json_t *args = syn_arguments_new();
    size_t key, key_end, value, value_end;

    for (;;) {
        *at += syn_space(r->raw + *at, r->n - *at);
        if (*at == r->n)
            return args;
        size_t begin = *at;
        if (!glm_part(r, at, t->key, t->key_end, &key, &key_end)) {
            *at = begin;
            break;
        }
        *at += syn_space(r->raw + *at, r->n - *at);
        begin = *at;
        if (!glm_part(r, at, t->value, t->value_end, &value, &value_end)) {
            *at = begin;
            break;
        }
        syn_argument_text(args, r->raw + key, key_end - key, r->raw + value,
                          value_end - value);
    }
    json_decref(args);
    return NULL;
}

static void glm_tagged(struct syn_reading *r, const struct glm_tags *t)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);
    size_t from = syn_space(r->raw, r->n), to = syn_find(r->raw, r->n, t->key), at = to;
    json_t *args;

    if (t->sep) {
        size_t sep = syn_find(r->raw, to, t->sep);
        if (sep < to) {
            at = sep + strlen(t->sep);
            to = sep;
        }
    }
    while (to > from && syn_space(r->raw + to - 1, 1))
        to--;
    if (to == from || memchr(r->raw + from, '\n', to - from)) {
        syn_wrong(c, "the call has no name", from, 0);
        return;
    }
    syn_set_name(c, r->raw + from, to - from);
    args = glm_arguments(r, &at, t);
    if (args)
        c->arguments = syn_arguments_take(args);
    else
        syn_wrong(c, "an argument was expected", at, 0);
}

static void glm_read(struct syn_reading *r)
{
    static const struct glm_tags t = {
        "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", NULL,
    };

    if (syn_begins_json(r->raw, r->n) == SYN_YES)
        syn_read_json(r);
    else
        glm_tagged(r, &t);
}

static enum syn_sure glm_begins(const char *raw, size_t n)
{
    enum syn_sure sure = syn_begins_json(raw, n);

    return sure == SYN_NO ? syn_begins_name(raw, n, "\n<") : sure;
}

static const struct syn_mark glm_marks[] = {
    SYN_THINK_TAGS,
    { .text = "<tool_call>", .act = SYN_DO_CALL, .begins = glm_begins },
    { .text = "</tool_call>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<|observation|>"),
    SYN_TURN_END("<|user|>"),
    SYN_TURN_END("</assistant>"),
};

const struct tmpl_syntax syn_glm = {
    .name = "glm",
    .help =
        "<think>, <arg_key> and <arg_value> in <tool_call>: GLM 4.5 and later, Laguna",
    .also = "glm-4.5|glm-4.6|glm-4.7|laguna",
    .in_source = SYN_LIST("<arg_key>", "<tool_call>"),
    .tokens = SYN_LIST("<arg_key>", "<tool_call>"),
    SYN_MARKS(glm_marks),
    .guard = SYN_GUARD_STRINGS | SYN_GUARD_SPANS,
    .span_open = "<arg_value>",
    .span_close = "</arg_value>",
    .inside = SYN_LIST("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    .read = glm_read,
};

#define HY ":opensource>"

static void hunyuan_read(struct syn_reading *r)
{
    static const struct glm_tags t = {
        "<arg_key" HY, "</arg_key" HY, "<arg_value" HY, "</arg_value" HY, "<tool_sep" HY,
    };
    glm_tagged(r, &t);
}

static const struct syn_mark hunyuan_marks[] = {
    { .text = "<think" HY, .act = SYN_DO_THINK },
    { .text = "</think" HY, .act = SYN_DO_THINK_END },
    { .text = "<tool_calls" HY, .act = SYN_DO_SECTION },
    { .text = "</tool_calls" HY, .act = SYN_DO_SECTION_END },
    { .text = "<tool_call" HY, .act = SYN_DO_CALL },
    { .text = "</tool_call" HY, .act = SYN_DO_CALL_END },
    SYN_TURN_END("<｜hy_eos:opensource｜>"),
};

const struct tmpl_syntax syn_hunyuan = {
    .name = "hunyuan",
    .help = "the markers of GLM with \":opensource\": Hunyuan 3",
    .also = "hy3",
    .in_source = SYN_LIST("<arg_key{}>", "':opensource'"),
    .or_source = SYN_LIST("<arg_key" HY),
    .tokens = SYN_LIST("<arg_key" HY),
    SYN_MARKS(hunyuan_marks),
    .inside = SYN_LIST("<arg_key" HY, "</arg_key" HY, "<arg_value" HY, "</arg_value" HY,
                       "<tool_sep" HY),
    .guard = SYN_GUARD_SPANS,
    .span_open = "<arg_value" HY,
    .span_close = "</arg_value" HY,
    .read = hunyuan_read,
};
