#ifndef UNIT_GGUF_CHECK_H
#define UNIT_GGUF_CHECK_H

/* What the tests of the GGUF reader share. */

#include "tests/unit/unit.h"

#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"
#include "tests/unit/gguf-write.h"

/* Opened from an exact heap block, so that a sanitizer sees any read past the end. */
static inline struct gguf *open_exact(const char *p, size_t n, void **block,
                                      struct err *e)
{
    *block = xmalloc(n);
    if (n)
        memcpy(*block, p, n);
    return gguf_open_memory(*block, n, "memory.gguf", e);
}

static inline void refuse(const struct buf *file, const char *why)
{
    struct err e = {0};
    void *block;
    struct gguf *g = open_exact(file->p, file->n, &block, &e);
    if (g)
        fail_msg("opened, but should say: %s", why);
    assert_int_equal(e.kind, ERR_MODEL);
    if (!strstr(e.text, why) || !strstr(e.text, "memory.gguf"))
        fail_msg("says \"%s\" instead of: %s", e.text, why);
    free(block);
}

static inline char *scratch_dir(void)
{
    char name[] = "/tmp/vitrine-gguf-XXXXXX";
    assert_non_null(mkdtemp(name));
    return xstrdup(name);
}

static inline void write_file(const char *dir, const char *name, const void *p, size_t n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void remove_file(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(unlink(path), 0);
}

static inline struct gguf *open_in(const char *dir, const char *name, struct err *e)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return gguf_open(path, e);
}

/* Of the processor. */
static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
