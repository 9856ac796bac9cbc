/* Files behind a gguf: mapping one, and gathering the parts of a split model.
 *
 * gguf-split cuts a model into NAME-00001-of-00003.gguf and so on. Each part is a GGUF
 * file with its own tensors and offsets; split.no counts from 0, the metadata of the
 * model stands in part 0. Whatever part the user names, the parts are opened in order
 * from 0. */
#include "config.h"

#include "base/gguf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/gguf_int.h"
#include "base/mem.h"

enum {
    GGUF_SPLIT_MAX = 65535, /* split.count is 16 bits wide */
    GGUF_MISSING_SHOWN = 6, /* names in an error before "and N more" */
    GGUF_SUFFIX = 20,       /* strlen("-00001-of-00003.gguf") */
};

/* ---- mapping ---- */

static bool gguf_map_fd(int fd, const char *path, struct gguf_shard *s, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return GGUF_REFUSE(e, "cannot read %s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return GGUF_REFUSE(
            e, "%s is a directory, not a GGUF file: name the .gguf file in it", path);
    if (!S_ISREG(st.st_mode))
        return GGUF_REFUSE(e, "%s is not a regular file: a model must be one", path);
    if ((uintmax_t)st.st_size > SIZE_MAX)
        return GGUF_REFUSE(e, "%s is too large for this machine's addresses", path);

    s->n = (size_t)st.st_size;
    if (!s->n)
        return true;
    void *p = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return GGUF_REFUSE(e, "cannot map %s: %s", path, strerror(errno));
    s->p = p;
    s->mapped = true;
    return true;
}

/* O_NONBLOCK: a FIFO without a writer must not hold us. */
static bool gguf_map(const char *path, struct gguf_shard *s, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return GGUF_REFUSE(e, "cannot open %s: %s", path, strerror(errno));
    bool ok = gguf_map_fd(fd, path, s, e);
    close(fd);
    return ok;
}

static struct gguf_shard *gguf_add_shard(struct gguf *g, const char *path)
{
    MEM_GROW(g->shards, g->cap_shards, g->n_shards + 1);
    struct gguf_shard *s = &g->shards[g->n_shards++];
    *s = (struct gguf_shard){ .path = xstrdup(path) };
    return s;
}

/* Back to the state without any file. */
static void gguf_reset(struct gguf *g)
{
    for (int i = 0; i < g->n_shards; i++) {
        if (g->shards[i].mapped)
            munmap((void *)g->shards[i].p, g->shards[i].n);
        free(g->shards[i].path);
    }
    free(g->shards);
    gguf_meta_release(&g->meta);
    free(g->tensors);
    free(g->by_name);
    buf_release(&g->names);
    *g = (struct gguf){0};
}

/* ---- split models ---- */

static bool gguf_digits(const char *s, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        *out = *out * 10 + (uint32_t)(s[i] - '0');
    }
    return true;
}

/* Does path end in -NNNNN-of-NNNNN.gguf? *stem gets the length of what stands before. */
static bool gguf_split_name(const char *path, size_t *stem, struct gguf_split *out)
{
    size_t n = strlen(path);
    const char *s = path + (n < GGUF_SUFFIX ? 0 : n - GGUF_SUFFIX);

    if (n < GGUF_SUFFIX || s[0] != '-' || !gguf_digits(s + 1, &out->no) ||
        memcmp(s + 6, "-of-", 4) || !gguf_digits(s + 10, &out->count) ||
        memcmp(s + 15, ".gguf", 5))
        return false;
    *stem = n - GGUF_SUFFIX;
    return out->no-- > 0;
}

static void gguf_part_path(struct buf *out, const char *path, size_t stem, uint32_t no,
                           uint32_t count)
{
    buf_reset(out);
    buf_add(out, path, stem);
    buf_addf(out, "-%05" PRIu32 "-of-%05" PRIu32 ".gguf", no + 1, count);
}

static void gguf_list_missing(struct buf *out, uint32_t *missing, const char *name)
{
    if ((*missing)++ < GGUF_MISSING_SHOWN)
        buf_addf(out, "%s%s", *missing > 1 ? ", " : "", name);
}

/* All parts must be there before any is opened: one message lists what is not. */
static bool gguf_check_parts(const char *path, size_t stem,
                             const struct gguf_split *split, struct err *e)
{
    struct buf name = {0}, list = {0};
    uint32_t missing = 0;

    for (uint32_t i = 0; i < split->count; i++) {
        gguf_part_path(&name, path, stem, i, split->count);
        if (i != split->no && access(name.p, F_OK) < 0)
            gguf_list_missing(&list, &missing, name.p);
    }
    if (missing > GGUF_MISSING_SHOWN)
        buf_addf(&list, " and %" PRIu32 " more", missing - GGUF_MISSING_SHOWN);
    if (missing)
        GGUF_REFUSE(e,
                    "%s is part %" PRIu32 " of %" PRIu32
                    " of a split model; missing beside it: %s",
                    path, split->no + 1, split->count, list.p);
    buf_release(&name);
    buf_release(&list);
    return !missing;
}

/* The file at path says it is a part. Find the stem of the parts' names. */
static bool gguf_check_split(const char *path, const struct gguf_split *split,
                             size_t *stem, struct err *e)
{
    struct gguf_split named;

    if (split->count > GGUF_SPLIT_MAX || split->no >= split->count)
        return GGUF_REFUSE(
            e,
            "%s says it is part %" PRIu32 " of %" PRIu32
            " (split.no, split.count), which cannot be; the file is damaged",
            path, split->no, split->count);
    if (!gguf_split_name(path, stem, &named)) {
        size_t n = strlen(path);
        *stem = n > 5 && !memcmp(path + n - 5, ".gguf", 5) ? n - 5 : n;
        return gguf_check_parts(path, *stem, split, e) &&
               GGUF_REFUSE(e,
                           "%s is part %" PRIu32 " of %" PRIu32
                           " of a split model: end its name in -%05" PRIu32
                           "-of-%05" PRIu32 ".gguf, as the others do",
                           path, split->no + 1, split->count, split->no + 1,
                           split->count);
    }
    if (named.no != split->no || named.count != split->count)
        return GGUF_REFUSE(e,
                           "%s says inside that it is part %" PRIu32 " of %" PRIu32
                           ": give the file its own name back",
                           path, split->no + 1, split->count);
    return gguf_check_parts(path, *stem, split, e);
}

static bool gguf_open_file(struct gguf *g, const char *path, struct gguf_meta *meta,
                           struct gguf_split *split, struct err *e)
{
    struct gguf_shard *s = gguf_add_shard(g, path);
    return gguf_map(path, s, e) && gguf_parse(g, g->n_shards - 1, meta, split, e);
}

/* Open part no behind the ones that are open. Only part 0's metadata is kept. */
static bool gguf_open_part(struct gguf *g, const char *path, uint32_t no, uint32_t count,
                           struct err *e)
{
    struct gguf_meta own = {0};
    struct gguf_split split;

    bool ok = gguf_open_file(g, path, no ? &own : &g->meta, &split, e);
    gguf_meta_release(&own);
    if (ok && (split.no != no || split.count != count))
        return GGUF_REFUSE(e,
                           "%s says inside that it is part %" PRIu32 " of %" PRIu32
                           ", not part %" PRIu32 " of %" PRIu32 ": fetch it again",
                           path, split.no + 1, split.count, no + 1, count);
    return ok;
}

/* g holds the one file the user named. Turn it into the whole model. */
static bool gguf_open_parts(struct gguf *g, const char *path,
                            const struct gguf_split *split, struct err *e)
{
    struct buf name = {0};
    size_t stem = 0;
    bool ok = gguf_check_split(path, split, &stem, e);

    if (ok && split->no)
        gguf_reset(g);
    for (uint32_t i = split->no ? 0 : 1; ok && i < split->count; i++) {
        gguf_part_path(&name, path, stem, i, split->count);
        ok = gguf_open_part(g, name.p, i, split->count, e);
    }
    buf_release(&name);
    return ok;
}

/* ---- the door ---- */

struct gguf *gguf_open(const char *path, struct err *e)
{
    struct gguf *g = xcalloc(1, sizeof *g);
    struct gguf_split split;

    if (gguf_open_file(g, path, &g->meta, &split, e) &&
        (split.count <= 1 || gguf_open_parts(g, path, &split, e)) && gguf_link(g, e))
        return g;
    gguf_free(g);
    return NULL;
}

struct gguf *gguf_open_memory(const void *p, size_t n, const char *name, struct err *e)
{
    struct gguf *g = xcalloc(1, sizeof *g);
    struct gguf_shard *s = gguf_add_shard(g, name);
    struct gguf_split split;

    assert((uintptr_t)p % 8 == 0);
    s->p = p;
    s->n = n;
    if (gguf_parse(g, 0, &g->meta, &split, e)) {
        if (split.count <= 1 && gguf_link(g, e))
            return g;
        if (split.count > 1)
            GGUF_REFUSE(e, "%s is part of a split model; its other parts are missing",
                        name);
    }
    gguf_free(g);
    return NULL;
}

void gguf_free(struct gguf *g)
{
    if (!g)
        return;
    gguf_reset(g);
    free(g);
}

const char *gguf_path(const struct gguf *g)
{
    return g->shards[0].path;
}

uint64_t gguf_file_bytes(const struct gguf *g)
{
    uint64_t n = 0;
    for (int i = 0; i < g->n_shards; i++)
        n += g->shards[i].n;
    return n;
}

int gguf_shards(const struct gguf *g)
{
    return g->n_shards;
}

uint32_t gguf_version(const struct gguf *g)
{
    return g->shards[0].version;
}
