/* The modes that keep more in the queue than a marker: headers, doubtful markers of
 * calls, answers that may be a call. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/stream_int.h"

/* A header is not longer. */
#define STREAM_HEAD_MAX 4096

static void stream_head_done(struct tmpl_stream *st, struct syn_head *h,
                             struct tmpl_result *out)
{
    bool exact = st->syn->exact;

    if (st->from == SYN_CALL) {
        st->mode = SYN_CALL;
        stream_call_end(st, STREAM_WHOLE, out);
    }
    stream_leave(st, st->n_space + h->used, TMPL_CONTROL, out);
    st->in_tagged = h->channel == TMPL_RESPONSE;
    switch (h->channel) {
    case TMPL_THINK:
        st->mode = exact ? SYN_THINK : SYN_THINK_START;
        break;
    case TMPL_RESPONSE:
        st->mode = SYN_ANSWER;
        break;
    case TMPL_TOOL_CALL:
        st->mode = SYN_IDLE;
        stream_enter_call(st, NULL, h->name);
        h->name = NULL;
        break;
    case TMPL_CONTROL:
        st->mode = SYN_IDLE;
        break;
    }
    free(h->name);
}

bool stream_head(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out)
{
    struct syn_head h = {0};
    size_t n = stream_len(st) - st->n_space;

    if (!n)
        return false;
    enum syn_sure sure = st->syn->head(stream_front(st) + st->n_space, n, &h);

    if (sure == SYN_WAIT && end == STREAM_MORE && n <= STREAM_HEAD_MAX)
        return false;
    if (sure == SYN_YES) {
        stream_head_done(st, &h, out);
    } else if (h.used && st->head_begun) {
        h.channel = TMPL_CONTROL;
        stream_head_done(st, &h, out);
    } else {
        st->mode = st->from;
        if (st->head_marked)
            stream_pass(st, out);
    }
    return stream_len(st) > 0;
}

/* The doubtful marker is what it looks like. */
static void stream_trust(struct tmpl_stream *st, struct tmpl_result *out)
{
    bool doubted = st->doubt == SYN_NO;

    st->mode = st->from;
    stream_leave(st, st->n_space + strlen(st->doubtful->text), TMPL_CONTROL, out);
    stream_enter_call(st, st->doubtful, NULL);
    if (doubted)
        st->call.guard = SYN_GUARD_NONE;
}

/* What follows does not look like a call. It is one when its closing marker comes, and
 * none when another call does, or a special token, or the end. */
static enum syn_sure stream_look_on(struct tmpl_stream *st, enum stream_end end)
{
    for (; st->seen < stream_len(st); st->seen++) {
        bool half;
        const struct syn_mark *m = stream_match(st, st->seen, &half);
        if (half && end == STREAM_MORE)
            return SYN_WAIT;
        if (m && m->act == SYN_DO_CALL_END)
            return SYN_YES;
        if (m || stream_name_at(st, st->seen))
            return SYN_NO;
    }
    return end == STREAM_MORE ? SYN_WAIT : SYN_NO;
}

bool stream_doubt(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out)
{
    size_t body = st->n_space + strlen(st->doubtful->text);
    enum syn_sure sure;

    if (st->doubt == SYN_WAIT)
        st->doubt = st->doubtful->begins(stream_front(st) + body, stream_len(st) - body);
    sure = st->doubt == SYN_NO ? stream_look_on(st, end) : st->doubt;
    if (sure == SYN_WAIT && end == STREAM_MORE)
        return false;
    if (sure == SYN_NO) {
        st->mode = st->from;
        stream_say(st, st->n_space + 1, out);
    } else {
        stream_trust(st, out);
    }
    return true;
}

bool stream_bare(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out)
{
    bool may = true, over = false, half = false;

    while (may && !over && st->seen < stream_len(st)) {
        /* Behind a value the turn may end, in a name or spelled. */
        if (!st->bare.depth && st->seen)
            over = stream_match(st, st->seen, &half);
        if (half && !over && end == STREAM_MORE)
            return false;
        if (over || stream_name_at(st, st->seen))
            over = true;
        else
            may =
                syn_bare_feed(&st->bare, stream_front(st)[st->seen++], st->syn->bare_key);
    }
    if (may && !over && end == STREAM_MORE)
        return false;
    if (may && syn_is_json_call(stream_front(st), st->seen)) {
        char *raw = xmemdup0(stream_front(st), st->seen);
        size_t n = st->seen;
        stream_leave(st, n, TMPL_TOOL_CALL, out);
        st->back = SYN_CALL_END;
        stream_call_bare(st, raw, n, out);
        free(raw);
    } else {
        st->mode = SYN_ANSWER;
        st->n_space = 0;
    }
    return stream_len(st) > 0;
}
