#ifndef CHAT_GENERATE_H
#define CHAT_GENERATE_H

/* One answer: evaluate a prompt, sample until something ends it, and tell it as events
 * (prompt, token, tool_call, stop). A turn of the chat and the raw continuation of
 * `ask --no-chat` are the same function with other templates. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend/sampler.h"
#include "chat/event.h"
#include "chat/model.h"
#include "chat/prompt.h"
#include "tokenizer/tokenizer.h"

struct chat_settings;
struct err;

struct chat_generation {
    /* in */
    struct chat_model *model;
    const struct tmpl_syntax *syntax;   /* splits the answer; "none" splits nothing */
    enum tmpl_channel start;        /* from the rendered prompt */
    struct tok_ids *ids;            /* the whole prompt; sampled ids are appended, but not the
                                       one that ended the turn */
    size_t said;                    /* the last so many ids of the prompt are the beginning of
                                       this answer, which goes on (0: a new answer) */
    struct be_sampling how;
    int n_top;
    uint32_t limit;                 /* tokens at most; 0: until the context is full */
    int message;                    /* id for the events */
    unsigned attempt;
    const atomic_bool *cancel;
    const char *diverged;           /* why the cache may differ, when it does; or NULL */
    const struct chat_why *whys;    /* (n_whys) of the prompt */
    size_t n_whys;
    bool think_off;                 /* the prompt switches thinking off */

    /* Takes the event. Called on the caller's thread. */
    void (*emit)(void *arg, struct chat_event *ev);
    /* Positions read of the prompt so far, then tokens written; may be NULL. */
    void (*progress)(void *arg, uint32_t done, uint32_t total, uint32_t decoded);
    void *arg;

    /* out */
    enum chat_stop why;
    uint32_t reused;
    double prefill_s, decode_s;
};

/* How to sample, from the options. The seed must have been chosen. */
void chat_sampling_from(const struct chat_settings *s, struct be_sampling *how);

/* False when the device failed or the prompt does not fit (e has kind ERR_CONTEXT); a stop
 * event was emitted in every case, so that a session never ends in mid-air. */
bool chat_generate(struct chat_generation *g, struct err *e);

/* The ids of a saved conversation up to its newest message, as model m reads them: the last
 * answer is left open. m was opened with its template. */
bool chat_session_ids(const struct chat_events *events, struct chat_model *m,
                      const struct chat_settings *s, struct tok_ids *ids, struct err *e);

#endif
