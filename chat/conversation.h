#ifndef CHAT_CONVERSATION_H
#define CHAT_CONVERSATION_H

/* The conversation: a tree of messages built from events, by the same function whether the
 * events come from the model or from a file. Nothing is ever removed; a retry is another
 * child of the same parent. The path from the root to head is what the model sees.
 *
 * What the model said is kept as the ids it sampled, with the key of the model that sampled
 * them: for another model they mean nothing and the text is encoded anew. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"
#include "chat/event.h"
#include "tokenizer/tokenizer.h"

struct chat_conv_message {
    int id, parent;             /* parent 0: a root */
    enum chat_role role;
    unsigned attempt;
    struct buf text;            /* what was written, or the response channel */
    struct buf think;           /* the think channel */
    char *name, *tool_call_id;
    struct tok_ids ids;         /* sampled, without the token that ended the turn */
    char *model_key;            /* who sampled them */
    bool think_off;             /* behind a prompt that switched thinking off */
    json_t *calls;              /* the tool calls in it, as in the OpenAI interface; NULL:
                                   none. What could not be read as a call is not here */
    bool stopped;               /* a stop event came */
    enum chat_stop why;
};

struct chat_conv {
    struct chat_conv_message *v;
    size_t n, cap;
    int head;                   /* id of the newest message of the path; 0: empty */
    int next_id;                /* 1 after init */
    char *model_key;            /* of the last session event */
};

void chat_conv_init(struct chat_conv *c);
void chat_conv_release(struct chat_conv *c);

/* Take in one event. Events that say nothing about messages are ignored. A new message
 * becomes the head; a question that did not fit the context gives the head back. False for an event that refers to what is not there (a broken file). */
bool chat_conv_apply(struct chat_conv *c, const struct chat_event *ev);

struct chat_conv_message *chat_conv_find(struct chat_conv *c, int id);
/* The ids of the messages from the root to head, (returned count). Owned by the caller. */
size_t chat_conv_path(struct chat_conv *c, int head, int **ids);

/* "sha256" or a description, from a session record; owned by the caller. */
char *chat_conv_model_key(const json_t *session);

#endif
