/* Write small sound GGUF files for the fuzzers to start from: seeds DIRECTORY. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tests/unit/gguf-write.h"

static void write_seed(const char *dir, const char *name, struct gguf_write *w)
{
    struct buf file = {0}, path = {0};

    gw_finish(w, &file);
    buf_addf(&path, "%s/%s", dir, name);
    FILE *f = fopen(path.p, "w");
    if (!f || fwrite(file.p, 1, file.n, f) != file.n || fclose(f)) {
        perror(path.p);
        exit(1);
    }
    buf_release(&file);
    buf_release(&path);
    gw_release(w);
}

int main(int argc, char **argv)
{
    struct gguf_write w = {0};

    if (argc != 2)
        return 2;
    write_seed(argv[1], "empty.gguf", &w);

    gw_everything(&w);
    write_seed(argv[1], "everything.gguf", &w);

    w = (struct gguf_write){ .version = 2, .align = 64 };
    gw_kv_u32(&w, "general.alignment", 64);
    gw_everything(&w);
    write_seed(argv[1], "version2-align64.gguf", &w);

    gw_kv(&w, "split.no", GGUF_U16, "\0\0", 2);
    gw_kv(&w, "split.count", GGUF_U16, "\2\0", 2);
    gw_kv(&w, "split.tensors.count", GGUF_I32, "\4\0\0\0", 4);
    gw_everything(&w);
    write_seed(argv[1], "split.gguf", &w);

    for (uint32_t t = 0; t < GGUF_DT_LIMIT; t++) {
        const struct gguf_dtype_info *d = gguf_dtype_info(t);
        if (d)
            gw_tensor(&w, d->name, t, 2, (uint64_t[]){ d->block, 2 }, NULL, 2 * d->bytes);
    }
    write_seed(argv[1], "types.gguf", &w);
    return 0;
}
