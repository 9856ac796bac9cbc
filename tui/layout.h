#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

/* Where the panes stand. A pure function from the size of the screen and what wants
 * room to rectangles; tested without a terminal. Any size down to 1x1 gives something. */

struct tui_rect {
    int y, x, rows, cols;       /* rows or cols 0: not shown */
};

struct tui_panes {
    struct tui_rect transcript, status, input;
};

/* input_rows: rows the text being edited would like (at least 1). The input keeps one row
 * always, and grows to a third of the screen. */
void tui_layout(int rows, int cols, int input_rows, struct tui_panes *out);

/* Columns for the mark in front of the edited text. */
int tui_layout_prompt_cols(int cols);

#endif
