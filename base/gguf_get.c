/* Typed reading of metadata. Numbers in the file are unaligned, so each is copied out. An
 * integer is read as int64_t; what does not fit there (a U64 from 2^63 on) comes out
 * negative and so stays outside every range asked for. */
#include "config.h"

#include "base/gguf.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/gguf_int.h"

static const struct {
    const char *name;
    size_t size;
} gguf_types[GGUF_TYPES] = {
    [GGUF_U8] = { "u8", 1 },         [GGUF_I8] = { "i8", 1 },
    [GGUF_U16] = { "u16", 2 },       [GGUF_I16] = { "i16", 2 },
    [GGUF_U32] = { "u32", 4 },       [GGUF_I32] = { "i32", 4 },
    [GGUF_F32] = { "f32", 4 },       [GGUF_BOOL] = { "bool", 1 },
    [GGUF_STRING] = { "string", 0 }, [GGUF_ARRAY] = { "array", 0 },
    [GGUF_U64] = { "u64", 8 },       [GGUF_I64] = { "i64", 8 },
    [GGUF_F64] = { "f64", 8 },
};

size_t gguf_type_size(uint32_t type)
{
    return type < GGUF_TYPES ? gguf_types[type].size : 0;
}

const char *gguf_type_name(uint32_t type)
{
    return type < GGUF_TYPES ? gguf_types[type].name : "unknown";
}

/* ---- one element ---- */

/* False when element i is no integer. */
static bool gguf_int_at(const struct gguf_kv *kv, uint64_t i, int64_t *out)
{
    size_t size = gguf_type_size(kv->type);
    uint64_t raw = 0;

    assert(i < kv->n);
    memcpy(&raw, kv->data + (size_t)i * size, size);
    switch (kv->type) {
    case GGUF_I8:
        *out = (int8_t)raw;
        return true;
    case GGUF_I16:
        *out = (int16_t)raw;
        return true;
    case GGUF_I32:
        *out = (int32_t)raw;
        return true;
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64:
    case GGUF_I64:
        *out = (int64_t)raw;
        return true;
    default:
        return false;
    }
}

static double gguf_f64_at(const struct gguf_kv *kv, uint64_t i)
{
    float f;
    double d;

    assert(i < kv->n);
    if (kv->type == GGUF_F32) {
        memcpy(&f, kv->data + (size_t)i * sizeof f, sizeof f);
        return f;
    }
    memcpy(&d, kv->data + (size_t)i * sizeof d, sizeof d);
    return d;
}

uint32_t gguf_u32_at(const struct gguf_kv *kv, uint64_t i)
{
    int64_t v = 0;
    gguf_int_at(kv, i, &v);
    return (uint32_t)v;
}

float gguf_f32_at(const struct gguf_kv *kv, uint64_t i)
{
    assert(kv->type == GGUF_F32 || kv->type == GGUF_F64);
    return (float)gguf_f64_at(kv, i);
}

struct gguf_str gguf_next_str(const struct gguf_kv *kv, size_t *at)
{
    uint64_t n;

    assert(kv->type == GGUF_STRING && *at < kv->size);
    memcpy(&n, kv->data + *at, sizeof n);
    struct gguf_str s = { (const char *)kv->data + *at + sizeof n, (size_t)n };
    *at += sizeof n + s.n;
    return s;
}

/* ---- one key ---- */

static bool gguf_wrong_type(const struct gguf_kv *kv, const char *path,
                            const char *wanted, struct err *e)
{
    return GGUF_REFUSE(e, "%s: the key \"%.*s\" is %s%s, not %s; the file is damaged",
                       path, GGUF_QUOTE(kv->key), kv->array ? "an array of " : "of type ",
                       gguf_type_name(kv->type), wanted);
}

static bool gguf_is_int(enum gguf_type t)
{
    return t == GGUF_U8 || t == GGUF_I8 || t == GGUF_U16 || t == GGUF_I16 ||
           t == GGUF_U32 || t == GGUF_I32 || t == GGUF_U64 || t == GGUF_I64;
}

bool gguf_kv_u32(const struct gguf_kv *kv, const char *path, uint32_t *out, struct err *e)
{
    int64_t v;

    if (kv->array || !gguf_is_int(kv->type))
        return gguf_wrong_type(kv, path, "an integer", e);
    if (!gguf_int_at(kv, 0, &v) || v < 0 || v > UINT32_MAX)
        return GGUF_REFUSE(e,
                           "%s: the key \"%.*s\" holds a number outside 0 to %" PRIu32
                           "; the file is damaged",
                           path, GGUF_QUOTE(kv->key), UINT32_MAX);
    *out = (uint32_t)v;
    return true;
}

static bool gguf_kv_f32(const struct gguf_kv *kv, const char *path, float *out,
                        struct err *e)
{
    if (kv->array || (kv->type != GGUF_F32 && kv->type != GGUF_F64))
        return gguf_wrong_type(kv, path, "a floating-point number", e);
    double v = gguf_f64_at(kv, 0);
    if (isfinite(v) && fabs(v) > (double)FLT_MAX)
        return GGUF_REFUSE(
            e,
            "%s: the key \"%.*s\" holds %g, too large for a float; the file is damaged",
            path, GGUF_QUOTE(kv->key), v);
    *out = (float)v;
    return true;
}

static bool gguf_kv_bool(const struct gguf_kv *kv, const char *path, bool *out,
                         struct err *e)
{
    if (kv->array || kv->type != GGUF_BOOL)
        return gguf_wrong_type(kv, path, "a boolean", e);
    *out = kv->data[0] != 0;
    return true;
}

static bool gguf_kv_str(const struct gguf_kv *kv, const char *path, struct gguf_str *out,
                        struct err *e)
{
    size_t at = 0;

    if (kv->array || kv->type != GGUF_STRING)
        return gguf_wrong_type(kv, path, "a string", e);
    *out = gguf_next_str(kv, &at);
    return true;
}

static bool gguf_absent(const struct gguf *g, const char *key, struct err *e)
{
    return GGUF_REFUSE(e, "%s: the key \"%s\" is missing; the file is no complete model",
                       gguf_path(g), key);
}

bool gguf_get_u32(const struct gguf *g, const char *key, uint32_t *out, struct err *e)
{
    const struct gguf_kv *kv = gguf_find(g, key);
    return kv ? gguf_kv_u32(kv, gguf_path(g), out, e) : gguf_absent(g, key, e);
}

bool gguf_get_f32(const struct gguf *g, const char *key, float *out, struct err *e)
{
    const struct gguf_kv *kv = gguf_find(g, key);
    return kv ? gguf_kv_f32(kv, gguf_path(g), out, e) : gguf_absent(g, key, e);
}

bool gguf_get_bool(const struct gguf *g, const char *key, bool *out, struct err *e)
{
    const struct gguf_kv *kv = gguf_find(g, key);
    return kv ? gguf_kv_bool(kv, gguf_path(g), out, e) : gguf_absent(g, key, e);
}

bool gguf_get_str(const struct gguf *g, const char *key, struct gguf_str *out,
                  struct err *e)
{
    const struct gguf_kv *kv = gguf_find(g, key);
    return kv ? gguf_kv_str(kv, gguf_path(g), out, e) : gguf_absent(g, key, e);
}

bool gguf_opt_u32(const struct gguf *g, const char *key, uint32_t *out, struct err *e)
{
    return !gguf_find(g, key) || gguf_get_u32(g, key, out, e);
}

bool gguf_opt_f32(const struct gguf *g, const char *key, float *out, struct err *e)
{
    return !gguf_find(g, key) || gguf_get_f32(g, key, out, e);
}

bool gguf_opt_bool(const struct gguf *g, const char *key, bool *out, struct err *e)
{
    return !gguf_find(g, key) || gguf_get_bool(g, key, out, e);
}

bool gguf_opt_str(const struct gguf *g, const char *key, struct gguf_str *out,
                  struct err *e)
{
    return !gguf_find(g, key) || gguf_get_str(g, key, out, e);
}
