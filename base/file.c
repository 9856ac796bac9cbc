#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"

enum { FILE_STEP = 65536 };

bool file_write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

bool file_read_all(int fd, struct buf *out)
{
    for (;;) {
        buf_reserve(out, FILE_STEP);
        ssize_t n = read(fd, out->p + out->n, FILE_STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        out->n += (size_t)n;
        out->p[out->n] = '\0';
    }
}
