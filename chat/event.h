#ifndef CHAT_EVENT_H
#define CHAT_EVENT_H

/* The event stream (DESIGN.md section 4). One stream drives the screen, --plain, --json,
 * the session file and, later, the server: all of them read these structs. The first group
 * is what a session file keeps; the second is for live front ends only and is never saved.
 *
 * An event owns what it points to; events are moved, not copied. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

enum chat_event_type {
    CHAT_EV_SESSION,        /* a session begins (or is resumed) */
    CHAT_EV_MESSAGE,        /* a message: whole text for user and system, empty for an
                               assistant message that is about to be generated */
    CHAT_EV_PROMPT,
    CHAT_EV_TOKEN,
    CHAT_EV_TOOL_CALL,
    CHAT_EV_TOOL_RESULT,
    CHAT_EV_STOP,

    CHAT_EV_STATUS,         /* live: state or numbers changed, ask chat_status() */
    CHAT_EV_NOTICE,         /* live: a sentence for the user (text) */
    CHAT_EV_ERROR,          /* live: a command or turn failed (text, error kind) */
    CHAT_EV_RESET,          /* live: the transcript starts anew (new conversation, model
                               change, another branch); what follows rebuilds it */
    CHAT_EV_READY,          /* live: a model is loaded and waits; or the last turn ended */
};

enum chat_role { CHAT_ROLE_SYSTEM, CHAT_ROLE_USER, CHAT_ROLE_ASSISTANT, CHAT_ROLE_TOOL };
enum chat_channel { CHAT_CH_THINK, CHAT_CH_RESPONSE, CHAT_CH_TOOL, CHAT_CH_CONTROL };
enum chat_stop {
    CHAT_STOP_EOS, CHAT_STOP_END_OF_TURN, CHAT_STOP_LENGTH, CHAT_STOP_CONTEXT,
    CHAT_STOP_STRING, CHAT_STOP_USER, CHAT_STOP_LOOP,
    CHAT_STOP_ERROR,        /* the device failed in mid-answer; said, never hidden */
};

struct chat_top {
    int32_t id;
    float lp;
};

/* A part of a token's bytes in one channel; a token that ends a tag and begins an answer
 * has several. */
struct chat_span {
    enum chat_channel ch;
    size_t from, to;        /* byte offsets in the token's text */
};

struct chat_event {
    enum chat_event_type type;
    int message;            /* id of the message it belongs to; 0: none */

    union {
        json_t *session;    /* SESSION: the whole record, owned */

        struct {            /* MESSAGE */
            int parent;     /* 0: the root */
            enum chat_role role;
            char *text;     /* NUL-terminated, may hold NUL inside: use len */
            size_t len;
            char *name, *tool_call_id;      /* or NULL */
            unsigned attempt;               /* assistant: 0 first, 1 after a retry, ... */
        } msg;

        struct {            /* PROMPT */
            uint32_t tokens, reused;
            uint32_t diverged_at;           /* valid when why is not NULL */
            char *why;                      /* why not all of the cache was of use; or NULL */
            bool think_off;                 /* it switches thinking off */
        } prompt;

        struct {            /* TOKEN */
            uint32_t i;     /* number in the message */
            int32_t id;
            char *bytes;    /* (len) the bytes it stands for; a control token's name */
            size_t len;
            struct chat_span *spans;        /* (n_spans) in order, without gaps */
            size_t n_spans;
            float lp, ent;
            int32_t rank;
            struct chat_top *top;           /* (n_top) most likely first */
            size_t n_top;
            long long us;   /* since the turn's start */
        } token;

        struct {            /* TOOL_CALL, TOOL_RESULT */
            char *id, *name;
            char *arguments;                /* JSON object text, or NULL: see raw, error */
            char *raw;
            char *error;
            size_t error_at;
        } call;

        struct {            /* STOP */
            enum chat_stop why;
            uint32_t tokens;
            double prefill_tps, decode_tps; /* 0: nothing to measure */
            char *error;                    /* CHAT_STOP_ERROR, CHAT_STOP_CONTEXT: a sentence */
        } stop;

        struct {            /* NOTICE, ERROR */
            char *text;
            enum err_kind kind;             /* ERROR */
        } note;
    };
};

void chat_event_release(struct chat_event *ev);
void chat_event_copy(struct chat_event *dst, const struct chat_event *src);    /* deep */

/* A list of events, in order. */
struct chat_events {
    struct chat_event *v;
    size_t n, cap;
};
void chat_events_add(struct chat_events *evs, struct chat_event *ev);   /* takes ev */
void chat_events_reset(struct chat_events *evs);        /* release the events in it */
void chat_events_release(struct chat_events *evs);

/* The names used in JSON and on the screen; the reverse returns -1 for an unknown name. */
const char *chat_event_type_name(enum chat_event_type t);
const char *chat_role_name(enum chat_role r);
int chat_role_parse(const char *name);
const char *chat_stop_name(enum chat_stop s);

/* An event as the JSON object of DESIGN.md section 4, and back. A live event gives NULL.
 * Parsing an unknown type gives false with e->kind ERR_NONE: skip it. */
json_t *chat_event_to_json(const struct chat_event *ev);
bool chat_event_from_json(const json_t *j, struct chat_event *out, struct err *e);
/* One line of JSON, compact, with "\n", appended to out. */
void chat_event_dump(const struct chat_event *ev, struct buf *out);

#endif
