/* A session file is a log. The only writes are whole lines at its end, one write(2) each, so
 * a crash can tear at most the last line; a lock keeps a second program from mixing its
 * lines in. Readers take what they understand and say what they skipped. */
#include "config.h"

#include "chat/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"

struct chat_session {
    int fd;                 /* -1: in memory */
    char *path;
    char *id;
    struct buf memory;      /* what was written, when fd is -1 */
    struct buf line;        /* scratch */
};

static char *chat_session_make_id(void)
{
    struct buf b = {0};
    unsigned char r[2] = {0};
    time_t now = time(NULL);
    struct tm tm;
    char stamp[32];

    if (getrandom(r, sizeof r, 0) != sizeof r)
        r[0] = (unsigned char)getpid();
    localtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    buf_addf(&b, "%s-%02x%02x", stamp, r[0], r[1]);
    return buf_take(&b);
}

static struct chat_session *chat_session_alloc(int fd, char *path, char *id)
{
    struct chat_session *s = xcalloc(1, sizeof *s);
    s->fd = fd;
    s->path = path;
    s->id = id;
    return s;
}

struct chat_session *chat_session_memory(void)
{
    return chat_session_alloc(-1, NULL, chat_session_make_id());
}

struct chat_session *chat_session_create(struct err *e)
{
    struct buf path = {0};
    int fd = -1;
    char *id = NULL;

    if (!path_xdg(&path, PATH_DATA, "sessions", e) || !path_make_dirs(path.p, e)) {
        buf_release(&path);
        return NULL;
    }
    size_t dir = path.n;
    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        free(id);
        id = chat_session_make_id();
        buf_truncate(&path, dir);
        buf_addf(&path, "/%s.jsonl", id);
        fd = open(path.p, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        err_set(e, "cannot create the session file %s: %s (--private chats without one)",
                path.p, strerror(errno));
        free(id);
        buf_release(&path);
        return NULL;
    }
    flock(fd, LOCK_EX | LOCK_NB);
    return chat_session_alloc(fd, buf_take(&path), id);
}

/* The file's name without its ending. */
static char *chat_session_id_of(const char *path)
{
    const char *base = path_base(path);
    size_t n = strlen(base);

    if (n > 6 && !strcmp(base + n - 6, ".jsonl"))
        n -= 6;
    return xmemdup0(base, n);
}

struct chat_session *chat_session_append(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        err_set(e, "cannot go on with the session %s: %s", path, strerror(errno));
        return NULL;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        err_set(e, "the session %s is open in another vitrine; leave it there first", path);
        close(fd);
        return NULL;
    }
    char last = '\n';
    off_t end = lseek(fd, 0, SEEK_END);
    if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n' &&
        write(fd, "\n", 1) != 1) {
        err_set(e, "cannot write to the session %s: %s", path, strerror(errno));
        close(fd);
        return NULL;
    }
    return chat_session_alloc(fd, xstrdup(path), chat_session_id_of(path));
}

void chat_session_close(struct chat_session *s)
{
    if (!s)
        return;
    if (s->fd >= 0) {
        fsync(s->fd);
        close(s->fd);
    }
    free(s->path);
    free(s->id);
    buf_release(&s->memory);
    buf_release(&s->line);
    free(s);
}

const char *chat_session_id(const struct chat_session *s)
{
    return s->id;
}

const char *chat_session_path(const struct chat_session *s)
{
    return s->path;
}

bool chat_session_write(struct chat_session *s, const struct chat_event *ev, bool sync,
                        struct err *e)
{
    buf_reset(&s->line);
    chat_event_dump(ev, &s->line);
    if (s->fd < 0) {
        buf_add(&s->memory, s->line.p, s->line.n);
        return true;
    }
    if (!file_write_all(s->fd, buf_str(&s->line), s->line.n) || (sync && fsync(s->fd) < 0))
        return err_set(e, "cannot write to the session %s: %s", s->path, strerror(errno));
    return true;
}

bool chat_session_copy(const struct chat_session *s, const char *to, struct err *e)
{
    struct buf all = {0};
    int in = -1;
    bool ok = true;

    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) {
        if (errno == EEXIST)
            return err_set(e, "%s exists; choose another name or remove it", to);
        return err_set(e, "cannot write %s: %s", to, strerror(errno));
    }
    if (s->path && (in = open(s->path, O_RDONLY | O_CLOEXEC)) < 0)
        ok = err_set(e, "cannot read the session %s: %s", s->path, strerror(errno));
    if (in >= 0 && !file_read_all(in, &all))
        ok = err_set(e, "cannot read the session %s: %s", s->path, strerror(errno));
    const struct buf *text = in >= 0 ? &all : &s->memory;
    if (ok && !file_write_all(out, buf_str(text), text->n))
        ok = err_set(e, "cannot write %s: %s", to, strerror(errno));
    if (ok && fsync(out) < 0)
        ok = err_set(e, "cannot write %s: %s", to, strerror(errno));
    if (in >= 0)
        close(in);
    close(out);
    if (!ok)
        unlink(to);
    buf_release(&all);
    return ok;
}
