#ifndef TUI_EDIT_H
#define TUI_EDIT_H

/* Helpers for the text being edited: clusters, lines, and where the cursor stands.
 * Pure. */

#include <stddef.h>

#include "tui/wrap.h"

/* The cluster boundary after / before offset at. */
size_t tui_edit_right(const char *s, size_t n, size_t at);
size_t tui_edit_left(const char *s, size_t at);

/* Start and end of the line that offset at is in. */
size_t tui_edit_line_start(const char *s, size_t at);
size_t tui_edit_line_end(const char *s, size_t n, size_t at);

/* Offset one line up or down, at the same column or the end of a shorter line; goal is
 * the column to aim for. Returns at itself when there is no such line. */
size_t tui_edit_up(const char *s, size_t at, int goal, enum tui_charset cs);
size_t tui_edit_down(const char *s, size_t n, size_t at, int goal, enum tui_charset cs);
int tui_edit_column(const char *s, size_t at, enum tui_charset cs);

/* The text laid out in a pane of some width. */
struct tui_edit_view {
    struct tui_rows rows;
    size_t top;                 /* first row shown; kept between calls */
    int cursor_row, cursor_col; /* in the pane */
    size_t cursor_line;         /* row of the whole text */
};

/* Lay out s at cols columns and find the cursor at offset at. */
void tui_edit_layout(struct tui_edit_view *v, const char *s, size_t n, size_t at,
                     int cols, enum tui_charset cs);
/* Then: scroll as little as needed so that the cursor is among rows rows. */
void tui_edit_scroll(struct tui_edit_view *v, int rows);

#endif
