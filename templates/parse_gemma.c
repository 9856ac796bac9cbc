/* Gemma 4: call:NAME{key:value,...}, strings between <|"|> and <|"|>, thoughts in a
 * channel of that name. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "templates/scan.h"
#include "templates/syntax.h"

#define GEMMA_QUOTE "<|\"|>"
#define GEMMA_DEPTH 64

struct gemma {
    const char *s;
    size_t n, at;
    int depth;
    const char *what;           /* is wrong at at; NULL: nothing */
};

static bool gemma_wrong(struct gemma *g, const char *what)
{
    g->what = g->at == g->n ? "the text ends too early" : what;
    return false;
}

static bool gemma_take(struct gemma *g, const char *word)
{
    g->at += syn_space(g->s + g->at, g->n - g->at);
    if (!syn_at(g->s + g->at, g->n - g->at, word))
        return false;
    g->at += strlen(word);
    return true;
}

/* Behind a quote: the text up to the next one. */
static bool gemma_string(struct gemma *g, size_t *from, size_t *n)
{
    *from = g->at;
    *n = syn_find(g->s + g->at, g->n - g->at, GEMMA_QUOTE);
    if (*from + *n == g->n)
        return gemma_wrong(g, "a string does not end");
    g->at = *from + *n + strlen(GEMMA_QUOTE);
    return true;
}

/* A key stands there as it is, or quoted. */
static bool gemma_key(struct gemma *g, size_t *from, size_t *n)
{
    if (gemma_take(g, GEMMA_QUOTE)) {
        if (!gemma_string(g, from, n))
            return false;
    } else {
        *from = g->at;
        while (g->at < g->n && g->s[g->at] && !strchr(":{}[],", g->s[g->at]))
            g->at++;
        *n = g->at - *from;
    }
    if (!*n)
        return gemma_wrong(g, "a key is missing");
    return gemma_take(g, ":") || gemma_wrong(g, "\":\" is missing");
}

static bool gemma_value(struct gemma *g, struct buf *json);

/* Members up to the closing brace, into args. */
static bool gemma_members(struct gemma *g, json_t *args)
{
    bool first = true;
    size_t key, n;

    while (!gemma_take(g, "}")) {
        struct buf value = {0};
        if (!first && !gemma_take(g, ","))
            return gemma_wrong(g, "\",\" or \"}\" is missing");
        bool ok = gemma_key(g, &key, &n) && gemma_value(g, &value);
        if (ok)
            syn_argument(args, g->s + key, n, value.p, value.n);
        buf_release(&value);
        if (!ok)
            return false;
        first = false;
    }
    return true;
}

static bool gemma_object(struct gemma *g, struct buf *json)
{
    json_t *members = syn_arguments_new();
    bool ok = gemma_members(g, members);
    char *text = syn_arguments_take(members);

    if (ok)
        buf_adds(json, text);
    free(text);
    return ok;
}

static bool gemma_list(struct gemma *g, struct buf *json)
{
    bool first = true;

    buf_addc(json, '[');
    while (!gemma_take(g, "]")) {
        if (!first && !gemma_take(g, ","))
            return gemma_wrong(g, "\",\" or \"]\" is missing");
        if (!first)
            buf_adds(json, ", ");
        if (!gemma_value(g, json))
            return false;
        first = false;
    }
    buf_addc(json, ']');
    return true;
}

/* Numbers, words, and JSON strings, should there be any. */
static bool gemma_scalar(struct gemma *g, struct buf *json)
{
    struct scan sc = { .s = g->s, .n = g->n, .at = g->at };

    if (gemma_take(g, "None")) {
        buf_adds(json, "null");
        return true;
    }
    if (!scan_value(&sc)) {
        g->at = sc.bad.at;
        return gemma_wrong(g, "no value");
    }
    buf_add(json, g->s + g->at, sc.at - g->at);
    g->at = sc.at;
    return true;
}

static bool gemma_value(struct gemma *g, struct buf *json)
{
    size_t from, n;
    bool ok;

    if (gemma_take(g, GEMMA_QUOTE)) {
        if (!gemma_string(g, &from, &n))
            return false;
        pyjson_add_string(json, g->s + from, n);
        return true;
    }
    if (g->depth == GEMMA_DEPTH)
        return gemma_wrong(g, "too many brackets inside each other");
    g->depth++;
    if (gemma_take(g, "{"))
        ok = gemma_object(g, json);
    else if (gemma_take(g, "["))
        ok = gemma_list(g, json);
    else
        ok = gemma_scalar(g, json);
    g->depth--;
    return ok;
}

static void gemma_read(struct syn_reading *r)
{
    struct tmpl_call *c = syn_call(r, 0, r->n);
    struct gemma g = { .s = r->raw, .n = r->n };
    json_t *args = syn_arguments_new();
    size_t name;
    bool ok;

    if (!gemma_take(&g, "call:")) {
        ok = gemma_wrong(&g, "\"call:\" is missing");
    } else {
        name = g.at;
        while (g.at < g.n && g.s[g.at] != '{')
            g.at++;
        size_t end = g.at;
        while (end > name && syn_space(g.s + end - 1, 1))
            end--;
        syn_set_name(c, g.s + name, end - name);
        if (!c->name)
            ok = gemma_wrong(&g, "the call has no name");
        else if (!gemma_take(&g, "{"))
            ok = gemma_wrong(&g, "\"{\" is missing");
        else
            ok = gemma_members(&g, args);
    }
    g.at += syn_space(g.s + g.at, g.n - g.at);
    if (ok && g.at < g.n)
        ok = gemma_wrong(&g, "something stands behind the call");
    char *text = syn_arguments_take(args);
    if (ok) {
        c->arguments = text;
        return;
    }
    free(text);
    syn_wrong(c, g.what, g.at, 0);
}

static const struct syn_mark gemma4_marks[] = {
    { .text = "<|channel>thought", .act = SYN_DO_THINK },
    { .text = "<channel|>", .act = SYN_DO_THINK_END },
    { .text = "<|tool_call>", .act = SYN_DO_CALL },
    { .text = "<tool_call|>", .act = SYN_DO_CALL_END },
    SYN_TURN_END("<turn|>"),
    SYN_TURN_END("<|tool_response>"),
};

const struct tmpl_syntax syn_gemma4 = {
    .name = "gemma4",
    .help = "<|channel>thought, call:NAME{key:value} in <|tool_call>: Gemma 4",
    .also = "gemma",
    .in_source = SYN_LIST("<|tool_call>", "<tool_call|>"),
    .tokens = SYN_LIST("<|tool_call>", "<tool_call|>"),
    SYN_MARKS(gemma4_marks),
    .inside = SYN_LIST(GEMMA_QUOTE),
    .guard = SYN_GUARD_SPANS,
    .span_open = GEMMA_QUOTE,
    .span_close = GEMMA_QUOTE,
    .read = gemma_read,
};
