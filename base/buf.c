#include "config.h"

#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_reserve(struct buf *b, size_t more)
{
    MEM_GROW(b->p, b->cap, b->n + more + 1);
    b->p[b->n] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    assert(n >= 0);
    buf_reserve(b, (size_t)n);
    vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    va_end(again);
    b->n += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(b, fmt, ap);
    va_end(ap);
}

void buf_cut(struct buf *b, size_t at, size_t n)
{
    assert(at <= b->n && n <= b->n - at);
    if (!n)
        return;
    memmove(b->p + at, b->p + at + n, b->n - at - n + 1);
    b->n -= n;
}

void buf_truncate(struct buf *b, size_t n)
{
    assert(n <= b->n);
    b->n = n;
    if (b->p)
        b->p[n] = '\0';
}

void buf_reset(struct buf *b)
{
    buf_truncate(b, 0);
}

void buf_release(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

const char *buf_str(const struct buf *b)
{
    return b->p ? b->p : "";
}

char *buf_take(struct buf *b)
{
    char *p = b->p ? b->p : xstrdup("");
    *b = (struct buf){0};
    return p;
}
