/* Rows are counted inside blocks: first those above the text (a blank, a label), then
 * those of the text. Moving is walking from block to block, so a step costs what it
 * passes and not what the transcript holds. */
#include "config.h"

#include "tui/view.h"

#include <string.h>

#include "base/utf8.h"

enum { INDENT = 2, GUTTER = 2, NARROW = 20 };

struct pos {
    size_t block, row;
};

bool tui_block_has_gutter(const struct tui_block *b, int cols)
{
    return cols >= NARROW && (b->kind == TUI_BLOCK_THINK || b->kind == TUI_BLOCK_TOOL ||
                              b->kind == TUI_BLOCK_CALL || b->kind == TUI_BLOCK_RESULT);
}

int tui_block_indent(const struct tui_block *b, int cols)
{
    if (cols < NARROW)
        return 0;
    return INDENT + (tui_block_has_gutter(b, cols) ? GUTTER : 0);
}

/* ---- rows of one block ---- */

/* The text without blank lines at its ends and, while it grows, without half a
 * character. */
static void readable(const struct tui_block *b, size_t *from, size_t *to)
{
    const char *s = buf_str(&b->text);
    size_t end = b->live ? utf8_complete(s, b->text.n) : b->text.n;

    while (end > 0 && strchr(" \t\r\n", s[end - 1]) && s[end - 1])
        end--;
    *to = end;
    *from = 0;
    for (size_t i = 0; i < end && strchr(" \t\r\n", s[i]) && s[i]; i++)
        if (s[i] == '\n')
            *from = i + 1;
    /* Many vocabularies begin a text with a blank. More than one is meant. */
    if (*from + 1 < end && s[*from] == ' ' && s[*from + 1] != ' ')
        ++*from;
}

static size_t text_rows(const struct tui_view *v, struct tui_block *b)
{
    int cols = v->cols - tui_block_indent(b, v->cols);

    if (b->kind == TUI_BLOCK_NAME || (b->kind == TUI_BLOCK_THINK && b->folded))
        return 0;
    if (b->rows_cols != cols) {
        tui_rows_reset(&b->rows);
        b->rows_cols = cols;
        b->rows_final = false;
    }
    if (b->live || !b->rows_final) {
        size_t from, to;
        readable(b, &from, &to);
        tui_rows_extend(&b->rows, buf_str(&b->text), to, from, cols, TUI_WRAP_WORDS,
                        v->charset);
        b->rows_final = !b->live;
    }
    return b->rows.n;
}

static bool is_shown(const struct tui_view *v, struct tui_block *b)
{
    return !b->hidden && (tui_block_has_label(b) || text_rows(v, b) > 0);
}

static bool is_note(const struct tui_block *b)
{
    return b->kind == TUI_BLOCK_NOTE || b->kind == TUI_BLOCK_ERROR;
}

/* Does a blank row stand between block i and the one shown before it? */
static bool has_gap(const struct tui_view *v, const struct tui_transcript *t, size_t i)
{
    const struct tui_block *b = &t->v[i];

    while (i-- > 0) {
        struct tui_block *above = &t->v[i];
        if (!is_shown(v, above))
            continue;
        if (b->kind == TUI_BLOCK_NAME)
            return true;
        if (above->kind == TUI_BLOCK_NAME || (is_note(above) && is_note(b)))
            return false;
        return !(above->kind == TUI_BLOCK_THINK && above->folded);
    }
    return false;
}

static size_t deco_rows(const struct tui_view *v, const struct tui_transcript *t,
                        size_t i)
{
    if (!is_shown(v, &t->v[i]))
        return 0;
    return (size_t)has_gap(v, t, i) + (size_t)tui_block_has_label(&t->v[i]);
}

static size_t block_rows(const struct tui_view *v, const struct tui_transcript *t,
                         size_t i)
{
    if (!is_shown(v, &t->v[i]))
        return 0;
    return deco_rows(v, t, i) + text_rows(v, &t->v[i]);
}

/* ---- moving ---- */

static struct pos step_up(const struct tui_view *v, const struct tui_transcript *t,
                          struct pos p, size_t rows)
{
    while (rows > p.row) {
        rows -= p.row;
        p.row = 0;
        if (p.block == 0)
            return p;
        p.block--;
        p.row = block_rows(v, t, p.block);
    }
    p.row -= rows;
    return p;
}

/* Down by rows, or to the end of the transcript; *left is what could not be walked. */
static struct pos step_down(const struct tui_view *v, const struct tui_transcript *t,
                            struct pos p, size_t rows, size_t *left)
{
    while (p.block < t->n) {
        size_t here = block_rows(v, t, p.block) - p.row;
        if (rows < here) {
            p.row += rows;
            *left = 0;
            return p;
        }
        rows -= here;
        p.block++;
        p.row = 0;
    }
    *left = rows;
    return p;
}

static struct pos to_pos(const struct tui_view *v, const struct tui_transcript *t,
                         struct tui_place place)
{
    if (place.block >= t->n)
        return (struct pos){ t->n, 0 };
    struct tui_block *b = &t->v[place.block];
    size_t rows = block_rows(v, t, place.block), deco = deco_rows(v, t, place.block);
    struct pos p = { place.block, 0 };

    if (place.deco >= 0)
        p.row = (size_t)place.deco;
    else if (rows > deco)
        p.row = deco + tui_rows_find(&b->rows, place.offset);
    else
        p.row = deco;
    if (p.row >= rows)          /* folded or hidden since */
        p.row = rows ? rows - 1 : 0;
    return p;
}

static struct tui_place to_place(const struct tui_view *v, const struct tui_transcript *t,
                                 struct pos p)
{
    struct tui_place place = { p.block, (int)p.row, 0 };
    size_t deco = p.block < t->n ? deco_rows(v, t, p.block) : 0;

    if (p.block < t->n && p.row >= deco && p.row - deco < text_rows(v, &t->v[p.block])) {
        place.deco = -1;
        place.offset = t->v[p.block].rows.start[p.row - deco];
    }
    return place;
}

/* The first row shown. */
static struct pos top_pos(const struct tui_view *v, const struct tui_transcript *t)
{
    if (v->away)
        return to_pos(v, t, v->top);
    return step_up(v, t, (struct pos){ t->n, 0 }, v->rows > 0 ? (size_t)v->rows : 0);
}

/* At the end there is nothing to stay away from. */
static void settle(struct tui_view *v, const struct tui_transcript *t)
{
    size_t left;

    if (!v->away)
        return;
    struct pos end =
        step_down(v, t, top_pos(v, t), v->rows > 0 ? (size_t)v->rows : 0, &left);
    if (end.block >= t->n)
        v->away = false;
}

static void leave_end(struct tui_view *v, const struct tui_transcript *t)
{
    if (v->away)
        return;
    v->away = true;
    v->seen_blocks = t->n;
    v->seen_live = t->live;
    v->seen_bytes = t->live < t->n ? t->v[t->live].text.n : 0;
}

void tui_view_resize(struct tui_view *v, struct tui_transcript *t, int rows, int cols)
{
    if (v->rows == rows && v->cols == cols)
        return;
    v->rows = rows;
    v->cols = cols;
    settle(v, t);
}

void tui_view_scroll(struct tui_view *v, struct tui_transcript *t, long rows)
{
    struct pos p = top_pos(v, t), to;
    size_t left;

    if (rows < 0) {
        to = step_up(v, t, p, (size_t)-rows);
        if (to.block == p.block && to.row == p.row)
            return;
        leave_end(v, t);
    } else {
        if (!v->away)
            return;
        to = step_down(v, t, p, (size_t)rows, &left);
    }
    v->top = to_place(v, t, to);
    settle(v, t);
}

void tui_view_top(struct tui_view *v, struct tui_transcript *t)
{
    leave_end(v, t);
    v->top = (struct tui_place){0};
    settle(v, t);
}

void tui_view_follow(struct tui_view *v)
{
    v->away = false;
}

void tui_view_show(struct tui_view *v, struct tui_transcript *t, size_t block)
{
    v->away = false;
    leave_end(v, t);
    v->top = (struct tui_place){ block, (int)has_gap(v, t, block), 0 };
    settle(v, t);
}

/* ---- reading ---- */

int tui_view_lines(struct tui_view *v, struct tui_transcript *t, struct tui_line *out)
{
    struct pos p = top_pos(v, t);
    int n = 0;

    for (; p.block < t->n && n < v->rows; p.block++, p.row = 0) {
        struct tui_block *b = &t->v[p.block];
        size_t rows = block_rows(v, t, p.block);
        size_t deco = deco_rows(v, t, p.block), label = tui_block_has_label(b);

        for (; p.row < rows && n < v->rows; p.row++) {
            struct tui_line *line = &out[n++];
            *line = (struct tui_line){ TUI_LINE_BLANK, p.block, 0, 0 };
            if (p.row >= deco) {
                size_t i = p.row - deco;
                line->kind = TUI_LINE_TEXT;
                line->from = b->rows.start[i];
                line->to = i + 1 < b->rows.n ? b->rows.start[i + 1] : b->rows.len;
            } else if (p.row + label == deco && label) {
                line->kind = TUI_LINE_LABEL;
            }
        }
    }
    return n;
}

size_t tui_view_new_rows(struct tui_view *v, struct tui_transcript *t)
{
    size_t rows = 0;

    if (!v->away)
        return 0;
    for (size_t i = v->seen_blocks; i < t->n; i++)
        rows += block_rows(v, t, i);
    if (v->seen_live < v->seen_blocks && v->seen_live < t->n) {
        struct tui_block *b = &t->v[v->seen_live];
        size_t all = text_rows(v, b);
        if (all && !b->hidden)
            rows += all - 1 - tui_rows_find(&b->rows, v->seen_bytes);
    }
    return rows;
}

size_t tui_view_rows_below(struct tui_view *v, struct tui_transcript *t, size_t limit)
{
    size_t left, rows = 0;

    if (!v->away)
        return 0;
    struct pos p =
        step_down(v, t, top_pos(v, t), v->rows > 0 ? (size_t)v->rows : 0, &left);
    for (; p.block < t->n && rows < limit; p.block++, p.row = 0)
        rows += block_rows(v, t, p.block) - p.row;
    return rows < limit ? rows : limit;
}
