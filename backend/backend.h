#ifndef BE_BACKEND_H
#define BE_BACKEND_H

/* Backend: token ids to logits, synchronously, on some device.
 *
 * A struct be is one opened model with one context (KV cache). Nothing happens behind the
 * caller's back: a call returns when its result is there. One thread uses a struct be at a
 * time; only the cancel flag may be set by another. There are no globals, so several models
 * and contexts live side by side.
 *
 * Behind this header stands a table of operations per device kind (backend/ops.h). A device
 * may keep weights and cache elsewhere and record its work, as long as it is finished when
 * the call returns. If a device is lost the caller rebuilds by reading the ids again. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct be;
struct buf;
struct err;
struct gguf;

enum be_status {
    BE_OK,
    BE_CANCELLED,       /* the flag was set; be_pos() tells how far it came */
    BE_FULL,            /* the ids do not fit the context; nothing was evaluated */
    BE_FAILED,          /* e says why */
};

enum be_want {
    BE_LOGITS_LAST,     /* logits of the last position only */
    BE_LOGITS_ALL,      /* of every position in the call */
};

struct be_params {
    const struct gguf *gguf;    /* the model, borrowed, outlives the be; NULL for fake */
    const char *device;         /* "auto", "cpu", "gpu[:N]", "fake:FILE" */
    const char *isa;            /* "auto", "portable", "avx2", "avx512"; NULL is auto */
    uint32_t ctx;               /* positions; 0: chosen from free memory and the model */
    int threads;                /* 0: one per core that may be used */
    int chunk;                  /* positions per prefill step; 0: at most 256, by speed */
    uint64_t memory;            /* limit in bytes for what is allocated; 0: free memory */
    const atomic_bool *cancel;  /* read between layers; may be NULL */
};

/* What a model is; filled by be_open() and be_probe(). Strings are owned by the be. */
struct be_info {
    const char *arch;           /* "llama" */
    const char *name;           /* general.name, foreign bytes */
    const char *quant;          /* "F32", "Q8_0", "Q4_K mixed" */
    const char *device;         /* "CPU avx512, 2 threads" */
    const char *why_device;     /* why this device and not another; one sentence */
    uint64_t parameters;
    uint64_t file_bytes;
    uint32_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab;
    uint32_t ctx_train;         /* what the file says */
    uint32_t ctx;               /* what was chosen */
    const char *why_ctx;        /* one sentence */
};

/* Memory before anything is loaded; the allocator uses the same numbers. */
struct be_plan {
    uint64_t weights;           /* mapped from the file */
    uint64_t kv_per_position;   /* bytes */
    uint64_t kv;                /* kv_per_position * ctx */
    uint64_t scratch;           /* activations, logits, scores */
    uint64_t free_memory;       /* what the machine has now */
    uint64_t room;              /* what kv and scratch may take of it */
    uint32_t ctx, ctx_max;      /* chosen; the largest that fits */
    const char *kv_type;        /* "F32" */
};

/* Open a model on a device. Fails with ERR_MODEL for a bad model, ERR_USAGE for a bad
 * device name, ERR_FAILED for want of memory. --device gpu never falls back silently. */
struct be *be_open(const struct be_params *p, struct err *e);
void be_free(struct be *b);

const struct be_info *be_info(const struct be *b);
void be_plan(const struct be *b, struct be_plan *out);
/* Read what a model is without allocating a cache: be_info() and be_plan() answer, nothing
 * can be evaluated. For `info` and `plan`; refuses what be_open() would refuse, except for
 * want of memory. */
struct be *be_probe(const struct be_params *p, struct err *e);

/* Evaluate n ids at positions pos .. pos + n - 1. pos must be at most be_pos(): what is
 * beyond is forgotten first. Logits are those of want, valid until the next call. The same
 * ids give the same bits whatever the chunk size, the thread count and the history. */
enum be_status be_eval(struct be *b, const int32_t *ids, size_t n, uint32_t pos,
                       enum be_want want, struct err *e);

/* Bring the cache to exactly these n ids: keep the longest common prefix, compute the rest
 * (the last id always, so that its logits are there). *reused gets the positions kept.
 * On BE_CANCELLED the positions done stay and are kept by the next call. progress (may be
 * NULL) is called between chunks with the positions done so far, on this thread. */
enum be_status be_sync(struct be *b, const int32_t *ids, size_t n, uint32_t *reused,
                       void (*progress)(void *arg, uint32_t done, uint32_t total), void *arg,
                       struct err *e);

/* Row i of the last evaluation, (n_vocab). With BE_LOGITS_LAST only i = 0 exists. */
const float *be_logits(const struct be *b, size_t i);

uint32_t be_pos(const struct be *b);                        /* positions in the cache */
const int32_t *be_ids(const struct be *b);                  /* their ids, (be_pos) */
void be_truncate(struct be *b, uint32_t pos);               /* forget pos and beyond */

/* Copy the state (ids and cache) of all positions out and in, for snapshots. A state goes
 * back only into a be of the same model and KV type; restore checks that. */
bool be_state_save(const struct be *b, struct buf *out, struct err *e);
bool be_state_restore(struct be *b, const void *p, size_t n, struct err *e);

/* A device that brings its own vocabulary (only fake does); NULL otherwise. */
struct be_vocab {
    size_t n;
    const char *const *text;    /* (n) bytes of each token */
    const size_t *len;          /* (n) */
    const bool *special;        /* (n) control tokens */
    int32_t bos, eos;           /* -1: none */
    const char *template_name;  /* the chat template the script asks for */
};
const struct be_vocab *be_own_vocab(const struct be *b);

/* One line per device for `vitrine devices`: CPU features, render nodes through libdrm. */
struct be_device {
    char kind[8];               /* "cpu", "gpu" */
    char name[128];             /* model name; foreign bytes */
    char detail[512];           /* features, or node path and driver */
    bool usable;
    char why[256];              /* why it is or is not used */
};
size_t be_devices(struct be_device *out, size_t max);

#endif
