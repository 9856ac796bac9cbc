/* One frame from the state: the panes are placed, the visible rows chosen, the texts
 * of the status line made, and all of it handed to draw.c. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "tui/draw.h"
#include "tui/input.h"
#include "tui/status.h"
#include "tui/tui_int.h"

enum { COUNT_LIMIT = 10000 };       /* rows below are counted no further */

/* The prompt and the text of the editor, wrapped. Readline's own prompt, of a search,
 * stands in front of the text in its place. */
static void lay_out_input(struct tui *t, struct tui_frame *f)
{
    const char *own = tui_input_prompt();
    size_t n, at;

    f->prompt = own ? own : t->charset == TUI_ASCII ? "> " : "\xE2\x9D\xAF ";     /* ❯ */
    f->prompt_cols = tui_layout_prompt_cols(t->cols);
    if (own) {
        int want = tui_text_width(own, strlen(own), t->charset);
        f->prompt_cols = want < t->cols / 2 ? want : t->cols / 2;
    } else if (!f->prompt_cols) {
        f->prompt = "";
    }
    f->text = tui_input_text(&n, &at);
    f->text_len = n;
    tui_edit_layout(&t->edit, f->text, n, at, t->cols - f->prompt_cols, t->charset);
    size_t rows = t->edit.rows.n;
    if (t->edit.cursor_line + 1 > rows)
        rows = t->edit.cursor_line + 1;
    tui_layout(t->rows, t->cols, rows < 10000 ? (int)rows : 10000, &t->panes);
    tui_edit_scroll(&t->edit, t->panes.input.rows);
    f->edit = &t->edit;
}

static void make_status(struct tui *t, struct tui_frame *f)
{
    int room = t->cols > 2 ? t->cols - 2 : t->cols;
    struct chat_status st;

    buf_reset(&t->mark);
    buf_reset(&t->status);
    if (t->view.away) {
        size_t fresh = tui_view_new_rows(&t->view, &t->transcript);
        size_t below =
            fresh ? 0 : tui_view_rows_below(&t->view, &t->transcript, COUNT_LIMIT);
        tui_status_away(fresh, below, COUNT_LIMIT, t->charset, &t->mark);
        room -= tui_text_width(t->mark.p, t->mark.n, t->charset) + 2;
    }
    f->status_style = TUI_STYLE_STATUS;
    if (t->hint.n) {
        buf_add(&t->status, t->hint.p, t->hint.n);
        f->status_style = TUI_STYLE_HINT;
    } else {
        chat_status(t->chat, &st);
        tui_status_text(&st, room, t->charset, &t->status);
    }
    f->mark = buf_str(&t->mark);
    f->status = buf_str(&t->status);
}

void tui_draw_frame(struct tui *t)
{
    struct tui_frame f = { .charset = t->charset, .transcript = &t->transcript };
    long long start = log_on() ? log_now_us() : 0;

    lay_out_input(t, &f);
    tui_view_resize(&t->view, &t->transcript, t->panes.transcript.rows, t->cols);
    MEM_GROW(t->lines, t->cap_lines, t->panes.transcript.rows);
    f.panes = t->panes;
    f.lines = t->lines;
    f.n_lines = tui_view_lines(&t->view, &t->transcript, t->lines);
    make_status(t, &f);
    tui_draw(&f);
    if (log_on())
        log_line("render", "%dx%d, %d lines, %lld us", t->cols, t->rows, f.n_lines,
                 log_now_us() - start);
}
