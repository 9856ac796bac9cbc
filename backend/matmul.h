#ifndef BE_MATMUL_H
#define BE_MATMUL_H

/* Rows of a weight matrix times activations. Weights stay in the mapped file in their own
 * type; a few rows at a time become F32 and meet all tokens of the chunk. Every output is
 * one dot product, so its bits do not depend on how the work is cut. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/kernels.h"

struct be_matrix {
    const uint8_t *data;        /* (rows, row_bytes) */
    size_t rows, cols, row_bytes;
    be_dequant_fn *dequant;     /* NULL: F32, used where it is */
    be_dot_blocks_fn *dot;      /* a whole row without the detour; may be NULL */
};

enum be_put { BE_PUT_STORE, BE_PUT_ADD };

/* One call: rows row .. row + n_rows - 1 with tokens of x. */
struct be_product {
    const struct be_matrix *m;
    size_t row, n_rows;
    const float *x;             /* (tokens, x_stride) */
    size_t x_stride, tokens;
    float *out;                 /* row r of token t goes to out[t * out_stride + r - row] */
    size_t out_stride;
    enum be_put put;
};

/* Floats of scratch that be_multiply() needs for rows of cols. */
size_t be_multiply_scratch(size_t cols);

/* Stops early, the output unfinished, when *stop is set (a long prompt, a slow machine). */
void be_multiply(const struct be_kernels *k, const struct be_product *p, float *scratch,
                 const atomic_bool *stop);

/* Row i as floats (cols). */
void be_matrix_row(const struct be_matrix *m, size_t i, float *out);

#endif
