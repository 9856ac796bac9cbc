#ifndef TUI_WRAP_H
#define TUI_WRAP_H

/* Wrapping: text to screen rows. Pure; knows no screen and keeps no text.
 *
 * A row is a byte range [start, next start). It is drawn from its start up to the
 * width of the pane: the newline that ends it and blanks that hang over the edge are
 * not seen. */

#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

struct buf;

/* What the terminal can show. With TUI_ASCII everything beyond ASCII is written out, as
 * <U+00E9>, and takes that many columns. */
enum tui_charset { TUI_UTF8, TUI_ASCII };

enum tui_wrap_mode {
    TUI_WRAP_WORDS,     /* at blanks and beside wide characters; for reading */
    TUI_WRAP_CHARS,     /* anywhere between clusters; for editing */
};

/* The next cell of s (n > 0) when it is drawn at column col, counted from the start of
 * its row: tabs reach to the next multiple of eight. Never 0 bytes: half a character
 * at the end is one bad byte, so callers whose text still grows cut it with
 * utf8_complete() first. */
size_t tui_cell_next(const char *s, size_t n, int col, enum tui_charset cs,
                     struct utf8_cell *out);

/* Append what stands on the screen for that cell: its bytes, blanks for a tab, a
 * visible form for a control; nothing for a newline. Exactly cell->width columns. */
void tui_cell_text(struct buf *out, const char *s, const struct utf8_cell *cell,
                   enum tui_charset cs);

/* The code points of a cell, at most max; a bad byte is U+FFFD. */
size_t tui_cell_points(const char *s, size_t n, uint32_t *out, size_t max);

/* Columns of a text on one line. */
int tui_text_width(const char *s, size_t n, enum tui_charset cs);

/* How many bytes of s fit in cols columns. */
size_t tui_text_fit(const char *s, size_t n, int cols, enum tui_charset cs);

/* One row that begins at byte from (from < n): returns the start of the next, > from. */
size_t tui_wrap_row(const char *s, size_t n, size_t from, int cols,
                    enum tui_wrap_mode mode, enum tui_charset cs);

/* The starts of all rows. Zeroed is empty. */
struct tui_rows {
    size_t *start;      /* (n) ascending */
    size_t n, cap;
    size_t len;         /* bytes of text wrapped so far */
};

/* Wrap s into rows. When rows already hold a beginning of the same text at the same
 * width, only the last row and what follows are wrapped anew: greedy rows never depend
 * on what stands behind them. Rows begin at byte from. An empty text has no row in
 * WORDS and one in CHARS, where a cursor needs a place; there a newline at the end
 * also opens a row. */
void tui_rows_extend(struct tui_rows *r, const char *s, size_t n, size_t from, int cols,
                     enum tui_wrap_mode mode, enum tui_charset cs);
void tui_rows_reset(struct tui_rows *r);
void tui_rows_release(struct tui_rows *r);

/* The row that holds byte offset at; 0 when there is none. */
size_t tui_rows_find(const struct tui_rows *r, size_t at);

#endif
