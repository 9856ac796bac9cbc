/* The router: sampled text to thinking, answer, calls and control, byte by byte.
 *
 * A phase says which tags count, which channel text belongs to, and what becomes of white
 * space; that is one row of stream_rules. Bytes enter one at a time into held, which is
 *
 *     held = white space that a tag may claim (n_space bytes), then the start of a tag
 *
 * and leave it as soon as they are decided: a whole tag makes its white space and itself
 * control; a byte that cannot begin a tag makes everything before it text. As every byte
 * is treated alike, the result cannot depend on where the tokens were cut. Runs are
 * contiguous because each begins where the last one ended (done).
 *
 * A special token ends whatever was held. If its name is a tag of this place it acts as
 * the tag; a tag out of place is text (a model that thinks about <tool_call> may write
 * it); any other special token is control. */
#include "config.h"

#include "templates/template.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/internal.h"

enum stream_tag {
    TAG_THINK_OPEN,
    TAG_THINK_CLOSE,
    TAG_CALL_OPEN,
    TAG_CALL_CLOSE,
    TAG_REST,
    TAG_COUNT,
    TAG_NONE = TAG_COUNT,
    TAG_HALF,           /* could still become one */
};
#define BIT(tag) (1u << (tag))

enum stream_phase {
    IN_START,           /* nothing said yet */
    IN_THINK_START,     /* behind <think> */
    IN_THINK,
    IN_THINK_END,       /* behind </think> */
    IN_ANSWER,
    IN_CALL,
    IN_CALL_END,        /* behind </tool_call> */
    IN_REST,            /* a call until the turn ends */
};

enum stream_space {
    SPACE_TEXT,         /* white space is text */
    SPACE_HOLD,         /* white space waits: a tag behind it claims it */
    SPACE_HOLD_LINES,   /* newlines do */
    SPACE_EAT_LINES,    /* newlines belong to the tag before them */
};

static const struct stream_rule {
    unsigned tags;
    enum tmpl_channel text;
    enum stream_space space;
    enum stream_phase next;         /* once there was text */
} stream_rules[] = {
    [IN_START] = { BIT(TAG_THINK_OPEN) | BIT(TAG_CALL_OPEN) | BIT(TAG_REST),
                   TMPL_RESPONSE, SPACE_HOLD, IN_ANSWER },
    [IN_THINK_START] = { BIT(TAG_THINK_CLOSE), TMPL_THINK, SPACE_EAT_LINES, IN_THINK },
    [IN_THINK] = { BIT(TAG_THINK_CLOSE), TMPL_THINK, SPACE_HOLD_LINES, IN_THINK },
    [IN_THINK_END] = { BIT(TAG_CALL_OPEN) | BIT(TAG_REST),
                       TMPL_RESPONSE, SPACE_EAT_LINES, IN_ANSWER },
    [IN_ANSWER] = { BIT(TAG_CALL_OPEN), TMPL_RESPONSE, SPACE_HOLD_LINES, IN_ANSWER },
    [IN_CALL] = { BIT(TAG_CALL_CLOSE), TMPL_TOOL_CALL, SPACE_TEXT, IN_CALL },
    [IN_CALL_END] = { BIT(TAG_CALL_OPEN), TMPL_RESPONSE, SPACE_EAT_LINES, IN_ANSWER },
    [IN_REST] = { 0, TMPL_TOOL_CALL, SPACE_TEXT, IN_REST },
};

/* Inside a JSON string "</tool_call>" is text. A raw newline cannot stand in one, so
 * there the string is taken for broken, and from then on the first closing tag closes. */
enum stream_string { STRING_OUT, STRING_IN, STRING_ESCAPE, STRING_BROKEN };

struct tmpl_stream {
    const char *tag[TAG_COUNT];
    bool answer_may_be_call;
    enum stream_phase phase;
    uint64_t done;              /* bytes decided; held begins here */
    struct buf held;
    size_t n_space;
    struct buf raw;             /* the call so far */
    enum stream_string string;
    struct buf answer;          /* while the whole answer may still be a call */
    size_t n_calls;
};

/* ---- results ---- */

static void call_release(struct tmpl_call *c)
{
    free(c->id);
    free(c->name);
    free(c->arguments);
    free(c->raw);
    free(c->error);
    free(c->block);
}

void tmpl_result_reset(struct tmpl_result *r)
{
    for (size_t i = 0; i < r->n_calls; i++)
        call_release(&r->calls[i]);
    r->n_calls = 0;
    r->n_runs = 0;
}

void tmpl_result_release(struct tmpl_result *r)
{
    tmpl_result_reset(r);
    free(r->runs);
    free(r->calls);
    *r = (struct tmpl_result){0};
}

/* The next n bytes belong to channel. */
static void stream_run(struct tmpl_stream *st, enum tmpl_channel channel, size_t n,
                       struct tmpl_result *out)
{
    struct tmpl_run *last = out->n_runs ? &out->runs[out->n_runs - 1] : NULL;
    uint64_t from = st->done;

    if (!n)
        return;
    st->done += n;
    if (last && last->channel == channel && last->to == from) {
        last->to = st->done;
        return;
    }
    MEM_GROW(out->runs, out->cap_runs, out->n_runs + 1);
    out->runs[out->n_runs++] = (struct tmpl_run){ channel, from, st->done };
}

/* ---- calls ---- */

/* The call that raw holds ends here; it takes raw. why: it is not finished. */
static void stream_call(struct tmpl_stream *st, struct buf *raw, const char *why,
                        struct tmpl_result *out)
{
    struct tmpl_call c = { .at = st->done };
    struct buf id = {0};

    c.raw_len = raw->n;
    c.raw = buf_take(raw);
    tmpl_call_read(&c);
    if (why) {
        free(c.error);
        c.error = xstrdup(why);
        c.error_at = c.raw_len;
        c.truncated = true;
    }
    if (!c.id) {
        buf_addf(&id, "call_%zu", st->n_calls);
        c.id = buf_take(&id);
    }
    st->n_calls++;
    MEM_GROW(out->calls, out->cap_calls, out->n_calls + 1);
    out->calls[out->n_calls++] = c;
}

static void stream_track_string(struct tmpl_stream *st, char c)
{
    switch (st->string) {
    case STRING_OUT:
        if (c == '"')
            st->string = STRING_IN;
        break;
    case STRING_IN:
        if (c == '\\')
            st->string = STRING_ESCAPE;
        else if (c == '"')
            st->string = STRING_OUT;
        else if ((unsigned char)c < 0x20)
            st->string = STRING_BROKEN;
        break;
    case STRING_ESCAPE:
        st->string = (unsigned char)c < 0x20 ? STRING_BROKEN : STRING_IN;
        break;
    case STRING_BROKEN:
        break;
    }
}

/* ---- text and tags ---- */

/* The first n bytes of held are text of this phase. */
static void stream_text(struct tmpl_stream *st, size_t n, struct tmpl_result *out)
{
    const struct stream_rule *rule = &stream_rules[st->phase];

    if (!n)
        return;
    if (rule->text == TMPL_TOOL_CALL) {
        buf_add(&st->raw, st->held.p, n);
        for (size_t i = 0; i < n; i++)
            stream_track_string(st, st->held.p[i]);
    }
    if (rule->text == TMPL_RESPONSE && st->answer_may_be_call) {
        buf_add(&st->answer, st->held.p, n);
        size_t at = strspn(st->answer.p, " \t\r\n");
        if (at < st->answer.n && st->answer.p[at] != '{')
            st->answer_may_be_call = false;
    }
    stream_run(st, rule->text, n, out);
    buf_cut(&st->held, 0, n);
    st->n_space = 0;
    st->phase = rule->next;
}

/* The tag has come; what was held is control already. */
static void stream_take_tag(struct tmpl_stream *st, enum stream_tag tag,
                            struct tmpl_result *out)
{
    switch (tag) {
    case TAG_THINK_OPEN:
        st->phase = IN_THINK_START;
        break;
    case TAG_THINK_CLOSE:
        st->phase = IN_THINK_END;
        break;
    case TAG_CALL_OPEN:
    case TAG_REST:
        st->phase = tag == TAG_REST ? IN_REST : IN_CALL;
        st->string = STRING_OUT;
        break;
    case TAG_CALL_CLOSE:
        stream_call(st, &st->raw, NULL, out);
        st->phase = IN_CALL_END;
        break;
    case TAG_COUNT:
    case TAG_HALF:
        assert(!"no tag");
    }
}

static unsigned stream_tags_here(const struct tmpl_stream *st)
{
    unsigned tags = stream_rules[st->phase].tags;

    for (int i = 0; i < TAG_COUNT; i++)
        if (!st->tag[i])
            tags &= ~BIT(i);
    return tags;
}

/* Which tag the n bytes at s are, TAG_HALF if they are the beginning of one. */
static enum stream_tag stream_match(const struct tmpl_stream *st, const char *s, size_t n)
{
    unsigned tags = stream_tags_here(st);

    if (st->phase == IN_CALL && (st->string == STRING_IN || st->string == STRING_ESCAPE))
        return TAG_NONE;
    for (int i = 0; i < TAG_COUNT; i++) {
        if (!(tags & BIT(i)))
            continue;
        size_t len = strlen(st->tag[i]);
        if (n <= len && !memcmp(s, st->tag[i], n))
            return n == len ? (enum stream_tag)i : TAG_HALF;
    }
    return TAG_NONE;
}

/* What a byte that begins no tag is here: white space that waits or is eaten, or text. */
static enum stream_space stream_space_of(const struct tmpl_stream *st, char c)
{
    enum stream_space space = stream_rules[st->phase].space;
    bool line = c == '\n' || c == '\r';

    if (!line && !(space == SPACE_HOLD && (c == ' ' || c == '\t')))
        return SPACE_TEXT;
    if (space != SPACE_EAT_LINES && !stream_tags_here(st))
        return SPACE_TEXT;      /* nothing can claim it */
    return space;
}

/* More bytes may come, or these are all: half a tag is text then. */
enum stream_end { STREAM_MORE, STREAM_LAST };

/* Decide as much of held as can be decided. */
static void stream_settle(struct tmpl_stream *st, enum stream_end end,
                          struct tmpl_result *out)
{
    while (st->held.n > st->n_space) {
        const char *s = st->held.p + st->n_space;
        enum stream_tag tag = stream_match(st, s, st->held.n - st->n_space);

        if (tag == TAG_HALF && end == STREAM_MORE)
            return;
        if (tag < TAG_COUNT) {
            stream_run(st, TMPL_CONTROL, st->held.n, out);
            buf_reset(&st->held);
            st->n_space = 0;
            stream_take_tag(st, tag, out);
            return;
        }
        switch (stream_space_of(st, *s)) {
        case SPACE_HOLD:
        case SPACE_HOLD_LINES:
            st->n_space++;
            break;
        case SPACE_EAT_LINES:
            stream_run(st, TMPL_CONTROL, 1, out);
            buf_cut(&st->held, 0, 1);
            break;
        case SPACE_TEXT:
            stream_text(st, st->n_space + 1, out);
            break;
        }
    }
}

static void stream_bytes(struct tmpl_stream *st, const char *bytes, size_t len,
                         struct tmpl_result *out)
{
    for (size_t i = 0; i < len; i++) {
        buf_addc(&st->held, bytes[i]);
        stream_settle(st, STREAM_MORE, out);
    }
}

static enum stream_tag stream_tag_named(const struct tmpl_stream *st, const char *name)
{
    for (int i = 0; i < TAG_COUNT; i++)
        if (st->tag[i] && !strcmp(st->tag[i], name))
            return (enum stream_tag)i;
    return TAG_NONE;
}

static void stream_special(struct tmpl_stream *st, const char *bytes, size_t len,
                           const char *name, struct tmpl_result *out)
{
    enum stream_tag tag = stream_tag_named(st, name);

    stream_settle(st, STREAM_LAST, out);
    if (tag != TAG_NONE && (stream_tags_here(st) & BIT(tag))) {
        stream_run(st, TMPL_CONTROL, st->held.n + len, out);
        buf_reset(&st->held);
        st->n_space = 0;
        stream_take_tag(st, tag, out);
        return;
    }
    if (tag != TAG_NONE) {
        buf_add(&st->held, bytes, len);
        stream_text(st, st->held.n, out);
        return;
    }
    stream_text(st, st->held.n, out);
    stream_run(st, TMPL_CONTROL, len, out);
    if (st->phase == IN_REST) {
        stream_call(st, &st->raw, NULL, out);
        st->phase = IN_CALL_END;
    }
}

/* ---- the interface ---- */

struct tmpl_stream *tmpl_stream_new(const struct tmpl *t, enum tmpl_channel start)
{
    struct tmpl_stream *st = xcalloc(1, sizeof *st);

    st->tag[TAG_THINK_OPEN] = t->tags.think_open;
    st->tag[TAG_THINK_CLOSE] = t->tags.think_close;
    st->tag[TAG_CALL_OPEN] = t->tags.call_open;
    st->tag[TAG_CALL_CLOSE] = t->tags.call_close;
    st->tag[TAG_REST] = t->tags.call_rest;
    st->answer_may_be_call = t->tags.answer_may_be_call;
    switch (start) {
    case TMPL_THINK:
        st->phase = IN_THINK_START;
        break;
    case TMPL_TOOL_CALL:
        st->phase = t->tags.call_open ? IN_CALL : IN_REST;
        break;
    case TMPL_RESPONSE:
    case TMPL_CONTROL:
        st->phase = IN_START;
        break;
    }
    return st;
}

void tmpl_stream_free(struct tmpl_stream *st)
{
    if (!st)
        return;
    buf_release(&st->held);
    buf_release(&st->raw);
    buf_release(&st->answer);
    free(st);
}

void tmpl_feed(struct tmpl_stream *st, const char *bytes, size_t len, const char *special,
               struct tmpl_result *out)
{
    if (special)
        stream_special(st, bytes, len, special, out);
    else
        stream_bytes(st, bytes, len, out);
}

void tmpl_finish(struct tmpl_stream *st, struct tmpl_result *out)
{
    stream_settle(st, STREAM_LAST, out);
    stream_text(st, st->held.n, out);
    if (st->phase == IN_CALL)
        stream_call(st, &st->raw, "the answer ended before the call did", out);
    else if (st->phase == IN_REST)
        stream_call(st, &st->raw, NULL, out);
    else if (st->answer_may_be_call && !st->n_calls &&
             tmpl_call_is_whole(buf_str(&st->answer), st->answer.n))
        stream_call(st, &st->answer, NULL, out);
    st->phase = IN_ANSWER;
}
