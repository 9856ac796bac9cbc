#ifndef BASE_MEM_H
#define BASE_MEM_H

/* Memory that is there or ends the program. Whoever needs a last act before that
 * (the screen gives the terminal back) registers it with mem_on_death(). */

#include <stddef.h>

void *xmalloc(size_t n);                        /* n bytes, never NULL */
void *xcalloc(size_t n, size_t size);           /* zeroed, overflow checked */
void *xrealloc(void *p, size_t n);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xmemdup0(const void *p, size_t n);        /* a copy with a NUL behind it */

/* Run f once before the process ends for want of memory. One slot; NULL clears it. */
void mem_on_death(void (*f)(void));

/* Grow v so that it holds at least need items; doubles, so n appends cost O(n). */
#define MEM_GROW(v, cap, need) \
    do { \
        if ((size_t)(need) > (size_t)(cap)) { \
            size_t grow_ = (size_t)(cap) * 2 > (size_t)(need) ? (size_t)(cap) * 2 \
                                                               : (size_t)(need); \
            if (grow_ < 8) \
                grow_ = 8; \
            (v) = xreallocarray((v), grow_, sizeof *(v)); \
            (cap) = grow_; \
        } \
    } while (0)

#endif
