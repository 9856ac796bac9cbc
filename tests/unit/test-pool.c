#include "config.h"

#include "tests/unit/unit.h"

#include <assert.h>
#include <stdatomic.h>
#include <time.h>

#include "backend/pool.h"
#include "base/mem.h"

enum { ITEMS = 300 };

struct job {
    atomic_int seen[ITEMS];
    int plain[ITEMS];           /* written without atomics: the pool must order them */
    atomic_int by_thread[64];
    int base, n_threads;
};

static void count_item(void *arg, size_t item, int thread)
{
    struct job *j = arg;

    assert(thread >= 0 && thread < j->n_threads);
    atomic_fetch_add(&j->seen[item], 1);
    j->plain[item] = j->base + (int)item;
    atomic_fetch_add(&j->by_thread[thread], 1);
}

static void every_item_is_done_once(void **state)
{
    static const int threads[] = {1, 2, 3, 8, 40};      /* also more than processors */
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        struct be_pool *p = be_pool_new(threads[k]);
        struct job *j = xcalloc(1, sizeof *j);
        j->n_threads = be_pool_threads(p);
        assert_true(j->n_threads >= 1 && j->n_threads <= threads[k]);
        for (int round = 0; round < (k < 3 ? 3000 : 300); round++) {
            size_t items = (size_t)round * 7 % (ITEMS + 1);
            for (size_t i = 0; i < ITEMS; i++)
                atomic_store(&j->seen[i], 0);
            j->base = round;
            be_pool_run(p, count_item, j, items);
            for (size_t i = 0; i < ITEMS; i++) {
                assert_int_equal(atomic_load(&j->seen[i]), i < items);
                if (i < items)
                    assert_int_equal(j->plain[i], round + (int)i);
            }
            if (round % 100 == 99)              /* long enough for all to fall asleep */
                nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        }
        be_pool_free(p);
        free(j);
    }
}

static void wait_item(void *arg, size_t item, int thread)
{
    atomic_int *arrived = arg;
    time_t end = time(NULL) + 20;
    (void)item;
    (void)thread;
    /* an item that ends only when another thread has taken the other one */
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < 2 && time(NULL) < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

static void others_do_help(void **state)
{
    struct be_pool *p = be_pool_new(2);
    (void)state;
    assert_int_equal(be_pool_threads(p), 2);
    for (int i = 0; i < 20; i++) {
        atomic_int arrived = 0;
        if (i % 2)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        be_pool_run(p, wait_item, &arrived, 2);
        assert_int_equal(atomic_load(&arrived), 2);
    }
    be_pool_free(p);
}

static void pools_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        be_pool_free(be_pool_new(1 + i % 5));
    be_pool_free(NULL);
    assert_true(be_cpu_count() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(others_do_help),
        cmocka_unit_test(pools_come_and_go),
    };
    return UNIT_RUN(tests);
}
