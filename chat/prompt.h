#ifndef CHAT_PROMPT_H
#define CHAT_PROMPT_H

/* The prompt for a path of messages: the conversation as a request, rendered by the
 * model's template, with what the model said in its place, as ids. Worker only. */

#include "chat/conversation.h"
#include "chat/model.h"
#include "templates/template.h"
#include "tokenizer/tokenizer.h"

struct err;

/* What is remembered from prompt to prompt; for one model, which must outlive it. */
struct chat_prompter;
struct chat_prompter *chat_prompter_new(const struct chat_model *m);
void chat_prompter_free(struct chat_prompter *pr);
/* Another conversation begins, with the same numbers for other messages. NULL is fine. */
void chat_prompter_forget(struct chat_prompter *pr);

struct chat_prompt {
    struct tok_ids ids;             /* owned */
    enum tmpl_channel start;        /* where the model's own text begins */
    struct chat_why {               /* (n_whys) in order: why ids from `at` on may */
        size_t at;                  /* differ from those of an earlier prompt */
        const char *why;
    } *whys;
    size_t n_whys;
};
void chat_prompt_release(struct chat_prompt *p);

/* The prompt for the path to head. answer is the message that it will be answered by; if
 * it is head itself, that goes on. 0: none. think is the option. */
bool chat_prompt_make(struct chat_prompter *pr, struct chat_conv *conv, int head,
                      int answer, const char *think, struct chat_prompt *out,
                      struct err *e);

#endif
