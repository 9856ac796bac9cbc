/* XTML, the outside of it: the order of a conversation, what the program itself says to
 * the model, and segments.
 *
 * The model was trained on segments that are encoded one by one: the name of a tag, the
 * space and the name of an attribute, its ="", its value, a body. So nothing here joins
 * strings, and a marker is never written but as a special token. */
#include "config.h"

#include "templates/xtml.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/pyjson.h"
#include "templates/xtml_int.h"

/* ---- segments ---- */

static struct tmpl_piece *xtml_piece(struct xtml_job *j, enum tmpl_piece_kind kind,
                                     const char *s, size_t n)
{
    struct tmpl_prompt *p = j->out;

    MEM_GROW(p->v, p->cap, p->n + 1);
    p->v[p->n] = (struct tmpl_piece){ .kind = kind, .at = p->text.n, .len = n };
    if (n)
        buf_add(&p->text, s, n);
    return &p->v[p->n++];
}

void xtml_put(struct xtml_job *j, const char *s, size_t n)
{
    if (n)
        xtml_piece(j, TMPL_PIECE_TEXT, s, n);
}

void xtml_put_special(struct xtml_job *j, const char *name)
{
    xtml_piece(j, TMPL_PIECE_SPECIAL, name, strlen(name));
}

void xtml_put_said(struct xtml_job *j, size_t message)
{
    xtml_piece(j, TMPL_PIECE_SAID, NULL, 0)->message = message;
}

static void xtml_puts(struct xtml_job *j, const char *s)
{
    xtml_put(j, s, strlen(s));
}

void xtml_open(struct xtml_job *j, const char *tag)
{
    xtml_put_special(j, XTML_OPEN);
    xtml_puts(j, tag);
}

void xtml_sep(struct xtml_job *j)
{
    xtml_put_special(j, XTML_SEP);
}

void xtml_attr(struct xtml_job *j, const char *key, const char *value, size_t n)
{
    struct buf b = {0};

    buf_addf(&b, " %s", key);
    xtml_put(j, b.p, b.n);
    xtml_puts(j, "=\"");
    buf_reset(&b);
    for (size_t i = 0; i < n; i++) {
        if (value[i] == '&')
            buf_adds(&b, "&amp;");
        else if (value[i] == '"')
            buf_adds(&b, "&quot;");
        else
            buf_addc(&b, value[i]);
    }
    xtml_put(j, b.p, b.n);
    xtml_puts(j, "\"");
    buf_release(&b);
}

void xtml_attr_number(struct xtml_job *j, const char *key, size_t value)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%zu", value);

    xtml_attr(j, key, text, (size_t)n);
}

void xtml_open_tag(struct xtml_job *j, const char *tag)
{
    xtml_open(j, tag);
    xtml_sep(j);
}

void xtml_close_tag(struct xtml_job *j, const char *tag)
{
    xtml_put_special(j, XTML_CLOSE);
    xtml_puts(j, tag);
    xtml_sep(j);
}

void xtml_end_message(struct xtml_job *j)
{
    xtml_close_tag(j, "message");
    xtml_put_special(j, XTML_END_OF_MSG);
}

/* ---- what the input holds ---- */

bool xtml_attr_of(struct xtml_job *j, const json_t *m, const char *key, struct err *e)
{
    const char *s;
    size_t n;

    if (!tmpl_get_string(m, key, &s, &n, e))
        return false;
    if (n)
        xtml_attr(j, key, s, n);
    return true;
}

/* ---- what the program says ---- */

void xtml_note(struct xtml_job *j, const char *type, const char *text, size_t n)
{
    xtml_open(j, "message");
    xtml_attr(j, "role", "system", 6);
    xtml_attr(j, "type", type, strlen(type));
    xtml_sep(j);
    xtml_put(j, text, n);
    xtml_end_message(j);
}

void xtml_tools(struct xtml_job *j, const json_t *tools, enum xtml_declare which)
{
    static const char *const intro[] = {
        [XTML_FIRST_TOOLS] =
            "# Tools\n"
            "Here are the available tools, described in JSONSchema.\n",
        [XTML_MORE_TOOLS] =
            "## New Tools Available\n"
            "The system dynamically extends the toolset via lazy-loading.\n"
            "You have access to all existing and extended tools.\n"
            "Here are the specs for the extended tools.\n",
    };
    struct buf b = {0};

    buf_addf(&b, "%s\n```json\n", intro[which]);
    pyjson_add(&b, tools, PYJSON_COMPACT | PYJSON_SORT);
    buf_adds(&b, "\n```");
    xtml_note(j, "tool-declare", b.p, b.n);
    buf_release(&b);
}

static bool xtml_effort(struct xtml_job *j, const json_t *options, struct err *e)
{
    static const char *const known[] = { "low", "high", "max" };
    const char *effort = "max";
    struct buf b = {0};
    size_t n, i = 0;

    if (json_object_get(options, "thinking_effort") &&
        !tmpl_get_string(options, "thinking_effort", &effort, &n, e))
        return false;
    if (!effort)
        return true;
    while (i < 3 && strcmp(known[i], effort))
        i++;
    if (i == 3)
        return err_set_kind(e, ERR_USAGE,
                            "unsupported thinking_effort \"%s\": the model knows low, "
                            "high and max", effort);
    buf_addf(&b,
             "`thinking_effort` guides on how much to think in your thinking channel "
             "(not including the response channel), supported values include `low`, "
             "`medium`, `high`, and `max`.\n"
             "Now the system is invoked with `thinking_effort=%s`.",
             effort);
    xtml_note(j, "thinking-effort", b.p, b.n);
    buf_release(&b);
    return true;
}

static void xtml_tool_choice(struct xtml_job *j, const json_t *choice)
{
    static const struct {
        const char *name, *text;
    } known[] = {
        { "required", "You MUST call tools in the next message." },
        { "none", "You MUST NOT call any tools in the next message." },
    };

    for (size_t i = 0; pyjson_is_string(choice) && i < 2; i++) {
        struct buf b = {0};
        if (strcmp(json_string_value(choice), known[i].name))
            continue;
        buf_addf(&b, "The system is invoked with `tool_choice=%s`.\n%s", known[i].name,
                 known[i].text);
        xtml_note(j, "tool-choice", b.p, b.n);
        buf_release(&b);
    }
}

/* The schema that an answer has to match; NULL: none is given. */
static const json_t *xtml_schema(const json_t *options, const json_t *format)
{
    const json_t *schema = json_object_get(format, "json_schema"), *inner;

    if (json_object_get(options, "response_schema"))
        return json_object_get(options, "response_schema");
    if ((inner = json_object_get(schema, "schema")) ||
        (inner = json_object_get(schema, "json_schema")))
        return inner;
    return schema;
}

static void xtml_response_format(struct xtml_job *j, const json_t *options)
{
    const json_t *format = json_object_get(options, "response_format");
    const json_t *inner = json_object_get(format, "type");
    const json_t *type = json_is_object(format) ? inner : format;
    const char *name = pyjson_is_string(type) ? json_string_value(type) : "";
    bool schema = !strcmp(name, "json_schema");
    struct buf b = {0};

    if (!schema && strcmp(name, "json_object"))
        return;
    buf_addf(&b,
             "The system is invoked with `response_format=%s`.\n"
             "Your response must be raw JSON data without markdown code blocks (```json) "
             "or any additional formatting.",
             name);
    if (schema) {
        buf_adds(&b, "\nThe JSON data must match the following schema:\n```json\n");
        pyjson_add(&b, xtml_schema(options, format), PYJSON_COMPACT | PYJSON_SORT);
        buf_adds(&b, "\n```");
    }
    xtml_note(j, "response-format", b.p, b.n);
    buf_release(&b);
}

/* ---- a conversation ---- */

static void xtml_generation_prompt(struct xtml_job *j)
{
    xtml_open(j, "message");
    xtml_attr(j, "role", "assistant", 9);
    xtml_sep(j);
    xtml_open_tag(j, j->thinking ? "think" : "response");
    j->out->start = j->thinking ? TMPL_THINK : TMPL_RESPONSE;
}

static bool xtml_check(const json_t *messages, const json_t *tools, const json_t *options,
                       struct err *e)
{
    if (!json_is_array(messages))
        return err_set_kind(e, ERR_USAGE, "the messages are not a list");
    if (tools && !json_is_null(tools) && !json_is_array(tools))
        return err_set_kind(e, ERR_USAGE, "the tools are not a list");
    if (options && !json_is_null(options) && !json_is_object(options))
        return err_set_kind(e, ERR_USAGE, "the options are not an object");
    return true;
}

bool xtml_render(const json_t *messages, const json_t *tools, const json_t *options,
                 struct tmpl_prompt *out, struct err *e)
{
    struct xtml_job j = { .out = out };
    size_t n = json_array_size(messages), closed = n;
    bool prompt, open = false;

    buf_reset(&out->text);
    out->n = 0;
    out->start = TMPL_CONTROL;
    if (!xtml_check(messages, tools, options, e) ||
        !tmpl_get_bool(options, "thinking", true, &j.thinking, e) ||
        !tmpl_get_bool(options, "add_generation_prompt", true, &prompt, e))
        return false;
    if (n && !tmpl_get_bool(json_array_get(messages, n - 1), "_open", false, &open, e))
        return err_wrap(e, "message %zu", n);
    closed -= open;

    if (json_array_size(tools))
        xtml_tools(&j, tools, XTML_FIRST_TOOLS);
    if (j.thinking && !xtml_effort(&j, options, e))
        return false;
    if (!xtml_messages(&j, messages, 0, closed, e))
        return false;
    /* An open message stands where the generation prompt does: behind the notes. */
    xtml_tool_choice(&j, json_object_get(options, "tool_choice"));
    xtml_response_format(&j, options);
    if (open)
        return xtml_messages(&j, messages, closed, n, e);
    if (prompt)
        xtml_generation_prompt(&j);
    return true;
}

static bool xtml_render_job(struct tmpl_job *j, struct err *e)
{
    const struct tmpl_request *r = j->request;

    return xtml_render(r->messages, r->tools, r->options, j->out, e);
}

const struct tmpl tmpl_kimi_k3 = {
    .name = "kimi-k3",
    .help = "<|open|>message role=...<|sep|> (XTML): Kimi K3",
    .needs = TMPL_NAMES(XTML_OPEN, XTML_CLOSE, XTML_SEP, XTML_END_OF_MSG),
    .tells = TMPL_NAMES(XTML_OPEN),
    .by_kind = true,
    .render = xtml_render_job,
    .reads_json = true,
    .keeps_said = true,
    .thinks = true,
    .syntax = &syn_kimi_k3,
};
