/* Every cell goes to a column that we computed with tui_cell_next(), never to where
 * curses believes its cursor is, so the columns of a row agree whatever the C library
 * thinks of a character's width. A cluster of several spacing characters, which no
 * curses cell can hold, is drawn as the first of them with its marks, and blanks up to
 * the cluster's width. */
#include "config.h"

#include "tui/draw.h"

#include <curses.h>
#include <string.h>
#include <wchar.h>

#include "base/buf.h"
#include "tui/screen.h"

enum { REPLACEMENT = 0xFFFD, JOINER = 0x200D };

struct brush {
    attr_t attrs;
    short pair;
};

static struct buf scratch;      /* reused: nothing is allocated for each frame */

static struct brush brush_of(enum tui_style style)
{
    const struct tui_style_row *row = &tui_styles[style];
    struct brush b = { A_NORMAL, 0 };

    if (row->attrs & TUI_ATTR_BOLD)
        b.attrs |= A_BOLD;
    if (row->attrs & TUI_ATTR_DIM)
        b.attrs |= A_DIM;
    if (row->attrs & TUI_ATTR_REVERSE)
        b.attrs |= A_REVERSE;
    if (row->attrs & TUI_ATTR_ITALIC)
        b.attrs |= A_ITALIC;
    if (row->color != TUI_COLOR_DEFAULT && tui_screen_has_color())
        b.pair = (short)(row->color + 1);
    return b;
}

static bool is_selector(uint32_t cp)
{
    return (cp >= 0xFE00 && cp <= 0xFE0F) || (cp >= 0xE0100 && cp <= 0xE01EF);
}

/* The characters of a cluster that fit a curses cell; *width is what the C library
 * makes of them, which is what curses will count. */
static void cell_chars(const char *s, const struct utf8_cell *cell,
                       wchar_t out[CCHARW_MAX + 1], int *width)
{
    uint32_t points[32];
    size_t n = tui_cell_points(s, cell->bytes, points, sizeof points / sizeof *points);
    size_t used = 0;

    *width = 0;
    for (size_t i = 0; i < n && used < CCHARW_MAX; i++) {
        int w = wcwidth((wchar_t)points[i]);
        if (points[i] == JOINER || is_selector(points[i]) || w < 0)
            continue;
        if (w > 0 && used > 0)
            break;                      /* the second spacing character */
        if (w == 0 && used == 0)
            continue;                   /* a mark with nothing to stand on */
        out[used++] = (wchar_t)points[i];
        *width += w;
    }
    out[used] = L'\0';
    if (used == 0 || *width > cell->width) {
        out[0] = REPLACEMENT;
        out[1] = L'\0';
        *width = 1;
    }
}

static void put_cluster(int y, int x, const char *s, const struct utf8_cell *cell,
                        struct brush b)
{
    wchar_t chars[CCHARW_MAX + 1];
    int width;
    cchar_t cc;

    if (cell->width == 0)
        return;
    cell_chars(s, cell, chars, &width);
    setcchar(&cc, chars, b.attrs, b.pair, NULL);
    mvadd_wch(y, x, &cc);
    if (width < cell->width) {
        attr_set(b.attrs, b.pair, NULL);
        mvaddnstr(y, x + width, "  ", cell->width - width);
    }
}

/* ASCII, and all that is shown in a visible form instead: cut at the edge like any
 * text. */
static void put_visible(int y, int x, int room, const char *s,
                        const struct utf8_cell *cell, struct brush b, enum tui_charset cs)
{
    buf_reset(&scratch);
    tui_cell_text(&scratch, s, cell, cs);
    attr_set(b.attrs, b.pair, NULL);
    /* U+FFFD for a bad byte is the only form here of more bytes than columns. */
    mvaddnstr(y, x, buf_str(&scratch), cell->width <= room ? (int)scratch.n : room);
}

/* Draw s from column x on, up to column right. Returns the column behind it. */
static int put_text(int y, int x, int right, const char *s, size_t n, struct brush b,
                    enum tui_charset cs)
{
    int start = x;
    struct utf8_cell c;

    for (size_t at = 0; at < n && x < right; at += c.bytes, x += c.width) {
        tui_cell_next(s + at, n - at, x - start, cs, &c);
        if (cs == TUI_ASCII || c.control || c.bytes == 1)
            put_visible(y, x, right - x, s + at, &c, b, cs);
        else if (x + c.width <= right)
            put_cluster(y, x, s + at, &c, b);
        else
            break;
    }
    return x < right ? x : right;
}

static int put_string(int y, int x, int right, const char *s, struct brush b,
                      enum tui_charset cs)
{
    return put_text(y, x, right, s, strlen(s), b, cs);
}

/* ---- panes ---- */

static enum tui_style label_style(const struct tui_block *b)
{
    switch (b->kind) {
    case TUI_BLOCK_NAME:
        return b->role == CHAT_ROLE_USER        ? TUI_STYLE_USER_NAME
               : b->role == CHAT_ROLE_ASSISTANT ? TUI_STYLE_MODEL_NAME
                                                : TUI_STYLE_OTHER_NAME;
    case TUI_BLOCK_THINK:
        return TUI_STYLE_THINK_LABEL;
    default:
        return TUI_STYLE_TOOL_LABEL;
    }
}

static enum tui_style text_style(const struct tui_block *b)
{
    switch (b->kind) {
    case TUI_BLOCK_THINK:
        return TUI_STYLE_THINK;
    case TUI_BLOCK_TOOL:
    case TUI_BLOCK_CALL:
    case TUI_BLOCK_RESULT:
        return TUI_STYLE_TOOL;
    case TUI_BLOCK_NOTE:
        return TUI_STYLE_NOTE;
    case TUI_BLOCK_ERROR:
        return TUI_STYLE_ERROR;
    default:
        return TUI_STYLE_TEXT;
    }
}

static void draw_line(const struct tui_frame *f, int y, const struct tui_line *line)
{
    const struct tui_block *b = &f->transcript->v[line->block];
    int cols = f->panes.transcript.cols, indent = tui_block_indent(b, cols);
    bool gutter = tui_block_has_gutter(b, cols);
    struct buf label = {0};

    if (line->kind == TUI_LINE_LABEL) {
        tui_block_label(b, f->charset, &label);
        put_text(y, b->kind == TUI_BLOCK_NAME || !gutter ? 0 : indent - 2, cols,
                 buf_str(&label), label.n, brush_of(label_style(b)), f->charset);
        buf_release(&label);
    } else if (line->kind == TUI_LINE_TEXT) {
        if (gutter)
            put_string(y, indent - 2, cols,
                       f->charset == TUI_ASCII ? "|" : "\xE2\x94\x82",
                       brush_of(TUI_STYLE_GUTTER), f->charset);
        put_text(y, indent, cols, b->text.p + line->from, line->to - line->from,
                 brush_of(text_style(b)), f->charset);
    }
}

static void draw_status(const struct tui_frame *f)
{
    const struct tui_rect *r = &f->panes.status;
    struct brush b = brush_of(f->status_style), mark = brush_of(TUI_STYLE_ALERT);

    if (r->rows < 1)
        return;
    attr_set(b.attrs, b.pair, NULL);
    mvhline(r->y, 0, ' ' | b.attrs, r->cols);
    int x = r->cols > 2 ? 1 : 0;
    if (*f->mark) {
        x = put_string(r->y, x, r->cols, f->mark, mark, f->charset);
        x = put_string(r->y, x, r->cols, "  ", b, f->charset);
    }
    put_string(r->y, x, r->cols, f->status, b, f->charset);
}

static void draw_input(const struct tui_frame *f)
{
    const struct tui_rect *r = &f->panes.input;
    const struct tui_edit_view *e = f->edit;
    struct brush b = brush_of(TUI_STYLE_INPUT);

    if (e->top == 0)
        put_string(r->y, 0, r->cols, f->prompt, brush_of(TUI_STYLE_PROMPT), f->charset);
    for (int i = 0; i < r->rows && e->top + (size_t)i < e->rows.n; i++) {
        size_t row = e->top + (size_t)i, from = e->rows.start[row];
        size_t to = row + 1 < e->rows.n ? e->rows.start[row + 1] : f->text_len;
        put_text(r->y + i, f->prompt_cols, r->cols, f->text + from, to - from, b,
                 f->charset);
    }
    int x = f->prompt_cols + e->cursor_col;
    move(r->y + e->cursor_row, x < r->cols ? x : r->cols - 1);
}

void tui_draw(const struct tui_frame *f)
{
    erase();
    for (int i = 0; i < f->n_lines; i++)
        draw_line(f, f->panes.transcript.y + i, &f->lines[i]);
    draw_status(f);
    draw_input(f);
    refresh();
}
