#ifndef CHAT_CHAT_H
#define CHAT_CHAT_H

/* Chat: the one door between a front end and the model.
 *
 * A struct chat owns a conversation, a session file and one worker thread that owns the
 * model. Every function here may be called from the front end's thread only and returns at
 * once (chat_new, chat_wait and chat_free excepted); what happens comes back as events.
 * The worker writes a byte to chat_wake_fd() when the queue was empty: poll it, then take
 * the whole queue with chat_take().
 *
 * The front end keeps no truth of its own: resuming, retrying and a new model send
 * CHAT_EV_RESET and then every event of the transcript again. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/event.h"
#include "chat/options.h"

struct buf;
struct chat;
struct err;

/* Start the worker and ask it to load settings->model (or the fake device); settings are
 * copied. The load ends in CHAT_EV_READY or CHAT_EV_ERROR; chat_wait() waits for that.
 * settings->resume names a session to go on with. */
struct chat *chat_new(const struct chat_settings *settings, struct err *e);
/* Stop the answer, end the worker, close the session file. */
void chat_free(struct chat *c);

/* Wait until the worker has nothing to do. False if the last work failed: e has the error
 * (the event is still in the queue). For start-up and for front ends without a loop. */
bool chat_wait(struct chat *c, struct err *e);

int chat_wake_fd(const struct chat *c);     /* readable when events wait */
/* Move all pending events to out (emptied first). Drains the wake pipe. */
void chat_take(struct chat *c, struct chat_events *out);

/* ---- what a user can ask for. False and e (ERR_USAGE or ERR_FAILED) when it cannot be now,
 * for example while an answer is being written. ---- */

bool chat_send(struct chat *c, const char *text, size_t len, struct err *e);
void chat_stop(struct chat *c);                         /* cancel; felt within 100 ms */
bool chat_retry(struct chat *c, struct err *e);         /* another answer, a new branch */
bool chat_continue(struct chat *c, struct err *e);      /* go on with a cut answer */
bool chat_reset(struct chat *c, struct err *e);         /* new conversation, new session */
bool chat_set_system(struct chat *c, const char *text, size_t len, struct err *e);
bool chat_load(struct chat *c, const char *model, struct err *e);
/* Copy the session so far to path; refuses to overwrite. */
bool chat_save(struct chat *c, const char *path, struct err *e);
/* Change a live option, from text; chat_get appends "name = value" style text. */
bool chat_set(struct chat *c, const char *name, const char *value, struct err *e);
bool chat_get(struct chat *c, const char *name, struct buf *out, struct err *e);

enum chat_state { CHAT_LOADING, CHAT_IDLE, CHAT_PREFILL, CHAT_DECODE, CHAT_NO_MODEL };

/* What the status line shows. Strings are valid until the next call of chat_status(). */
struct chat_status {
    enum chat_state state;
    const char *model;          /* name, foreign bytes */
    const char *device;         /* "CPU avx512, 2 threads" */
    const char *template_name;
    const char *template_why;   /* one sentence: why this one */
    const char *session_id;
    const char *session_path;   /* NULL: not saved (--private, or nothing said yet) */
    uint32_t ctx, ctx_used;
    uint32_t prefill_done, prefill_total;   /* in CHAT_PREFILL */
    uint32_t decoded;                       /* tokens of this answer */
    double prefill_tps, decode_tps;         /* of this or the last turn */
};
void chat_status(struct chat *c, struct chat_status *out);

#endif
