#ifndef BASE_BUF_H
#define BASE_BUF_H

/* A growable byte buffer. A zeroed struct is an empty one; p is NULL or ends in a NUL that
 * n does not count. Bytes may include NUL. */

#include <stdarg.h>
#include <stddef.h>

struct buf {
    char *p;
    size_t n, cap;
};

void buf_reserve(struct buf *b, size_t more);       /* room for more bytes and a NUL */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);
void buf_cut(struct buf *b, size_t at, size_t n);   /* remove n bytes at offset at */
void buf_truncate(struct buf *b, size_t n);         /* keep the first n bytes */
void buf_reset(struct buf *b);                      /* empty, memory kept */
void buf_release(struct buf *b);
const char *buf_str(const struct buf *b);           /* p, or "" when empty; borrowed */
char *buf_take(struct buf *b);                      /* the caller owns it; b is empty */

#endif
