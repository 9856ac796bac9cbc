/* Reading one GGUF file, and finding things in what was read.
 *
 * The file is: magic, version, tensor count, key count; then the keys (name, type,
 * value); then the tensors (name, dimensions, type, offset); padding to the alignment;
 * then the data the offsets count from. All integers are little-endian, all lengths 64
 * bits wide, nothing is aligned before the data.
 *
 * The reader walks the file once with a cursor that cannot pass its end. A length or
 * count is compared with the bytes left before it is used, and lists grow with what has
 * been read rather than with what was promised, so no claim in the file makes us
 * allocate. Values stay where they are; an entry is a pointer and a checked size. Only
 * tensor names are copied, to end in NUL. Lookup and duplicates go through a sorted
 * index: no choice of names makes it slow, as could happen with a hash. */
#include "config.h"

#include "base/gguf.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/gguf_int.h"
#include "base/mem.h"

enum {
    GGUF_ALIGNMENT = 32,   /* when general.alignment does not say */
    GGUF_NAME_MAX = 65535, /* of a key by the specification; we hold names to it too */
    GGUF_KV_LEAST = 8 + 4 + 1, /* bytes of the smallest key */
    GGUF_TENSOR_LEAST = 8 + 4 + 8 + 4 + 8,
};

#define GGUF_DAMAGED "the download is incomplete or the file is damaged"

/* Where the reader stands. what, i and of only name the place in messages. */
struct gguf_cur {
    const uint8_t *p;
    size_t at, n;
    const char *path;
    const char *what;
    uint64_t i, of;
};

static bool gguf_cur_short(const struct gguf_cur *c, struct err *e)
{
    return GGUF_REFUSE(e,
                       "%s ends inside %s %" PRIu64 " of %" PRIu64
                       ": it has %zu bytes; " GGUF_DAMAGED,
                       c->path, c->what, c->i + 1, c->of, c->n);
}

static bool gguf_cur_take(struct gguf_cur *c, void *out, size_t n, struct err *e)
{
    if (n > c->n - c->at)
        return gguf_cur_short(c, e);
    memcpy(out, c->p + c->at, n);
    c->at += n;
    return true;
}

static bool gguf_cur_u32(struct gguf_cur *c, uint32_t *out, struct err *e)
{
    return gguf_cur_take(c, out, sizeof *out, e);
}

static bool gguf_cur_u64(struct gguf_cur *c, uint64_t *out, struct err *e)
{
    return gguf_cur_take(c, out, sizeof *out, e);
}

static bool gguf_cur_str(struct gguf_cur *c, struct gguf_str *out, struct err *e)
{
    uint64_t n = 0;

    if (!gguf_cur_u64(c, &n, e))
        return false;
    if (n > c->n - c->at)
        return GGUF_REFUSE(e,
                           "%s: %s %" PRIu64 " of %" PRIu64 " has a string of %" PRIu64
                           " bytes, but only %zu are left; " GGUF_DAMAGED,
                           c->path, c->what, c->i + 1, c->of, n, c->n - c->at);
    *out = (struct gguf_str){ (const char *)c->p + c->at, (size_t)n };
    c->at += (size_t)n;
    return true;
}

static bool gguf_cur_name(struct gguf_cur *c, struct gguf_str *out, struct err *e)
{
    if (!gguf_cur_str(c, out, e))
        return false;
    if (out->n > GGUF_NAME_MAX)
        return GGUF_REFUSE(
            e, "%s: %s %" PRIu64 " has a name of %zu bytes; the format allows %d",
            c->path, c->what, c->i + 1, out->n, GGUF_NAME_MAX);
    return true;
}

/* ---- metadata ---- */

static int gguf_str_cmp(struct gguf_str a, struct gguf_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int gguf_kv_cmp(const void *a, const void *b)
{
    const struct gguf_kv *const *x = a, *const *y = b;
    return gguf_str_cmp((*x)->key, (*y)->key);
}

static int gguf_kv_cmp_key(const void *key, const void *b)
{
    const struct gguf_kv *const *y = b;
    return gguf_str_cmp(*(const struct gguf_str *)key, (*y)->key);
}

const struct gguf_kv *gguf_meta_find(const struct gguf_meta *m, struct gguf_str key)
{
    if (!m->n)
        return NULL;
    const struct gguf_kv **hit =
        bsearch(&key, m->by_key, m->n, sizeof(struct gguf_kv *), gguf_kv_cmp_key);
    return hit ? *hit : NULL;
}

void gguf_meta_release(struct gguf_meta *m)
{
    free(m->v);
    free(m->by_key);
    *m = (struct gguf_meta){0};
}

static bool gguf_meta_index(struct gguf_meta *m, const char *path, struct err *e)
{
    m->by_key = xreallocarray(NULL, m->n, sizeof(struct gguf_kv *));
    for (size_t i = 0; i < m->n; i++)
        m->by_key[i] = &m->v[i];
    if (m->n > 1)
        qsort(m->by_key, m->n, sizeof(struct gguf_kv *), gguf_kv_cmp);
    for (size_t i = 1; i < m->n; i++)
        if (!gguf_str_cmp(m->by_key[i - 1]->key, m->by_key[i]->key))
            return GGUF_REFUSE(e, "%s has the key \"%.*s\" twice; the file is damaged",
                               path, GGUF_QUOTE(m->by_key[i]->key));
    return true;
}

static bool gguf_check_bools(const struct gguf_cur *c, const struct gguf_kv *kv,
                             struct err *e)
{
    for (size_t i = 0; i < kv->size; i++)
        if (kv->data[i] > 1)
            return GGUF_REFUSE(e,
                               "%s: the key \"%.*s\" holds %d where true or false "
                               "belongs; the file is damaged",
                               c->path, GGUF_QUOTE(kv->key), kv->data[i]);
    return true;
}

/* kv->n values of kv->type begin at the cursor: walk over them. */
static bool gguf_read_values(struct gguf_cur *c, struct gguf_kv *kv, struct err *e)
{
    size_t left = c->n - c->at;
    size_t each = kv->type == GGUF_STRING ? sizeof(uint64_t) : gguf_type_size(kv->type);

    if (!each)
        return GGUF_REFUSE(
            e, "%s: the key \"%.*s\" %s; the file is damaged or made for a newer format",
            c->path, GGUF_QUOTE(kv->key),
            kv->type == GGUF_ARRAY ? "holds an array of arrays"
                                   : "has a value of unknown type");
    if (kv->n > left / each)
        return GGUF_REFUSE(e,
                           "%s: the key \"%.*s\" has %" PRIu64
                           " values, but only %zu bytes are left; " GGUF_DAMAGED,
                           c->path, GGUF_QUOTE(kv->key), kv->n, left);
    kv->data = c->p + c->at;
    if (kv->type == GGUF_STRING) {
        struct gguf_str s;
        size_t from = c->at;
        for (uint64_t i = 0; i < kv->n; i++)
            if (!gguf_cur_str(c, &s, e))
                return false;
        kv->size = c->at - from;
        return true;
    }
    kv->size = (size_t)kv->n * each;
    c->at += kv->size;
    return kv->type != GGUF_BOOL || gguf_check_bools(c, kv, e);
}

static bool gguf_read_kv(struct gguf_cur *c, struct gguf_kv *kv, struct err *e)
{
    uint32_t type = 0;

    *kv = (struct gguf_kv){ .n = 1 };
    if (!gguf_cur_name(c, &kv->key, e) || !gguf_cur_u32(c, &type, e))
        return false;
    if (type == GGUF_ARRAY) {
        kv->array = true;
        if (!gguf_cur_u32(c, &type, e) || !gguf_cur_u64(c, &kv->n, e))
            return false;
    }
    /* An unknown number becomes one past the last type, which has no size either. */
    kv->type = type < GGUF_TYPES ? (enum gguf_type)type : GGUF_TYPES;
    return gguf_read_values(c, kv, e);
}

static bool gguf_read_meta(struct gguf_cur *c, uint64_t n, struct gguf_meta *m,
                           struct err *e)
{
    c->what = "metadata key";
    c->of = n;
    for (c->i = 0; c->i < n; c->i++) {
        MEM_GROW(m->v, m->cap, m->n + 1);
        if (!gguf_read_kv(c, &m->v[m->n], e))
            return false;
        m->n++;
    }
    return gguf_meta_index(m, c->path, e);
}

static bool gguf_meta_u32(const struct gguf_meta *m, const char *path, const char *key,
                          uint32_t *out, struct err *e)
{
    const struct gguf_kv *kv = gguf_meta_find(m, (struct gguf_str){ key, strlen(key) });
    return !kv || gguf_kv_u32(kv, path, out, e);
}

/* ---- tensors ---- */

/* Shape and type make the size; every product is checked. */
static bool gguf_tensor_size(struct gguf_tensor *t, struct gguf_str name,
                             const char *path, struct err *e)
{
    const struct gguf_dtype_info *d = gguf_dtype_info(t->dtype);
    uint64_t elements = 1;

    if (!d)
        return GGUF_REFUSE(
            e,
            "%s: the tensor \"%.*s\" has type %" PRIu32
            ", which is unknown or was removed from ggml; convert the model again",
            path, GGUF_QUOTE(name), t->dtype);
    for (int i = 0; i < 4; i++)
        if (t->ne[i] == 0 || __builtin_mul_overflow(elements, t->ne[i], &elements) ||
            elements > INT64_MAX)
            return GGUF_REFUSE(
                e,
                "%s: the tensor \"%.*s\" has the impossible shape %" PRIu64 " x %" PRIu64
                " x %" PRIu64 " x %" PRIu64 "; the file is damaged",
                path, GGUF_QUOTE(name), t->ne[0], t->ne[1], t->ne[2], t->ne[3]);
    if (t->ne[0] % d->block)
        return GGUF_REFUSE(e,
                           "%s: the tensor \"%.*s\" has rows of %" PRIu64
                           " elements, but %s comes in blocks of %" PRIu32
                           "; the file is damaged",
                           path, GGUF_QUOTE(name), t->ne[0], d->name, d->block);
    if (__builtin_mul_overflow(elements / d->block, (uint64_t)d->bytes, &t->size))
        return GGUF_REFUSE(
            e, "%s: the tensor \"%.*s\" needs more than 2^64 bytes; the file is damaged",
            path, GGUF_QUOTE(name));
    return true;
}

/* One entry of the list; *offset counts from the start of the data. */
static bool gguf_read_tensor(struct gguf_cur *c, struct gguf_tensor *t,
                             struct gguf_str *name, uint64_t *offset, struct err *e)
{
    uint32_t dims = 0;

    if (!gguf_cur_name(c, name, e) || !gguf_cur_u32(c, &dims, e))
        return false;
    if (memchr(name->p, '\0', name->n))
        return GGUF_REFUSE(
            e, "%s: the name of tensor %" PRIu64 " holds a NUL byte; the file is damaged",
            c->path, c->i + 1);
    if (dims < 1 || dims > 4)
        return GGUF_REFUSE(e,
                           "%s: the tensor \"%.*s\" has %" PRIu32
                           " dimensions; the format allows 1 to 4; the file is damaged",
                           c->path, GGUF_QUOTE(*name), dims);
    t->n_dims = (int)dims;
    for (uint32_t i = 0; i < 4; i++) {
        t->ne[i] = 1;
        if (i < dims && !gguf_cur_u64(c, &t->ne[i], e))
            return false;
    }
    return gguf_cur_u32(c, &t->dtype, e) && gguf_cur_u64(c, offset, e) &&
           gguf_tensor_size(t, *name, c->path, e);
}

/* Place the tensors from index first on in the data that begins at start. offsets is
 * (n_tensors - first). All of them are looked at before a short file is reported, so that
 * the message can say how long it should have been. */
static bool gguf_place(struct gguf *g, size_t first, const uint64_t *offsets,
                       uint64_t start, uint32_t align, struct err *e)
{
    const struct gguf_shard *s = &g->shards[g->n_shards - 1];
    uint64_t need = 0;

    for (size_t i = first; i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i];
        uint64_t at, end;
        if (offsets[i - first] % align)
            return GGUF_REFUSE(
                e,
                "%s: the data of tensor %zu of %zu begins at %" PRIu64
                ", which is not a multiple of %" PRIu32 "; the file is damaged",
                s->path, i - first + 1, g->n_tensors - first, offsets[i - first], align);
        if (__builtin_add_overflow(start, offsets[i - first], &at) ||
            __builtin_add_overflow(at, t->size, &end))
            return GGUF_REFUSE(e,
                               "%s: the data of tensor %zu of %zu begins at %" PRIu64
                               ", past the end of any file; the file is damaged",
                               s->path, i - first + 1, g->n_tensors - first,
                               offsets[i - first]);
        if (end > need)
            need = end;
        t->data = end <= s->n ? s->p + at : NULL;
    }
    if (need > s->n)
        return GGUF_REFUSE(
            e,
            "%s has %zu bytes but needs %" PRIu64
            ": the download is incomplete (or the file is damaged); fetch it again",
            s->path, s->n, need);
    return true;
}

static bool gguf_read_tensors(struct gguf *g, struct gguf_cur *c, uint64_t n,
                              uint32_t align, struct err *e)
{
    size_t first = g->n_tensors, cap = 0;
    uint64_t *offsets = NULL;
    bool ok = true;

    c->what = "tensor";
    c->of = n;
    for (c->i = 0; ok && c->i < n; c->i++) {
        struct gguf_str name;
        MEM_GROW(g->tensors, g->cap_tensors, g->n_tensors + 1);
        MEM_GROW(offsets, cap, c->i + 1);
        struct gguf_tensor *t = &g->tensors[g->n_tensors];
        *t = (struct gguf_tensor){ .shard = g->n_shards - 1 };
        ok = gguf_read_tensor(c, t, &name, &offsets[c->i], e);
        if (ok) {
            buf_add(&g->names, name.p, name.n);
            buf_addc(&g->names, '\0');
            g->n_tensors++;
        }
    }
    uint64_t start = ((uint64_t)c->at + align - 1) / align * align;
    ok = ok && gguf_place(g, first, offsets, start, align, e);
    free(offsets);
    return ok;
}

/* ---- one file ---- */

static bool gguf_check_alignment(const char *path, uint32_t align, struct err *e)
{
    if (align < 8 || (align & (align - 1)))
        return GGUF_REFUSE(e,
                           "%s: general.alignment is %" PRIu32
                           ", not a power of two from 8 on; the file is damaged",
                           path, align);
    return true;
}

static bool gguf_check_count(const struct gguf_cur *c, const char *what, uint64_t n,
                             size_t least, struct err *e)
{
    if (n > (c->n - c->at) / least)
        return GGUF_REFUSE(e,
                           "%s claims %" PRIu64
                           " %s, more than its %zu bytes can hold; " GGUF_DAMAGED,
                           c->path, n, what, c->n);
    return true;
}

bool gguf_parse(struct gguf *g, int shard, struct gguf_meta *meta,
                struct gguf_split *split, struct err *e)
{
    struct gguf_shard *s = &g->shards[shard];
    struct gguf_cur c = {
        .p = s->p, .at = 4, .n = s->n, .path = s->path, .what = "header", .of = 1
    };
    uint64_t n_tensors = 0, n_kv = 0;
    uint32_t align = GGUF_ALIGNMENT;

    assert(shard == g->n_shards - 1);
    *split = (struct gguf_split){ .no = 0, .count = 1 };
    return gguf_recognise(s->p, s->n, s->path, e) && gguf_cur_u32(&c, &s->version, e) &&
           gguf_cur_u64(&c, &n_tensors, e) && gguf_cur_u64(&c, &n_kv, e) &&
           gguf_check_count(&c, "tensors", n_tensors, GGUF_TENSOR_LEAST, e) &&
           gguf_check_count(&c, "metadata keys", n_kv, GGUF_KV_LEAST, e) &&
           gguf_read_meta(&c, n_kv, meta, e) &&
           gguf_meta_u32(meta, s->path, "general.alignment", &align, e) &&
           gguf_check_alignment(s->path, align, e) &&
           gguf_meta_u32(meta, s->path, "split.no", &split->no, e) &&
           gguf_meta_u32(meta, s->path, "split.count", &split->count, e) &&
           gguf_read_tensors(g, &c, n_tensors, align, e);
}

static int gguf_tensor_cmp(const void *a, const void *b)
{
    const struct gguf_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int gguf_tensor_cmp_name(const void *name, const void *b)
{
    const struct gguf_tensor *const *y = b;
    return strcmp(name, (*y)->name);
}

bool gguf_link(struct gguf *g, struct err *e)
{
    const char *name = buf_str(&g->names);
    const char *path = g->shards[0].path;
    uint32_t promised = 0;

    g->by_name = xreallocarray(NULL, g->n_tensors, sizeof(struct gguf_tensor *));
    for (size_t i = 0; i < g->n_tensors; i++) {
        g->tensors[i].name = name;
        g->by_name[i] = &g->tensors[i];
        name += strlen(name) + 1;
    }
    if (g->n_tensors > 1)
        qsort(g->by_name, g->n_tensors, sizeof(struct gguf_tensor *), gguf_tensor_cmp);
    for (size_t i = 1; i < g->n_tensors; i++)
        if (!strcmp(g->by_name[i - 1]->name, g->by_name[i]->name))
            return GGUF_REFUSE(e,
                               "%s has the tensor \"%.80s\" twice; the file is damaged",
                               path, g->by_name[i]->name);
    if (g->n_shards == 1)
        return true;
    if (!gguf_opt_u32(g, "split.tensors.count", &promised, e))
        return false;
    if (promised && promised != g->n_tensors)
        return GGUF_REFUSE(
            e,
            "%s promises %" PRIu32
            " tensors in %d parts, but they hold %zu; the parts do not belong together",
            path, promised, g->n_shards, g->n_tensors);
    return true;
}

/* ---- finding things ---- */

size_t gguf_n_kv(const struct gguf *g)
{
    return g->meta.n;
}

const struct gguf_kv *gguf_kv_at(const struct gguf *g, size_t i)
{
    assert(i < g->meta.n);
    return &g->meta.v[i];
}

const struct gguf_kv *gguf_find(const struct gguf *g, const char *key)
{
    return gguf_meta_find(&g->meta, (struct gguf_str){ key, strlen(key) });
}

size_t gguf_n_tensors(const struct gguf *g)
{
    return g->n_tensors;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i)
{
    assert(i < g->n_tensors);
    return &g->tensors[i];
}

const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name)
{
    if (!g->n_tensors)
        return NULL;
    const struct gguf_tensor **hit =
        bsearch(name, g->by_name, g->n_tensors, sizeof(struct gguf_tensor *),
                gguf_tensor_cmp_name);
    return hit ? *hit : NULL;
}
