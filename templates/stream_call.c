/* The text of a call while it comes in: where its end may be, and reading it then. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/stream_int.h"

void stream_call_release(struct stream_call *c)
{
    buf_release(&c->raw);
    free(c->name);
    *c = (struct stream_call){0};
}

void stream_call_open(struct tmpl_stream *st, const struct syn_mark *mark, char *name)
{
    struct stream_call *c = &st->call;

    stream_call_release(c);
    c->open = mark;
    c->until = mark ? mark->until : SYN_UNTIL_TURN;
    c->name = name;
    c->guard = st->syn->guard;
    if (!mark)
        return;
    const char *kept = mark->text + strlen(mark->text) - mark->keep;
    while (*kept)
        stream_call_byte(st, *kept++);
}

static bool call_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The first byte that is no white space tells what the call is written in. */
static void call_begins(struct stream_call *c, char first)
{
    bool bracket = first == '{' || first == '[';

    if (c->guard == (SYN_GUARD_STRINGS | SYN_GUARD_SPANS))
        c->guard = bracket ? SYN_GUARD_STRINGS : SYN_GUARD_SPANS;
    if (bracket)
        c->json = JSON_SEEN;
    else
        c->json = c->until == SYN_UNTIL_JSON ? JSON_NAME : JSON_NONE;
}

static void call_track_string(struct stream_call *c, char ch)
{
    bool control = (unsigned char)ch < 0x20;

    switch (c->string) {
    case STRING_OUT:
        if (ch == '"')
            c->string = STRING_IN;
        break;
    case STRING_IN:
        if (ch == '\\')
            c->string = STRING_ESCAPE;
        else if (ch == '"')
            c->string = STRING_OUT;
        else if (control)
            c->string = STRING_BROKEN;
        break;
    case STRING_ESCAPE:
        c->string = control ? STRING_BROKEN : STRING_IN;
        break;
    case STRING_BROKEN:
        break;
    }
}

/* True: the JSON is complete. */
static bool call_track_json(struct stream_call *c, char ch)
{
    bool opens = ch == '{' || ch == '[';

    if (c->json == JSON_NAME && opens)
        c->json = JSON_SEEN;
    if (c->json != JSON_SEEN || c->string != STRING_OUT)
        return false;
    if (opens)
        c->depth++;
    else if ((ch == '}' || ch == ']') && c->depth)
        return --c->depth == 0;
    return false;
}

static bool call_ends_in(const struct stream_call *c, const char *word)
{
    size_t n = strlen(word);

    return c->raw.n >= n && !memcmp(c->raw.p + c->raw.n - n, word, n);
}

static void call_track_span(struct tmpl_stream *st)
{
    struct stream_call *c = &st->call;

    if (!(st->syn->guard & SYN_GUARD_SPANS))
        return;
    if (call_ends_in(c, c->in_span ? st->syn->span_close : st->syn->span_open))
        c->in_span = !c->in_span;
}

bool stream_call_byte(struct tmpl_stream *st, char ch)
{
    struct stream_call *c = &st->call;
    bool complete;

    if (c->json == JSON_UNSEEN && !call_is_space(ch))
        call_begins(c, ch);
    buf_addc(&c->raw, ch);
    call_track_string(c, ch);
    complete = call_track_json(c, ch);
    call_track_span(st);
    return complete && (c->until == SYN_UNTIL_JSON || c->until == SYN_UNTIL_JSON_HERE);
}

void stream_call_inside(struct tmpl_stream *st, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_addc(&st->call.raw, s[i]);
        call_track_span(st);
    }
}

bool stream_call_guarded(const struct tmpl_stream *st)
{
    const struct stream_call *c = &st->call;
    bool in_string = c->string == STRING_IN || c->string == STRING_ESCAPE;

    return (c->guard & SYN_GUARD_STRINGS && in_string) ||
           (c->guard & SYN_GUARD_SPANS && c->in_span);
}

bool stream_call_may_close(const struct tmpl_stream *st)
{
    const struct buf *raw = &st->call.raw;
    const char *exit = st->syn->span_exit;
    size_t n = raw->n;

    if (!exit || !(st->call.guard & SYN_GUARD_SPANS) || !st->call.in_span)
        return false;
    while (n && call_is_space(raw->p[n - 1]))
        n--;
    return n >= strlen(exit) && !memcmp(raw->p + n - strlen(exit), exit, strlen(exit));
}

/* ---- the end ---- */

static void call_is_cut(struct tmpl_call *c)
{
    free(c->error);
    c->error = xstrdup("the answer ended before the call did");
    c->error_at = c->raw_len;
    c->truncated = true;
}

static void call_read(struct tmpl_stream *st, const char *raw, size_t n, const char *name,
                      enum stream_cut cut, struct tmpl_result *out)
{
    struct syn_reading r = { raw, n, name, out, out->n_calls };

    st->syn->read(&r);
    if (out->n_calls == r.first)
        syn_wrong(syn_call(&r, 0, n), "there is no call in it", 0, 0);
    if (cut == STREAM_CUT)
        call_is_cut(&out->calls[out->n_calls - 1]);
    for (size_t i = r.first; i < out->n_calls; i++, st->n_calls++) {
        struct tmpl_call *c = &out->calls[i];
        struct buf id = {0};
        c->at = st->done;
        if (!c->name || !c->arguments)
            syn_wrong(c, c->name ? "the call has no arguments" : "the call has no name",
                      0, 0);
        if (c->id)
            continue;
        buf_addf(&id, "call_%zu", st->n_calls);
        c->id = buf_take(&id);
    }
}

void stream_call_end(struct tmpl_stream *st, enum stream_cut cut, struct tmpl_result *out)
{
    struct stream_call *c = &st->call;

    call_read(st, buf_str(&c->raw), c->raw.n, c->name, cut, out);
    stream_call_release(c);
    st->mode = st->back;
}

void stream_call_finish(struct tmpl_stream *st, struct tmpl_result *out)
{
    bool cut = st->call.until == SYN_UNTIL_MARK || st->call.depth;

    stream_call_end(st, cut ? STREAM_CUT : STREAM_WHOLE, out);
}

void stream_call_bare(struct tmpl_stream *st, const char *raw, size_t n,
                      struct tmpl_result *out)
{
    call_read(st, raw, n, NULL, STREAM_WHOLE, out);
    st->mode = st->back;
}
