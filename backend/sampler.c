/* The sampler. The row is copied once, with what is not finite made -inf and padded to whole
 * blocks, so that every later pass is a plain loop over vectors of four:
 *
 *   1. copy and maximum;
 *   2. sum of exp and of exp * l: the normaliser and the entropy;
 *   3. penalties, in place (undone afterwards);
 *   4. the cuts. Each of top-k, top-p and min-p keeps the front part of one order (higher
 *      logit first, lower id among equals), so each is a last kept (logit, id), and what
 *      they keep together is the shortest front part. As in llama.cpp, top-p is measured on
 *      what top-k left, min-p against the most likely, and all at temperature 1;
 *   5. the choice: a walk in the order of ids over the tokens before the cut;
 *   6. rank by counting, the top list by a heap.
 *
 * Sums are kept in double over groups of 64 floats. */
#include "config.h"

#include "backend/sampler.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backend/select.h"
#include "backend/vec.h"
#include "base/mem.h"

enum {
    GROUP = 64,             /* floats summed before the sum goes into a double */
    BLOCK = 1024,           /* floats whose sum is remembered for the walk */
    HEAP_MAX = 256,         /* larger top-k select by partition instead of a heap */
};

struct be_sampler {
    size_t n;               /* vocabulary */
    size_t padded;          /* a multiple of BLOCK */
    float *row;             /* (padded), -inf behind n */
    uint8_t *mark;          /* (n), ids already penalised */
    double *sums;           /* (padded / BLOCK) */
    struct be_cand *cand;   /* candidates of the cuts */
    size_t cand_cap;
    int32_t *hit;           /* ids whose logit the penalty changed */
    float *was;             /* and what it was */
    size_t n_hit, hit_cap, was_cap;
};

/* What passes 1 and 2 found. */
struct be_mass {
    float max;
    double log_z;           /* log of the sum of exp(l - max) */
    double entropy;
};

struct be_sampler *be_sampler_new(size_t n_vocab)
{
    struct be_sampler *s = xcalloc(1, sizeof *s);

    s->n = n_vocab;
    s->padded = (n_vocab + BLOCK - 1) / BLOCK * BLOCK;
    s->row = xcalloc(s->padded, sizeof *s->row);
    s->mark = xcalloc(n_vocab, 1);
    s->sums = xcalloc(s->padded / BLOCK, sizeof *s->sums);
    return s;
}

void be_sampler_free(struct be_sampler *s)
{
    if (!s)
        return;
    free(s->row);
    free(s->mark);
    free(s->sums);
    free(s->cand);
    free(s->hit);
    free(s->was);
    free(s);
}

/* ---- passes over the row ---- */

static float be_row_max(const struct be_sampler *s)
{
    be_v4 m = be_load4(s->row);

    for (size_t i = 4; i < s->padded; i += 4) {
        be_v4 x = be_load4(s->row + i);
        m = be_pick4(x > m, x, m);
    }
    float a = m[0] > m[1] ? m[0] : m[1], b = m[2] > m[3] ? m[2] : m[3];
    return a > b ? a : b;
}

static float be_row_load(struct be_sampler *s, const float *logits)
{
    const be_v4 lowest = be_set4(-INFINITY), biggest = be_set4(INFINITY);
    size_t i = 0;

    for (; i + 4 <= s->n; i += 4) {
        be_v4 x = be_load4(logits + i);
        be_store4(s->row + i, be_pick4((x < biggest) & (x > lowest), x, lowest));
    }
    for (; i < s->padded; i++)
        s->row[i] = i < s->n && isfinite(logits[i]) ? logits[i] : -INFINITY;
    return be_row_max(s);
}

/* exp(l - max) over one group: their sum, and the sum of exp(d) * d. */
static inline void be_group_mass(const float *p, float max, double *z, double *zd)
{
    be_v4 z0 = {0}, z1 = {0}, d0 = {0}, d1 = {0};

    for (int i = 0; i < GROUP; i += 8) {
        be_v4 a = be_load4(p + i) - be_set4(max), b = be_load4(p + i + 4) - be_set4(max);
        be_v4 ea = be_exp4(a), eb = be_exp4(b);
        z0 += ea;
        z1 += eb;
        /* what exp() gives as 0 may have an infinite d */
        d0 += ea * be_pick4(a > be_set4(-88.0f), a, be_set4(0));
        d1 += eb * be_pick4(b > be_set4(-88.0f), b, be_set4(0));
    }
    *z += be_sum4(z0 + z1);
    *zd += be_sum4(d0 + d1);
}

static struct be_mass be_row_mass(const struct be_sampler *s, float max)
{
    struct be_mass m = {.max = max};
    double z = 0, zd = 0;

    for (size_t i = 0; i < s->padded; i += GROUP)
        be_group_mass(s->row + i, max, &z, &zd);
    m.log_z = log(z);
    m.entropy = m.log_z - zd / z;
    if (m.entropy < 0)
        m.entropy = 0;
    return m;
}

static int32_t be_row_first(const struct be_sampler *s, float value)
{
    size_t i = 0;

    while (!be_any4(be_load4(s->row + i) == be_set4(value)))
        i += 4;
    while (s->row[i] != value)
        i++;
    return (int32_t)i;
}

/* How many tokens come before id. */
static int32_t be_row_rank(const struct be_sampler *s, int32_t id)
{
    be_v4 l = be_set4(s->row[id]);
    be_i4 more = {0};
    size_t i = 0;

    /* a mask is -1 where it holds */
    for (; i + 4 <= (size_t)id; i += 4)
        more -= be_load4(s->row + i) >= l;
    int32_t rank = more[0] + more[1] + more[2] + more[3];
    for (size_t k = i; k < i + 4; k++)
        rank += s->row[k] > s->row[id] || (s->row[k] == s->row[id] && k < (size_t)id);
    more = (be_i4){0};
    for (i += 4; i < s->padded; i += 4)
        more -= be_load4(s->row + i) > l;
    return rank + more[0] + more[1] + more[2] + more[3];
}

static void be_evidence(struct be_sampler *s, const struct be_mass *m, int32_t id, int n_top,
                        struct be_choice *out)
{
    struct be_cand top[BE_TOP_MAX];
    size_t n = 0;

    if (n_top > BE_TOP_MAX)
        n_top = BE_TOP_MAX;
    if (n_top > 0)
        n = be_select_best(s->row, s->padded, (size_t)n_top, top);
    out->id = id;
    out->lp = (float)((double)s->row[id] - m->max - m->log_z);
    out->rank = be_row_rank(s, id);
    out->ent = (float)m->entropy;
    out->n_top = (int)n;
    for (size_t i = 0; i < n; i++)
        out->top[i] = (struct be_top){
            .id = top[i].id, .lp = (float)((double)top[i].l - m->max - m->log_z)};
}

/* A row without a finite value. */
static void be_nothing(int32_t id, struct be_choice *out)
{
    out->id = id;
    out->lp = -INFINITY;
    out->rank = id;
    out->ent = 0;
    out->n_top = 0;
}

/* ---- penalties ---- */

static void be_penalise(struct be_sampler *s, const struct be_sampling *how,
                        const int32_t *recent, size_t n_recent)
{
    size_t n = how->repeat_last < 0 || (size_t)how->repeat_last > n_recent
                   ? n_recent : (size_t)how->repeat_last;

    s->n_hit = 0;
    if (!(how->repeat_penalty > 0) || how->repeat_penalty == 1)
        return;
    MEM_GROW(s->hit, s->hit_cap, n);
    MEM_GROW(s->was, s->was_cap, n);
    for (const int32_t *p = recent + n_recent - n; p < recent + n_recent; p++) {
        if (*p < 0 || (size_t)*p >= s->n || s->mark[*p])
            continue;
        float *l = &s->row[*p];
        s->mark[*p] = 1;
        s->hit[s->n_hit] = *p;
        s->was[s->n_hit++] = *l;
        *l = *l > 0 ? *l / how->repeat_penalty : *l * how->repeat_penalty;
    }
}

static void be_unpenalise(struct be_sampler *s)
{
    for (size_t i = 0; i < s->n_hit; i++) {
        s->row[s->hit[i]] = s->was[i];
        s->mark[s->hit[i]] = 0;
    }
}

/* ---- cuts ---- */

/* The tokens with a logit of at least low, in the order of ids. */
static size_t be_gather(struct be_sampler *s, float low)
{
    be_v4 limit = be_set4(low);
    size_t n = 0;

    for (size_t i = 0; i < s->padded; i += 4) {
        if (!be_any4(be_load4(s->row + i) >= limit))
            continue;
        MEM_GROW(s->cand, s->cand_cap, n + 4);
        for (size_t k = i; k < i + 4; k++)
            if (s->row[k] >= low)
                s->cand[n++] = (struct be_cand){.l = s->row[k], .id = (int32_t)k};
    }
    return n;
}

/* The candidates that top-k leaves in s->cand; *cut is the last of them. */
static size_t be_cut_top_k(struct be_sampler *s, size_t k, struct be_cand *cut)
{
    size_t n;

    if (k <= HEAP_MAX) {
        MEM_GROW(s->cand, s->cand_cap, k);
        n = be_select_best(s->row, s->padded, k, s->cand);
        *cut = s->cand[n - 1];
        return n;
    }
    n = be_gather(s, -FLT_MAX);
    if (n <= k)
        return n;
    for (size_t i = 0; i < n; i++)
        s->cand[i].w = 1;
    *cut = be_select_mass(s->cand, n, (double)k);
    return k;
}

/* Narrow *cut to the smallest front part with p of the mass. n candidates are in s->cand if
 * top-k was there before; otherwise (n is 0) they are gathered: what lies log(n / (1 - p))
 * below the maximum weighs less than 1 - p altogether and cannot be needed. */
static void be_cut_top_p(struct be_sampler *s, float max, double p, size_t n,
                         struct be_cand *cut)
{
    double mass = 0;

    if (n == 0) {
        double rest = 0;
        double depth = log((double)s->n / (1 - p)) + 1;
        for (size_t i = 0; i < s->padded; i += GROUP)
            be_group_mass(s->row + i, max, &mass, &rest);
        n = be_gather(s, depth < 80 ? max - (float)depth : -FLT_MAX);
    }
    for (size_t i = 0; i < n; i++)
        s->cand[i].w = be_exp1(s->cand[i].l - max);
    if (mass == 0)
        for (size_t i = 0; i < n; i++)
            mass += s->cand[i].w;

    struct be_cand c = be_select_mass(s->cand, n, p * mass);
    if (be_before(&c, cut))
        *cut = c;
}

static struct be_cand be_cut(struct be_sampler *s, const struct be_sampling *how, float max)
{
    struct be_cand cut = {.l = -FLT_MAX, .id = INT32_MAX};
    size_t n = 0;

    if (how->top_k > 0 && (size_t)how->top_k < s->n)
        n = be_cut_top_k(s, (size_t)how->top_k, &cut);
    if (how->top_p < 1)
        be_cut_top_p(s, max, how->top_p > 0 ? how->top_p : 0, n, &cut);
    if (how->min_p > 0) {
        struct be_cand c = {.l = max, .id = INT32_MAX};
        if (how->min_p < 1)
            c.l += logf(how->min_p);
        if (be_before(&c, &cut))
            cut = c;
    }
    return cut;
}

/* ---- the choice ---- */

/* 53 random bits in [0, 1) from three numbers, by the finaliser of splitmix64. */
static double be_random(uint64_t seed, uint32_t pos, uint32_t attempt)
{
    uint64_t x = seed;

    for (int i = 0; i < 2; i++) {
        x += UINT64_C(0x9e3779b97f4a7c15) + (i ? (uint64_t)attempt << 32 | pos : 0);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return (double)(x >> 11) * 0x1p-53;
}

/* exp((l - max) / temp) of four tokens; 0 for those behind the cut. */
static inline be_v4 be_weight4(const struct be_sampler *s, size_t i, float max, float inv_temp,
                               const struct be_cand *cut)
{
    int32_t id = (int32_t)i;
    be_v4 l = be_load4(s->row + i), edge = be_set4(cut->l);
    be_i4 ids = {id, id + 1, id + 2, id + 3};
    be_i4 last = {cut->id, cut->id, cut->id, cut->id};
    be_i4 keep = (l > edge) | ((l == edge) & (ids <= last));
    be_v4 w = be_exp4((l - be_set4(max)) * be_set4(inv_temp));

    return (be_v4)((be_i4)w & keep);
}

static double be_block_weight(const struct be_sampler *s, size_t at, float max, float inv_temp,
                              const struct be_cand *cut)
{
    be_v4 edge = be_set4(cut->l);
    double sum = 0;

    for (size_t g = at; g < at + BLOCK; g += GROUP) {
        be_v4 part = {0};
        for (size_t i = g; i < g + GROUP; i += 4)
            if (be_any4(be_load4(s->row + i) >= edge))
                part += be_weight4(s, i, max, inv_temp, cut);
        sum += be_sum4(part);
    }
    return sum;
}

static int32_t be_draw(struct be_sampler *s, float max, float temp, const struct be_cand *cut,
                       double random)
{
    float inv_temp = 1 / temp;
    double total = 0, before = 0;
    size_t block = 0, blocks = s->padded / BLOCK, last = 0;

    for (size_t b = 0; b < blocks; b++) {
        s->sums[b] = be_block_weight(s, b * BLOCK, max, inv_temp, cut);
        total += s->sums[b];
    }
    double target = random * total;
    for (size_t b = 0; b < blocks; b++) {
        if (s->sums[b] <= 0)
            continue;
        block = b;
        if (before + s->sums[b] > target)
            break;
        before += s->sums[b];
    }
    /* rounding may leave the target behind the last token: that one is taken then */
    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK; i += 4) {
        be_v4 w = be_weight4(s, i, max, inv_temp, cut);
        for (size_t k = 0; k < 4; k++) {
            if (!(w[k] > 0))
                continue;
            last = i + k;
            before += w[k];
            if (before > target)
                return (int32_t)last;
        }
    }
    return (int32_t)last;
}

void be_sample(struct be_sampler *s, const struct be_sampling *how, const float *logits,
               const int32_t *recent, size_t n_recent, uint32_t pos, uint32_t attempt,
               int n_top, struct be_choice *out)
{
    float max = be_row_load(s, logits);
    struct be_mass m;
    int32_t id;

    if (!isfinite(max)) {
        be_nothing(0, out);
        return;
    }
    m = be_row_mass(s, max);
    be_penalise(s, how, recent, n_recent);
    if (s->n_hit)
        max = be_row_max(s);
    if (!(how->temp > 1e-5f) || !isfinite(max)) {
        id = be_row_first(s, max);
    } else {
        struct be_cand cut = be_cut(s, how, max);
        id = be_draw(s, max, how->temp, &cut, be_random(how->seed, pos, attempt));
    }
    be_unpenalise(s);
    be_evidence(s, &m, id, n_top, out);
}

void be_score(struct be_sampler *s, const float *logits, int32_t id, int n_top,
              struct be_choice *out)
{
    float max = be_row_load(s, logits);

    assert(id >= 0 && (size_t)id < s->n);
    if (!isfinite(max)) {
        be_nothing(id, out);
        return;
    }
    struct be_mass m = be_row_mass(s, max);
    be_evidence(s, &m, id, n_top, out);
}
