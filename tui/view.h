#ifndef TUI_VIEW_H
#define TUI_VIEW_H

/* The view: which rows of the transcript stand in a pane of some size. Pure.
 *
 * It either follows the end or stays at a place. A place is a block and a byte offset
 * in it, never a row number, so the same text stays on top when the pane changes its
 * width. Only blocks that are looked at are laid out, and each of them once per width. */

#include <stdbool.h>
#include <stddef.h>

#include "tui/transcript.h"

struct tui_place {
    size_t block;
    int deco;               /* >= 0: a row above the text (blank, label); -1: the text */
    size_t offset;
};

struct tui_view {
    int rows, cols;         /* of the pane */
    enum tui_charset charset;
    bool away;              /* the user scrolled up: stay at top, do not follow */
    struct tui_place top;   /* first row shown, while away */
    size_t seen_blocks, seen_live, seen_bytes;      /* the end when that began */
};

enum tui_line_kind { TUI_LINE_BLANK, TUI_LINE_LABEL, TUI_LINE_TEXT };

struct tui_line {
    enum tui_line_kind kind;
    size_t block;
    size_t from, to;        /* TEXT: bytes of the block */
};

/* The pane has this size now; what was on top stays there. */
void tui_view_resize(struct tui_view *v, struct tui_transcript *t, int rows, int cols);

/* Fill out with the lines to show, from the top; returns how many (at most v->rows). */
int tui_view_lines(struct tui_view *v, struct tui_transcript *t, struct tui_line *out);

/* Move by rows, up when negative. Reaching the end follows again. */
void tui_view_scroll(struct tui_view *v, struct tui_transcript *t, long rows);
void tui_view_top(struct tui_view *v, struct tui_transcript *t);
void tui_view_follow(struct tui_view *v);
/* Show a block just appended: its beginning, and its end as far as there is room. */
void tui_view_show(struct tui_view *v, struct tui_transcript *t, size_t block);

/* While away: rows that came since, and rows below the pane, counted up to limit. 0 while
 * following. */
size_t tui_view_new_rows(struct tui_view *v, struct tui_transcript *t);
size_t tui_view_rows_below(struct tui_view *v, struct tui_transcript *t, size_t limit);

/* Columns left of a block's text, and whether a rule stands in them. */
int tui_block_indent(const struct tui_block *b, int cols);
bool tui_block_has_gutter(const struct tui_block *b, int cols);

#endif
