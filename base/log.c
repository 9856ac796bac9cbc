#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"

static atomic_int log_fd = -1;
static long long log_start_us;

long long log_now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (long long)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

bool log_open(const char *path, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, "cannot write the trace to %s: %s", path, strerror(errno));
    log_start_us = log_now_us();
    atomic_store(&log_fd, fd);
    return true;
}

void log_close(void)
{
    int fd = atomic_exchange(&log_fd, -1);
    if (fd >= 0)
        close(fd);
}

bool log_on(void)
{
    return atomic_load_explicit(&log_fd, memory_order_relaxed) >= 0;
}

void log_line(const char *what, const char *fmt, ...)
{
    int fd = atomic_load(&log_fd);
    if (fd < 0)
        return;

    struct buf raw = {0}, line = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&raw, fmt, ap);
    va_end(ap);

    long long us = log_now_us() - log_start_us;
    buf_addf(&line, "%lld.%06lld %s: ", us / 1000000, us % 1000000, what);
    utf8_visible(&line, raw.p, raw.n, UTF8_ONE_LINE);
    buf_addc(&line, '\n');
    /* One write a line: lines of two threads never mix. A full disk must not stop a chat. */
    ssize_t done = write(fd, line.p, line.n);
    (void)done;
    buf_release(&raw);
    buf_release(&line);
}
