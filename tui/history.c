/* File format: an entry a line, with a backslash written as \\, a newline as \n and a
 * carriage return as \r, so the file is text that grep can search and that any editor
 * can clean.
 *
 * Appending takes an exclusive lock. Cutting the file writes a new one beside it and
 * renames it, holding the lock of the old one; a program that waited for that lock
 * sees that the name now means another file and opens again. */
#include "config.h"

#include "tui/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

enum {
    SLACK = 250,            /* entries over the limit before the file is cut */
    ENTRY_MAX = 100000,     /* a longer paste is kept in memory, not in the file */
};

/* ---- entries ---- */

static void remove_at(struct tui_history *h, size_t i)
{
    free(h->v[i]);
    free(h->edited[i]);
    memmove(h->v + i, h->v + i + 1, (h->n - i - 1) * sizeof *h->v);
    memmove(h->edited + i, h->edited + i + 1, (h->n - i - 1) * sizeof *h->edited);
    h->n--;
}

static void keep(struct tui_history *h, const char *text)
{
    for (size_t i = h->n; i-- > 0;)
        if (!strcmp(h->v[i], text)) {
            remove_at(h, i);
            break;
        }
    if (h->n >= TUI_HISTORY_MAX)
        remove_at(h, 0);
    if (h->n >= h->cap) {
        h->cap = h->cap ? h->cap * 2 : 64;
        h->v = xreallocarray(h->v, h->cap, sizeof *h->v);
        h->edited = xreallocarray(h->edited, h->cap, sizeof *h->edited);
    }
    h->v[h->n] = xstrdup(text);
    h->edited[h->n] = NULL;
    h->n++;
}

void tui_history_rest(struct tui_history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        free(h->edited[i]);
        h->edited[i] = NULL;
    }
    free(h->draft);
    h->draft = NULL;
    h->at = h->n;
}

void tui_history_release(struct tui_history *h)
{
    tui_history_rest(h);
    while (h->n)
        remove_at(h, h->n - 1);
    free(h->v);
    free(h->edited);
    free(h->path);
    *h = (struct tui_history){0};
}

/* ---- the file ---- */

static void escape(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            buf_adds(out, "\\\\");
        else if (*text == '\n')
            buf_adds(out, "\\n");
        else if (*text == '\r')
            buf_adds(out, "\\r");
        else
            buf_addc(out, *text);
    }
    buf_addc(out, '\n');
}

static void unescape(struct buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\\' || i + 1 == n)
            buf_addc(out, s[i]);
        else if (s[++i] == 'n')
            buf_addc(out, '\n');
        else if (s[i] == 'r')
            buf_addc(out, '\r');
        else
            buf_addc(out, s[i]);
    }
}

/* Open path and lock it. -1 and errno on failure. */
static int open_locked(const char *path, int flags)
{
    for (;;) {
        struct stat by_fd, by_name;
        int fd = open(path, flags | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &by_fd) == 0) {
            if (stat(path, &by_name) == 0 && by_fd.st_ino == by_name.st_ino &&
                by_fd.st_dev == by_name.st_dev)
                return fd;
            close(fd);          /* cut meanwhile: the name is another file's now */
            continue;
        }
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
}

/* Write the kept entries to a new file in place of the old one, whose lock is held. */
static bool rewrite(struct tui_history *h, struct err *e)
{
    struct buf name = {0}, text = {0};
    bool ok = false;

    buf_addf(&name, "%s.%ld", h->path, (long)getpid());
    for (size_t i = 0; i < h->n; i++)
        escape(&text, h->v[i]);
    int fd = open(name.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        ok = file_write_all(fd, buf_str(&text), text.n) && fsync(fd) == 0;
        ok = close(fd) == 0 && ok && rename(name.p, h->path) == 0;
    }
    if (!ok) {
        err_set(e, "cannot write the history %s: %s", h->path, strerror(errno));
        unlink(name.p);
    }
    buf_release(&name);
    buf_release(&text);
    return ok;
}

bool tui_history_load(struct tui_history *h, const char *path, struct err *e)
{
    struct buf text = {0}, entry = {0};
    size_t lines = 0;
    bool ok = true;

    free(h->path);
    h->path = xstrdup(path);
    int fd = open_locked(path, O_RDWR);
    if (fd < 0)
        return errno == ENOENT ||
               err_set(e, "cannot read the history %s: %s", path, strerror(errno));
    if (!file_read_all(fd, &text))
        ok = err_set(e, "cannot read the history %s: %s", path, strerror(errno));
    for (size_t at = 0; at < text.n; lines++) {
        const char *nl = memchr(text.p + at, '\n', text.n - at);
        size_t len = nl ? (size_t)(nl - text.p) - at : text.n - at;
        buf_reset(&entry);
        unescape(&entry, text.p + at, len);
        if (entry.n && !memchr(entry.p, '\0', entry.n))
            keep(h, entry.p);
        at += len + 1;
    }
    if (ok && lines > TUI_HISTORY_MAX + SLACK)
        ok = rewrite(h, e);
    close(fd);
    buf_release(&text);
    buf_release(&entry);
    h->at = h->n;
    return ok;
}

bool tui_history_add(struct tui_history *h, const char *text, struct err *e)
{
    tui_history_rest(h);
    if (*text == ' ' || text[strspn(text, " \t\n")] == '\0' ||
        (h->n && !strcmp(h->v[h->n - 1], text)))
        return true;
    keep(h, text);
    h->at = h->n;
    if (!h->path || strlen(text) > ENTRY_MAX)
        return true;

    struct buf line = {0};
    escape(&line, text);
    int fd = open_locked(h->path, O_WRONLY | O_APPEND | O_CREAT);
    bool ok = fd >= 0 && file_write_all(fd, line.p, line.n);
    if (!ok)
        err_set(e, "cannot write the history %s: %s", h->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    buf_release(&line);
    return ok;
}

/* ---- walking ---- */

const char *tui_history_move(struct tui_history *h, const char *current, size_t to)
{
    if (to > h->n || to == h->at)
        return NULL;
    char **slot = h->at == h->n ? &h->draft : &h->edited[h->at];
    free(*slot);
    *slot = xstrdup(current);
    h->at = to;
    if (to == h->n)
        return h->draft ? h->draft : "";
    return h->edited[to] ? h->edited[to] : h->v[to];
}

const char *tui_history_prev(struct tui_history *h, const char *current)
{
    return h->at > 0 ? tui_history_move(h, current, h->at - 1) : NULL;
}

const char *tui_history_next(struct tui_history *h, const char *current)
{
    return h->at < h->n ? tui_history_move(h, current, h->at + 1) : NULL;
}
