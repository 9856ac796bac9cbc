#include "config.h"

#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "backend/sampler.h"
#include "backend/vec.h"

static const struct be_sampling plain = {.temp = 1, .top_p = 1, .repeat_penalty = 1,
                                         .repeat_last = 64, .seed = 7};

static uint64_t test_rng = 1;

static double test_random(void)
{
    test_rng = test_rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(test_rng >> 11) * 0x1p-53;
}

static float *random_row(size_t n, double width)
{
    float *row = calloc(n, sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++)
            sum += test_random();
        row[i] = (float)((sum - 6) * width);
    }
    return row;
}

/* The evidence in the plainest arithmetic. */
static void check_evidence(const float *row, size_t n, const struct be_choice *c)
{
    double max = -INFINITY, z = 0, ent = 0;
    int32_t rank = 0;

    for (size_t i = 0; i < n; i++)
        max = isfinite(row[i]) && row[i] > max ? row[i] : max;
    for (size_t i = 0; i < n; i++)
        z += isfinite(row[i]) ? exp(row[i] - max) : 0;
    for (size_t i = 0; i < n; i++) {
        double p = isfinite(row[i]) ? exp(row[i] - max) / z : 0;
        ent -= p > 0 ? p * log(p) : 0;
        if (!isfinite(row[i]))
            continue;
        rank += row[i] > row[c->id] || (row[i] == row[c->id] && (int32_t)i < c->id);
    }
    assert_true(fabs(c->lp - (row[c->id] - max - log(z))) < 1e-5);
    assert_true(fabs(c->ent - ent) < 1e-5);
    assert_int_equal(c->rank, rank);
    for (int i = 0; i < c->n_top; i++) {
        assert_true(fabs(c->top[i].lp - (row[c->top[i].id] - max - log(z))) < 1e-5);
        if (i)
            assert_true(row[c->top[i].id] < row[c->top[i - 1].id] ||
                        (row[c->top[i].id] == row[c->top[i - 1].id] &&
                         c->top[i].id > c->top[i - 1].id));
    }
    if (c->n_top > 0 && c->rank < c->n_top)
        assert_int_equal(c->top[c->rank].id, c->id);
}

static void exp_is_exact_enough(void **state)
{
    (void)state;
    for (double x = -87; x < 88; x += 0.00137) {
        double want = exp((double)(float)x);
        assert_true(fabs(be_exp1((float)x) - want) <= 3e-7 * want);
    }
    assert_true(be_exp1(-INFINITY) == 0);
    assert_true(be_exp1(-200) == 0);
    assert_true(be_exp1(NAN) == 0);
    assert_true(be_exp1(0) == 1);
    assert_true(isfinite(be_exp1(INFINITY)));
}

static void evidence_is_the_models(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 5, 63, 64, 512, 1023, 1024, 1025, 32000, 151936};
    static const double widths[] = {0, 0.1, 3, 40};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t w = 0; w < 4; w++) {
            size_t n = sizes[k];
            float *row = random_row(n, widths[w]);
            struct be_sampler *s = be_sampler_new(n);
            struct be_choice c;
            struct be_sampling how = plain;
            how.repeat_penalty = 3;
            how.top_k = 5;
            be_sample(s, &how, row, &(int32_t){0}, 1, 3, 0, 20, &c);
            check_evidence(row, n, &c);
            assert_int_equal(c.n_top, n < 20 ? n : 20);
            for (int t = 0; t < 5; t++) {
                be_score(s, row, (int32_t)(test_random() * (double)n), BE_TOP_MAX, &c);
                check_evidence(row, n, &c);
            }
            be_sampler_free(s);
            free(row);
        }
}

static void greedy_takes_the_lowest_id_among_equals(void **state)
{
    float row[37];
    struct be_sampling how = plain;
    struct be_sampler *s = be_sampler_new(37);
    struct be_choice c;
    (void)state;
    how.temp = 0;
    for (int i = 0; i < 37; i++)
        row[i] = (float)(i % 7);
    be_sample(s, &how, row, NULL, 0, 0, 0, 4, &c);
    assert_int_equal(c.id, 6);
    assert_int_equal(c.rank, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c.top[i].id, 6 + 7 * i);
    be_score(s, row, 20, 0, &c);
    assert_int_equal(c.rank, 2);
    be_score(s, row, 0, 0, &c);
    assert_int_equal(c.rank, 31);
    be_sampler_free(s);
}

static void what_is_not_finite_counts_as_nothing(void **state)
{
    float row[9] = {NAN, -INFINITY, 1, NAN, INFINITY, 2, -INFINITY, NAN, 0};
    float none[3] = {NAN, -INFINITY, INFINITY};
    struct be_sampler *s = be_sampler_new(9), *s3 = be_sampler_new(3);
    struct be_sampling how = plain;
    struct be_choice c;
    (void)state;
    for (uint32_t pos = 0; pos < 200; pos++) {
        be_sample(s, &how, row, NULL, 0, pos, 0, 9, &c);
        assert_true(c.id == 2 || c.id == 5 || c.id == 8);
        assert_int_equal(c.n_top, 3);
        check_evidence(row, 9, &c);
    }
    be_score(s, row, 4, 9, &c);
    assert_true(isinf(c.lp) && c.lp < 0);
    how.temp = 0;
    be_sample(s, &how, row, NULL, 0, 0, 0, 0, &c);
    assert_int_equal(c.id, 5);
    for (how.temp = 0; how.temp < 2; how.temp++) {
        be_sample(s3, &how, none, NULL, 0, 0, 0, 3, &c);
        assert_int_equal(c.id, 0);
        assert_true(isinf(c.lp) && c.lp < 0);
        assert_true(c.n_top == 0 && c.ent == 0);
    }
    be_sampler_free(s);
    be_sampler_free(s3);
}

/* What the header promises, done the slow way: sort, cut, normalise. */
static void slow_distribution(const float *logits, size_t n, const struct be_sampling *how,
                              const int32_t *recent, size_t n_recent, double *p)
{
    double *l = calloc(n, sizeof *l), z = 0, cum = 0;
    size_t *order = calloc(n, sizeof *order), keep = n;

    for (size_t i = 0; i < n; i++)
        l[i] = logits[i];
    for (size_t i = 0; i < n && n_recent; i++)
        for (size_t k = n_recent > (size_t)how->repeat_last ? n_recent -
             (size_t)how->repeat_last : 0; k < n_recent; k++)
            if (recent[k] == (int32_t)i) {
                l[i] = l[i] > 0 ? l[i] / how->repeat_penalty : l[i] * how->repeat_penalty;
                break;
            }
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        for (; k > 0 && l[order[k - 1]] < l[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    if (how->top_k > 0 && (size_t)how->top_k < keep)
        keep = (size_t)how->top_k;
    for (size_t i = 0; i < keep; i++)
        z += exp(l[order[i]] - l[order[0]]);
    for (size_t i = 0; i < keep && how->top_p < 1; i++) {
        cum += exp(l[order[i]] - l[order[0]]);
        if (cum >= (double)how->top_p * z)
            keep = i + 1;
    }
    while (how->min_p > 0 && keep > 1 && l[order[keep - 1]] < l[order[0]] + log(how->min_p))
        keep--;
    z = 0;
    for (size_t i = 0; i < n; i++)
        p[i] = 0;
    for (size_t i = 0; i < keep; i++)
        z += p[order[i]] = exp((l[order[i]] - l[order[0]]) / how->temp);
    for (size_t i = 0; i < n; i++)
        p[i] /= z;
    free(l);
    free(order);
}

/* Draw often and compare with the slow distribution by chi-square. */
static void check_distribution(size_t n, const struct be_sampling *how, size_t draws)
{
    float *row = random_row(n, 1.5);
    double *p = calloc(n, sizeof *p), chi = 0, free_cells = -1, rare = 0, rare_seen = 0;
    size_t *seen = calloc(n, sizeof *seen);
    int32_t recent[5] = {3, 1, 1, 0, 2};
    struct be_sampler *s = be_sampler_new(n);
    struct be_choice c;

    slow_distribution(row, n, how, recent, 5, p);
    for (uint32_t i = 0; i < draws; i++) {
        be_sample(s, how, row, recent, 5, i / 3, i % 3, 0, &c);
        assert_true(p[c.id] > 0);
        seen[c.id]++;
    }
    for (size_t i = 0; i < n; i++) {
        double want = p[i] * (double)draws;
        if (want < 10) {
            rare += want;
            rare_seen += (double)seen[i];
            continue;
        }
        chi += ((double)seen[i] - want) * ((double)seen[i] - want) / want;
        free_cells++;
    }
    if (rare > 10) {
        chi += (rare_seen - rare) * (rare_seen - rare) / rare;
        free_cells++;
    }
    /* mean k, deviation sqrt(2k); five deviations with a fixed seed */
    assert_true(free_cells <= 0 || chi < free_cells + 5 * sqrt(2 * free_cells) + 5);
    be_sampler_free(s);
    free(seen);
    free(p);
    free(row);
}

static void each_cut_leaves_what_it_should(void **state)
{
    static const struct {
        float temp;
        int top_k;
        float top_p, min_p, penalty;
    } how[] = {
        {1, 0, 1, 0, 1},        {0.7f, 0, 1, 0, 1},      {2, 0, 1, 0, 1},
        {1, 5, 1, 0, 1},        {1, 1, 1, 0, 1},         {1, 300, 1, 0, 1},
        {1, 0, 0.9f, 0, 1},     {1, 0, 0, 0, 1},         {1, 0, 0.05f, 0, 1},
        {1, 0, 0.9999f, 0, 1},  {1, 0, 1, 0.1f, 1},      {1, 0, 1, 1, 1},
        {1, 40, 0.8f, 0, 1},    {1, 300, 0.8f, 0, 1},    {1, 0, 0.95f, 0.05f, 1},
        {0.8f, 40, 0.95f, 0.05f, 1.1f}, {1, 0, 1, 0, 1.8f}, {1.5f, 12, 0.7f, 0.2f, 0.5f},
        {1, 1000000, 0.5f, 0, 1},
    };
    static const size_t sizes[] = {2, 17, 400, 1500};
    (void)state;
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        for (size_t k = 0; k < 4; k++) {
            struct be_sampling h = {.temp = how[i].temp, .top_k = how[i].top_k,
                                    .top_p = how[i].top_p, .min_p = how[i].min_p,
                                    .repeat_penalty = how[i].penalty, .repeat_last = 4,
                                    .seed = i};
            check_distribution(sizes[k] < 6 ? 6 : sizes[k], &h, 3000);
        }
}

static void ties_at_a_cut_go_to_the_lower_id(void **state)
{
    float row[600];
    struct be_sampler *s = be_sampler_new(600);
    struct be_choice c;
    (void)state;
    for (int i = 0; i < 600; i++)
        row[i] = 1;
    for (int k = 0; k < 3; k++) {
        struct be_sampling how = plain;
        bool seen[600] = {0};
        how.top_k = k == 0 ? 10 : k == 1 ? 300 : 0;
        how.top_p = k == 2 ? 0.0501f : 1;
        int expect = k == 0 ? 10 : k == 1 ? 300 : 31;
        for (uint32_t pos = 0; pos < 9000; pos++) {
            be_sample(s, &how, row, NULL, 0, pos, 0, 0, &c);
            assert_true(c.id < expect);
            seen[c.id] = true;
        }
        for (int i = 0; i < expect; i++)
            assert_true(seen[i]);
    }
    be_sampler_free(s);
}

static void the_choice_depends_on_seed_position_and_attempt_only(void **state)
{
    size_t n = 3000, same = 0;
    float *row = random_row(n, 1);
    struct be_sampler *s = be_sampler_new(n), *t = be_sampler_new(n);
    struct be_sampling how = plain;
    struct be_choice a, b;
    (void)state;
    for (uint32_t pos = 0; pos < 50; pos++) {
        be_sample(s, &how, row, NULL, 0, 49 - pos, 2, 0, &a);
        be_sample(t, &how, row, NULL, 0, pos, 2, 5, &b);
        be_sample(t, &how, row, NULL, 0, 49 - pos, 2, 5, &b);
        assert_int_equal(a.id, b.id);
        be_sample(t, &how, row, NULL, 0, 49 - pos, 3, 0, &b);
        same += a.id == b.id;
        how.seed++;
        be_sample(t, &how, row, NULL, 0, 49 - pos, 2, 0, &b);
        how.seed--;
        same += a.id == b.id;
    }
    assert_true(same < 5);
    be_sampler_free(s);
    be_sampler_free(t);
    free(row);
}

static void a_penalty_is_undone(void **state)
{
    float row[4] = {2, 1.9f, -1, 0};
    int32_t recent[6] = {0, 0, 2, -5, 99, 0};
    struct be_sampling how = plain;
    struct be_sampler *s = be_sampler_new(4);
    struct be_choice c;
    (void)state;
    how.temp = 0;
    how.repeat_penalty = 1.5f;
    be_sample(s, &how, row, recent, 6, 0, 0, 4, &c);
    assert_int_equal(c.id, 1);
    assert_int_equal(c.rank, 1);
    check_evidence(row, 4, &c);
    how.repeat_last = 0;
    be_sample(s, &how, row, recent, 6, 0, 0, 4, &c);
    assert_int_equal(c.id, 0);
    how.repeat_last = 64;
    be_sample(s, &how, row, recent, 0, 0, 0, 4, &c);
    assert_int_equal(c.id, 0);
    be_sampler_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_exact_enough),
        cmocka_unit_test(evidence_is_the_models),
        cmocka_unit_test(greedy_takes_the_lowest_id_among_equals),
        cmocka_unit_test(what_is_not_finite_counts_as_nothing),
        cmocka_unit_test(each_cut_leaves_what_it_should),
        cmocka_unit_test(ties_at_a_cut_go_to_the_lower_id),
        cmocka_unit_test(the_choice_depends_on_seed_position_and_attempt_only),
        cmocka_unit_test(a_penalty_is_undone),
    };
    return UNIT_RUN(tests);
}
