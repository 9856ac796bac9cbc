#ifndef TUI_EXTERNAL_H
#define TUI_EXTERNAL_H

/* Writing a text in the user's editor. The caller has lent the terminal out. */

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

/* Run $VISUAL, $EDITOR or vi on a private file with text; out is what was saved,
 * without the newlines at its end. */
bool tui_external_edit(const char *text, size_t n, struct buf *out, struct err *e);

#endif
