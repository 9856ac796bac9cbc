/* The edited text wraps at any cluster, so that a place in the text has one place on the
 * screen and typing never moves what stands before the cursor. */
#include "config.h"

#include "tui/edit.h"

#include <string.h>

size_t tui_edit_right(const char *s, size_t n, size_t at)
{
    struct utf8_cell c;
    return at < n ? at + tui_cell_next(s + at, n - at, 0, TUI_UTF8, &c) : n;
}

size_t tui_edit_left(const char *s, size_t at)
{
    return at > 0 ? at - utf8_prev(s, at) : 0;
}

size_t tui_edit_line_start(const char *s, size_t at)
{
    const char *nl = at ? memrchr(s, '\n', at) : NULL;
    return nl ? (size_t)(nl - s) + 1 : 0;
}

size_t tui_edit_line_end(const char *s, size_t n, size_t at)
{
    const char *nl = at < n ? memchr(s + at, '\n', n - at) : NULL;
    return nl ? (size_t)(nl - s) : n;
}

int tui_edit_column(const char *s, size_t at, enum tui_charset cs)
{
    size_t from = tui_edit_line_start(s, at);
    return tui_text_width(s + from, at - from, cs);
}

size_t tui_edit_up(const char *s, size_t at, int goal, enum tui_charset cs)
{
    size_t start = tui_edit_line_start(s, at);

    if (start == 0)
        return at;
    size_t from = tui_edit_line_start(s, start - 1);
    return from + tui_text_fit(s + from, start - 1 - from, goal, cs);
}

size_t tui_edit_down(const char *s, size_t n, size_t at, int goal, enum tui_charset cs)
{
    size_t end = tui_edit_line_end(s, n, at);
    if (end == n)
        return at;
    size_t from = end + 1;
    return from + tui_text_fit(s + from, tui_edit_line_end(s, n, from) - from, goal, cs);
}

void tui_edit_layout(struct tui_edit_view *v, const char *s, size_t n, size_t at,
                     int cols, enum tui_charset cs)
{
    if (cols < 1)
        cols = 1;
    tui_rows_reset(&v->rows);
    tui_rows_extend(&v->rows, s, n, 0, cols, TUI_WRAP_CHARS, cs);
    v->cursor_line = tui_rows_find(&v->rows, at);
    size_t from = v->rows.start[v->cursor_line];
    v->cursor_col = tui_text_width(s + from, at - from, cs);
    if (v->cursor_col >= cols && at < n) {
        v->cursor_col = cols - 1;       /* on the newline that ends a full row */
    } else if (v->cursor_col >= cols) {
        v->cursor_line++;               /* behind a full row: at the start of the next */
        v->cursor_col = 0;
    }
}

void tui_edit_scroll(struct tui_edit_view *v, int rows)
{
    size_t show = rows > 0 ? (size_t)rows : 1;
    size_t all = v->cursor_line + 1 > v->rows.n ? v->cursor_line + 1 : v->rows.n;

    if (v->top > v->cursor_line)
        v->top = v->cursor_line;
    if (v->cursor_line - v->top >= show)
        v->top = v->cursor_line - show + 1;
    if (all <= show)
        v->top = 0;
    else if (v->top > all - show)
        v->top = all - show;
    v->cursor_row = (int)(v->cursor_line - v->top);
}
