/* libFuzzer target: any bytes through the GGUF reader and everything it hands out. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/gguf.h"
#include "tests/unit/gguf-write.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct err e = {0};
    struct gguf *g = gguf_open_memory(p, n, "fuzz", &e);

    /* A refusal must say why, and in text that a terminal can show. */
    if (!g) {
        if (e.kind != ERR_MODEL || !e.text[0])
            abort();
        for (const char *s = e.text; *s; s++)
            if ((unsigned char)*s < ' ' || *s == 0x7f)
                abort();
        return 0;
    }
    gw_touch(g);
    gguf_free(g);
    return 0;
}
