#ifndef CHAT_INTERNAL_H
#define CHAT_INTERNAL_H

/* What chat.c (the door and the worker's loop) and turn.c (what the worker does) share. A
 * field says who may touch it: "locked" means under lock, "worker" the worker thread only,
 * "front" the front end's thread only. */

#include <pthread.h>
#include <stdatomic.h>

#include "chat/chat.h"
#include "chat/conversation.h"
#include "chat/model.h"
#include "chat/prompt.h"
#include "chat/session.h"

enum chat_job_kind { CHAT_JOB_LOAD, CHAT_JOB_SEND, CHAT_JOB_RETRY, CHAT_JOB_CONTINUE,
                     CHAT_JOB_RESET, CHAT_JOB_SYSTEM };

struct chat_job {
    enum chat_job_kind kind;
    char *text;                     /* LOAD: the model, or NULL for settings.model */
    size_t len;
};

struct chat {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;         /* a job was given, or the worker became idle */
    struct chat_job job;            /* locked; valid while has_job */
    bool has_job, busy, quit;       /* locked; busy: a job waits or runs */
    struct chat_events queue;       /* locked */
    int wake[2];                    /* one byte while the queue is not empty */
    atomic_bool cancel;             /* set by the front, read by the worker and the backend */
    struct err last_error;          /* locked; of the last job, kind ERR_NONE when it was fine */
    struct chat_settings settings;  /* locked */
    struct chat_settings work;      /* worker: the settings as they were when its job began */

    struct chat_status now;         /* locked; its strings are owned */
    struct buf shown[6];            /* front: the copies chat_status() hands out */

    struct chat_model *model;       /* worker; NULL before the first load */
    struct chat_prompter *prompter; /* worker; of the model */
    struct chat_conv conv;          /* worker */
    struct chat_events log;         /* worker: every kept event, to tell it again */
    struct chat_session *session;   /* worker while busy, else front; NULL: nothing said yet */
    bool header_due;                /* worker: the model changed, a session event must come */
    bool write_failed;              /* worker: said once */
    char *system;                   /* worker: for the next conversation; NULL: none */
    const char *diverged;           /* worker: why the next prompt may not fit the cache */
};

/* Hand an event over: to the session file, the conversation and the log if it is of a kind
 * that is kept, and to the front end's queue. Takes it. Worker only. */
void chat_emit_event(struct chat *c, struct chat_event *ev);
/* To the queue only. */
void chat_push(struct chat *c, struct chat_event *ev);
void chat_notice(struct chat *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void chat_set_state(struct chat *c, enum chat_state state);

/* Do one job; false and e when it failed. Worker only. */
bool chat_do_job(struct chat *c, struct chat_job *job, struct err *e);

#endif
