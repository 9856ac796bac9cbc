#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/jinja_int.h"

/* The arena: blocks of memory that are only ever added to. Every piece of LARGE bytes or
 * more has a block of its own, and no smaller one has, so that text which grows to
 * megabytes is moved by realloc() and leaves no copies of itself behind. The limit counts
 * whole blocks. */

enum { BLOCK = 32 * 1024, LARGE = 8 * 1024, ALIGN = 16 };

struct jj_block {
    struct jj_block *next;
    size_t used, cap;
    _Alignas(16) char data[];
};

void jj_fail(struct jj *jj, const char *fmt, ...)
{
    char text[800];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(jj->e, "chat template, line %d: %s", jj->line, text);
    longjmp(jj->exit, 1);
}

static void block_count(struct jj *jj, size_t n)
{
    if (n > jj->memory - jj->used)
        jj_fail(jj, "the template needs more than %zu MiB of memory", jj->memory >> 20);
    jj->used += n;
}

static struct jj_block *block_new(struct jj *jj, size_t cap)
{
    if (cap > SIZE_MAX / 2)
        jj_fail(jj, "the template needs more than %zu MiB of memory", jj->memory >> 20);
    block_count(jj, sizeof(struct jj_block) + cap);

    struct jj_block *b = xmalloc(sizeof *b + cap);
    b->used = 0;
    b->cap = cap;
    return b;
}

static size_t rounded(size_t n)
{
    return n > SIZE_MAX - ALIGN ? n : (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void *take(struct jj *jj, size_t n)
{
    struct jj_block *b = jj->blocks;

    n = rounded(n);
    if (n >= LARGE) {
        /* Behind the current block, which still has room for small things. */
        struct jj_block *own = block_new(jj, n);
        own->used = n;
        own->next = b ? b->next : NULL;
        if (b)
            b->next = own;
        else
            jj->blocks = own;
        return own->data;
    }
    if (!b || b->cap - b->used < n) {
        b = block_new(jj, BLOCK);
        b->next = jj->blocks;
        jj->blocks = b;
    }
    void *p = b->data + b->used;
    b->used += n;
    return p;
}

void *jj_alloc(struct jj *jj, size_t n)
{
    return memset(take(jj, n), 0, n);
}

void *jj_array(struct jj *jj, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 2 / size)
        jj_fail(jj, "the template needs more than %zu MiB of memory", jj->memory >> 20);
    return jj_alloc(jj, n * size);
}

/* A block of its own is moved whole; its neighbour in the list is found by walking, which
 * is short because only large pieces are there. */
static void *grow_own(struct jj *jj, struct jj_block *own, size_t n)
{
    struct jj_block **at = &jj->blocks;

    while (*at && *at != own)
        at = &(*at)->next;
    block_count(jj, n - own->cap);
    own = xrealloc(own, sizeof *own + n);
    own->cap = own->used = n;
    *at = own;
    return own->data;
}

void *jj_grow(struct jj *jj, void *p, size_t old, size_t n)
{
    struct jj_block *b = jj->blocks;

    old = rounded(old);
    n = rounded(n);
    if (n <= old)
        return p;
    if (n > SIZE_MAX / 2)
        jj_fail(jj, "the template needs more than %zu MiB of memory", jj->memory >> 20);
    if (p && old >= LARGE)
        return grow_own(
            jj, (struct jj_block *)((char *)p - offsetof(struct jj_block, data)), n);
    if (p && b && n < LARGE && (char *)p + old == b->data + b->used &&
        b->cap - b->used >= n - old) {
        b->used += n - old;
        return p;
    }
    void *q = take(jj, n);
    if (old)
        memcpy(q, p, old);
    return q;
}

void jj_release(struct jj *jj)
{
    while (jj->blocks) {
        struct jj_block *next = jj->blocks->next;
        free(jj->blocks);
        jj->blocks = next;
    }
    jj->used = 0;
}

static void charge(struct jj *jj, uint64_t steps)
{
    if (steps >= jj->steps) {
        jj->steps = 0;
        jj_step(jj);
    }
    jj->steps -= steps;
}

void jj_charge(struct jj *jj, size_t bytes)
{
    charge(jj, bytes / 16);
}

void jj_charge_chars(struct jj *jj, size_t bytes)
{
    charge(jj, bytes);
}

void jj_enter(struct jj *jj)
{
    if (jj->depth++ >= jj->max_depth)
        jj_fail(jj, "nested more than %u levels deep", jj->max_depth);
}
