#ifndef TUI_HELP_H
#define TUI_HELP_H

/* Help made from the tables. */

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

/* All commands, and with keys all keys too. */
void tui_help_all(bool keys, struct buf *out);
/* One command (with or without its slash) or one option. */
bool tui_help_topic(const char *name, size_t len, struct buf *out, struct err *e);

#endif
