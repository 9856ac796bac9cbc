#ifndef TMPL_STREAM_INT_H
#define TMPL_STREAM_INT_H

/* The stream, for stream.c, stream_mark.c and stream_call.c only. */

#include "base/buf.h"
#include "templates/syntax.h"

struct xtml_stream;

/* A special token that stands in the queue by its name. */
struct stream_name {
    size_t at, n;           /* in the queue */
    size_t real;            /* bytes of the stream; 0 or n */
};

/* Inside a JSON string "</tool_call>" is text. A raw newline cannot stand in one, so
 * there the string is taken for broken, and from then on the first closing marker
 * closes. */
enum stream_string { STRING_OUT, STRING_IN, STRING_ESCAPE, STRING_BROKEN };
/* The JSON that a call is, or that stands behind its name. */
enum stream_json { JSON_UNSEEN, JSON_NAME, JSON_SEEN, JSON_NONE };

struct stream_call {
    const struct syn_mark *open;    /* NULL: a header began it */
    enum syn_until until;
    struct buf raw;
    char *name;                     /* from the header */
    unsigned guard;                 /* enum syn_guard, as far as decided */
    enum stream_string string;
    enum stream_json json;
    size_t depth;                   /* of brackets of that JSON */
    bool in_span;
};

struct tmpl_stream {
    const struct tmpl_syntax *syn;
    struct xtml_stream *xtml;       /* of the row that has its own; then nothing else */
    uint32_t by_name;               /* marks that count as special tokens only */
    unsigned live;                  /* modes in which any marker counts */
    bool text_only;                 /* there are no special tokens to see */
    bool ended;

    enum syn_mode mode;
    bool in_section, in_tagged;     /* a section is open; a marker began the answer */
    uint64_t done;                  /* bytes decided; the queue begins here */
    struct buf buf;                 /* (off, n) is the queue: what is not decided */
    size_t off;
    size_t n_space; /* white space at its beginning that a marker may claim */
    struct stream_name *names;      /* (n_names) in the queue, in order */
    size_t n_names, cap_names;

    enum syn_mode from;             /* HEAD, DOUBT: the mode before */
    bool head_begun;                /* HEAD: by a marker or the prompt */
    bool head_marked;               /* by a marker */
    size_t seen;                    /* DOUBT, BARE: bytes of the queue looked at */
    const struct syn_mark *doubtful;
    enum syn_sure doubt;            /* DOUBT: what begins() said last */
    struct syn_bare bare;
    struct syn_quote quote;

    enum syn_mode back;             /* where a call goes back to */
    struct stream_call call;
    size_t n_calls;
};

/* The queue. */
static inline const char *stream_front(const struct tmpl_stream *st)
{
    return buf_str(&st->buf) + st->off;
}
static inline size_t stream_len(const struct tmpl_stream *st)
{
    return st->buf.n - st->off;
}

/* More bytes may come, or these are all: half a marker is text then. */
enum stream_end { STREAM_MORE, STREAM_LAST };

/* ---- stream.c ---- */

/* The first n bytes leave the queue for channel; they are text of this mode. */
void stream_leave(struct tmpl_stream *st, size_t n, enum tmpl_channel channel,
                  struct tmpl_result *out);
void stream_say(struct tmpl_stream *st, size_t n, struct tmpl_result *out);
/* What stands at the front is no marker of this mode, whatever it looks like. */
void stream_pass(struct tmpl_stream *st, struct tmpl_result *out);
/* The mode becomes CALL, behind marker m or a header (NULL); name is taken. */
void stream_enter_call(struct tmpl_stream *st, const struct syn_mark *m, char *name);

/* The next n bytes of the stream belong to channel. */
void stream_run(struct tmpl_stream *st, enum tmpl_channel channel, size_t n,
                struct tmpl_result *out);
/* The special token that begins at byte at of the queue, or NULL. */
const struct stream_name *stream_name_at(const struct tmpl_stream *st, size_t at);

/* ---- stream_wait.c ---- */

/* Do what can be done in that mode; false: nothing more until more bytes come. */
bool stream_head(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out);
bool stream_doubt(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out);
bool stream_bare(struct tmpl_stream *st, enum stream_end end, struct tmpl_result *out);

/* ---- stream_mark.c ---- */

/* Which marks the vocabulary has as control tokens, and in which modes any counts. */
void stream_prepare_marks(struct tmpl_stream *st, const struct tmpl_vocab *vocab);
/* The marker at byte at of the queue that counts in the stream's mode, or NULL. *half:
 * what is there may become one. */
const struct syn_mark *stream_match(const struct tmpl_stream *st, size_t at, bool *half);
/* A special token of that name is a marker of the syntax, maybe out of place; it is text
 * inside a call. */
bool stream_is_mark(const struct tmpl_stream *st, const char *name, size_t n);
bool stream_is_inside(const struct tmpl_stream *st, const char *name, size_t n);

/* ---- stream_call.c ---- */

/* A call begins behind the marker (NULL: behind a header); name may be NULL and is
 * taken. */
void stream_call_open(struct tmpl_stream *st, const struct syn_mark *mark, char *name);
/* A byte of its text. True: its JSON is complete, and the call ends with it. */
bool stream_call_byte(struct tmpl_stream *st, char c);
/* A marker inside of it. */
void stream_call_inside(struct tmpl_stream *st, const char *s, size_t n);
/* In a place where no marker counts. */
bool stream_call_guarded(const struct tmpl_stream *st);
/* There a closing marker counts after all, as something else closed the call before. */
bool stream_call_may_close(const struct tmpl_stream *st);

enum stream_cut { STREAM_WHOLE, STREAM_CUT };
void stream_call_end(struct tmpl_stream *st, enum stream_cut cut,
                     struct tmpl_result *out);
/* The same where there is nothing more to come. */
void stream_call_finish(struct tmpl_stream *st, struct tmpl_result *out);
/* raw is a call that no marker began. */
void stream_call_bare(struct tmpl_stream *st, const char *raw, size_t n,
                      struct tmpl_result *out);
void stream_call_release(struct stream_call *c);

#endif
