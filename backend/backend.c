/* The part of the backend that no device does differently: choosing the device, the ids of
 * every position, chunks, the logits buffer, be_sync() and the snapshot's header.
 *
 * A snapshot is
 *   "VTBESTAT" | u32 version | u32 positions | u64 fingerprint | char kv_type[16]
 *   | u64 hash of all that follows | ids (i32 each) | the device's part
 * in the machine's byte order: it is a cache beside a session, not an exchange format. */
#include "config.h"

#include "backend/ops.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    BE_CHUNK = 256,             /* a larger one is not faster on any device we know */
    BE_CHUNK_FIRST = 32,        /* until it is known how fast the model is */
    BE_CHUNK_LEAST = 16,
    BE_CHUNK_MOST = 4096,
    BE_CHUNK_US = 500000,       /* what a chunk may take: progress, and loss on a cancel */
    BE_STATE_VERSION = 1,
};

struct be_state_head {
    char magic[8];
    uint32_t version, pos;
    uint64_t fingerprint;
    char kv_type[16];
    uint64_t hash;
};

static const char be_magic[8] = {'V', 'T', 'B', 'E', 'S', 'T', 'A', 'T'};

const char *be_keep(struct be *b, char *text)
{
    MEM_GROW(b->texts, b->texts_cap, b->n_texts + 1);
    b->texts[b->n_texts++] = text;
    return text;
}

const char *be_keepf(struct be *b, const char *fmt, ...)
{
    struct buf t = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&t, fmt, ap);
    va_end(ap);
    return be_keep(b, buf_take(&t));
}

uint64_t be_hash(uint64_t h, const void *p, size_t n)
{
    const uint8_t *s = p;
    uint64_t w;

    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    w = n;
    memcpy(&w, s, n);
    h = (h ^ w ^ (uint64_t)n << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* ---- choosing a device ---- */

/* "gpu" and "gpu:N" are names this version knows and cannot serve: say so, with what is
 * there, rather than compute somewhere else. */
static bool be_refuse_gpu(const char *name, struct err *e)
{
    struct be_device *found = xcalloc(16, sizeof *found);
    size_t n = be_devices(found, 16);
    struct buf text = {0};

    if (name[3] == ':' && (!name[4] || strspn(name + 4, "0123456789") != strlen(name + 4))) {
        free(found);
        return err_set_kind(e, ERR_USAGE, "--device %s: gpu:N wants a number, as in gpu:0",
                            name);
    }
    for (size_t i = 0; i < n && i < 16; i++)
        if (!strcmp(found[i].kind, "gpu"))
            buf_addf(&text, "%s%s", text.n ? "; " : "", found[i].detail);
    err_set(e, "--device %s: this version has no GPU backend (found: %s); use --device cpu",
            name, text.n ? text.p : "no GPU");
    buf_release(&text);
    free(found);
    return false;
}

static const struct be_ops *be_find_device(const char *name, struct err *e)
{
    if (!name || !strcmp(name, "auto") || !strcmp(name, "cpu"))
        return &be_cpu_ops;
    if (!strncmp(name, "fake:", 5) && name[5])
        return &be_fake_ops;
    if (!strcmp(name, "gpu") || !strncmp(name, "gpu:", 4))
        be_refuse_gpu(name, e);
    else
        err_set_kind(e, ERR_USAGE, "--device %s is not known; choose auto, cpu, gpu, gpu:N "
                     "or fake:FILE", name);
    return NULL;
}

static struct be *be_make(const struct be_params *p, enum be_how how, struct err *e)
{
    const struct be_ops *ops = be_find_device(p->device, e);
    struct be *b;

    if (!ops)
        return NULL;
    if (!p->gguf && ops != &be_fake_ops) {
        err_set_kind(e, ERR_USAGE, "--device %s needs a model", p->device ? p->device : "auto");
        return NULL;
    }
    b = xcalloc(1, sizeof *b);
    b->ops = ops;
    b->how = how;
    b->cancel = p->cancel;
    b->chunk = p->chunk <= 0 ? BE_CHUNK
                             : p->chunk < BE_CHUNK_MOST ? (size_t)p->chunk : BE_CHUNK_MOST;
    b->pace = p->chunk <= 0 ? BE_CHUNK_FIRST : b->chunk;
    b->paced = p->chunk <= 0;
    b->kv_type = "F32";
    b->info = (struct be_info){.arch = "", .name = "", .quant = "", .device = "",
                               .why_device = "", .why_ctx = ""};
    if (!ops->open(b, p, how, e)) {
        be_free(b);
        return NULL;
    }
    log_line("backend", "%s %s, ctx %u: %s", ops->name, b->info.device, b->info.ctx,
             b->info.why_ctx);
    return b;
}

struct be *be_open(const struct be_params *p, struct err *e)
{
    return be_make(p, BE_HOW_OPEN, e);
}

struct be *be_probe(const struct be_params *p, struct err *e)
{
    return be_make(p, BE_HOW_PROBE, e);
}

void be_free(struct be *b)
{
    if (!b)
        return;
    b->ops->free(b);
    for (size_t i = 0; i < b->n_texts; i++)
        free(b->texts[i]);
    free(b->texts);
    free(b->logits);
    free(b->ids);
    free(b);
}

/* ---- what is known ---- */

const struct be_info *be_info(const struct be *b)
{
    return &b->info;
}

void be_plan(const struct be *b, struct be_plan *out)
{
    memset(out, 0, sizeof *out);
    out->kv_type = b->kv_type;
    out->ctx = b->info.ctx;
    out->free_memory = out->room = be_free_memory();
    b->ops->plan(b, out);
}

const struct be_vocab *be_own_vocab(const struct be *b)
{
    return b->ops->vocab ? b->ops->vocab(b) : NULL;
}

const float *be_logits(const struct be *b, size_t i)
{
    assert(i < b->rows);
    return b->logits + i * b->info.n_vocab;
}

uint32_t be_pos(const struct be *b)
{
    return b->pos;
}

const int32_t *be_ids(const struct be *b)
{
    return b->ids;
}

/* ---- evaluating ---- */

static bool be_ids_known(const struct be *b, const int32_t *ids, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= b->info.n_vocab)
            return err_set(e, "token id %d at place %zu is not in the vocabulary of %u",
                           (int)ids[i], i, b->info.n_vocab);
    return true;
}

/* Room for rows of logits. One row is part of the plan; more are asked for by the caller,
 * who reads them all, so they are checked against free memory here. */
static bool be_logits_room(struct be *b, size_t rows, struct err *e)
{
    uint64_t need = (uint64_t)rows * b->info.n_vocab;

    b->rows = 0;
    if (need <= b->logits_cap)
        return true;
    if (rows > 1 && need * sizeof *b->logits > be_free_memory()) {
        char want[32], have[32];
        return err_set(e, "the logits of %zu positions need %s and %s are free; ask for "
                       "fewer at once", rows, be_size(want, need * sizeof *b->logits),
                       be_size(have, be_free_memory()));
    }
    free(b->logits);
    b->logits_cap = need;
    b->logits = xcalloc(need, sizeof *b->logits);
    return true;
}

static enum be_status be_eval_chunk(struct be *b, const struct be_step *s, struct err *e)
{
    enum be_status st;

    if (be_cancelled(b))
        return BE_CANCELLED;
    st = b->ops->eval(b, s, e);
    if (st != BE_OK)
        return st;
    MEM_GROW(b->ids, b->ids_cap, s->pos + s->n);
    memcpy(b->ids + s->pos, s->ids, s->n * sizeof *s->ids);
    b->pos = s->pos + (uint32_t)s->n;
    return BE_OK;
}

/* Without a given size, chunks follow the model's speed: work done is shown and, on a cancel,
 * kept about every half second. The results are the same for any size. */
static void be_keep_pace(struct be *b, size_t n, long long us)
{
    if (!b->paced || n < b->pace)
        return;
    if (us > BE_CHUNK_US && b->pace / 2 >= BE_CHUNK_LEAST)
        b->pace /= 2;
    else if (us < BE_CHUNK_US / 3 && b->pace * 2 <= b->chunk)
        b->pace *= 2;
}

typedef void be_progress_fn(void *arg, uint32_t done, uint32_t total);

static enum be_status be_eval_chunks(struct be *b, const int32_t *ids, size_t n, uint32_t pos,
                                     enum be_want want, be_progress_fn *progress, void *arg,
                                     struct err *e)
{
    size_t rows = want == BE_LOGITS_ALL ? n : 1;
    uint32_t total = pos + (uint32_t)n;

    if (!be_logits_room(b, rows, e))
        return BE_FAILED;
    be_truncate(b, pos);
    for (size_t done = 0; done < n;) {
        struct be_step s = {.ids = ids + done, .pos = pos + (uint32_t)done};
        long long start = log_now_us();
        s.n = n - done < b->pace ? n - done : b->pace;
        s.rows = want == BE_LOGITS_ALL ? s.n : done + s.n == n;
        s.logits = b->logits + (want == BE_LOGITS_ALL ? done * b->info.n_vocab : 0);

        enum be_status st = be_eval_chunk(b, &s, e);
        if (st != BE_OK)
            return st;
        done += s.n;
        be_keep_pace(b, s.n, log_now_us() - start);
        if (progress)
            progress(arg, b->pos, total);
    }
    b->rows = rows;
    return BE_OK;
}

static enum be_status be_check(const struct be *b, const int32_t *ids, size_t n, uint32_t pos,
                               struct err *e)
{
    assert(b->how == BE_HOW_OPEN && pos <= b->pos);
    if (n > b->info.ctx - pos) {
        err_set_kind(e, ERR_CONTEXT, "%llu positions are needed and the context holds %u",
                     (unsigned long long)pos + n, b->info.ctx);
        return BE_FULL;
    }
    return be_ids_known(b, ids, n, e) ? BE_OK : BE_FAILED;
}

enum be_status be_eval(struct be *b, const int32_t *ids, size_t n, uint32_t pos,
                       enum be_want want, struct err *e)
{
    enum be_status st = be_check(b, ids, n, pos, e);

    if (st != BE_OK)
        return st;
    return be_eval_chunks(b, ids, n, pos, want, NULL, NULL, e);
}

enum be_status be_sync(struct be *b, const int32_t *ids, size_t n, uint32_t *reused,
                       void (*progress)(void *arg, uint32_t done, uint32_t total), void *arg,
                       struct err *e)
{
    enum be_status st = be_check(b, ids, n, 0, e);
    uint32_t keep = 0;

    if (reused)
        *reused = 0;
    if (st != BE_OK)
        return st;
    while (keep < b->pos && keep < n && b->ids[keep] == ids[keep])
        keep++;
    if (keep == n && keep)
        keep--;                         /* its logits are wanted */
    if (reused)
        *reused = keep;
    return be_eval_chunks(b, ids + keep, n - keep, keep, BE_LOGITS_LAST, progress, arg, e);
}

void be_truncate(struct be *b, uint32_t pos)
{
    if (pos >= b->pos)
        return;
    b->ops->truncate(b, pos);
    b->pos = pos;
}

/* ---- snapshots ---- */

bool be_state_save(const struct be *b, struct buf *out, struct err *e)
{
    struct be_state_head h = {.version = BE_STATE_VERSION, .pos = b->pos,
                              .fingerprint = b->fingerprint};
    size_t at = out->n;

    if (b->how != BE_HOW_OPEN)
        return err_set(e, "a model opened for its description has no state to save");
    memcpy(h.magic, be_magic, sizeof h.magic);
    strncpy(h.kv_type, b->kv_type, sizeof h.kv_type - 1);
    buf_add(out, &h, sizeof h);
    if (b->pos)
        buf_add(out, b->ids, b->pos * sizeof *b->ids);
    b->ops->save(b, out);

    size_t body = at + sizeof h;
    h.hash = be_hash(BE_HASH_START, out->p + body, out->n - body);
    memcpy(out->p + at, &h, sizeof h);
    return true;
}

static bool be_state_check(const struct be *b, const struct be_state_head *h,
                           const uint8_t *body, size_t n, struct err *e)
{
    char type[sizeof h->kv_type] = {0};

    strncpy(type, b->kv_type, sizeof type - 1);
    if (memcmp(h->magic, be_magic, sizeof h->magic))
        return err_set(e, "this is not a saved state");
    if (h->version != BE_STATE_VERSION)
        return err_set(e, "the saved state has version %u and this program reads %u",
                       h->version, (unsigned)BE_STATE_VERSION);
    if (h->fingerprint != b->fingerprint)
        return err_set(e, "the saved state belongs to another model");
    if (memcmp(type, h->kv_type, sizeof type))
        return err_set(e, "the saved state has a %.16s cache and this one is %s", h->kv_type,
                       b->kv_type);
    if (h->pos > b->info.ctx)
        return err_set_kind(e, ERR_CONTEXT, "the saved state has %u positions and the "
                            "context holds %u", h->pos, b->info.ctx);
    if (n / sizeof(int32_t) < h->pos || be_hash(BE_HASH_START, body, n) != h->hash)
        return err_set(e, "the saved state is damaged");
    return true;
}

bool be_state_restore(struct be *b, const void *p, size_t n, struct err *e)
{
    const uint8_t *body = (const uint8_t *)p + sizeof(struct be_state_head);
    struct be_state_head h;
    bool ok;

    if (b->how != BE_HOW_OPEN || n < sizeof h)
        return err_set(e, "the saved state is damaged");
    memcpy(&h, p, sizeof h);
    n -= sizeof h;
    if (!be_state_check(b, &h, body, n, e))
        return false;

    size_t id_bytes = h.pos * sizeof(int32_t);
    int32_t *ids = xmalloc(id_bytes);
    memcpy(ids, body, id_bytes);
    ok = be_ids_known(b, ids, h.pos, e) &&
         b->ops->restore(b, body + id_bytes, n - id_bytes, h.pos, e);
    if (!ok) {
        free(ids);
        return err_wrap(e, "restoring a saved state");
    }
    free(b->ids);
    b->ids = ids;
    b->ids_cap = h.pos;
    b->pos = h.pos;
    b->rows = 0;
    return true;
}
