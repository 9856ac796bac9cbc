/* Greedy wrapping, one row at a time. Greedy has one property that matters here: where
 * a row ends depends only on the text up to the cluster that no longer fits. So when a
 * stream appends to a text, every row but the last stands, and a 100,000-line message
 * costs one row per token. */
#include "config.h"

#include "tui/wrap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { TAB = 8 };

static bool is_plain(const char *s, size_t n)
{
    return *s >= 0x20 && *s < 0x7f && (n < 2 || (unsigned char)s[1] < 0x80);
}

/* Length of the UTF-8 sequence that a valid first byte opens. */
static size_t sequence_len(char first)
{
    unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* The code point at the start of s; a bad byte is U+FFFD. Returns its bytes. */
static size_t next_point(const char *s, size_t n, uint32_t *cp)
{
    size_t len = sequence_len(*s);
    struct utf8_cell c;

    if (utf8_next(s, n < len ? n : len, &c) == 0 || !c.valid) {
        *cp = 0xFFFD;
        return 1;
    }
    *cp = c.cp;
    return len;
}

size_t tui_cell_points(const char *s, size_t n, uint32_t *out, size_t max)
{
    size_t count = 0;

    for (size_t at = 0; at < n && count < max; count++)
        at += next_point(s + at, n - at, &out[count]);
    return count;
}

/* A cluster written out in ASCII, one <U+XXXX> for each code point beyond it. Returns the
 * columns; out may be NULL. */
static int spell(struct buf *out, const char *s, size_t n)
{
    int cols = 0;

    for (size_t at = 0; at < n;) {
        uint32_t cp;
        char form[16];
        int len;

        at += next_point(s + at, n - at, &cp);
        if (cp == 0xFFFD)
            len = snprintf(form, sizeof form, "?");
        else if (cp < 0x20 || cp == 0x7f)
            len = snprintf(form, sizeof form, "^%c", (char)(cp ^ 0x40));
        else if (cp < 0x80)
            len = snprintf(form, sizeof form, "%c", (char)cp);
        else
            len = snprintf(form, sizeof form, "<U+%04X>", (unsigned)cp);
        if (out)
            buf_add(out, form, (size_t)len);
        cols += len;
    }
    return cols;
}

size_t tui_cell_next(const char *s, size_t n, int col, enum tui_charset cs,
                     struct utf8_cell *out)
{
    assert(n > 0);
    if (is_plain(s, n)) {
        *out = (struct utf8_cell){ .bytes = 1, .width = 1, .cp = (unsigned char)*s,
                                   .valid = true };
        return 1;
    }
    if (utf8_next(s, n, out) == 0)
        *out = (struct utf8_cell){ .bytes = 1, .width = 1, .cp = 0xFFFD };
    if (out->control && out->cp == '\t')
        out->width = TAB - col % TAB;
    else if (cs == TUI_ASCII && out->cp != '\n')
        out->width = spell(NULL, s, out->bytes);
    return out->bytes;
}

void tui_cell_text(struct buf *out, const char *s, const struct utf8_cell *cell,
                   enum tui_charset cs)
{
    if (cell->control && cell->cp == '\n')
        return;
    if (cell->control && cell->cp == '\t')
        buf_addf(out, "%*s", cell->width, "");
    else if (cs == TUI_ASCII)
        spell(out, s, cell->bytes);
    else
        utf8_visible(out, s, cell->bytes, UTF8_ONE_LINE);
}

int tui_text_width(const char *s, size_t n, enum tui_charset cs)
{
    int cols = 0;
    struct utf8_cell c;

    for (size_t at = 0; at < n; cols += c.width)
        at += tui_cell_next(s + at, n - at, cols, cs, &c);
    return cols;
}

size_t tui_text_fit(const char *s, size_t n, int cols, enum tui_charset cs)
{
    int used = 0;
    struct utf8_cell c;

    for (size_t at = 0; at < n; used += c.width) {
        size_t bytes = tui_cell_next(s + at, n - at, used, cs, &c);
        if (used + c.width > cols)
            return at;
        at += bytes;
    }
    return n;
}

/* Blanks that did not fit hang over the edge; a newline right behind them ends this
 * row. */
static size_t skip_blanks(const char *s, size_t n, size_t at)
{
    while (at < n && (s[at] == ' ' || s[at] == '\t'))
        at++;
    return at < n && s[at] == '\n' ? at + 1 : at;
}

size_t tui_wrap_row(const char *s, size_t n, size_t from, int cols,
                    enum tui_wrap_mode mode, enum tui_charset cs)
{
    size_t at = from, fallback = 0;     /* the last place where a word may end */
    int used = 0;
    struct utf8_cell c;

    assert(from < n);
    while (at < n) {
        size_t bytes = tui_cell_next(s + at, n - at, used, cs, &c);
        bool blank = c.cp == ' ' || c.cp == '\t';

        if (c.cp == '\n')
            return at + 1;
        if (mode == TUI_WRAP_WORDS && c.width == 2 && c.cp >= 0x1100 && at > from)
            fallback = at;
        if (used + c.width > cols && at > from) {
            if (mode == TUI_WRAP_CHARS)
                return at;
            if (blank)
                return skip_blanks(s, n, at);
            return fallback > from ? fallback : at;
        }
        used += c.width;
        at += bytes;
        if (blank || (c.width == 2 && c.cp >= 0x1100))
            fallback = at;
    }
    return n;
}

void tui_rows_extend(struct tui_rows *r, const char *s, size_t n, size_t from, int cols,
                     enum tui_wrap_mode mode, enum tui_charset cs)
{
    bool editing = mode == TUI_WRAP_CHARS;
    size_t at = r->n ? r->start[r->n - 1] : from;

    if (r->n && r->len == n)
        return;
    if (r->n)
        r->n--;
    while (at < n) {
        MEM_GROW(r->start, r->cap, r->n + 1);
        r->start[r->n++] = at;
        at = tui_wrap_row(s, n, at, cols, mode, cs);
    }
    if (editing && (n <= from || s[n - 1] == '\n')) {
        MEM_GROW(r->start, r->cap, r->n + 1);
        r->start[r->n++] = n;
    }
    r->len = n;
}

void tui_rows_reset(struct tui_rows *r)
{
    r->n = r->len = 0;
}

void tui_rows_release(struct tui_rows *r)
{
    free(r->start);
    *r = (struct tui_rows){0};
}

size_t tui_rows_find(const struct tui_rows *r, size_t at)
{
    size_t lo = 0, hi = r->n;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->start[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
