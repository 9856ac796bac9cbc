#ifndef UNIT_MODEL_H
#define UNIT_MODEL_H

/* Opening one of the shared models for a test, and evaluating it. */

#include "tests/unit/unit.h"

#include "backend/backend.h"
#include "base/err.h"
#include "base/gguf.h"

struct model {
    struct gguf *g;
    struct be *b;
    struct be_params p;
};

static inline struct gguf *open_gguf(const char *name)
{
    char path[4300];
    struct err e = {0};
    struct gguf *g;

    snprintf(path, sizeof path, "%s/models/%s", unit_shared(), name);
    g = gguf_open(path, &e);
    if (!g)
        fail_msg("%s", e.text);
    return g;
}

static inline void model_open(struct model *m, const char *name, const char *isa, int threads, int chunk)
{
    struct err e = {0};

    m->g = open_gguf(name);
    m->p = (struct be_params){.gguf = m->g, .device = "cpu", .isa = isa, .threads = threads,
                              .chunk = chunk, .ctx = 300};
    if (strstr(name, "gpt2"))           /* has no embeddings for more */
        m->p.ctx = 256;
    m->b = be_open(&m->p, &e);
    if (!m->b)
        fail_msg("%s", e.text);
}

static inline void model_close(struct model *m)
{
    be_free(m->b);
    gguf_free(m->g);
}

static inline void eval(struct model *m, const int32_t *ids, size_t n, uint32_t pos, enum be_want want)
{
    struct err e = {0};
    enum be_status st = be_eval(m->b, ids, n, pos, want, &e);
    if (st != BE_OK)
        fail_msg("status %d: %s", (int)st, e.text);
}

/* All that there are; a machine may lack some. */
static const char *const isas[] = {"portable", "avx2", "avx512"};

#endif
