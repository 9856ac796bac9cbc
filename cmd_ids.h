#ifndef CMD_IDS_H
#define CMD_IDS_H

/* Token ids as people write them: "1 2 3", "1,2,3", "[1, 2, 3]", or JSON. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/tokenizer.h"

struct err;

/* Append the ids. False and e when a word is no number, or no id of the vocabulary. */
bool cmd_ids_parse(const char *text, size_t len, const struct tok *t, struct tok_ids *out,
                   struct err *e);
bool cmd_ids_from_json(const json_t *list, const struct tok *t, struct tok_ids *out,
                       struct err *e);

/* Append a raw text as the model reads it: with BOS in front if it wants one and the text
 * does not bring it; names of special tokens count only when special is on. */
void cmd_ids_raw(const struct tok *t, const char *text, size_t len, bool special,
                 struct tok_ids *out);

#endif
