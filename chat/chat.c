/* The door: jobs in, events out. There is one job at a time; while it waits or runs the
 * conversation belongs to the worker, and a request for another one is refused, so no
 * request is ever lost in a queue behind a long answer. */
#include "config.h"

#include "chat/chat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sig.h"
#include "chat/internal.h"
#include "chat/record.h"

/* ---- the queue ---- */

static bool chat_last_is_status(const struct chat *c)
{
    return c->queue.n && c->queue.v[c->queue.n - 1].type == CHAT_EV_STATUS;
}

/* The lock is held. */
static void chat_push_locked(struct chat *c, struct chat_event *ev)
{
    log_line("event", "%s message %d", chat_event_type_name(ev->type), ev->message);
    if (ev->type == CHAT_EV_STATUS && chat_last_is_status(c))
        return;
    chat_events_add(&c->queue, ev);
    /* One byte says "not empty"; more would only fill the pipe. */
    if (c->queue.n == 1) {
        ssize_t done = write(c->wake[1], "", 1);
        (void)done;
    }
}

void chat_push(struct chat *c, struct chat_event *ev)
{
    pthread_mutex_lock(&c->lock);
    chat_push_locked(c, ev);
    pthread_mutex_unlock(&c->lock);
}

void chat_notice(struct chat *c, const char *fmt, ...)
{
    struct chat_event ev = { .type = CHAT_EV_NOTICE };
    struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    ev.note.text = buf_take(&b);
    chat_push(c, &ev);
}

void chat_take(struct chat *c, struct chat_events *out)
{
    char drain[16];

    chat_events_reset(out);
    pthread_mutex_lock(&c->lock);
    while (read(c->wake[0], drain, sizeof drain) > 0)
        ;
    struct chat_events swap = c->queue;
    c->queue = *out;
    *out = swap;
    pthread_mutex_unlock(&c->lock);
}

int chat_wake_fd(const struct chat *c)
{
    return c->wake[0];
}

/* ---- the worker ---- */

void chat_set_state(struct chat *c, enum chat_state state)
{
    struct chat_event ev = { .type = CHAT_EV_STATUS };

    pthread_mutex_lock(&c->lock);
    c->now.state = state;
    pthread_mutex_unlock(&c->lock);
    chat_push(c, &ev);
}

static void chat_run_job(struct chat *c, struct chat_job *job)
{
    struct chat_event ready = { .type = CHAT_EV_READY };
    struct err e = {0};

    pthread_mutex_lock(&c->lock);
    chat_settings_release(&c->work);
    chat_settings_copy(&c->work, &c->settings);
    pthread_mutex_unlock(&c->lock);
    bool ok = chat_do_job(c, job, &e);

    free(job->text);
    chat_set_state(c, c->model ? CHAT_IDLE : CHAT_NO_MODEL);
    if (!ok) {
        struct chat_event ev = { .type = CHAT_EV_ERROR };
        ev.note.text = xstrdup(e.text);
        ev.note.kind = e.kind;
        chat_push(c, &ev);
    }
    pthread_mutex_lock(&c->lock);
    c->last_error = ok ? (struct err){0} : e;
    c->busy = false;
    /* In one step with busy: a front end that answers READY with a request is not refused,
     * and one that waited for the job finds its READY in the queue, not in the next turn. */
    chat_push_locked(c, &ready);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *chat_worker(void *arg)
{
    struct chat *c = arg;

    for (;;) {
        pthread_mutex_lock(&c->lock);
        while (!c->has_job && !c->quit)
            pthread_cond_wait(&c->changed, &c->lock);
        bool quit = c->quit;
        struct chat_job job = c->job;
        bool has = c->has_job;
        c->has_job = false;
        pthread_mutex_unlock(&c->lock);
        if (quit) {
            if (has)
                free(job.text);
            return NULL;
        }
        chat_run_job(c, &job);
    }
}

/* Give the worker a job, unless it has one. */
static bool chat_give(struct chat *c, enum chat_job_kind kind, const char *text, size_t len,
                      struct err *e)
{
    pthread_mutex_lock(&c->lock);
    bool free_now = !c->busy;
    bool loaded = c->now.state != CHAT_NO_MODEL || kind == CHAT_JOB_LOAD;
    if (free_now && loaded) {
        c->busy = c->has_job = true;
        c->job = (struct chat_job){ kind, text ? xmemdup0(text, len) : NULL, len };
        atomic_store(&c->cancel, false);
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    if (!free_now)
        return err_set(e, "an answer is being written (Ctrl-C stops it)");
    return loaded || err_set(e, "no model is loaded; /model FILE loads one");
}

/* ---- life ---- */

static bool chat_start_thread(struct chat *c, struct err *e)
{
    sigset_t old;

    sig_block(&old);        /* signals are the front end's business */
    int rc = pthread_create(&c->thread, NULL, chat_worker, c);
    sig_restore(&old);
    return rc == 0 || err_set(e, "cannot start a thread: %s", strerror(rc));
}

struct chat *chat_new(const struct chat_settings *settings, struct err *e)
{
    struct chat *c = xcalloc(1, sizeof *c);

    if (pipe2(c->wake, O_NONBLOCK | O_CLOEXEC) < 0) {
        err_set(e, "cannot make a pipe: %s", strerror(errno));
        free(c);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    chat_settings_copy(&c->settings, settings);
    chat_choose_seed(&c->settings);
    chat_conv_init(&c->conv);
    c->now.state = CHAT_LOADING;
    c->system = settings->system ? xstrdup(settings->system) : NULL;
    if (!chat_start_thread(c, e)) {
        c->quit = true;
        close(c->wake[0]);
        close(c->wake[1]);
        chat_settings_release(&c->settings);
        free(c->system);
        free(c);
        return NULL;
    }
    chat_give(c, CHAT_JOB_LOAD, NULL, 0, NULL);
    return c;
}

void chat_free(struct chat *c)
{
    if (!c)
        return;
    atomic_store(&c->cancel, true);
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);

    chat_session_close(c->session);
    chat_conv_release(&c->conv);
    chat_events_release(&c->log);
    chat_events_release(&c->queue);
    chat_prompter_free(c->prompter);
    chat_model_free(c->model);
    chat_settings_release(&c->settings);
    chat_settings_release(&c->work);
    for (size_t i = 0; i < sizeof c->shown / sizeof *c->shown; i++)
        buf_release(&c->shown[i]);
    free((char *)c->now.model);
    free((char *)c->now.device);
    free((char *)c->now.template_name);
    free((char *)c->now.template_why);
    free((char *)c->now.session_id);
    free((char *)c->now.session_path);
    free(c->system);
    close(c->wake[0]);
    close(c->wake[1]);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

bool chat_wait(struct chat *c, struct err *e)
{
    pthread_mutex_lock(&c->lock);
    while (c->busy)
        pthread_cond_wait(&c->changed, &c->lock);
    bool ok = c->last_error.kind == ERR_NONE;
    if (!ok && e)
        *e = c->last_error;
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* ---- requests ---- */

bool chat_send(struct chat *c, const char *text, size_t len, struct err *e)
{
    return chat_give(c, CHAT_JOB_SEND, text, len, e);
}

void chat_stop(struct chat *c)
{
    atomic_store(&c->cancel, true);
}

bool chat_retry(struct chat *c, struct err *e)
{
    return chat_give(c, CHAT_JOB_RETRY, NULL, 0, e);
}

bool chat_continue(struct chat *c, struct err *e)
{
    return chat_give(c, CHAT_JOB_CONTINUE, NULL, 0, e);
}

bool chat_reset(struct chat *c, struct err *e)
{
    return chat_give(c, CHAT_JOB_RESET, NULL, 0, e);
}

bool chat_set_system(struct chat *c, const char *text, size_t len, struct err *e)
{
    if (!chat_give(c, CHAT_JOB_SYSTEM, text, len, e))
        return false;
    pthread_mutex_lock(&c->lock);       /* what chat_get() shows */
    free(c->settings.system);
    c->settings.system = len ? xmemdup0(text, len) : NULL;
    pthread_mutex_unlock(&c->lock);
    return true;
}

bool chat_load(struct chat *c, const char *model, struct err *e)
{
    return chat_give(c, CHAT_JOB_LOAD, model, strlen(model), e);
}

bool chat_save(struct chat *c, const char *path, struct err *e)
{
    bool ok;

    pthread_mutex_lock(&c->lock);
    if (c->busy)
        ok = err_set(e, "an answer is being written (Ctrl-C stops it)");
    else if (!c->session)
        ok = err_set(e, "nothing has been said yet, so there is nothing to save");
    else
        ok = chat_session_copy(c->session, path, e);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

static const struct chat_option *chat_live_option(const char *name, struct err *e)
{
    const struct chat_option *o = chat_option_find(name, strlen(name));

    if (!o || !(o->commands & CHAT_CMD_CHAT))
        err_set_kind(e, ERR_USAGE, "there is no option %s; /set lists them", name);
    return o && (o->commands & CHAT_CMD_CHAT) ? o : NULL;
}

bool chat_set(struct chat *c, const char *name, const char *value, struct err *e)
{
    const struct chat_option *o = chat_live_option(name, e);

    if (!o)
        return false;
    if (!o->live)
        return err_set_kind(e, ERR_USAGE, "%s cannot be changed in a chat; start vitrine with "
                                          "--%s", o->name, o->name);
    pthread_mutex_lock(&c->lock);
    bool ok = chat_option_set(&c->settings, o, value, e);
    if (ok)
        chat_choose_seed(&c->settings);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

bool chat_get(struct chat *c, const char *name, struct buf *out, struct err *e)
{
    const struct chat_option *o = chat_live_option(name, e);

    if (!o)
        return false;
    pthread_mutex_lock(&c->lock);
    buf_addf(out, "%s = ", o->name);
    chat_option_show(&c->settings, o, out);
    pthread_mutex_unlock(&c->lock);
    return true;
}

static const char *chat_show(struct buf *b, const char *s)
{
    buf_reset(b);
    if (!s)
        return NULL;
    buf_adds(b, s);
    return b->p;
}

void chat_status(struct chat *c, struct chat_status *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->now;
    out->model = chat_show(&c->shown[0], c->now.model);
    out->device = chat_show(&c->shown[1], c->now.device);
    out->template_name = chat_show(&c->shown[2], c->now.template_name);
    out->session_id = chat_show(&c->shown[3], c->now.session_id);
    out->session_path = chat_show(&c->shown[4], c->now.session_path);
    out->template_why = chat_show(&c->shown[5], c->now.template_why);
    pthread_mutex_unlock(&c->lock);
}
