#ifndef TUI_DRAW_H
#define TUI_DRAW_H

/* Painting one frame. Reads state and changes none; curses sends only what differs
 * from the frame before. */

#include <stddef.h>

#include "tui/edit.h"
#include "tui/layout.h"
#include "tui/styles.h"
#include "tui/view.h"

/* All that a frame shows, laid out already. */
struct tui_frame {
    struct tui_panes panes;
    enum tui_charset charset;

    const struct tui_transcript *transcript;
    const struct tui_line *lines;       /* (n_lines) */
    int n_lines;

    const char *mark;                   /* before the status: "v 12 new lines"; or "" */
    const char *status;
    enum tui_style status_style;

    const char *prompt;                 /* (prompt_cols wide, or less) */
    int prompt_cols;
    const char *text;                   /* (text_len) being edited */
    size_t text_len;
    const struct tui_edit_view *edit;
};

void tui_draw(const struct tui_frame *f);

#endif
