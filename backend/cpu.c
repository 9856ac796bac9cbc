/* The CPU device: one model behind the table of operations. Here are the choice of the
 * context, the description of the model, and the snapshots. A snapshot's part of the cache
 * is, for every layer, the rows of all key heads and then of all value heads, positions
 * 0 .. pos - 1. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "backend/llama.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "base/mem.h"

enum {
    CTX_LEAST = 512,            /* what is tried for even when half the room is less */
    CTX_USELESS = 32,           /* with less nobody can chat: refuse */
    CTX_MOST = 1 << 24,
    CTX_STEP = 256,             /* a context cut by memory is a multiple of this */
};

static struct be_llama *be_llama_of(const struct be *b)
{
    return b->dev;
}

/* Positions that fit into so many bytes. */
static uint32_t be_fit(const struct be_sizes *s, uint64_t bytes)
{
    uint64_t n = bytes > s->fixed ? (bytes - s->fixed) / s->per_position : 0;
    return n < CTX_MOST ? (uint32_t)n : CTX_MOST;
}

/* What may be allocated: the limit given, or what is free beside the mapped weights. Weights
 * larger than memory are read from the file again and again; a part is left for us. */
static uint64_t be_room(const struct be_llama *m, uint64_t limit, uint64_t free_memory)
{
    if (limit)
        return limit;
    return free_memory - free_memory / 4 > m->sizes.weights ? free_memory - m->sizes.weights
                                                            : free_memory / 4;
}

/* ---- the context ---- */

static bool be_ctx_refuse(struct be *b, uint32_t ctx, uint64_t room, struct err *e)
{
    const struct be_sizes *s = &be_llama_of(b)->sizes;
    char need[32], have[32];

    if (b->how == BE_HOW_PROBE)
        return true;            /* a plan may be asked for what does not fit */
    return err_set(e, "a context of %u positions needs %s beside the weights and %s may be "
                   "used; the largest that fits is %u", ctx,
                   be_size(need, s->fixed + ctx * s->per_position), be_size(have, room),
                   be_fit(s, room));
}

static bool be_ctx_given(struct be *b, uint32_t ctx, uint64_t room, struct err *e)
{
    uint32_t trained = b->info.ctx_train;

    b->info.ctx = ctx;
    b->info.why_ctx = ctx <= trained
        ? be_keepf(b, "asked for; the model was trained for %u", trained)
        : be_keepf(b, "asked for, but the model was trained for %u only: beyond that its "
                   "answers may be worthless", trained);
    if (ctx > CTX_MOST)
        return err_set_kind(e, ERR_USAGE, "a context of %u positions is more than the %u that "
                            "this version can address", ctx, (unsigned)CTX_MOST);
    if (ctx > trained && be_llama_of(b)->positions.data)
        return err_set_kind(e, ERR_USAGE, "a context of %u positions is more than the %u that "
                            "the model has embeddings for", ctx, trained);
    return ctx <= be_fit(&be_llama_of(b)->sizes, room) || be_ctx_refuse(b, ctx, room, e);
}

/* As much as the model was trained for, if half of the room holds it. */
static bool be_ctx_choose(struct be *b, const struct be_params *p, struct err *e)
{
    const struct be_sizes *s = &be_llama_of(b)->sizes;
    uint64_t room = be_room(be_llama_of(b), p->memory, be_free_memory());
    uint64_t budget = p->memory ? room : room / 2;
    uint32_t most = b->info.ctx_train < CTX_MOST ? b->info.ctx_train : CTX_MOST;
    uint32_t least = most < CTX_LEAST ? most : CTX_LEAST;
    uint32_t ctx = be_fit(s, budget);
    char text[32];

    if (p->ctx)
        return be_ctx_given(b, p->ctx, room, e);
    if (ctx >= most) {
        b->info.ctx = most;
        b->info.why_ctx = most < b->info.ctx_train
            ? be_keepf(b, "the most this version can address; the model was trained for %u",
                       b->info.ctx_train)
            : "all the model was trained for";
        return true;
    }
    ctx = ctx > CTX_STEP ? ctx / CTX_STEP * CTX_STEP : ctx;
    if (ctx < least)
        ctx = be_fit(s, room) < least ? be_fit(s, room) : least;
    b->info.ctx = ctx;
    b->info.why_ctx = be_keepf(b, "what fits into %s%s; the model was trained for %u",
                               p->memory ? "the memory limit of "
                                         : "half of the memory free beside the weights, ",
                               be_size(text, budget), b->info.ctx_train);
    return ctx >= CTX_USELESS || be_ctx_refuse(b, least, room, e);
}

/* ---- the description ---- */

/* The type most of the big matrices' elements have, and whether it is the only one. */
static const char *be_quant(struct be *b)
{
    const struct gguf *g = be_llama_of(b)->gguf;
    uint64_t n[GGUF_DT_LIMIT] = {0};
    uint32_t best = 0;
    int kinds = 0;

    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        if (t->n_dims >= 2 && t->dtype < GGUF_DT_LIMIT)
            n[t->dtype] += t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];
    }
    for (uint32_t d = 0; d < GGUF_DT_LIMIT; d++) {
        kinds += n[d] > 0;
        if (n[d] > n[best])
            best = d;
    }
    return be_keepf(b, "%s%s", gguf_dtype_info(best)->name, kinds > 1 ? " mixed" : "");
}

static void be_describe(struct be *b, const struct be_params *p)
{
    struct be_llama *m = be_llama_of(b);
    const struct be_hparams *h = &m->hp;
    struct gguf_str name = {"", 0};
    struct be_info *i = &b->info;

    gguf_opt_str(m->gguf, "general.name", &name, NULL);
    i->arch = m->arch->name;
    i->name = be_keep(b, xmemdup0(name.p, name.n));
    i->quant = be_quant(b);
    i->device = be_keepf(b, "CPU %s, %d thread%s", m->k->name, m->threads,
                         m->threads == 1 ? "" : "s");
    i->why_device = p->device && !strcmp(p->device, "cpu")
                        ? "asked for by --device cpu" : "this version has no GPU backend";
    for (size_t t = 0; t < gguf_n_tensors(m->gguf); t++) {
        const uint64_t *ne = gguf_tensor_at(m->gguf, t)->ne;
        i->parameters += ne[0] * ne[1] * ne[2] * ne[3];
    }
    i->file_bytes = gguf_file_bytes(m->gguf);
    i->n_layers = h->n_layers;
    i->n_embd = h->n_embd;
    i->n_heads = h->n_heads;
    i->n_kv_heads = h->n_kv_heads;
    i->head_dim = h->key_len;
    i->n_ff = h->n_ff;
    i->n_vocab = h->n_vocab;
    i->ctx_train = h->ctx_train;
}

/* Names, shapes, types and the first bytes of all tensors, the numbers that steer the
 * computation (frequencies may depend on the context), and the kernels, since each instruction set has its own bits. */
static uint64_t be_print(const struct be_llama *m)
{
    uint64_t h = be_hash(BE_HASH_START, m->arch->name, strlen(m->arch->name));

    h = be_hash(h, &m->hp, sizeof m->hp);
    h = be_hash(h, m->k->name, strlen(m->k->name));
    h = be_hash(h, m->rope.freq, m->rope.half * sizeof *m->rope.freq);
    for (size_t i = 0; i < gguf_n_tensors(m->gguf); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(m->gguf, i);
        h = be_hash(h, t->name, strlen(t->name));
        h = be_hash(h, t->ne, sizeof t->ne);
        h = be_hash(h, &t->dtype, sizeof t->dtype);
        h = be_hash(h, t->data, t->size < 64 ? t->size : 64);
    }
    return h;
}

/* ---- opening ---- */

static bool be_cpu_open(struct be *b, const struct be_params *p, enum be_how how, struct err *e)
{
    struct be_llama *m = b->dev = xcalloc(1, sizeof *m);

    m->gguf = p->gguf;
    m->k = be_kernels_find(p->isa, e);
    if (!m->k)
        return false;
    m->arch = be_arch_find(m->gguf, e);
    if (!m->arch || !be_arch_read(m->arch, m->gguf, &m->hp, e) || !be_llama_load(m, e))
        return false;
    m->threads = p->threads > 0 ? p->threads : be_cpu_count();
    be_describe(b, p);
    be_llama_set_sizes(m, b->chunk);
    m->memory = p->memory;
    if (!be_ctx_choose(b, p, e))
        return false;
    m->ctx = b->info.ctx;
    be_llama_set_rope(m);
    b->fingerprint = be_print(m);
    return how == BE_HOW_PROBE || be_llama_allocate(m, e);
}

static void be_cpu_free(struct be *b)
{
    struct be_llama *m = be_llama_of(b);

    if (!m)
        return;
    be_llama_release(m);
    be_llama_unload(m);
    free(m);
}

static enum be_status be_cpu_eval(struct be *b, const struct be_step *s, struct err *e)
{
    (void)e;
    return be_llama_step(be_llama_of(b), b, s) ? BE_OK : BE_CANCELLED;
}

static void be_cpu_truncate(struct be *b, uint32_t pos)
{
    (void)b;                    /* what lies beyond is never read, only overwritten */
    (void)pos;
}

static void be_cpu_plan(const struct be *b, struct be_plan *out)
{
    const struct be_llama *m = be_llama_of(b);
    const struct be_sizes *s = &m->sizes;

    out->weights = s->weights;
    out->kv_per_position = s->kv_per_position;
    out->kv = be_llama_cache_bytes(m);
    out->scratch = s->fixed + (s->per_position - s->kv_per_position) * m->ctx;
    out->room = be_room(m, m->memory, out->free_memory);
    out->ctx_max = be_fit(s, out->room);
}

/* ---- snapshots ---- */

typedef void be_rows_fn(void *arg, float *rows, size_t bytes);

/* Every head's rows of positions 0 .. pos - 1, in the order of the format. */
static void be_each_rows(const struct be_llama *m, uint32_t pos, be_rows_fn *fn, void *arg)
{
    const struct be_hparams *h = &m->hp;

    for (uint32_t l = 0; l < h->n_layers; l++) {
        for (uint32_t i = 0; i < h->n_kv_heads; i++)
            fn(arg, be_llama_keys(m, l, i), (size_t)pos * h->key_len * sizeof(float));
        for (uint32_t i = 0; !h->mla.rank && i < h->n_kv_heads; i++)
            fn(arg, be_llama_values(m, l, i), (size_t)pos * h->value_len * sizeof(float));
    }
}

static void be_rows_out(void *arg, float *rows, size_t bytes)
{
    buf_add(arg, rows, bytes);
}

static void be_rows_in(void *arg, float *rows, size_t bytes)
{
    const uint8_t **p = arg;

    memcpy(rows, *p, bytes);
    *p += bytes;
}

static void be_cpu_save(const struct be *b, struct buf *out)
{
    const struct be_llama *m = be_llama_of(b);

    buf_reserve(out, m->sizes.kv_per_position * b->pos);
    be_each_rows(m, b->pos, be_rows_out, out);
}

static bool be_cpu_restore(struct be *b, const uint8_t *p, size_t n, uint32_t pos,
                           struct err *e)
{
    const struct be_llama *m = be_llama_of(b);
    uint64_t want = m->sizes.kv_per_position * pos;

    if (n != want)
        return err_set(e, "the cache of %u positions has %zu bytes and must have %llu", pos, n,
                       (unsigned long long)want);
    if (n)
        be_each_rows(m, pos, be_rows_in, &p);
    return true;
}

const struct be_ops be_cpu_ops = {
    .name = "cpu",
    .open = be_cpu_open,
    .free = be_cpu_free,
    .eval = be_cpu_eval,
    .truncate = be_cpu_truncate,
    .plan = be_cpu_plan,
    .save = be_cpu_save,
    .restore = be_cpu_restore,
};
