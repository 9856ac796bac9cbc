/* XTML, what the model says: a state machine over text and the four markers.
 *
 * Three layers. Where markers are only text, bytes that may become one are held (part).
 * Behind <|open|> or <|close|> text is a header and held until <|sep|> (head). A complete
 * header, in the mode the message is in, picks a row of xtml_rules; where none fits, a
 * header is ordinary text in the modes that have a body and means nothing elsewhere.
 *
 * Held bytes are always the last ones, head before part, so runs leave in order, and
 * every byte is treated alike however it arrives. The text of a marker goes into raw and
 * values from its name, because a special token may come without bytes. */
#include "config.h"

#include "templates/xtml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "templates/internal.h"
#include "templates/xtml_int.h"

/* A header this long is none. */
#define XTML_HEADER_MAX 4096

enum xtml_mode {
    IN_IDLE,            /* no channel is open */
    IN_THINK,
    IN_RESPONSE,
    IN_EPILOGUE,        /* behind the response or the tools */
    IN_TOOLS,           /* between calls */
    IN_CALL,            /* between arguments */
    IN_ARGUMENT,
    IN_JSON,
    IN_DONE,            /* the message is closed */
};
#define BIT(mode) (1u << (mode))

static const struct xtml_mode_row {
    const char *name;               /* for xtml_stream_left(), which may skip "sep " */
    enum tmpl_channel text;
    bool body;                      /* text is kept, and so is a tag out of place */
} xtml_modes[] = {
    [IN_IDLE] = { "sep idle", TMPL_RESPONSE, false },
    [IN_THINK] = { "sep think", TMPL_THINK, true },
    [IN_RESPONSE] = { "sep response", TMPL_RESPONSE, true },
    [IN_EPILOGUE] = { "sep epilogue", TMPL_CONTROL, false },
    [IN_TOOLS] = { "sep tools", TMPL_CONTROL, false },
    [IN_CALL] = { "sep call", TMPL_TOOL_CALL, false },
    [IN_ARGUMENT] = { "sep argument", TMPL_TOOL_CALL, true },
    [IN_JSON] = { "sep json", TMPL_TOOL_CALL, true },
    [IN_DONE] = { "sep done", TMPL_CONTROL, false },
};

enum xtml_marker { MARK_OPEN, MARK_CLOSE, MARK_SEP, MARK_END, MARK_COUNT };
static const char *const xtml_marks[MARK_COUNT] = {
    XTML_OPEN, XTML_CLOSE, XTML_SEP, XTML_END_OF_MSG,
};

enum xtml_tag {
    TAG_MESSAGE, TAG_THINK, TAG_RESPONSE, TAG_TOOLS, TAG_CALL, TAG_ARGUMENT, TAG_JSON,
    TAG_OTHER,
};
static const char *const xtml_tags[TAG_OTHER] = {
    "message", "think", "response", "tools", "call", "argument", "json",
};

enum xtml_when { ALWAYS, BEFORE_TEXT };     /* BEFORE_TEXT: none came in this mode */

enum xtml_action {
    DO_GO,              /* to the next mode */
    DO_IGNORE,
    DO_FINISH,          /* the message ends */
    DO_CALL,            /* a call begins; one that is open is cut */
    DO_ARGUMENT, DO_JSON, DO_VALUE_END,
    DO_CALL_END,
    DO_CALL_CUT,        /* and go to the next mode */
};

static const struct xtml_rule {
    unsigned modes;
    enum xtml_marker mark;
    enum xtml_tag tag;
    enum xtml_when when;
    enum xtml_action action;
    enum xtml_mode next;
} xtml_rules[] = {
    { ~BIT(IN_DONE), MARK_CLOSE, TAG_MESSAGE, ALWAYS, DO_FINISH, IN_DONE },

    { BIT(IN_IDLE) | BIT(IN_EPILOGUE) | BIT(IN_TOOLS),
      MARK_OPEN, TAG_THINK, ALWAYS, DO_GO, IN_THINK },
    { BIT(IN_IDLE) | BIT(IN_THINK) | BIT(IN_EPILOGUE) | BIT(IN_TOOLS),
      MARK_OPEN, TAG_RESPONSE, ALWAYS, DO_GO, IN_RESPONSE },
    { BIT(IN_IDLE) | BIT(IN_THINK) | BIT(IN_RESPONSE) | BIT(IN_EPILOGUE),
      MARK_OPEN, TAG_TOOLS, ALWAYS, DO_GO, IN_TOOLS },

    /* The model repeats what the prompt wrote, or thinks after all. */
    { BIT(IN_THINK), MARK_OPEN, TAG_THINK, BEFORE_TEXT, DO_IGNORE, IN_THINK },
    { BIT(IN_RESPONSE), MARK_OPEN, TAG_RESPONSE, BEFORE_TEXT, DO_IGNORE, IN_RESPONSE },
    { BIT(IN_RESPONSE), MARK_OPEN, TAG_THINK, BEFORE_TEXT, DO_GO, IN_THINK },

    { BIT(IN_THINK), MARK_CLOSE, TAG_THINK, ALWAYS, DO_GO, IN_IDLE },
    { BIT(IN_RESPONSE), MARK_CLOSE, TAG_RESPONSE, ALWAYS, DO_GO, IN_EPILOGUE },
    { BIT(IN_TOOLS), MARK_CLOSE, TAG_TOOLS, ALWAYS, DO_GO, IN_EPILOGUE },

    { BIT(IN_TOOLS) | BIT(IN_CALL), MARK_OPEN, TAG_CALL, ALWAYS, DO_CALL, IN_CALL },
    { BIT(IN_CALL), MARK_OPEN, TAG_ARGUMENT, ALWAYS, DO_ARGUMENT, IN_ARGUMENT },
    { BIT(IN_CALL), MARK_OPEN, TAG_JSON, ALWAYS, DO_JSON, IN_JSON },
    { BIT(IN_ARGUMENT), MARK_CLOSE, TAG_ARGUMENT, ALWAYS, DO_VALUE_END, IN_CALL },
    { BIT(IN_JSON), MARK_CLOSE, TAG_JSON, ALWAYS, DO_VALUE_END, IN_CALL },
    { BIT(IN_CALL) | BIT(IN_ARGUMENT) | BIT(IN_JSON),
      MARK_CLOSE, TAG_CALL, ALWAYS, DO_CALL_END, IN_TOOLS },
    { BIT(IN_CALL) | BIT(IN_ARGUMENT) | BIT(IN_JSON),
      MARK_CLOSE, TAG_TOOLS, ALWAYS, DO_CALL_CUT, IN_EPILOGUE },
};

struct xtml_stream {
    bool marks_in_text;
    enum xtml_mode mode;
    bool ended;                 /* by the model */
    const char *left;           /* once done: what xtml_stream_left() says */
    bool had_text;              /* in this mode */
    uint64_t done;              /* bytes decided */

    bool has_head;
    enum xtml_marker head;      /* MARK_OPEN or MARK_CLOSE */
    struct buf header;          /* the text behind it */
    size_t held;                /* bytes of the stream that both are */

    struct buf part;            /* the beginning of a marker, as text */

    struct xtml_call call;      /* in the modes of a call */
    size_t n_calls;             /* that have a name */
};

static bool xtml_in_call(const struct xtml_stream *st)
{
    return st->mode == IN_CALL || st->mode == IN_ARGUMENT || st->mode == IN_JSON;
}

/* The next n bytes belong to channel. */
static void xtml_run(struct xtml_stream *st, enum tmpl_channel channel, size_t n,
                     struct tmpl_result *out)
{
    if (!n)
        return;
    tmpl_result_run(out, channel, st->done, st->done + n);
    st->done += n;
}

/* ---- text ---- */

/* n bytes at s are text of this mode; they are held bytes of the stream. */
static void xtml_body(struct xtml_stream *st, const char *s, size_t n, size_t held,
                      struct tmpl_result *out)
{
    if (xtml_in_call(st))
        buf_add(&st->call.raw, s, n);
    if (st->mode == IN_ARGUMENT || st->mode == IN_JSON)
        buf_add(&st->call.value, s, n);
    if (n)
        st->had_text = true;
    xtml_run(st, xtml_modes[st->mode].text, held, out);
}

/* Markup that is no text of any mode. */
static void xtml_markup(struct xtml_stream *st, const char *s, size_t n, size_t held,
                        struct tmpl_result *out)
{
    if (xtml_in_call(st))
        buf_add(&st->call.raw, s, n);
    xtml_run(st, xtml_in_call(st) ? TMPL_TOOL_CALL : TMPL_CONTROL, held, out);
}

/* The header is none: what was held is text. */
static void xtml_head_is_text(struct xtml_stream *st, struct tmpl_result *out)
{
    struct buf text = {0};

    buf_adds(&text, xtml_marks[st->head]);
    buf_add(&text, st->header.p, st->header.n);
    st->has_head = false;
    xtml_body(st, text.p, text.n, st->held, out);
    buf_release(&text);
}

static void xtml_text(struct xtml_stream *st, const char *s, size_t n,
                      struct tmpl_result *out)
{
    if (st->has_head) {
        size_t room = XTML_HEADER_MAX + 1 - st->header.n;
        size_t k = n < room ? n : room;
        buf_add(&st->header, s, k);
        st->held += k;
        if (st->header.n <= XTML_HEADER_MAX)
            return;
        xtml_head_is_text(st, out);
        s += k;
        n -= k;
    }
    if (st->mode == IN_IDLE && !st->had_text) {
        size_t space = 0;
        while (space < n && (s[space] == ' ' || (s[space] >= '\t' && s[space] <= '\r')))
            space++;
        xtml_run(st, TMPL_CONTROL, space, out);
        s += space;
        n -= space;
    }
    xtml_body(st, s, n, n, out);
}

/* ---- headers ---- */

static void xtml_go(struct xtml_stream *st, enum xtml_mode mode)
{
    st->mode = mode;
    st->had_text = false;
}

static void xtml_value_end(struct xtml_stream *st, enum xtml_value_end end)
{
    if (st->mode == IN_ARGUMENT)
        xtml_call_argument_end(&st->call, end);
    else if (st->mode == IN_JSON)
        xtml_call_block_end(&st->call, end);
}

/* A call that is open ends before the bytes that are held. */
static void xtml_cut(struct xtml_stream *st, struct tmpl_result *out)
{
    if (!xtml_in_call(st))
        return;
    xtml_value_end(st, XTML_VALUE_CUT);
    xtml_call_end(&st->call, XTML_CALL_CUT, st->done, &st->n_calls, out);
    xtml_go(st, IN_TOOLS);
}

/* The header without the white space around it. */
static const char *xtml_trimmed(const struct xtml_stream *st, size_t *n)
{
    static const char space[] = " \t\n\v\f\r";
    const char *s = buf_str(&st->header);

    *n = st->header.n;
    for (; *n && *s && strchr(space, *s); s++)
        --*n;
    while (*n && s[*n - 1] && strchr(space, s[*n - 1]))
        --*n;
    return s;
}

static enum xtml_tag xtml_tag_of(const char *s, size_t n)
{
    int tag = 0;

    for (; tag < TAG_OTHER; tag++) {
        size_t len = strlen(xtml_tags[tag]);
        if (n >= len && !memcmp(s, xtml_tags[tag], len) &&
            (n == len || s[len] == ' ' || (s[len] >= '\t' && s[len] <= '\r')))
            break;
    }
    return (enum xtml_tag)tag;
}

/* What the header means here; NULL: nothing. */
static const struct xtml_rule *xtml_rule(const struct xtml_stream *st)
{
    size_t n;
    const char *s = xtml_trimmed(st, &n);
    enum xtml_tag tag = xtml_tag_of(s, n);

    for (size_t i = 0; i < sizeof xtml_rules / sizeof *xtml_rules; i++) {
        const struct xtml_rule *r = &xtml_rules[i];
        if (r->modes & BIT(st->mode) && r->mark == st->head && r->tag == tag &&
            !(r->when == BEFORE_TEXT && st->had_text))
            return r;
    }
    return NULL;
}

/* Markup of a call goes into raw; where there the tag in it begins. */
static size_t xtml_into_call(struct xtml_stream *st, const struct buf *text,
                             struct tmpl_result *out)
{
    size_t at = st->call.raw.n + strlen(xtml_marks[st->head]);

    buf_add(&st->call.raw, text->p, text->n);
    xtml_run(st, TMPL_TOOL_CALL, st->held, out);
    return at;
}

/* Do what the rule for the header says; text is all that was held. */
static void xtml_act(struct xtml_stream *st, const struct xtml_rule *r,
                     const struct buf *text, struct tmpl_result *out)
{
    size_t n, at;
    const char *s = xtml_trimmed(st, &n);

    switch (r->action) {
    case DO_GO:
        xtml_run(st, TMPL_CONTROL, st->held, out);
        break;
    case DO_IGNORE:
        xtml_run(st, TMPL_CONTROL, st->held, out);
        return;
    case DO_FINISH:
    case DO_CALL_CUT:
        xtml_cut(st, out);
        xtml_run(st, TMPL_CONTROL, st->held, out);
        st->ended = r->action == DO_FINISH;
        break;
    case DO_CALL:
        xtml_cut(st, out);
        xtml_into_call(st, text, out);
        xtml_call_begin(&st->call, s, n);
        break;
    case DO_ARGUMENT:
        at = xtml_into_call(st, text, out);
        xtml_call_argument(&st->call, s, n, at);
        break;
    case DO_JSON:
        at = xtml_into_call(st, text, out);
        xtml_call_block(&st->call, at);
        break;
    case DO_VALUE_END:
        xtml_value_end(st, XTML_VALUE_DONE);
        xtml_into_call(st, text, out);
        break;
    case DO_CALL_END:
        xtml_value_end(st, XTML_VALUE_DONE);
        xtml_into_call(st, text, out);
        xtml_call_end(&st->call, XTML_CALL_DONE, st->done, &st->n_calls, out);
        break;
    }
    xtml_go(st, r->next);
}

/* The header is complete. sep is the text of the <|sep|> behind it, or "". */
static void xtml_head_done(struct xtml_stream *st, const char *sep,
                           struct tmpl_result *out)
{
    const struct xtml_rule *r = xtml_rule(st);
    struct buf text = {0};

    buf_adds(&text, xtml_marks[st->head]);
    buf_add(&text, st->header.p, st->header.n);
    buf_adds(&text, sep);
    st->has_head = false;
    if (r)
        xtml_act(st, r, &text, out);
    else if (xtml_modes[st->mode].body)
        xtml_body(st, text.p, text.n, st->held, out);
    else
        xtml_markup(st, text.p, text.n, st->held, out);
    buf_release(&text);
}

/* Something other than text or <|sep|> comes behind the header. */
static void xtml_head_broken(struct xtml_stream *st, struct tmpl_result *out)
{
    size_t n;
    const char *s = xtml_trimmed(st, &n);

    if (st->head == MARK_CLOSE && xtml_tag_of(s, n) != TAG_OTHER)
        xtml_head_done(st, "", out);
    else
        xtml_head_is_text(st, out);
}

/* ---- markers ---- */

static void xtml_end(struct xtml_stream *st, size_t len, struct tmpl_result *out)
{
    if (st->mode != IN_DONE) {
        xtml_cut(st, out);
        xtml_go(st, IN_DONE);
        st->ended = true;
    }
    xtml_run(st, TMPL_CONTROL, len, out);
}

/* A marker that is len bytes of the stream. */
static void xtml_mark(struct xtml_stream *st, enum xtml_marker mark, size_t len,
                      struct tmpl_result *out)
{
    if (st->has_head && mark == MARK_SEP) {
        st->held += len;
        xtml_head_done(st, XTML_SEP, out);
        return;
    }
    if (mark == MARK_END)
        st->left = xtml_stream_left(st);
    if (st->has_head)
        xtml_head_broken(st, out);
    if (mark == MARK_END) {
        xtml_end(st, len, out);
    } else if (st->mode == IN_DONE) {
        xtml_run(st, TMPL_CONTROL, len, out);
    } else if (mark == MARK_SEP) {
        if (xtml_modes[st->mode].body)
            xtml_body(st, XTML_SEP, strlen(XTML_SEP), len, out);
        else
            xtml_markup(st, XTML_SEP, strlen(XTML_SEP), len, out);
    } else {
        st->has_head = true;
        st->head = mark;
        st->held = len;
        buf_reset(&st->header);
    }
}

/* Which marker s is; MARK_COUNT: none. *half: it could become one. */
static enum xtml_marker xtml_mark_of(const char *s, size_t n, bool *half)
{
    *half = false;
    for (int i = 0; i < MARK_COUNT; i++) {
        size_t len = strlen(xtml_marks[i]);
        if (n > len || memcmp(s, xtml_marks[i], n))
            continue;
        if (n == len)
            return (enum xtml_marker)i;
        *half = true;
    }
    return MARK_COUNT;
}

/* What was held as the beginning of a marker is text. */
static void xtml_part_is_text(struct xtml_stream *st, struct tmpl_result *out)
{
    struct buf part = st->part;

    st->part = (struct buf){0};
    xtml_text(st, buf_str(&part), part.n, out);
    buf_release(&part);
}

/* Text that may hold markers. '<' stands in none but at its beginning, so when the held
 * part becomes none, no later byte of it begins one. */
static void xtml_marked_text(struct xtml_stream *st, const char *s, size_t n,
                             struct tmpl_result *out)
{
    while (n) {
        if (!st->part.n) {
            const char *next = memchr(s, '<', n);
            size_t k = next ? (size_t)(next - s) : n;
            xtml_text(st, s, k, out);
            s += k;
            n -= k;
            if (!n)
                return;
        } else if (*s == '<') {
            xtml_part_is_text(st, out);
            continue;
        }
        bool half;
        buf_addc(&st->part, *s++);
        n--;
        enum xtml_marker mark = xtml_mark_of(st->part.p, st->part.n, &half);
        if (mark < MARK_COUNT) {
            size_t len = st->part.n;
            buf_reset(&st->part);
            xtml_mark(st, mark, len, out);
        } else if (!half) {
            xtml_part_is_text(st, out);
        }
    }
}

/* A special token that is no marker: the end of everything, or nothing at all. */
static void xtml_other_special(struct xtml_stream *st, const char *name, size_t len,
                               struct tmpl_result *out)
{
    static const char *const ends[] = { "[EOS]", "[EOT]", "[PAD]" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!strcmp(ends[i], name)) {
            xtml_mark(st, MARK_END, len, out);
            return;
        }
    }
    if (st->has_head)
        xtml_head_broken(st, out);
    xtml_markup(st, name, strlen(name), len, out);
}

/* ---- the interface ---- */

struct xtml_stream *xtml_stream_new(enum tmpl_channel start)
{
    static const enum xtml_mode modes[] = {
        [TMPL_THINK] = IN_THINK,
        [TMPL_RESPONSE] = IN_RESPONSE,
        [TMPL_TOOL_CALL] = IN_TOOLS,
        [TMPL_CONTROL] = IN_IDLE,
    };
    struct xtml_stream *st = xcalloc(1, sizeof *st);

    st->mode = modes[start];
    st->left = "done";
    return st;
}

void xtml_stream_markers_in_text(struct xtml_stream *st)
{
    st->marks_in_text = true;
}

void xtml_stream_free(struct xtml_stream *st)
{
    if (!st)
        return;
    xtml_call_release(&st->call);
    buf_release(&st->header);
    buf_release(&st->part);
    free(st);
}

void xtml_stream_feed(struct xtml_stream *st, const char *bytes, size_t len,
                      const char *special, struct tmpl_result *out)
{
    if (!special) {
        if (st->marks_in_text)
            xtml_marked_text(st, bytes, len, out);
        else
            xtml_text(st, bytes, len, out);
        return;
    }
    if (st->part.n)
        xtml_part_is_text(st, out);
    for (int i = 0; i < MARK_COUNT; i++) {
        if (!strcmp(xtml_marks[i], special)) {
            xtml_mark(st, (enum xtml_marker)i, len, out);
            return;
        }
    }
    xtml_other_special(st, special, len, out);
}

/* Half a marker is text. A header that never ended is no text: a marker began it. */
void xtml_stream_finish(struct xtml_stream *st, struct tmpl_result *out)
{
    if (st->part.n)
        xtml_part_is_text(st, out);
    st->left = xtml_stream_left(st);
    if (st->has_head) {
        struct buf text = {0};
        buf_adds(&text, xtml_marks[st->head]);
        buf_add(&text, st->header.p, st->header.n);
        xtml_markup(st, text.p, text.n, st->held, out);
        st->has_head = false;
        buf_release(&text);
    }
    xtml_cut(st, out);
    xtml_go(st, IN_DONE);
}

bool xtml_stream_ended(const struct xtml_stream *st)
{
    return st->ended;
}

const char *xtml_stream_left(const struct xtml_stream *st)
{
    const struct xtml_rule *r = st->has_head ? xtml_rule(st) : NULL;
    const char *name = xtml_modes[r ? r->next : st->mode].name;

    if (st->mode == IN_DONE)
        return st->left;
    return st->has_head ? name : name + strlen("sep ");
}
