#include "config.h"

#include "chat/sha256.h"

#include "base/err.h"

#ifndef HAVE_NETTLE

void chat_sha256_known(const char *path, char hex[65])
{
    (void)path;
    hex[0] = '\0';
}

bool chat_sha256_file(const char *path, char hex[65], struct err *e)
{
    hex[0] = '\0';
    return err_set(e, "cannot hash %s: this vitrine was built without nettle", path);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"

enum { CHAT_SHA256_AT_ONCE = 64 << 20, CHAT_SHA256_STEP = 1 << 20 };

/* The line under which a file is remembered: "hash size mtime path". */
static bool chat_sha256_key(const char *path, struct buf *key, off_t *size)
{
    struct stat st;
    char *real = realpath(path, NULL);

    if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode)) {
        free(real);
        return false;
    }
    buf_addf(key, " %lld %lld.%09ld %s\n", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
             st.st_mtim.tv_nsec, real);
    *size = st.st_size;
    free(real);
    return true;
}

static bool chat_sha256_recall(const struct buf *key, char hex[65])
{
    struct buf path = {0};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool found = false;
    FILE *in = path_xdg(&path, PATH_CACHE, "sha256", NULL) ? fopen(path.p, "re") : NULL;

    while (in && (n = getline(&line, &cap, in)) > 0) {
        if ((size_t)n != 64 + key->n || strcmp(line + 64, key->p) ||
            strspn(line, "0123456789abcdef") != 64)
            continue;
        memcpy(hex, line, 64);
        hex[64] = '\0';
        found = true;
    }
    if (in)
        fclose(in);
    free(line);
    buf_release(&path);
    return found;
}

/* A cache that cannot be written only costs time. */
static void chat_sha256_remember(const struct buf *key, const char hex[65])
{
    struct buf path = {0}, line = {0};

    if (path_xdg(&path, PATH_CACHE, NULL, NULL) && path_make_dirs(path.p, NULL)) {
        buf_adds(&path, "/sha256");
        buf_addf(&line, "%s%s", hex, key->p);
        int fd = open(path.p, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) {
            ssize_t done = write(fd, line.p, line.n);
            (void)done;
            close(fd);
        }
    }
    buf_release(&path);
    buf_release(&line);
}

bool chat_sha256_file(const char *path, char hex[65], struct err *e)
{
    struct buf key = {0};
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    off_t size;
    bool ok = true;

    hex[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !chat_sha256_key(path, &key, &size)) {
        if (fd >= 0)
            close(fd);
        return err_set(e, "cannot hash %s: %s", path, strerror(errno));
    }
    uint8_t *chunk = xmalloc(CHAT_SHA256_STEP);
    sha256_init(&ctx);
    for (;;) {
        ssize_t n = read(fd, chunk, CHAT_SHA256_STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            ok = err_set(e, "cannot hash %s: %s", path, strerror(errno));
        if (n <= 0)
            break;
        sha256_update(&ctx, (size_t)n, chunk);
    }
    sha256_digest(&ctx, sizeof digest, digest);
    if (ok) {
        for (size_t i = 0; i < sizeof digest; i++)
            snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        chat_sha256_remember(&key, hex);
    }
    free(chunk);
    close(fd);
    buf_release(&key);
    return ok;
}

void chat_sha256_known(const char *path, char hex[65])
{
    struct buf key = {0};
    off_t size;

    hex[0] = '\0';
    if (chat_sha256_key(path, &key, &size) && !chat_sha256_recall(&key, hex) &&
        size <= CHAT_SHA256_AT_ONCE)
        chat_sha256_file(path, hex, NULL);
    buf_release(&key);
}

#endif
