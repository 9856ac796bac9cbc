/* What `vitrine devices` lists: the processor, and the render nodes that libdrm knows. A
 * render node is listed even when it cannot be opened, with the reason: "why is my GPU not
 * used" must have an answer. */
#include "config.h"

#include "backend/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_DRM
#include <xf86drm.h>
#endif

#include "backend/kernels.h"

/* The value behind "key : value" of the first processor in /proc/cpuinfo. */
static bool be_cpuinfo(const char *key, char *out, size_t size)
{
    static const size_t line_size = 8192;
    FILE *f = fopen("/proc/cpuinfo", "re");
    char *line;
    bool found = false;

    if (!f)
        return false;
    line = malloc(line_size);
    while (line && !found && fgets(line, (int)line_size, f)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)))
            continue;
        colon++;
        colon += strspn(colon, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, size, "%s", colon);
        found = true;
    }
    free(line);
    fclose(f);
    return found;
}

/* Is the word one of the blank-separated words of list? */
static bool be_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static void be_cpu_device(struct be_device *d)
{
    static const char *const telling[] = {
        "sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512vl",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
        "asimd", "sve",
    };
    const struct be_kernels *k = be_kernels_find("auto", NULL);
    char *flags = malloc(8192);
    size_t n = 0;

    memset(d, 0, sizeof *d);
    strcpy(d->kind, "cpu");
    if (!be_cpuinfo("model name", d->name, sizeof d->name))
        strcpy(d->name, "unknown processor");
    if (flags && (be_cpuinfo("flags", flags, 8192) || be_cpuinfo("Features", flags, 8192)))
        for (size_t i = 0; i < sizeof telling / sizeof *telling && n < sizeof d->detail; i++)
            if (be_has_word(flags, telling[i]))
                n += (size_t)snprintf(d->detail + n, sizeof d->detail - n, "%s%s",
                                      n ? " " : "", telling[i]);
    free(flags);
    if (n < sizeof d->detail)
        snprintf(d->detail + n, sizeof d->detail - n, "%skernels: %s", n ? "; " : "",
                 k ? k->name : "none");
    d->usable = k != NULL;
    snprintf(d->why, sizeof d->why, k ? "for --device auto and cpu" : "no kernels for it");
}

#ifdef HAVE_DRM

static void be_gpu_device(struct be_device *d, drmDevicePtr dev)
{
    const char *node = dev->nodes[DRM_NODE_RENDER];
    char driver[64] = "driver unknown", pci[64] = "", trouble[128] = "";
    int fd = open(node, O_RDWR | O_CLOEXEC);

    memset(d, 0, sizeof *d);
    strcpy(d->kind, "gpu");
    if (fd < 0) {
        snprintf(trouble, sizeof trouble, "; %s cannot be opened: %s%s", node,
                 strerror(errno), errno == EACCES ? " (is the user in group render?)" : "");
    } else {
        drmVersionPtr v = drmGetVersion(fd);
        if (v && v->name)
            snprintf(driver, sizeof driver, "%.*s", v->name_len, v->name);
        drmFreeVersion(v);
        close(fd);
    }
    if (dev->bustype == DRM_BUS_PCI)
        snprintf(pci, sizeof pci, ", PCI %04x:%04x at %04x:%02x:%02x.%x",
                 dev->deviceinfo.pci->vendor_id, dev->deviceinfo.pci->device_id,
                 dev->businfo.pci->domain, dev->businfo.pci->bus, dev->businfo.pci->dev,
                 dev->businfo.pci->func);
    snprintf(d->name, sizeof d->name, "%s", driver);
    snprintf(d->detail, sizeof d->detail, "%s, %s%s", node, driver, pci);
    snprintf(d->why, sizeof d->why, "no GPU backend in this version%s", trouble);
}

static size_t be_gpu_devices(struct be_device *out, size_t max)
{
    drmDevicePtr dev[32];
    int n = drmGetDevices2(0, dev, 32);
    size_t used = 0;

    for (int i = 0; i < n; i++)
        if (dev[i]->available_nodes & 1 << DRM_NODE_RENDER) {
            if (used < max)
                be_gpu_device(&out[used], dev[i]);
            used++;
        }
    if (n > 0)
        drmFreeDevices(dev, n);
    return used < max ? used : max;
}

#else

static size_t be_gpu_devices(struct be_device *out, size_t max)
{
    if (!max)
        return 0;
    *out = (struct be_device){.kind = "gpu", .name = "unknown",
                              .detail = "render nodes are not listed",
                              .why = "built without libdrm, so GPUs cannot be found"};
    return 1;
}

#endif

size_t be_devices(struct be_device *out, size_t max)
{
    if (!max)
        return 0;
    be_cpu_device(out);
    return 1 + be_gpu_devices(out + 1, max - 1);
}
