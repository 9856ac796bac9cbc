#ifndef CHAT_RECORD_H
#define CHAT_RECORD_H

/* What a session event says of the program, the model and how it is sampled. */

#include <jansson.h>

struct chat_model;
struct chat_settings;

/* The record of a session event. id may be NULL for an answer that no session keeps. The
 * seed must have been chosen. */
json_t *chat_record_new(const struct chat_model *m, const struct chat_settings *s,
                        const char *id);

/* Replace a random seed by one. */
void chat_choose_seed(struct chat_settings *s);

#endif
