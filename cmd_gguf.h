#ifndef CMD_GGUF_H
#define CMD_GGUF_H

/* The metadata of a GGUF file for people and programs. Keys and values are foreign: keys
 * are shown, values are strings or base64. Long arrays and texts are cut, and say so,
 * unless all is asked for. */

#include <jansson.h>
#include <stdbool.h>

struct gguf;

json_t *cmd_gguf_json(const struct gguf *g, bool all);
void cmd_gguf_print(const struct gguf *g);

#endif
