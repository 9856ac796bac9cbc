/* What the worker does: load, and one turn after another.
 *
 * A turn: the user's message becomes an event and is on disk; the path of messages is
 * rendered to pieces and encoded, except that what the model said goes in as the ids it
 * sampled, so the prompt stays a prefix of the cache; then chat_generate() tells the answer
 * as events, each of which goes to the file, the conversation and the front end. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/generate.h"
#include "chat/internal.h"
#include "chat/record.h"

/* ---- events ---- */

static void chat_keep(struct chat *c, const struct chat_event *ev)
{
    struct err e = {0};
    bool sync = ev->type == CHAT_EV_STOP ||
                (ev->type == CHAT_EV_MESSAGE && ev->msg.role != CHAT_ROLE_ASSISTANT);

    if (c->session && !chat_session_write(c->session, ev, sync, &e) && !c->write_failed) {
        c->write_failed = true;
        chat_notice(c, "%s; the chat goes on but is not saved", e.text);
    }
    chat_conv_apply(&c->conv, ev);

    struct chat_event copy;
    chat_event_copy(&copy, ev);
    chat_events_add(&c->log, &copy);
}

void chat_emit_event(struct chat *c, struct chat_event *ev)
{
    if (ev->type <= CHAT_EV_STOP)
        chat_keep(c, ev);
    chat_push(c, ev);
}

/* Tell the front end the whole transcript again: the path to the head, from the log. */
static void chat_tell_again(struct chat *c)
{
    struct chat_event reset = { .type = CHAT_EV_RESET };
    int *path;
    size_t n = chat_conv_path(&c->conv, c->conv.head, &path);
    bool *on_path = xcalloc((size_t)c->conv.next_id + 1, sizeof *on_path);

    for (size_t i = 0; i < n; i++)
        on_path[path[i]] = true;
    chat_push(c, &reset);
    for (size_t i = 0; i < c->log.n; i++) {
        const struct chat_event *ev = &c->log.v[i];
        if (ev->type != CHAT_EV_SESSION &&
            (ev->message >= c->conv.next_id || !on_path[ev->message]))
            continue;
        struct chat_event copy;
        chat_event_copy(&copy, ev);
        chat_push(c, &copy);
    }
    free(on_path);
    free(path);
}

/* ---- the session ---- */

static void chat_publish_session(struct chat *c)
{
    const char *path = chat_session_path(c->session);

    pthread_mutex_lock(&c->lock);
    free((char *)c->now.session_id);
    free((char *)c->now.session_path);
    c->now.session_id = xstrdup(chat_session_id(c->session));
    c->now.session_path = path ? xstrdup(path) : NULL;
    pthread_mutex_unlock(&c->lock);
}

/* A session exists and its newest session event describes the model at work. */
static bool chat_ensure_session(struct chat *c, struct err *e)
{
    if (!c->session) {
        c->session = c->work.private_session ? chat_session_memory()
                                                 : chat_session_create(e);
        if (!c->session)
            return false;
        c->header_due = true;
        chat_publish_session(c);
    }
    if (c->header_due) {
        struct chat_event ev = { .type = CHAT_EV_SESSION };
        ev.session = chat_record_new(c->model, &c->work, chat_session_id(c->session));
        c->header_due = false;
        chat_emit_event(c, &ev);
    }
    return true;
}

static void chat_forget(struct chat *c)
{
    chat_session_close(c->session);
    c->session = NULL;
    chat_conv_release(&c->conv);
    chat_conv_init(&c->conv);
    chat_events_reset(&c->log);
    chat_prompter_forget(c->prompter);
    pthread_mutex_lock(&c->lock);
    free((char *)c->now.session_id);
    free((char *)c->now.session_path);
    c->now.session_id = c->now.session_path = NULL;
    c->now.ctx_used = 0;
    pthread_mutex_unlock(&c->lock);
}

static int chat_add_message(struct chat *c, enum chat_role role, int parent, const char *text,
                            size_t len, unsigned attempt)
{
    struct chat_event ev = { .type = CHAT_EV_MESSAGE, .message = c->conv.next_id };
    int id = ev.message;

    ev.msg.parent = parent;
    ev.msg.role = role;
    ev.msg.text = xmemdup0(text, len);
    ev.msg.len = len;
    ev.msg.attempt = attempt;
    chat_emit_event(c, &ev);
    return id;
}

/* ---- one answer ---- */

struct chat_live {
    struct chat *c;
    long long decode_us;    /* when the first token came */
};

static void chat_live_emit(void *arg, struct chat_event *ev)
{
    struct chat_live *l = arg;
    struct chat *c = l->c;

    if (ev->type == CHAT_EV_STOP) {
        pthread_mutex_lock(&c->lock);
        c->now.ctx_used = be_pos(c->model->be);
        if (ev->stop.prefill_tps > 0)
            c->now.prefill_tps = ev->stop.prefill_tps;
        if (ev->stop.decode_tps > 0)
            c->now.decode_tps = ev->stop.decode_tps;
        pthread_mutex_unlock(&c->lock);
    }
    chat_emit_event(c, ev);
}

static void chat_live_progress(void *arg, uint32_t done, uint32_t total, uint32_t decoded)
{
    struct chat_live *l = arg;
    struct chat *c = l->c;
    struct chat_event ev = { .type = CHAT_EV_STATUS };
    long long now = log_now_us();

    if (decoded == 1)
        l->decode_us = now;
    pthread_mutex_lock(&c->lock);
    c->now.state = decoded ? CHAT_DECODE : CHAT_PREFILL;
    c->now.ctx_used = be_pos(c->model->be);
    c->now.decoded = decoded;
    if (!decoded) {
        c->now.prefill_done = done;
        c->now.prefill_total = total;
    } else if (decoded > 1 && now > l->decode_us) {
        c->now.decode_tps = (decoded - 1) * 1e6 / (double)(now - l->decode_us);
    }
    pthread_mutex_unlock(&c->lock);
    if (decoded <= 1)
        chat_push(c, &ev);
}

static bool chat_answer(struct chat *c, int head, int message, bool go_on, struct err *e)
{
    const struct chat_conv_message *m = chat_conv_find(&c->conv, message);
    struct chat_live live = { .c = c };
    bool think_off = c->work.think && !strcmp(c->work.think, "off");
    struct chat_prompt prompt = {0};
    struct chat_generation g = {
        .model = c->model,
        .syntax = c->model->syntax,
        .ids = &prompt.ids,
        .said = go_on ? m->ids.n : 0,
        .n_top = (int)c->work.logprobs,
        .limit = (uint32_t)c->work.n,
        .message = message,
        .attempt = m->attempt,
        .cancel = &c->cancel,
        .diverged = c->diverged,
        .emit = chat_live_emit,
        .progress = chat_live_progress,
        .arg = &live,
    };

    chat_sampling_from(&c->work, &g.how);
    g.think_off = go_on ? m->think_off : think_off;
    bool ok = chat_prompt_make(c->prompter, &c->conv, head, message, c->work.think, &prompt,
                               e);
    if (ok) {
        g.start = prompt.start;
        g.whys = prompt.whys;
        g.n_whys = prompt.n_whys;
        ok = chat_generate(&g, e);
    } else {
        /* The message stands in the file already; say how it ended. */
        struct chat_event ev = { .type = CHAT_EV_STOP, .message = message };
        ev.stop.why = CHAT_STOP_ERROR;
        ev.stop.error = e ? xstrdup(e->text) : NULL;
        chat_emit_event(c, &ev);
    }
    c->diverged = NULL;
    chat_prompt_release(&prompt);
    return ok;
}

/* ---- jobs ---- */

static bool chat_do_send(struct chat *c, struct chat_job *job, struct err *e)
{
    if (!chat_ensure_session(c, e))
        return false;
    if (!c->conv.head && c->system && *c->system)
        chat_add_message(c, CHAT_ROLE_SYSTEM, 0, c->system, strlen(c->system), 0);
    int user = chat_add_message(c, CHAT_ROLE_USER, c->conv.head, job->text, job->len, 0);
    chat_set_state(c, CHAT_PREFILL);
    int answer = chat_add_message(c, CHAT_ROLE_ASSISTANT, user, "", 0, 0);
    return chat_answer(c, user, answer, false, e);
}

static bool chat_do_retry(struct chat *c, struct err *e)
{
    int id = c->conv.head;
    unsigned attempt = 0;

    for (; id; id = chat_conv_find(&c->conv, id)->parent)
        if (chat_conv_find(&c->conv, id)->role == CHAT_ROLE_USER)
            break;
    if (!id)
        return err_set(e, "there is no message to answer again");
    for (size_t i = 0; i < c->conv.n; i++)
        if (c->conv.v[i].parent == id && c->conv.v[i].role == CHAT_ROLE_ASSISTANT)
            attempt = c->conv.v[i].attempt + 1;
    if (!chat_ensure_session(c, e))
        return false;
    c->conv.head = id;
    c->diverged = "another answer to the same message";
    chat_tell_again(c);
    chat_set_state(c, CHAT_PREFILL);
    int answer = chat_add_message(c, CHAT_ROLE_ASSISTANT, id, "", 0, attempt);
    return chat_answer(c, id, answer, false, e);
}

static bool chat_do_continue(struct chat *c, struct err *e)
{
    const struct chat_conv_message *m = chat_conv_find(&c->conv, c->conv.head);

    if (!m || m->role != CHAT_ROLE_ASSISTANT || !m->ids.n)
        return err_set(e, "there is no answer to go on with");
    if (m->why == CHAT_STOP_EOS || m->why == CHAT_STOP_END_OF_TURN)
        return err_set(e, "the answer is complete; /retry asks for another one");
    if (c->header_due || strcmp(m->model_key, c->conv.model_key))
        return err_set(e, "another model wrote this answer; /retry asks this one");
    chat_set_state(c, CHAT_PREFILL);
    return chat_answer(c, m->id, m->id, true, e);
}

static bool chat_do_system(struct chat *c, struct chat_job *job)
{
    free(c->system);
    c->system = job->len ? xmemdup0(job->text, job->len) : NULL;
    if (c->conv.head)
        chat_notice(c, "the system prompt counts from the next conversation on (/new)");
    else
        chat_notice(c, job->len ? "the system prompt is set" : "there is no system prompt");
    return true;
}

static bool chat_do_reset(struct chat *c)
{
    struct chat_event reset = { .type = CHAT_EV_RESET };

    chat_forget(c);
    c->diverged = "a new conversation";
    chat_push(c, &reset);
    return true;
}

/* ---- loading and resuming ---- */

static void chat_publish_model(struct chat *c)
{
    const struct be_info *info = be_info(c->model->be);

    pthread_mutex_lock(&c->lock);
    free((char *)c->now.model);
    free((char *)c->now.device);
    free((char *)c->now.template_name);
    free((char *)c->now.template_why);
    c->now.model = xstrdup(chat_model_name(c->model));
    c->now.device = xstrdup(info->device);
    c->now.template_name = xstrdup(tmpl_name(c->model->tmpl));
    c->now.template_why = xstrdup(c->model->why_template);
    c->now.ctx = info->ctx;
    c->now.ctx_used = 0;
    c->now.prefill_tps = c->now.decode_tps = 0;
    pthread_mutex_unlock(&c->lock);
}

/* Take in the events of a session file; the caller has found it. */
static bool chat_take_in(struct chat *c, const char *path, struct err *e)
{
    struct chat_events evs = {0};
    struct buf notes = {0};
    size_t lost = 0;

    if (!chat_session_read(path, &evs, &notes, e)) {
        buf_release(&notes);
        chat_events_release(&evs);
        return false;
    }
    for (size_t i = 0; i < evs.n; i++) {
        if (!chat_conv_apply(&c->conv, &evs.v[i])) {
            lost++;
            continue;
        }
        chat_events_add(&c->log, &evs.v[i]);
        evs.v[i] = (struct chat_event){ .type = CHAT_EV_STATUS };
    }
    if (lost)
        buf_addf(&notes, "%zu events refer to messages that are not there\n", lost);
    chat_tell_again(c);         /* first, as it wipes what was said before */
    if (notes.n)
        chat_notice(c, "%s", notes.p);
    buf_release(&notes);
    chat_events_release(&evs);
    return true;
}

/* The model that a session was last used with, when the user names none. */
static char *chat_session_model(const struct chat *c)
{
    for (size_t i = c->log.n; i-- > 0;) {
        if (c->log.v[i].type != CHAT_EV_SESSION)
            continue;
        const char *path = json_string_value(json_object_get(
            json_object_get(c->log.v[i].session, "model"), "path"));
        return path ? xstrdup(path) : NULL;
    }
    return NULL;
}

static bool chat_begin_resume(struct chat *c, struct err *e)
{
    struct buf path = {0};
    bool ok = chat_session_find(c->work.resume, &path, e) &&
              chat_take_in(c, path.p, e);

    if (ok && !c->work.private_session) {
        c->session = chat_session_append(path.p, e);
        ok = c->session != NULL;
        if (ok)
            chat_publish_session(c);
    }
    buf_release(&path);
    return ok;
}

static void chat_end_resume(struct chat *c)
{
    json_t *record = chat_record_new(c->model, &c->work, NULL);
    char *key = chat_conv_model_key(record);

    if (c->conv.n && strcmp(key, c->conv.model_key))
        chat_notice(c, "this session was written with another model; its answers are encoded "
                       "anew for this one");
    free(key);
    json_decref(record);
    c->header_due = true;
}

/* Say now, not in the first turn, that the template cannot do what --think asks for. */
static bool chat_think_check(const struct chat_model *m, const char *think, struct err *e)
{
    json_t *options = json_object();
    bool ok = tmpl_think(m->tmpl, think, options, e);

    json_decref(options);
    return ok;
}

static bool chat_do_load(struct chat *c, struct chat_job *job, struct err *e)
{
    struct chat_settings s = {0};
    bool first = !c->model, resume = first && c->work.resume && !c->conv.n;

    if (resume && !chat_begin_resume(c, e))
        return false;
    chat_settings_copy(&s, &c->work);
    pthread_mutex_lock(&c->lock);
    c->now.state = CHAT_LOADING;
    pthread_mutex_unlock(&c->lock);
    if (job->text) {
        free(s.model);
        s.model = xmemdup0(job->text, job->len);
        if (!strncmp(s.device, "fake:", 5)) {
            free(s.device);
            s.device = xstrdup("auto");
        }
    } else if (!s.model && resume) {
        s.model = chat_session_model(c);
    }

    /* The new model is opened before the old one goes: a failure leaves the chat as it was. */
    struct chat_model *m = chat_model_open(&s, CHAT_MODEL_CHAT, &c->cancel, e);
    if (m && !chat_think_check(m, c->work.think, e)) {
        chat_model_free(m);
        m = NULL;
    }
    if (m) {
        chat_prompter_free(c->prompter);
        chat_model_free(c->model);
        c->model = m;
        c->prompter = chat_prompter_new(m);
        c->header_due = true;
        c->diverged = "another model";
        chat_publish_model(c);
        if (resume)
            chat_end_resume(c);
        else if (!first)
            chat_notice(c, "loaded %s", chat_model_name(m));
    }
    chat_settings_release(&s);
    return m != NULL;
}

/* ---- a session as ids ---- */

bool chat_session_ids(const struct chat_events *events, struct chat_model *m,
                      const struct chat_settings *s, struct tok_ids *ids, struct err *e)
{
    struct chat_event now = { .type = CHAT_EV_SESSION };
    struct chat_prompter *prompter = chat_prompter_new(m);
    struct chat_prompt prompt = {0};
    struct chat_conv conv;

    chat_conv_init(&conv);
    for (size_t i = 0; i < events->n; i++)
        chat_conv_apply(&conv, &events->v[i]);
    /* The ids of answers count only for the model that gave them. */
    now.session = chat_record_new(m, s, NULL);
    chat_conv_apply(&conv, &now);
    chat_event_release(&now);

    const struct chat_conv_message *last = chat_conv_find(&conv, conv.head);
    int answer = last && last->role == CHAT_ROLE_ASSISTANT ? last->id : 0;
    bool ok = last ? chat_prompt_make(prompter, &conv, conv.head, answer, s->think, &prompt, e)
                   : err_set(e, "the session has no messages");
    for (size_t i = 0; i < prompt.ids.n; i++)
        tok_ids_add(ids, prompt.ids.v[i]);
    chat_prompt_release(&prompt);
    chat_conv_release(&conv);
    chat_prompter_free(prompter);
    return ok;
}

bool chat_do_job(struct chat *c, struct chat_job *job, struct err *e)
{
    switch (job->kind) {
    case CHAT_JOB_LOAD:
        return chat_do_load(c, job, e);
    case CHAT_JOB_SEND:
        return chat_do_send(c, job, e);
    case CHAT_JOB_RETRY:
        return chat_do_retry(c, e);
    case CHAT_JOB_CONTINUE:
        return chat_do_continue(c, e);
    case CHAT_JOB_RESET:
        return chat_do_reset(c);
    case CHAT_JOB_SYSTEM:
        return chat_do_system(c, job);
    }
    return false;
}
