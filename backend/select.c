/* Two selections: a heap of the k best while walking the row, skipping what cannot enter
 * sixteen at a time; and a quickselect that weighs instead of counting. */
#include "config.h"

#include "backend/select.h"

#include <math.h>
#include <stdlib.h>

#include "backend/vec.h"

/* Sink the item at i in a heap whose root is the last in the order. */
static void be_sink(struct be_cand *h, size_t n, size_t i)
{
    struct be_cand x = h[i];

    for (size_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && be_before(&h[kid], &h[kid + 1]))
            kid++;
        if (!be_before(&x, &h[kid]))
            break;
        h[i] = h[kid];
    }
    h[i] = x;
}

static int be_compare(const void *a, const void *b)
{
    return be_before(a, b) ? -1 : be_before(b, a);
}

size_t be_select_best(const float *row, size_t n, size_t k, struct be_cand *out)
{
    be_v4 edge = be_set4(-INFINITY);
    size_t used = 0;

    for (size_t i = 0; i < n; i += 16) {
        be_i4 m = (be_load4(row + i) > edge) | (be_load4(row + i + 4) > edge) |
                  (be_load4(row + i + 8) > edge) | (be_load4(row + i + 12) > edge);
        if (!be_any4(m))
            continue;
        for (size_t j = i; j < i + 16; j++) {
            struct be_cand c = {.l = row[j], .id = (int32_t)j};
            if (!(c.l > edge[0]))
                continue;
            if (used < k) {
                out[used++] = c;
                for (size_t p = used / 2; used == k && p-- > 0;)
                    be_sink(out, k, p);
            } else {
                out[0] = c;
                be_sink(out, k, 0);
            }
            if (used == k)
                edge = be_set4(out[0].l);
        }
    }
    qsort(out, used, sizeof *out, be_compare);
    return used;
}

static void be_swap(struct be_cand *a, struct be_cand *b)
{
    struct be_cand t = *a;
    *a = *b;
    *b = t;
}

/* Part c[lo .. hi) around the median of three; returns the pivot's place. */
static size_t be_part(struct be_cand *c, size_t lo, size_t hi)
{
    size_t mid = lo + (hi - lo) / 2, to = lo;

    if (be_before(&c[mid], &c[lo]))
        be_swap(&c[mid], &c[lo]);
    if (be_before(&c[hi - 1], &c[lo]))
        be_swap(&c[hi - 1], &c[lo]);
    if (be_before(&c[mid], &c[hi - 1]))
        be_swap(&c[mid], &c[hi - 1]);
    for (size_t i = lo; i < hi - 1; i++)
        if (be_before(&c[i], &c[hi - 1]))
            be_swap(&c[i], &c[to++]);
    be_swap(&c[to], &c[hi - 1]);
    return to;
}

struct be_cand be_select_mass(struct be_cand *c, size_t n, double mass)
{
    size_t lo = 0, hi = n;

    /* invariant: the answer is in [lo, hi) or, for want of mass, the last before hi */
    while (hi - lo > 1) {
        size_t p = be_part(c, lo, hi);
        double front = 0;
        for (size_t i = lo; i < p; i++)
            front += c[i].w;
        if (p > lo && mass <= front) {
            hi = p;
        } else if (mass <= front + c[p].w || p + 1 == hi) {
            return c[p];
        } else {
            mass -= front + c[p].w;
            lo = p + 1;
        }
    }
    return c[lo];
}
