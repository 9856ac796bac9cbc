#ifndef BASE_GGUF_INT_H
#define BASE_GGUF_INT_H

/* What the gguf files share among themselves; nobody else includes this. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

/* The metadata of one file. by_key is sorted, made once the list is complete. */
struct gguf_meta {
    struct gguf_kv *v;
    size_t n, cap;
    const struct gguf_kv **by_key;
};

struct gguf_shard {
    char *path;
    const uint8_t *p;       /* the whole file, (n) */
    size_t n;
    bool mapped;            /* ours to unmap; false: borrowed memory */
    uint32_t version;
};

struct gguf {
    struct gguf_shard *shards;
    int n_shards, cap_shards;
    struct gguf_meta meta;                  /* of the first shard */

    struct gguf_tensor *tensors;            /* in file order, shard after shard */
    size_t n_tensors, cap_tensors;
    const struct gguf_tensor **by_name;     /* sorted, made by gguf_link() */
    struct buf names;                       /* NUL-terminated, one behind the other */
};

/* Every refusal here is one of the model. */
#define GGUF_REFUSE(e, ...) err_set_kind((e), ERR_MODEL, __VA_ARGS__)

/* Text of a foreign string for %.*s: an error quotes its beginning. */
#define GGUF_QUOTE(s) (int)((s).n < 80 ? (s).n : 80), (s).p

/* The split keys of one shard; count is 1 for a model in one file. */
struct gguf_split {
    uint32_t no, count;
};

/* Read the file in g->shards[shard]: append its tensors to g and fill meta and split. */
bool gguf_parse(struct gguf *g, int shard, struct gguf_meta *meta,
                struct gguf_split *split, struct err *e);
/* After the last shard: names, sorted index, duplicates, the promised tensor count. */
bool gguf_link(struct gguf *g, struct err *e);

/* True when p begins like a GGUF file of a version and byte order we read. Otherwise e
 * says what the file is instead. */
bool gguf_recognise(const uint8_t *p, size_t n, const char *path, struct err *e);

const struct gguf_kv *gguf_meta_find(const struct gguf_meta *m, struct gguf_str key);
void gguf_meta_release(struct gguf_meta *m);

/* The value of one entry; path only stands in the message. */
bool gguf_kv_u32(const struct gguf_kv *kv, const char *path, uint32_t *out,
                 struct err *e);

/* Bytes of a scalar; 0 for strings, arrays and unknown types. */
size_t gguf_type_size(uint32_t type);
const char *gguf_type_name(uint32_t type);

#endif
