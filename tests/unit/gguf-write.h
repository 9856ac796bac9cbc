#ifndef UNIT_GGUF_WRITE_H
#define UNIT_GGUF_WRITE_H

/* A small GGUF writer for tests: keys and tensors are collected, then put together with
 * right counts, offsets and padding. A test that wants a wrong file changes the bytes. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/gguf.h"

struct gguf_write {
    struct buf kv, info, data;
    uint64_t n_kv, n_tensors;
    uint32_t version; /* 0: 3 */
    uint32_t align;   /* 0: 32; a file must say so in general.alignment itself */
};

static inline void gw_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof v);
}

static inline void gw_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof v);
}

static inline void gw_str(struct buf *b, const char *s, size_t n)
{
    gw_u64(b, n);
    buf_add(b, s, n);
}

/* A scalar whose n bytes are given. */
static inline void gw_kv(struct gguf_write *w, const char *key, uint32_t type,
                         const void *p, size_t n)
{
    gw_str(&w->kv, key, strlen(key));
    gw_u32(&w->kv, type);
    buf_add(&w->kv, p, n);
    w->n_kv++;
}

static inline void gw_kv_u32(struct gguf_write *w, const char *key, uint32_t v)
{
    gw_kv(w, key, GGUF_U32, &v, sizeof v);
}

static inline void gw_kv_f32(struct gguf_write *w, const char *key, float v)
{
    gw_kv(w, key, GGUF_F32, &v, sizeof v);
}

static inline void gw_kv_str(struct gguf_write *w, const char *key, const char *s)
{
    gw_kv(w, key, GGUF_STRING, NULL, 0);
    gw_str(&w->kv, s, strlen(s));
}

/* The head of an array; its n elements follow with buf_add(&w->kv, ...) or gw_str(). */
static inline void gw_kv_array(struct gguf_write *w, const char *key, uint32_t type,
                               uint64_t n)
{
    gw_kv(w, key, GGUF_ARRAY, NULL, 0);
    gw_u32(&w->kv, type);
    gw_u64(&w->kv, n);
}

static inline void gw_pad(struct buf *b, size_t align)
{
    while (b->n % align)
        buf_addc(b, '\0');
}

/* One more tensor; its size bytes at data (NULL: zeros) are placed behind the others. */
static inline void gw_tensor(struct gguf_write *w, const char *name, uint32_t dtype,
                             uint32_t dims, const uint64_t *ne, const void *data,
                             size_t size)
{
    gw_pad(&w->data, w->align ? w->align : 32);
    gw_str(&w->info, name, strlen(name));
    gw_u32(&w->info, dims);
    for (uint32_t i = 0; i < dims; i++)
        gw_u64(&w->info, ne[i]);
    gw_u32(&w->info, dtype);
    gw_u64(&w->info, w->data.n);
    w->n_tensors++;
    if (data)
        buf_add(&w->data, data, size);
    else
        for (size_t i = 0; i < size; i++)
            buf_addc(&w->data, '\0');
}

static inline void gw_finish(struct gguf_write *w, struct buf *out)
{
    buf_reset(out);
    buf_adds(out, "GGUF");
    gw_u32(out, w->version ? w->version : 3);
    gw_u64(out, w->n_tensors);
    gw_u64(out, w->n_kv);
    buf_add(out, w->kv.p, w->kv.n);
    buf_add(out, w->info.p, w->info.n);
    gw_pad(out, w->align ? w->align : 32);
    buf_add(out, w->data.p, w->data.n);
}

static inline void gw_release(struct gguf_write *w)
{
    buf_release(&w->kv);
    buf_release(&w->info);
    buf_release(&w->data);
    *w = (struct gguf_write){0};
}

/* One key of every type, arrays, and three tensors. */
static inline void gw_everything(struct gguf_write *w)
{
    uint64_t ne[4] = { 64, 3, 2, 1 };
    int64_t i64 = -5;
    double f64 = 0.25;
    int32_t ints[3] = { 7, -1, 2147483647 };
    float floats[2] = { 1.5f, -0.0f };

    gw_kv_str(w, "general.architecture", "test");
    gw_kv(w, "u8", GGUF_U8, "\xff", 1);
    gw_kv(w, "i8", GGUF_I8, "\xff", 1);
    gw_kv(w, "u16", GGUF_U16, "\x01\x80", 2);
    gw_kv(w, "i16", GGUF_I16, "\x01\x00", 2);
    gw_kv_u32(w, "u32", 4294967295u);
    gw_kv(w, "i32", GGUF_I32, ints, 4);
    gw_kv_f32(w, "f32", 1.5f);
    gw_kv(w, "yes", GGUF_BOOL, "\x01", 1);
    gw_kv(w, "no", GGUF_BOOL, "\0", 1);
    gw_kv(w, "u64", GGUF_U64, "\x05\0\0\0\0\0\0\0", 8);
    gw_kv(w, "huge", GGUF_U64, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    gw_kv(w, "i64", GGUF_I64, &i64, 8);
    gw_kv(w, "f64", GGUF_F64, &f64, 8);
    gw_kv_str(w, "empty", "");
    gw_kv_array(w, "words", GGUF_STRING, 3);
    gw_str(&w->kv, "one", 3);
    gw_str(&w->kv, "", 0);
    gw_str(&w->kv, "a\0b", 3);
    gw_kv_array(w, "ints", GGUF_I32, 3);
    buf_add(&w->kv, ints, sizeof ints);
    gw_kv_array(w, "floats", GGUF_F32, 2);
    buf_add(&w->kv, floats, sizeof floats);
    gw_kv_array(w, "none", GGUF_U8, 0);
    gw_kv_array(w, "no words", GGUF_STRING, 0);
    gw_tensor(w, "b.weight", GGUF_DT_F32, 3, ne, NULL, 64 * 3 * 2 * 4);
    gw_tensor(w, "a.weight", GGUF_DT_Q8_0, 2, ne, NULL, 3 * 2 * 34);
    gw_tensor(w, "c", GGUF_DT_F16, 1, (uint64_t[]){ 1 }, "\x00\x3c", 2);
}

/* Touch everything the accessors give: every byte of values and strings, and tensors from
 * end to end (in steps, since damaged files have many that share their bytes). Returns a
 * checksum so that nothing is optimised away. */
static inline uint64_t gw_touch(const struct gguf *g)
{
    uint64_t sum = gguf_file_bytes(g) + gguf_version(g) + (uint64_t)gguf_shards(g) +
                   strlen(gguf_path(g));

    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const struct gguf_kv *kv = gguf_kv_at(g, i);
        size_t at = 0;
        for (size_t j = 0; j < kv->size; j++)
            sum += kv->data[j];
        for (uint64_t j = 0; kv->type == GGUF_STRING && j < kv->n; j++) {
            struct gguf_str s = gguf_next_str(kv, &at);
            for (size_t k = 0; k < s.n; k++)
                sum += (uint8_t)s.p[k];
        }
        for (uint64_t j = 0; j < kv->n; j++) {
            if (kv->type == GGUF_F32 || kv->type == GGUF_F64)
                sum += gguf_f32_at(kv, j) > 0;
            else if (kv->type != GGUF_STRING)
                sum += gguf_u32_at(kv, j);
        }
        struct buf k = {0};
        buf_add(&k, kv->key.p, kv->key.n);
        uint32_t u = 0;
        float f = 0;
        bool b = false;
        struct gguf_str s = {0};
        sum += gguf_get_u32(g, buf_str(&k), &u, NULL) + u;
        sum += gguf_opt_f32(g, buf_str(&k), &f, NULL) + (f > 0);
        sum += gguf_get_bool(g, buf_str(&k), &b, NULL) + b;
        sum += gguf_opt_str(g, buf_str(&k), &s, NULL) + s.n;
        sum += gguf_find(g, buf_str(&k)) == kv;
        buf_release(&k);
    }
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        const uint8_t *p = t->data;
        for (uint64_t j = 0; j < t->size; j += 509)
            sum += p[j];
        sum += p[t->size - 1];
        sum += gguf_tensor(g, t->name) == t;
        sum += gguf_dtype_info(t->dtype)->block + strlen(t->name) + t->ne[3];
    }
    return sum;
}

#endif
