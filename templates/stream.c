/* The router: sampled text to thinking, answer, calls and control.
 *
 * A mode says which markers count, which channel text belongs to and what becomes of
 * white space. Bytes enter a queue and leave it at the front as soon as they are
 * decided; a special token stands there by its name and is never divided. The front of
 * the queue is
 *
 *     white space that a marker may claim (n_space bytes), then a marker or its beginning
 *
 * A marker makes its white space and itself control; a byte that cannot begin one
 * makes everything before it text. Nothing depends on how much of the queue is already
 * there, so the result cannot depend on where the tokens were cut. Runs are contiguous
 * because each begins where the last one ended (done).
 *
 * Three modes keep more in the queue than that. HEAD: a header, until it is complete.
 * DOUBT: a marker of a call that was spelled in the answer, until what follows looks
 * like a call; if it never does and is never closed, it was prose about markers. BARE:
 * an answer that is a call and nothing else, as long as it can be one.
 *
 * A special token that is a marker out of place is text (a model that thinks about
 * <tool_call> may write it); one that is no marker is control. */
#include "config.h"

#include "templates/template.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/internal.h"
#include "templates/stream_int.h"
#include "templates/xtml.h"

/* So many bytes that have left the queue may lie before it. */
#define STREAM_KEEP 4096

enum stream_space {
    SPACE_TEXT,         /* white space is text */
    SPACE_HOLD,         /* white space waits: a marker behind it claims it */
    SPACE_HOLD_LINES,   /* newlines do */
    SPACE_EAT_LINES,    /* newlines belong to the marker before them */
    SPACE_EAT,          /* white space does */
};

static const struct stream_rule {
    enum tmpl_channel text;
    enum stream_space space;
    enum syn_mode next;         /* once there was text */
} stream_rules[SYN_MODES] = {
    [SYN_START] = { TMPL_RESPONSE, SPACE_HOLD, SYN_ANSWER },
    [SYN_THINK_START] = { TMPL_THINK, SPACE_EAT_LINES, SYN_THINK },
    [SYN_THINK] = { TMPL_THINK, SPACE_HOLD_LINES, SYN_THINK },
    [SYN_THINK_END] = { TMPL_RESPONSE, SPACE_EAT_LINES, SYN_ANSWER },
    [SYN_ANSWER] = { TMPL_RESPONSE, SPACE_HOLD_LINES, SYN_ANSWER },
    [SYN_IDLE] = { TMPL_RESPONSE, SPACE_EAT, SYN_ANSWER },
    [SYN_SECTION] = { TMPL_RESPONSE, SPACE_EAT, SYN_ANSWER },
    [SYN_CALL] = { TMPL_TOOL_CALL, SPACE_TEXT, SYN_CALL },
    [SYN_CALL_MORE] = { TMPL_TOOL_CALL, SPACE_HOLD, SYN_CALL },
    [SYN_CALL_END] = { TMPL_RESPONSE, SPACE_EAT_LINES, SYN_ANSWER },
};

/* ---- the queue ---- */

void stream_run(struct tmpl_stream *st, enum tmpl_channel channel, size_t n,
                struct tmpl_result *out)
{
    if (!n)
        return;
    if (channel != TMPL_CONTROL)
        st->ended = false;
    tmpl_result_run(out, channel, st->done, st->done + n);
    st->done += n;
}

const struct stream_name *stream_name_at(const struct tmpl_stream *st, size_t at)
{
    for (size_t i = 0; i < st->n_names && st->names[i].at <= at; i++)
        if (st->names[i].at == at)
            return &st->names[i];
    return NULL;
}

void stream_leave(struct tmpl_stream *st, size_t n, enum tmpl_channel channel,
                  struct tmpl_result *out)
{
    size_t real = n, gone = 0;

    if (!n)
        return;
    for (; gone < st->n_names && st->names[gone].at < n; gone++)
        real -= st->names[gone].n - st->names[gone].real;
    for (size_t i = gone; i < st->n_names; i++) {
        st->names[i - gone] = st->names[i];
        st->names[i - gone].at -= n;
    }
    st->n_names -= gone;
    st->off += n;
    if (st->off == st->buf.n) {
        buf_reset(&st->buf);
        st->off = 0;
    } else if (st->off > STREAM_KEEP && st->off > st->buf.n / 2) {
        buf_cut(&st->buf, 0, st->off);
        st->off = 0;
    }
    st->n_space = 0;
    stream_run(st, channel, real, out);
}

void stream_say(struct tmpl_stream *st, size_t n, struct tmpl_result *out)
{
    const struct stream_rule *rule = &stream_rules[st->mode];
    bool complete = false;

    if (!n)
        return;
    if (rule->text == TMPL_TOOL_CALL)
        for (size_t i = 0; i < n; i++)
            complete = stream_call_byte(st, stream_front(st)[i]);
    else if (rule->text == TMPL_RESPONSE)
        syn_quote_feed(&st->quote, stream_front(st), n);
    stream_leave(st, n, rule->text, out);
    if (!complete) {
        st->mode = rule->next;
    } else if (st->syn->more) {
        st->mode = SYN_CALL_MORE;
    } else {
        stream_call_end(st, STREAM_WHOLE, out);
    }
}

/* ---- markers ---- */

void stream_enter_call(struct tmpl_stream *st, const struct syn_mark *m, char *name)
{
    st->back = st->in_section           ? SYN_SECTION
               : st->mode == SYN_THINK ? SYN_THINK
                                       : SYN_CALL_END;
    stream_call_open(st, m, name);
    st->mode = SYN_CALL;
}

/* What a marker that ends something does to an open call. */
static void stream_leave_call(struct tmpl_stream *st, const struct syn_mark *m,
                              struct tmpl_result *out)
{
    if (st->mode != SYN_CALL && st->mode != SYN_CALL_MORE)
        return;
    if (m->act == SYN_DO_END)
        stream_call_finish(st, out);
    else
        stream_call_end(st, STREAM_WHOLE, out);
}

static bool stream_is_doubtful(const struct tmpl_stream *st, const struct syn_mark *m)
{
    return m->act == SYN_DO_CALL && m->begins && SYN_IN(st->mode) & SYN_IN_SAID &&
           !stream_name_at(st, st->n_space);
}

/* The marker is decided and control; what changes is the mode. */
static void stream_act(struct tmpl_stream *st, const struct syn_mark *m)
{
    bool exact = st->syn->exact;

    switch (m->act) {
    case SYN_DO_THINK:
        st->mode = exact ? SYN_THINK : SYN_THINK_START;
        break;
    case SYN_DO_THINK_END:
        st->mode = exact ? SYN_IDLE : SYN_THINK_END;
        break;
    case SYN_DO_ANSWER:
        st->mode = exact ? SYN_ANSWER : SYN_THINK_END;
        st->in_tagged = true;
        break;
    case SYN_DO_ANSWER_END:
    case SYN_DO_CLOSE:
        st->mode = SYN_IDLE;
        st->in_tagged = false;
        break;
    case SYN_DO_SECTION:
        st->mode = SYN_SECTION;
        st->in_section = true;
        break;
    case SYN_DO_SECTION_END:
        st->mode = SYN_CALL_END;
        st->in_section = false;
        break;
    case SYN_DO_CALL:
        stream_enter_call(st, m, NULL);
        break;
    case SYN_DO_CALL_END:
    case SYN_DO_NOTHING:
    case SYN_DO_END:
        break;
    case SYN_DO_INSIDE:
    case SYN_DO_HEAD:
        assert(!"decided elsewhere");
    }
    st->ended = m->act == SYN_DO_END || m->ends;
}

/* A marker at the front of the queue. */
static void stream_take(struct tmpl_stream *st, const struct syn_mark *m,
                        struct tmpl_result *out)
{
    size_t n = st->n_space + strlen(m->text);

    if (m->act == SYN_DO_END && st->n_space) {
        stream_say(st, st->n_space, out);       /* the end claims no white space */
        return;
    }
    if (m->act == SYN_DO_HEAD || stream_is_doubtful(st, m)) {
        st->from = st->mode;
        st->head_begun = st->head_marked = true;
        st->doubtful = m;
        st->doubt = SYN_WAIT;
        st->seen = n;
        st->mode = m->act == SYN_DO_HEAD ? SYN_HEAD : SYN_DOUBT;
        return;
    }
    if (m->act == SYN_DO_INSIDE) {
        stream_call_inside(st, m->text, strlen(m->text));
        stream_leave(st, n, TMPL_TOOL_CALL, out);
        return;
    }
    if (m->act == SYN_DO_CALL_END && st->mode == SYN_CALL) {
        stream_call_inside(st, m->text, m->keep);
        stream_leave(st, n, TMPL_CONTROL, out);
        stream_call_end(st, STREAM_WHOLE, out);
        return;
    }
    stream_leave_call(st, m, out);
    stream_leave(st, n, TMPL_CONTROL, out);
    stream_act(st, m);
}

/* A special token at the front that is no marker here. */
static void stream_special(struct tmpl_stream *st, const struct stream_name *name,
                           struct tmpl_result *out)
{
    const char *s = stream_front(st) + name->at;
    size_t n = name->n, real = name->real;
    bool in_call = st->mode == SYN_CALL;

    if (in_call && stream_is_inside(st, s, n)) {
        stream_call_inside(st, s, n);
        stream_leave(st, n, TMPL_TOOL_CALL, out);
    } else if (stream_is_mark(st, s, n)) {
        if (in_call)
            stream_call_inside(st, s, n);
        enum tmpl_channel channel = stream_rules[st->mode].text;
        if (real)
            st->mode = stream_rules[st->mode].next;
        stream_leave(st, n, channel, out);
    } else {
        if (in_call && st->call.until != SYN_UNTIL_MARK)
            stream_call_finish(st, out);
        stream_leave(st, n, TMPL_CONTROL, out);
    }
}

void stream_pass(struct tmpl_stream *st, struct tmpl_result *out)
{
    const struct stream_name *name = stream_name_at(st, st->n_space);

    if (!name)
        stream_say(st, st->n_space + 1, out);
    else if (st->n_space)
        stream_say(st, st->n_space, out);
    else
        stream_special(st, name, out);
}

/* ---- the modes ---- */

/* What a byte that begins no marker is here. */
static enum stream_space stream_space_of(const struct tmpl_stream *st, char c)
{
    enum stream_space space = stream_rules[st->mode].space;
    bool line = c == '\n' || c == '\r';

    if (st->mode == SYN_CALL_MORE)
        return c && (line || strchr(" \t", c) || strchr(st->syn->more, c)) ? SPACE_HOLD
                                                                           : SPACE_TEXT;
    if (!line &&
        !((space == SPACE_HOLD || space == SPACE_EAT) && (c == ' ' || c == '\t')))
        return SPACE_TEXT;
    if (st->syn->exact && space != SPACE_HOLD && space != SPACE_EAT)
        return SPACE_TEXT;
    if (!(st->live & SYN_IN(st->mode)) && space != SPACE_EAT && space != SPACE_EAT_LINES)
        return SPACE_TEXT;      /* nothing can claim it */
    return space;
}

/* Behind a JSON value of a call comes something else. False: another value, of the
 * call. */
static bool stream_no_more(struct tmpl_stream *st, char c, struct tmpl_result *out)
{
    if (c == '{' || c == '[')
        return false;
    stream_call_end(st, STREAM_WHOLE, out);
    st->n_space = 0;
    return true;
}

/* The first unit of the queue is no marker. */
static void stream_unit(struct tmpl_stream *st, struct tmpl_result *out)
{
    const struct stream_name *name = stream_name_at(st, st->n_space);
    char c = stream_front(st)[st->n_space];

    if (st->mode == SYN_CALL_MORE && (name || stream_space_of(st, c) == SPACE_TEXT) &&
        stream_no_more(st, name ? '\0' : c, out))
        return;
    if (name) {
        stream_pass(st, out);
        return;
    }
    switch (stream_space_of(st, c)) {
    case SPACE_HOLD:
    case SPACE_HOLD_LINES:
        st->n_space++;
        break;
    case SPACE_EAT:
    case SPACE_EAT_LINES:
        stream_leave(st, 1, TMPL_CONTROL, out);
        break;
    case SPACE_TEXT:
        if (st->syn->bare && strchr(st->syn->bare, c) && c &&
            SYN_IN(st->mode) & (SYN_IN(SYN_START) | SYN_IN(SYN_THINK_END))) {
            st->mode = SYN_BARE;
            st->seen = 0;
            st->bare = (struct syn_bare){0};
        } else {
            stream_pass(st, out);
        }
        break;
    }
}

/* Each of these does what can be done; false: nothing more until more bytes come. */
static bool stream_plain(struct tmpl_stream *st, enum stream_end end,
                         struct tmpl_result *out)
{
    bool half;

    if (stream_len(st) == st->n_space)
        return false;
    const struct syn_mark *m = stream_match(st, st->n_space, &half);
    if (half && end == STREAM_MORE)
        return false;
    if (m)
        stream_take(st, m, out);
    else
        stream_unit(st, out);
    return true;
}

static void stream_work(struct tmpl_stream *st, enum stream_end end,
                        struct tmpl_result *out)
{
    bool more = true;

    while (more) {
        switch (st->mode) {
        case SYN_HEAD:
            more = stream_head(st, end, out);
            break;
        case SYN_DOUBT:
            more = stream_doubt(st, end, out);
            break;
        case SYN_BARE:
            more = stream_bare(st, end, out);
            break;
        default:
            more = stream_plain(st, end, out);
            break;
        }
    }
}

/* ---- the interface ---- */

struct tmpl_stream *tmpl_stream_open(const struct tmpl_syntax *s, enum tmpl_channel start,
                                     const struct tmpl_vocab *vocab)
{
    static const enum syn_mode modes[] = {
        [TMPL_THINK] = SYN_THINK_START,
        [TMPL_RESPONSE] = SYN_START,
        [TMPL_TOOL_CALL] = SYN_START,
        [TMPL_CONTROL] = SYN_START,
    };
    struct tmpl_stream *st = xcalloc(1, sizeof *st);

    st->syn = s;
    if (s->xtml) {
        st->xtml = xtml_stream_new(start);
        return st;
    }
    syn_quote_init(&st->quote);
    stream_prepare_marks(st, vocab);
    st->mode = modes[start];
    if (st->mode == SYN_THINK_START && s->exact)
        st->mode = SYN_THINK;
    if (s->head_first && (start == TMPL_RESPONSE || start == TMPL_CONTROL)) {
        st->mode = SYN_HEAD;
        st->head_begun = start == TMPL_CONTROL;
        st->from = SYN_START;
    }
    for (size_t i = 0; start == TMPL_TOOL_CALL && i < s->n_marks; i++) {
        if (s->marks[i].act == SYN_DO_CALL) {
            stream_enter_call(st, &s->marks[i], NULL);
            break;
        }
    }
    return st;
}

struct tmpl_stream *tmpl_stream_new(const struct tmpl *t, enum tmpl_channel start)
{
    return tmpl_stream_open(t->syntax, start, NULL);
}

void tmpl_stream_text_only(struct tmpl_stream *st)
{
    st->text_only = true;
    if (st->xtml)
        xtml_stream_markers_in_text(st->xtml);
}

void tmpl_stream_free(struct tmpl_stream *st)
{
    if (!st)
        return;
    xtml_stream_free(st->xtml);
    buf_release(&st->buf);
    free(st->names);
    stream_call_release(&st->call);
    free(st);
}

void tmpl_feed(struct tmpl_stream *st, const char *bytes, size_t len, const char *special,
               struct tmpl_result *out)
{
    if (!bytes)
        bytes = "";
    if (st->xtml) {
        xtml_stream_feed(st->xtml, bytes, len, special, out);
    } else if (special && *special) {
        size_t n = strlen(special);
        MEM_GROW(st->names, st->cap_names, st->n_names + 1);
        st->names[st->n_names++] = (struct stream_name){ stream_len(st), n, len };
        buf_add(&st->buf, special, n);
        stream_work(st, STREAM_MORE, out);
    } else {
        buf_add(&st->buf, bytes, len);
        stream_work(st, STREAM_MORE, out);
    }
}

void tmpl_finish(struct tmpl_stream *st, struct tmpl_result *out)
{
    if (st->xtml) {
        xtml_stream_finish(st->xtml, out);
        return;
    }
    stream_work(st, STREAM_LAST, out);
    if (st->mode == SYN_CALL_MORE) {
        stream_call_end(st, STREAM_WHOLE, out);
        stream_leave(st, st->n_space, TMPL_CONTROL, out);
    }
    stream_say(st, st->n_space, out);
    assert(!stream_len(st));
    if (st->mode == SYN_CALL)
        stream_call_finish(st, out);
    st->mode = SYN_ANSWER;
}

bool tmpl_stream_ended(const struct tmpl_stream *st)
{
    return st->xtml ? xtml_stream_ended(st->xtml) : st->ended;
}

const char *tmpl_stream_left(const struct tmpl_stream *st)
{
    return st->xtml ? xtml_stream_left(st->xtml) : NULL;
}
