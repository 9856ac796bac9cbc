#include "config.h"

#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

static const struct {
    const char *variable;
    const char *under_home;
} path_roots[] = {
    [PATH_CONFIG] = { "XDG_CONFIG_HOME", ".config" },
    [PATH_DATA] = { "XDG_DATA_HOME", ".local/share" },
    [PATH_STATE] = { "XDG_STATE_HOME", ".local/state" },
    [PATH_CACHE] = { "XDG_CACHE_HOME", ".cache" },
};

bool path_xdg(struct buf *out, enum path_kind kind, const char *rest, struct err *e)
{
    const char *root = getenv(path_roots[kind].variable);

    if (root && root[0] == '/') {
        buf_adds(out, root);
    } else {
        const char *home = getenv("HOME");
        if (!home || home[0] != '/')
            return err_set(e, "cannot find a place for files: set HOME or %s to an "
                              "absolute path", path_roots[kind].variable);
        buf_addf(out, "%s/%s", home, path_roots[kind].under_home);
    }
    buf_adds(out, "/vitrine");
    if (rest)
        buf_addf(out, "/%s", rest);
    return true;
}

bool path_make_dirs(const char *dir, struct err *e)
{
    char *path = xstrdup(dir);
    bool ok = true;

    for (char *p = path + 1; ok && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST && errno != EROFS)
            ok = err_set(e, "cannot create directory %s: %s", path, strerror(errno));
        *p = '/';
    }
    if (ok && mkdir(path, 0700) < 0 && errno != EEXIST)
        ok = err_set(e, "cannot create directory %s: %s", path, strerror(errno));
    free(path);
    return ok;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
