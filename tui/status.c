/* The fields stand in reading order, each with a rank; on a narrow screen fields go by
 * rank, the highest first. */
#include "config.h"

#include "tui/status.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "chat/chat.h"

enum { FIELDS = 6 };

struct field {
    struct buf text;
    int rank;               /* 0: stays */
};

void tui_status_state(const struct chat_status *st, struct buf *out)
{
    switch (st->state) {
    case CHAT_LOADING:
        buf_adds(out, "loading");
        break;
    case CHAT_IDLE:
        buf_adds(out, "idle");
        break;
    case CHAT_PREFILL:
        buf_adds(out, "reading");
        if (st->prefill_total)
            buf_addf(out, " %u of %u", (unsigned)st->prefill_done,
                     (unsigned)st->prefill_total);
        break;
    case CHAT_DECODE:
        buf_addf(out, "writing %u", (unsigned)st->decoded);
        break;
    case CHAT_NO_MODEL:
        buf_adds(out, "no model");
        break;
    }
}

void tui_status_away(size_t fresh, size_t below, size_t limit, enum tui_charset cs,
                     struct buf *out)
{
    size_t n = fresh ? fresh : below;

    buf_addf(out, "%s %zu%s %sline%s", cs == TUI_ASCII ? "v" : "\xE2\x86\x93", n,
             !fresh && below >= limit ? "+" : "", fresh ? "new " : "", n == 1 ? "" : "s");
    if (!fresh)
        buf_adds(out, " below");
}

/* Rates below ten keep a digit behind the point. */
static void add_rate(struct buf *out, const char *what, double tps)
{
    if (tps > 0)
        buf_addf(out, tps < 10 ? "%s %.1f/s" : "%s %.0f/s", what, tps);
}

static void fill(const struct chat_status *st, struct field f[FIELDS])
{
    buf_adds(&f[0].text, st->model ? st->model : "");
    f[0].rank = 0;
    buf_adds(&f[1].text, st->device ? st->device : "");
    f[1].rank = 4;
    buf_adds(&f[2].text, st->template_name ? st->template_name : "");
    f[2].rank = 5;
    if (st->ctx)
        buf_addf(&f[3].text, "ctx %u/%u", (unsigned)st->ctx_used, (unsigned)st->ctx);
    f[3].rank = 2;
    tui_status_state(st, &f[4].text);
    f[4].rank = 0;
    add_rate(&f[5].text, "read", st->prefill_tps);
    if (f[5].text.n && st->decode_tps > 0)
        buf_adds(&f[5].text, " ");
    add_rate(&f[5].text, "write", st->decode_tps);
    f[5].rank = 3;
}

static int width_of(const struct field f[FIELDS], int sep, enum tui_charset cs)
{
    int cols = 0;

    for (int i = 0; i < FIELDS; i++)
        if (f[i].text.n)
            cols += (cols ? sep : 0) + tui_text_width(f[i].text.p, f[i].text.n, cs);
    return cols;
}

/* The name is cut so that the rest fits, with a mark that it is. */
static void cut_name(struct buf *name, int cols, enum tui_charset cs)
{
    const char *more = cs == TUI_ASCII ? "~" : "\xE2\x80\xA6";      /* … */

    if (cols < 2) {
        buf_reset(name);
        return;
    }
    buf_truncate(name, tui_text_fit(name->p, name->n, cols - 1, cs));
    buf_adds(name, more);
}

/* Text on one line in the form the screen shows, so that its width is what it seems. */
static void make_visible(struct buf *b)
{
    struct buf out = {0};

    utf8_visible(&out, buf_str(b), b->n, UTF8_ONE_LINE);
    buf_release(b);
    *b = out;
}

void tui_status_text(const struct chat_status *st, int cols, enum tui_charset cs,
                     struct buf *out)
{
    const char *sep = cs == TUI_ASCII ? " | " : " \xC2\xB7 ";
    struct field f[FIELDS] = {0};

    fill(st, f);
    for (int i = 0; i < FIELDS; i++)
        make_visible(&f[i].text);
    for (int rank = 5; rank > 0 && width_of(f, 3, cs) > cols; rank--)
        for (int i = 0; i < FIELDS; i++)
            if (f[i].rank == rank)
                buf_reset(&f[i].text);
    int over = width_of(f, 3, cs) - cols;
    if (over > 0 && f[0].text.n)
        cut_name(&f[0].text, tui_text_width(f[0].text.p, f[0].text.n, cs) - over, cs);
    bool first = true;
    for (int i = 0; i < FIELDS; i++) {
        if (!f[i].text.n)
            continue;
        if (!first)
            buf_adds(out, sep);
        first = false;
        buf_add(out, f[i].text.p, f[i].text.n);
        buf_release(&f[i].text);
    }
    for (int i = 0; i < FIELDS; i++)
        buf_release(&f[i].text);
}
