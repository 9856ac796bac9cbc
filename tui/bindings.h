#ifndef TUI_BINDINGS_H
#define TUI_BINDINGS_H

/* Finding what a key does, in the table of tables.h. */

#include "tui/tables.h"

struct tui_key;

/* The row for a key, or NULL: then the line editor gets it. Never a TUI_ACT_EDITOR
 * row. */
const struct tui_binding *tui_binding_find(enum tui_where where, const struct tui_key *k);

#endif
