/* Errors are built into a fixed buffer, so that reporting one never needs memory. A text
 * too long is cut at a character and ends in "...". */
#include "config.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* Copy the raw text into e with control and broken bytes shown. */
static void err_store(struct err *e, const char *raw)
{
    struct buf shown = {0};
    utf8_visible(&shown, raw, strlen(raw), UTF8_ONE_LINE);

    size_t n = shown.n;
    if (n >= sizeof e->text) {
        n = utf8_complete(shown.p, sizeof e->text - 4);
        memcpy(e->text, shown.p, n);
        memcpy(e->text + n, "...", 4);
    } else {
        memcpy(e->text, shown.n ? shown.p : "", n);
        e->text[n] = '\0';
    }
    buf_release(&shown);
}

static void err_vset(struct err *e, enum err_kind kind, const char *fmt, va_list ap)
{
    struct buf raw = {0};

    if (!e)
        return;
    buf_vaddf(&raw, fmt, ap);
    err_store(e, raw.p);
    e->kind = kind;
    buf_release(&raw);
}

bool err_set(struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, ERR_FAILED, fmt, ap);
    va_end(ap);
    return false;
}

bool err_set_kind(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, kind, fmt, ap);
    va_end(ap);
    return false;
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
    struct buf raw = {0};
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    buf_vaddf(&raw, fmt, ap);
    va_end(ap);
    buf_addf(&raw, ": %s", e->text);
    err_store(e, raw.p);
    buf_release(&raw);
    return false;
}
