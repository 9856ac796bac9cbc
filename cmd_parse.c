/* `vitrine parse`: what a model wrote, taken apart into thinking, answer and calls.
 *
 * Without --json or --jsonl the events come as soon as they are decided, one JSON
 * object on a line, so that the output of another program can be piped through. There
 * are no tokens in such a text; markers count wherever they are spelled. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/gguf.h"
#include "base/utf8.h"
#include "chat/model.h"
#include "chat/template.h"
#include "cmd.h"
#include "cmd_text.h"
#include "templates/parsed.h"

struct parse {
    const struct chat_settings *set;
    const struct tmpl_syntax *syntax;
    const struct tmpl_vocab *vocab;     /* NULL: no model was named */
};

static enum tmpl_channel start_of(const char *name, bool *known)
{
    static const struct {
        const char *name;
        enum tmpl_channel start;
    } names[] = {
        { "response", TMPL_RESPONSE }, { "think", TMPL_THINK },
        { "reasoning", TMPL_THINK },   { "idle", TMPL_CONTROL },
        { "control", TMPL_CONTROL },   { "tool", TMPL_TOOL_CALL },
    };

    *known = true;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name))
            return names[i].start;
    *known = false;
    return TMPL_RESPONSE;
}

static struct tmpl_stream *open_text(const struct parse *p)
{
    bool known;
    struct tmpl_stream *st =
        tmpl_stream_open(p->syntax, start_of(p->set->start, &known), NULL);

    tmpl_stream_text_only(st);
    return st;
}

static void put_line(struct buf *line)
{
    buf_addc(line, '\n');
    cmd_put_exact(line->p, line->n);
    buf_release(line);
}

/* ---- events ---- */

struct events {
    bool markers;               /* show them, too */
    struct buf text; /* what was fed and not yet told; text.p[0] is number base */
    uint64_t base;
    struct buf said;            /* of the channel, not yet told: half a character */
    enum tmpl_channel channel;
    struct tmpl_result result;
};

/* Tell the text of the channel, or as much of it as is whole characters. */
static void tell_text(struct events *ev, size_t n)
{
    static const char *const names[] = {
        [TMPL_THINK] = "think", [TMPL_RESPONSE] = "response", [TMPL_TOOL_CALL] = "tool",
        [TMPL_CONTROL] = "control",
    };
    bool shown = ev->channel == TMPL_THINK || ev->channel == TMPL_RESPONSE || ev->markers;

    if (n && shown) {
        struct buf line = {0};
        buf_addf(&line, "{\"type\":\"%s\",\"text\":", names[ev->channel]);
        tmpl_parsed_write_text(ev->said.p, n, &line);
        buf_addc(&line, '}');
        put_line(&line);
    }
    buf_cut(&ev->said, 0, n);
}

static void tell_call(const struct tmpl_call *c)
{
    struct buf line = {0}, call = {0};

    tmpl_parsed_write_call(c, &call);
    buf_addf(&line, "{\"type\":\"tool_call\",%s", call.p + 1);
    buf_release(&call);
    put_line(&line);
}

/* Bytes of the stream up to a number, all in one channel. */
static void collect(struct events *ev, enum tmpl_channel channel, uint64_t to)
{
    size_t n = (size_t)(to - ev->base);

    if (!n)
        return;
    if (channel != ev->channel)
        tell_text(ev, ev->said.n);
    ev->channel = channel;
    buf_add(&ev->said, ev->text.p, n);
    buf_cut(&ev->text, 0, n);
    ev->base = to;
}

/* All that was decided: runs and calls in their order. */
static void tell(struct events *ev)
{
    size_t call = 0;

    for (size_t i = 0; i < ev->result.n_runs; i++) {
        const struct tmpl_run *run = &ev->result.runs[i];
        while (call < ev->result.n_calls && ev->result.calls[call].at < run->to) {
            uint64_t at = ev->result.calls[call].at;
            if (at > ev->base)
                collect(ev, run->channel, at);
            tell_text(ev, ev->said.n);
            tell_call(&ev->result.calls[call++]);
        }
        collect(ev, run->channel, run->to);
    }
    tell_text(ev, call < ev->result.n_calls
                      ? ev->said.n
                      : utf8_complete(buf_str(&ev->said), ev->said.n));
    while (call < ev->result.n_calls)
        tell_call(&ev->result.calls[call++]);
    tmpl_result_reset(&ev->result);
}

static bool parse_events(const struct parse *p, int fd, const char *path, struct err *e)
{
    struct events ev = { .markers = p->set->verbose, .channel = TMPL_CONTROL };
    struct tmpl_stream *st = open_text(p);
    char part[16384];
    ssize_t n;

    while ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        buf_add(&ev.text, part, (size_t)n);
        tmpl_feed(st, part, (size_t)n, NULL, &ev.result);
        tell(&ev);
        if (!cmd_flush())
            break;
    }
    if (n < 0)
        err_set(e, "cannot read %s: %s", path, strerror(errno));
    tmpl_finish(st, &ev.result);
    tell(&ev);
    tell_text(&ev, ev.said.n);
    printf("{\"type\":\"end\",\"why\":\"%s\"}\n",
           tmpl_stream_ended(st) ? "message" : "eof");
    buf_release(&ev.text);
    buf_release(&ev.said);
    tmpl_result_release(&ev.result);
    tmpl_stream_free(st);
    return n >= 0;
}

static int parse_stream(struct cmd_call *c, const struct parse *p, const char *path)
{
    bool is_stdin = !path || !strcmp(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct err e = {0};
    bool ok;

    if (fd < 0) {
        err_set(&e, "cannot open %s: %s", path, strerror(errno));
        return cmd_fail(c, &e);
    }
    ok = parse_events(p, fd, is_stdin ? "standard input" : path, &e);
    if (!is_stdin)
        close(fd);
    return ok ? CMD_OK : cmd_fail(c, &e);
}

/* ---- the whole ---- */

static int parse_whole(struct cmd_call *c, const struct parse *p, const char *path)
{
    struct buf in = {0}, line = {0};
    struct tmpl_parsed all = {0};
    struct err e = {0};

    if (!cmd_read(path, &in, &e)) {
        buf_release(&in);
        return cmd_fail(c, &e);
    }
    struct tmpl_stream *st = open_text(p);
    tmpl_parsed_feed(&all, st, buf_str(&in), in.n, NULL);
    tmpl_parsed_finish(&all, st);
    tmpl_parsed_write(&all, &line);
    put_line(&line);
    tmpl_stream_free(st);
    tmpl_parsed_release(&all);
    buf_release(&in);
    return CMD_OK;
}

/* ---- JSON lines ---- */

static bool feed_chunk(struct tmpl_parsed *all, struct tmpl_stream *st,
                       const json_t *chunk, struct err *e)
{
    const json_t *special = json_object_get(chunk, "special");
    const char *name = json_string_value(special);
    struct buf text = {0};
    bool ok = true;

    if (special) {
        if (!name || !*name || strlen(name) != json_string_length(special))
            return err_set(e, "the name of a special token is no name");
        tmpl_parsed_feed(all, st, name, strlen(name), name);
    } else {
        ok = cmd_json_text(chunk, &text, e);
        if (ok)
            tmpl_parsed_feed(all, st, buf_str(&text), text.n, NULL);
    }
    buf_release(&text);
    return ok;
}

static bool one_answer(void *arg, const json_t *in, struct err *e)
{
    const struct parse *p = arg;
    const json_t *chunks = json_object_get(in, "chunks"), *chunk;
    const json_t *start = json_object_get(in, "start"),
                 *name = json_object_get(in, "syntax");
    const struct tmpl_syntax *syntax = p->syntax;
    struct tmpl_parsed all = {0};
    struct buf line = {0};
    bool known, ok = true;
    size_t i;

    if (!json_is_array(chunks))
        return err_set(e,
                       "needs {\"start\": \"think\" or \"response\", \"chunks\": [...]}");
    enum tmpl_channel from =
        start_of(start ? json_string_value(start) : p->set->start, &known);
    if (!known)
        return err_set(e, "\"start\" is \"think\", \"response\", \"idle\" or \"tool\"");
    if (name && !json_is_string(name))
        return err_set(e, "\"syntax\" is not a name");
    if (name && !(syntax = tmpl_syntax_find(json_string_value(name), e)))
        return false;
    struct tmpl_stream *st = tmpl_stream_open(syntax, from, p->vocab);
    if (!p->vocab)
        tmpl_stream_text_only(st);
    json_array_foreach(chunks, i, chunk)
        if (!(ok = feed_chunk(&all, st, chunk, e)))
            break;
    if (ok) {
        tmpl_parsed_finish(&all, st);
        tmpl_parsed_write(&all, &line);
        put_line(&line);
    }
    tmpl_stream_free(st);
    tmpl_parsed_release(&all);
    return ok;
}

static int parse_lines(struct cmd_call *c, struct parse *p, const char *path)
{
    struct err e = {0};
    int status = cmd_jsonl(path, one_answer, p, &e);

    return e.text[0] ? cmd_fail(c, &e) : status;
}

/* ---- which syntax ---- */

/* That of a template as --template names it, or of the model's; the name of a syntax does,
 * too. Text can be taken apart even if the template is none we can render. */
static const struct tmpl_syntax *syntax_of_template(const char *name,
                                                    const struct chat_model *m,
                                                    struct err *e)
{
    struct chat_template_from from = {
        .named = name, .gguf = m ? m->gguf : NULL, .vocab = m ? &m->vocab : NULL,
    };
    const struct tmpl_syntax *s = name ? tmpl_syntax_find(name, NULL) : NULL;
    const struct tmpl *t = s ? NULL : chat_template_choose(&from, NULL, name ? e : NULL);
    struct gguf_str source = {0};

    if (t)
        s = tmpl_syntax_of(t);
    tmpl_free(t);
    if (s || name)
        return s;
    if (m->gguf && !gguf_opt_str(m->gguf, "tokenizer.chat_template", &source, e))
        return NULL;
    return tmpl_syntax_choose(source.p, source.n, &m->vocab, NULL);
}

int cmd_parse(struct cmd_call *c)
{
    const struct chat_settings *set = &c->set;
    struct parse p = { .set = set };
    struct chat_model *m = NULL;
    struct err e = {0};
    int status;

    if (!cmd_at_most(c, 1))
        return ERR_USAGE;
    if (set->json && set->jsonl)
        return cmd_usage(c, "--json and --jsonl exclude each other");
    if (set->syntax && set->template_name)
        return cmd_usage(c, "--syntax and --template exclude each other");
    if (set->verbose && (set->json || set->jsonl))
        return cmd_usage(c, "--verbose means nothing with --json or --jsonl");
    if (set->model && !(m = chat_model_open(set, CHAT_MODEL_VOCAB, NULL, &e)))
        return cmd_fail(c, &e);
    if (m)
        p.vocab = &m->vocab;
    if (set->syntax)
        p.syntax = tmpl_syntax_find(set->syntax, &e);
    else if (set->template_name)
        p.syntax = syntax_of_template(set->template_name, m, &e);
    else
        p.syntax = m ? syntax_of_template(NULL, m, &e) : tmpl_syntax_find("hermes", &e);
    const char *path = c->n_args ? c->args[0] : NULL;
    if (!p.syntax)
        status = cmd_fail(c, &e);
    else if (set->jsonl)
        status = parse_lines(c, &p, path);
    else if (set->json)
        status = parse_whole(c, &p, path);
    else
        status = parse_stream(c, &p, path);
    chat_model_free(m);
    return status;
}
