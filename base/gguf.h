#ifndef BASE_GGUF_H
#define BASE_GGUF_H

/* The GGUF container, versions 2 and 3 (little-endian): metadata and tensors of a model
 * file, mapped, not read. It lives in base/ because both the tokenizer and the backend read
 * it and neither may include the other; it knows the format and no meaning.
 * Format: github.com/ggml-org/ggml docs/gguf.md.
 *
 * Everything is checked against the file's size before it is used, so the pointers handed
 * out are safe for their stated lengths. A struct gguf is read-only once open: any thread
 * may use it, and it must outlive whoever borrows from it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct gguf;

enum gguf_type {
    GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL,
    GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64, GGUF_TYPES,
};

/* Element types of tensors, numbered as in ggml. */
enum gguf_dtype {
    GGUF_DT_F32 = 0, GGUF_DT_F16 = 1, GGUF_DT_Q4_0 = 2, GGUF_DT_Q4_1 = 3,
    GGUF_DT_Q5_0 = 6, GGUF_DT_Q5_1 = 7, GGUF_DT_Q8_0 = 8,
    GGUF_DT_Q2_K = 10, GGUF_DT_Q3_K = 11, GGUF_DT_Q4_K = 12, GGUF_DT_Q5_K = 13,
    GGUF_DT_Q6_K = 14, GGUF_DT_IQ2_XXS = 16, GGUF_DT_IQ2_XS = 17, GGUF_DT_IQ3_XXS = 18,
    GGUF_DT_IQ1_S = 19, GGUF_DT_IQ4_NL = 20, GGUF_DT_IQ3_S = 21, GGUF_DT_IQ2_S = 22,
    GGUF_DT_IQ4_XS = 23, GGUF_DT_IQ1_M = 29, GGUF_DT_BF16 = 30, GGUF_DT_TQ1_0 = 34,
    GGUF_DT_TQ2_0 = 35, GGUF_DT_MXFP4 = 39, GGUF_DT_NVFP4 = 40, GGUF_DT_Q1_0 = 41,
    GGUF_DT_Q2_0 = 42,
    GGUF_DT_LIMIT = 64,     /* every known number is below */
};

struct gguf_dtype_info {
    const char *name;       /* "Q4_K" */
    uint32_t block;         /* elements in a block */
    uint32_t bytes;         /* bytes of a block */
};

/* NULL for a number that is unknown or was removed from ggml. */
const struct gguf_dtype_info *gguf_dtype_info(uint32_t dtype);

struct gguf_str {
    const char *p;          /* not NUL-terminated; may hold any byte */
    size_t n;
};

struct gguf_kv {
    struct gguf_str key;
    enum gguf_type type;    /* of the value, or of the elements when array */
    bool array;
    uint64_t n;             /* elements; 1 for a scalar */
    const uint8_t *data;    /* packed elements, unaligned; strings are (u64 length, bytes) */
    size_t size;            /* bytes at data */
};

struct gguf_tensor {
    const char *name;       /* NUL-terminated, owned by the gguf */
    uint32_t dtype;         /* known: gguf_dtype_info() is not NULL */
    int n_dims;             /* 1..4 */
    uint64_t ne[4];         /* ne[0] is the row length; unused dimensions are 1 */
    const void *data;       /* in the mapping; aligned to the file's alignment */
    uint64_t size;          /* bytes */
    int shard;              /* which file of a split model, from 0 */
};

/* Open a model file. Any shard of a split model (NAME-00002-of-00003.gguf) opens all of
 * them; missing ones are listed in the error. What is not GGUF is named for what it is: an
 * empty file, a Git LFS pointer, an HTML page, gzip, zip, safetensors, a half download, a
 * directory. On failure NULL, e filled with kind ERR_MODEL. */
struct gguf *gguf_open(const char *path, struct err *e);
/* The same for bytes in memory (tests, fuzzing, a built-in model); name stands for the path
 * in messages. p is borrowed and begins at a multiple of 8. Never a split model. */
struct gguf *gguf_open_memory(const void *p, size_t n, const char *name, struct err *e);
void gguf_free(struct gguf *g);

const char *gguf_path(const struct gguf *g);        /* of the first shard */
uint64_t gguf_file_bytes(const struct gguf *g);     /* all shards */
int gguf_shards(const struct gguf *g);
uint32_t gguf_version(const struct gguf *g);

size_t gguf_n_kv(const struct gguf *g);
const struct gguf_kv *gguf_kv_at(const struct gguf *g, size_t i);
const struct gguf_kv *gguf_find(const struct gguf *g, const char *key);

size_t gguf_n_tensors(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name);

/* Typed reading of a key that must be there: false, and e names file and key, when it is
 * absent or has another type. Integers of any width convert if the value fits. */
bool gguf_get_u32(const struct gguf *g, const char *key, uint32_t *out, struct err *e);
bool gguf_get_f32(const struct gguf *g, const char *key, float *out, struct err *e);
bool gguf_get_bool(const struct gguf *g, const char *key, bool *out, struct err *e);
bool gguf_get_str(const struct gguf *g, const char *key, struct gguf_str *out, struct err *e);

/* Optional keys: true when absent (out untouched) or well-typed; false, e filled, when the
 * key has another type. */
bool gguf_opt_u32(const struct gguf *g, const char *key, uint32_t *out, struct err *e);
bool gguf_opt_f32(const struct gguf *g, const char *key, float *out, struct err *e);
bool gguf_opt_bool(const struct gguf *g, const char *key, bool *out, struct err *e);
bool gguf_opt_str(const struct gguf *g, const char *key, struct gguf_str *out, struct err *e);

/* Elements of an array kv; the caller has checked type and n. */
uint32_t gguf_u32_at(const struct gguf_kv *kv, uint64_t i);
float gguf_f32_at(const struct gguf_kv *kv, uint64_t i);
/* Walk an array of strings: start with *at = 0, call kv->n times. */
struct gguf_str gguf_next_str(const struct gguf_kv *kv, size_t *at);

#endif
