#ifndef BE_KERNELS_H
#define BE_KERNELS_H

/* Kernels: the arithmetic of the CPU device, one table per instruction set, chosen at run
 * time. The portable one is the reference that the others are tested against.
 *
 * Every function gives the same bits for the same input, whatever else is computed beside
 * it: a dot product sums in one fixed order per table. Weights are rows of GGUF blocks;
 * activations are F32. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/gguf.h"

struct err;

/* Blocks to floats: n elements, a multiple of the type's block size. */
typedef void be_dequant_fn(const void *blocks, float *out, size_t n);

/* Blocks times x, n elements. */
typedef float be_dot_blocks_fn(const void *blocks, const float *x, size_t n);

/* A piece of a matrix product: rows of weights times columns of activations. */
struct be_tile {
    const float *const *w;      /* (rows) pointers to (n) */
    const float *x;             /* (count, stride), n of each used */
    float *out;                 /* (rows, count) */
    size_t rows, count, n, stride;
};

struct be_kernels {
    const char *name;                       /* "portable", "avx2", "avx512" */
    /* sum of a[i] * b[i], (n) */
    float (*dot)(const float *a, const float *b, size_t n);
    /* out[t] = dot(w, x + t * stride, n) for t < count: the same bits as dot() */
    void (*dots)(const float *w, const float *x, size_t stride, size_t n, size_t count,
                 float *out);
    /* out[r][t] = dot(w[r], x + t * stride, n): the same bits, faster than row by row */
    void (*tile)(const struct be_tile *t);
    /* y[i] += a * x[i], (n) */
    void (*axpy)(float a, const float *x, float *y, size_t n);
    /* out = sum of a[t] * x[t], x (count, n), in the order of t: the bits of as many axpy()
     * on zeros */
    void (*mix)(const float *a, const float *x, size_t count, size_t n, float *out);
    be_dequant_fn *dequant[GGUF_DT_LIMIT];  /* NULL: this type cannot be computed with */
    /* dot() of a row that is still in blocks: the bits of dequant() and dot() one after the
     * other. NULL where that is how it is done. */
    be_dot_blocks_fn *dot_blocks[GGUF_DT_LIMIT];
};

/* name: "auto" or NULL takes the best the machine has; a name it lacks is an error
 * (ERR_USAGE) that lists what it has. */
const struct be_kernels *be_kernels_find(const char *name, struct err *e);
bool be_can_compute(uint32_t dtype);

float be_f16_to_f32(uint16_t h);            /* IEEE half, with subnormals, inf, NaN */

#endif
