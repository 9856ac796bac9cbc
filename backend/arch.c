/* The table of architectures. Keys and defaults are
 * those of llama.cpp, which writes the files, and so is which architecture heeds which key:
 * a key that is ignored there has no meaning for the weights beside it. */
#include "config.h"

#include "backend/arch.h"

#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

static const struct be_arch be_archs[] = {
    { "llama",    BE_ROPE_PAIRS,  BE_HAS_QKV_BIAS | BE_HAS_ALL_BIAS, 0 },
    { "qwen2",    BE_ROPE_HALVES, BE_HAS_QKV_BIAS, 0 },
    { "qwen3",    BE_ROPE_HALVES, BE_HAS_QK_NORM, 0 },
    { "mistral3", BE_ROPE_PAIRS,
      BE_HAS_QKV_BIAS | BE_HAS_ALL_BIAS | BE_HAS_ATTN_TEMP | BE_HAS_YARN_KEYS, 0 },
    { "smollm3",  BE_ROPE_PAIRS,  BE_HAS_QKV_BIAS | BE_HAS_ALL_BIAS, 4 },
};

enum { BE_ARCHS = sizeof be_archs / sizeof be_archs[0] };

bool be_arch_str_is(struct gguf_str s, const char *name)
{
    return s.n == strlen(name) && !memcmp(s.p, name, s.n);
}

const struct be_arch *be_arch_find(const struct gguf *g, struct err *e)
{
    struct gguf_str name;
    struct buf known = {0};

    if (!gguf_get_str(g, "general.architecture", &name, e))
        return NULL;
    for (size_t i = 0; i < BE_ARCHS; i++) {
        if (be_arch_str_is(name, be_archs[i].name)) {
            buf_release(&known);
            return &be_archs[i];
        }
        buf_addf(&known, "%s%s", i ? ", " : "", be_archs[i].name);
    }
    err_set_kind(e, ERR_MODEL, "%s has the architecture \"%.*s\", which this version cannot "
                 "compute; it knows %s", gguf_path(g), (int)(name.n < 100 ? name.n : 100),
                 name.p, known.p);
    buf_release(&known);
    return NULL;
}
