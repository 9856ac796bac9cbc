/* Collecting what a stream says, and writing it as JSON. */
#include "config.h"

#include "templates/parsed.h"

#include <string.h>

#include "base/utf8.h"
#include "templates/pyjson.h"

void tmpl_parsed_release(struct tmpl_parsed *p)
{
    buf_release(&p->text);
    buf_release(&p->reasoning);
    buf_release(&p->content);
    tmpl_result_release(&p->result);
    *p = (struct tmpl_parsed){0};
}

/* The last run may have grown since it was looked at. */
static void parsed_collect(struct tmpl_parsed *p)
{
    for (; p->seen < p->result.n_runs; p->seen++) {
        const struct tmpl_run *run = &p->result.runs[p->seen];
        uint64_t from = run->from > p->to ? run->from : p->to;
        struct buf *into = run->channel == TMPL_THINK      ? &p->reasoning
                           : run->channel == TMPL_RESPONSE ? &p->content
                                                           : NULL;
        if (into)
            buf_add(into, p->text.p + from, (size_t)(run->to - from));
        p->to = run->to;
    }
    if (p->seen)
        p->seen--;
}

void tmpl_parsed_feed(struct tmpl_parsed *p, struct tmpl_stream *st, const char *bytes,
                      size_t len, const char *special)
{
    buf_add(&p->text, bytes, len);
    tmpl_feed(st, bytes, len, special, &p->result);
    parsed_collect(p);
}

void tmpl_parsed_finish(struct tmpl_parsed *p, struct tmpl_stream *st)
{
    tmpl_finish(st, &p->result);
    parsed_collect(p);
    p->ended = tmpl_stream_ended(st);
}

void tmpl_parsed_write_text(const char *s, size_t n, struct buf *out)
{
    if (utf8_valid(s, n)) {
        pyjson_add_string(out, s, n);
        return;
    }
    buf_adds(out, "{\"hex\":\"");
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%02x", (unsigned char)s[i]);
    buf_adds(out, "\"}");
}

static void write_member(struct buf *out, const char *key, const char *s, size_t n)
{
    if (out->n && out->p[out->n - 1] != '{')
        buf_addc(out, ',');
    buf_addf(out, "\"%s\":", key);
    tmpl_parsed_write_text(s, n, out);
}

/* In one line; numbers keep their spelling. */
static void write_arguments(struct buf *out, const char *text)
{
    json_t *v = pyjson_load(text, strlen(text), PYJSON_NUMBER_TEXT, NULL);

    buf_adds(out, ",\"arguments\":");
    if (v)
        pyjson_add(out, v, PYJSON_COMPACT);
    else
        pyjson_add_string(out, text, strlen(text));
    json_decref(v);
}

void tmpl_parsed_write_call(const struct tmpl_call *c, struct buf *out)
{
    buf_addc(out, '{');
    if (c->id)
        write_member(out, "id", c->id, strlen(c->id));
    if (c->name)
        write_member(out, "name", c->name, strlen(c->name));
    if (c->name && c->arguments)
        write_arguments(out, c->arguments);
    else if (c->block)
        write_member(out, "arguments_raw", c->block, strlen(c->block));
    if (c->error) {
        write_member(out, "raw", c->raw, c->raw_len);
        write_member(out, "error", c->error, strlen(c->error));
        buf_addf(out, ",\"error_at\":%zu", c->error_at);
    }
    buf_addf(out, "%s\"status\":\"%s\"}", out->p[out->n - 1] == '{' ? "" : ",",
             !c->error       ? "complete"
             : c->truncated ? "truncated"
                            : "malformed");
}

/* The calls that have an id, or those that have none. */
enum write_which { WRITE_NUMBERED, WRITE_OTHERS };

static size_t write_calls(const struct tmpl_parsed *p, enum write_which which,
                          struct buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < p->result.n_calls; i++) {
        const struct tmpl_call *c = &p->result.calls[i];
        if ((c->id == NULL) != (which == WRITE_OTHERS))
            continue;
        if (n++)
            buf_addc(out, ',');
        tmpl_parsed_write_call(c, out);
    }
    return n;
}

void tmpl_parsed_write(const struct tmpl_parsed *p, struct buf *out)
{
    struct buf others = {0};

    buf_addc(out, '{');
    write_member(out, "reasoning", buf_str(&p->reasoning), p->reasoning.n);
    write_member(out, "content", buf_str(&p->content), p->content.n);
    buf_adds(out, ",\"tool_calls\":[");
    write_calls(p, WRITE_NUMBERED, out);
    buf_addc(out, ']');
    if (write_calls(p, WRITE_OTHERS, &others))
        buf_addf(out, ",\"malformed\":[%s]", others.p);
    buf_addf(out, ",\"end\":\"%s\"}", p->ended ? "message" : "eof");
    buf_release(&others);
}
