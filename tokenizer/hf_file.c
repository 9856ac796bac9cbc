/* Files of a model folder. */
#include "config.h"

#include "tokenizer/hf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

bool hf_bad(struct err *e, const char *path, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    err_set_kind(e, ERR_MODEL, "cannot load the tokenizer of %s: %s", path, b.p);
    buf_release(&b);
    return false;
}

bool hf_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool hf_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

void hf_beside(struct buf *out, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    if (hf_is_dir(path))
        buf_addf(out, "%s/%s", path, name);
    else if (slash)
        buf_addf(out, "%.*s/%s", (int)(slash - path), path, name);
    else
        buf_adds(out, name);
}

static bool file_is_foreign(const char *path, const char *p, size_t n, struct err *e)
{
    static const char lfs[] = "version https://git-lfs";

    if (n == 0)
        return !hf_bad(e, path, "it is empty");
    if (n >= sizeof lfs - 1 && memcmp(p, lfs, sizeof lfs - 1) == 0)
        return !hf_bad(
            e, path,
            "it is a Git LFS pointer, not the file itself: run \"git lfs pull\" "
            "where it lies");
    return false;
}

bool hf_map(const char *path, size_t max, struct hf_file *f, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *f = (struct hf_file){0};
    if (fd < 0)
        return hf_bad(e, path, "%s", strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return hf_bad(e, path, "it is no file");
    }
    void *p = NULL;
    if (st.st_size > 0 && (uint64_t)st.st_size <= max)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    int why = errno;
    close(fd);
    if (p == MAP_FAILED)
        return hf_bad(e, path, "%s", strerror(why));
    if ((uint64_t)st.st_size > max)
        return hf_bad(e, path, "it has more than %zu MB; no such file is so large",
                      max >> 20);
    *f = (struct hf_file){ p, (size_t)st.st_size };
    if (!file_is_foreign(path, f->p, f->n, e))
        return true;
    hf_unmap(f);
    return false;
}

void hf_unmap(struct hf_file *f)
{
    if (f->n)
        munmap((void *)f->p, f->n);
    *f = (struct hf_file){0};
}
