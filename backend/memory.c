/* How much memory may still be taken. The kernel's MemAvailable counts what can be had
 * without swapping; in a container the cgroup's limit may be lower, and it holds for every
 * ancestor too. Both cgroup versions are read, and what cannot be read does not limit. */
#include "config.h"

#include "backend/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file into out; false when there is none. */
static bool be_read_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    bool ok;

    if (!f)
        return false;
    ok = fgets(out, (int)size, f) != NULL;
    fclose(f);
    if (ok)
        out[strcspn(out, "\n")] = '\0';
    return ok;
}

/* A number from a cgroup file; "max" and what is missing give none. */
static bool be_read_number(const char *dir, const char *file, uint64_t *out)
{
    char path[4352], line[64], *end;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (!be_read_line(path, line, sizeof line))
        return false;
    *out = strtoull(line, &end, 10);
    return end != line;
}

/* inactive_file of memory.stat: cache that gives way when memory is wanted. */
static uint64_t be_cgroup_cache(const char *dir)
{
    char path[4352], line[256];
    uint64_t v = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/memory.stat", dir);
    f = fopen(path, "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "total_inactive_file ", 20))
            v = strtoull(line + 20, NULL, 10);
        else if (!v && !strncmp(line, "inactive_file ", 14))
            v = strtoull(line + 14, NULL, 10);
    fclose(f);
    return v;
}

/* Lower *left to what dir and its ancestors up to root allow. */
static void be_cgroup_walk(const char *root, const char *sub, const char *max,
                           const char *now, uint64_t *left)
{
    char dir[4096];
    size_t base = strlen(root);

    if ((size_t)snprintf(dir, sizeof dir, "%s%s", root, sub) >= sizeof dir)
        return;
    for (;;) {
        uint64_t limit, used;
        if (be_read_number(dir, max, &limit) && be_read_number(dir, now, &used)) {
            uint64_t cache = be_cgroup_cache(dir);
            used = used > cache ? used - cache : 0;
            if (limit <= used)
                *left = 0;
            else if (limit - used < *left)
                *left = limit - used;
        }
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < base)
            return;
        *slash = '\0';
    }
}

static void be_cgroup_limit(uint64_t *left)
{
    char line[4096];
    FILE *f = fopen("/proc/self/cgroup", "re");

    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *sub = names ? strchr(names + 1, ':') : NULL;
        if (!sub)
            continue;
        *sub++ = '\0';
        if (!strcmp(sub, "/"))
            *sub = '\0';
        if (!names[1])
            be_cgroup_walk("/sys/fs/cgroup", sub, "memory.max", "memory.current", left);
        else if (strstr(names + 1, "memory"))
            be_cgroup_walk("/sys/fs/cgroup/memory", sub, "memory.limit_in_bytes",
                           "memory.usage_in_bytes", left);
    }
    fclose(f);
}

uint64_t be_free_memory(void)
{
    uint64_t left = 0;
    char line[256];
    FILE *f = fopen("/proc/meminfo", "re");

    if (f) {
        while (fgets(line, sizeof line, f))
            if (!strncmp(line, "MemAvailable:", 13))
                left = strtoull(line + 13, NULL, 10) * 1024;
        fclose(f);
    }
    if (!left) {
        long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        left = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_C(1) << 30;
    }
    be_cgroup_limit(&left);
    return left;
}

const char *be_size(char out[32], uint64_t bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t u = 0;

    while (v >= 1023.95 && u + 1 < sizeof unit / sizeof *unit) {
        v /= 1024;
        u++;
    }
    if (u == 0)
        snprintf(out, 32, "%" PRIu64 " bytes", bytes);
    else
        snprintf(out, 32, "%.1f %s", v, unit[u]);
    return out;
}
