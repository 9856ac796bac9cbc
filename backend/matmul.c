/* The tiles: as many rows as make 128 KiB of floats, at most 16, are turned into floats
 * once; then 24 tokens at a time, which mostly fit the second-level cache beside them, go
 * through all those rows (24 is a multiple of what the kernels take at once). One token alone takes row by row. */
#include "config.h"

#include "backend/matmul.h"

#include <stdbool.h>
#include <string.h>

enum { TILE_ROWS = 16, TILE_TOKENS = 24, TILE_FLOATS = 32768 };

static size_t be_tile_rows(size_t cols)
{
    size_t n = TILE_FLOATS / cols;
    return n < 1 ? 1 : n > TILE_ROWS ? TILE_ROWS : n;
}

size_t be_multiply_scratch(size_t cols)
{
    return be_tile_rows(cols) * cols;
}

void be_matrix_row(const struct be_matrix *m, size_t i, float *out)
{
    const uint8_t *p = m->data + i * m->row_bytes;

    if (m->dequant)
        m->dequant(p, out, m->cols);
    else
        memcpy(out, p, m->cols * sizeof *out);
}

/* Row i as floats, where it is or in scratch. */
static const float *be_row_floats(const struct be_matrix *m, size_t i, float *scratch)
{
    const uint8_t *p = m->data + i * m->row_bytes;

    if (!m->dequant)
        return (const float *)(const void *)p;
    m->dequant(p, scratch, m->cols);
    return scratch;
}

/* Row i times the one x. */
static float be_row_dot(const struct be_kernels *k, const struct be_matrix *m, size_t i,
                        const float *x, float *scratch)
{
    if (m->dot)
        return m->dot(m->data + i * m->row_bytes, x, m->cols);
    return k->dot(be_row_floats(m, i, scratch), x, m->cols);
}

static inline void be_put(float *out, float v, enum be_put put)
{
    *out = put == BE_PUT_ADD ? *out + v : v;
}

/* One tile's sums (n, count) to where they belong: row r of the call and token t onwards. */
static void be_put_tile(const struct be_product *p, const float *sums, size_t r, size_t n,
                        size_t t, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        float *out = p->out + (t + j) * p->out_stride + r;
        for (size_t i = 0; i < n; i++)
            be_put(out + i, sums[i * count + j], p->put);
    }
}

void be_multiply(const struct be_kernels *k, const struct be_product *p, float *scratch,
                 const atomic_bool *stop)
{
    const struct be_matrix *m = p->m;
    size_t tile = p->tokens == 1 ? 1 : be_tile_rows(m->cols);
    const float *rows[TILE_ROWS];
    float sums[TILE_ROWS * TILE_TOKENS];

    for (size_t r = 0; r < p->n_rows; r += tile) {
        size_t n = p->n_rows - r < tile ? p->n_rows - r : tile;
        if (atomic_load_explicit(stop, memory_order_relaxed))
            return;
        if (p->tokens == 1) {
            be_put(p->out + r, be_row_dot(k, m, p->row + r, p->x, scratch), p->put);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            rows[i] = be_row_floats(m, p->row + r + i, scratch + i * m->cols);
        for (size_t t = 0; t < p->tokens; t += TILE_TOKENS) {
            size_t count = p->tokens - t < TILE_TOKENS ? p->tokens - t : TILE_TOKENS;
            k->tile(&(struct be_tile){.w = rows, .x = p->x + t * p->x_stride, .out = sums,
                                      .rows = n, .count = count, .n = m->cols,
                                      .stride = p->x_stride});
            be_put_tile(p, sums, r, n, t, count);
        }
    }
}
