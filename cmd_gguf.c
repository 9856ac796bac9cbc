#include "config.h"

#include "cmd_gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/gguf.h"
#include "cmd_text.h"

enum { ARRAY_SHOWN = 8, TEXT_SHOWN = 60 };

static const char *const type_names[GGUF_TYPES] = {
    [GGUF_U8] = "u8",       [GGUF_I8] = "i8",     [GGUF_U16] = "u16",
    [GGUF_I16] = "i16",     [GGUF_U32] = "u32",   [GGUF_I32] = "i32",
    [GGUF_F32] = "f32",     [GGUF_BOOL] = "bool", [GGUF_STRING] = "string",
    [GGUF_ARRAY] = "array", [GGUF_U64] = "u64",   [GGUF_I64] = "i64",
    [GGUF_F64] = "f64",
};

/* Little-endian bytes to a number. */
static uint64_t raw_at(const struct gguf_kv *kv, uint64_t i, size_t size)
{
    const uint8_t *p = kv->data + i * size;
    uint64_t v = 0;

    for (size_t k = size; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

static double f64_at(const struct gguf_kv *kv, uint64_t i)
{
    uint64_t bits = raw_at(kv, i, 8);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A value; *at walks the strings of an array. */
static json_t *element(const struct gguf_kv *kv, uint64_t i, size_t *at)
{
    switch (kv->type) {
    case GGUF_U8: return json_integer((json_int_t)raw_at(kv, i, 1));
    case GGUF_I8: return json_integer((int8_t)raw_at(kv, i, 1));
    case GGUF_U16: return json_integer((json_int_t)raw_at(kv, i, 2));
    case GGUF_I16: return json_integer((int16_t)raw_at(kv, i, 2));
    case GGUF_U32: return json_integer((json_int_t)raw_at(kv, i, 4));
    case GGUF_I32: return json_integer((int32_t)raw_at(kv, i, 4));
    case GGUF_I64: return json_integer((json_int_t)raw_at(kv, i, 8));
    case GGUF_BOOL: return json_boolean(raw_at(kv, i, 1));
    case GGUF_F32: return cmd_json_real((double)gguf_f32_at(kv, i));
    case GGUF_F64: return cmd_json_real(f64_at(kv, i));
    case GGUF_U64: {
        uint64_t v = raw_at(kv, i, 8);
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, v);
        return v <= INT64_MAX ? json_integer((json_int_t)v) : json_string(text);
    }
    case GGUF_STRING: {
        struct gguf_str s = gguf_next_str(kv, at);
        json_t *o = json_object();
        cmd_json_bytes(o, "text", "bytes", s.p, s.n);
        json_t *text = json_object_get(o, "text");
        if (!text)
            return o;
        json_incref(text);
        json_decref(o);
        return text;
    }
    case GGUF_ARRAY:
    case GGUF_TYPES:
        break;
    }
    return json_null();
}

static json_t *value(const struct gguf_kv *kv, bool all)
{
    uint64_t n = kv->n > ARRAY_SHOWN && !all ? ARRAY_SHOWN : kv->n;
    size_t at = 0;

    if (!kv->array)
        return element(kv, 0, &at);
    json_t *list = json_array();
    for (uint64_t i = 0; i < n; i++)
        json_array_append_new(list, element(kv, i, &at));
    if (n == kv->n)
        return list;
    return json_pack("{s:s, s:I, s:o}", "array", type_names[kv->type], "n",
                     (json_int_t)kv->n, "first", list);
}

json_t *cmd_gguf_json(const struct gguf *g, bool all)
{
    json_t *o = json_object();

    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const struct gguf_kv *kv = gguf_kv_at(g, i);
        struct buf key = {0};
        cmd_add_shown(&key, kv->key.p, kv->key.n);
        json_object_set_new(o, buf_str(&key), value(kv, all));
        buf_release(&key);
    }
    return o;
}

static void add_element(struct buf *out, const struct gguf_kv *kv, uint64_t i, size_t *at,
                        int limit)
{
    if (kv->type == GGUF_STRING) {
        struct gguf_str s = gguf_next_str(kv, at);
        if (cmd_add_cut(out, s.p, s.n, limit) && !kv->array)
            buf_addf(out, " (%zu bytes)", s.n);
        return;
    }
    json_t *v = element(kv, i, at);
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    buf_adds(out, text ? text : "?");
    free(text);
    json_decref(v);
}

void cmd_gguf_print(const struct gguf *g)
{
    struct cmd_columns c = { .width = 3, .align = "lll" };

    putchar('\n');
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const struct gguf_kv *kv = gguf_kv_at(g, i);
        struct buf text = {0};
        size_t at = 0;
        uint64_t n = kv->n > ARRAY_SHOWN ? ARRAY_SHOWN : kv->n;
        cmd_cell(&c, kv->key.p, kv->key.n);
        if (kv->array)
            cmd_cellf(&c, "%s[%" PRIu64 "]", type_names[kv->type], kv->n);
        else
            cmd_cellf(&c, "%s", type_names[kv->type]);
        for (uint64_t k = 0; k < n; k++) {
            if (k)
                buf_addc(&text, ' ');
            add_element(&text, kv, k, &at, kv->array ? 10 : TEXT_SHOWN);
        }
        if (n < kv->n)
            buf_adds(&text, " ...");
        cmd_cell(&c, buf_str(&text), text.n);
        buf_release(&text);
    }
    cmd_columns_print(&c);
}
