#ifndef TUI_STATUS_H
#define TUI_STATUS_H

/* The status line as text. Pure. */

#include <stddef.h>

#include "tui/wrap.h"

struct buf;
struct chat_status;

/* Append what fits in cols columns; what matters least is left out first, and at last the
 * model's name is cut. Foreign bytes come out visible. */
void tui_status_text(const struct chat_status *st, int cols, enum tui_charset cs,
                     struct buf *out);

/* "idle", "reading 512 of 2048", ...: the state in words. */
void tui_status_state(const struct chat_status *st, struct buf *out);

/* "↓ 12 new lines" while rows came, "↓ 40 lines below" when none did; limit tells that
 * below is counted no further. */
void tui_status_away(size_t fresh, size_t below, size_t limit, enum tui_charset cs,
                     struct buf *out);

#endif
