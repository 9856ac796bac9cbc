#include "config.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*mem_last_act)(void);

void mem_on_death(void (*f)(void))
{
    mem_last_act = f;
}

static _Noreturn void mem_die(void)
{
    static const char text[] = "vitrine: out of memory\n";

    if (mem_last_act)
        mem_last_act();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    _exit(1);
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        mem_die();
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        mem_die();
    return p;
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (!q)
        mem_die();
    return q;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        mem_die();
    return xrealloc(p, n * size);
}

char *xmemdup0(const void *p, size_t n)
{
    char *q = xmalloc(n + 1);
    if (n)
        memcpy(q, p, n);
    q[n] = '\0';
    return q;
}

char *xstrdup(const char *s)
{
    return xmemdup0(s, strlen(s));
}
