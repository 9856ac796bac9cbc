/* Threads for jobs of some microseconds, so the hand-over must cost well below one.
 *
 * A job is published in one 64-bit word: its number in the high half, the next item to take
 * in the low half. Taking an item is one compare-and-swap of that word, so a thread that
 * comes late (it was asleep, or the machine is busy) is never waited for: it finds nothing
 * left, or helps with the next job.
 *
 * Why a late thread cannot mix two jobs: it reads the word, then the job's fields, then
 * swaps the word. The asking thread first marks the old job closed in the word and only then
 * writes the next job's fields, with release; a thread that read such a field, with acquire,
 * also sees the closed word or a later one, and its swap fails.
 *
 * Idle threads spin for a moment, since the next job mostly follows at once, and then sleep
 * on a condition. A sleeper counts itself before it looks at the word for the last time, and
 * the asking thread looks at the count after it changed the word: one of them sees the
 * other. When there are more threads than processors nobody spins. */
#include "config.h"

#include "backend/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/sig.h"

enum { SPIN_NS = 50000, MAX_THREADS = 1024 };

#define CLOSED UINT32_MAX

struct be_worker {
    struct be_pool *pool;
    pthread_t id;
    int number;
};

struct be_pool {
    _Atomic uint64_t word;                  /* (job << 32 | next item) */
    char apart[64];                         /* what all write, each in its cache line */
    _Atomic size_t done;                    /* items finished */
    char apart_too[64];
    _Atomic size_t items;
    be_pool_fn *_Atomic fn;
    void *_Atomic arg;
    atomic_bool quit;
    atomic_int sleepers;
    pthread_mutex_t lock;                   /* for sleeping and waking only */
    pthread_cond_t wake;
    uint32_t job;                           /* of the asking thread */
    bool spin;
    int n;
    struct be_worker *workers;              /* (n - 1) */
};

int be_cpu_count(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

static inline void be_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static uint64_t be_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Take items of the current job until there are none. Returns the number of the job that
 * had nothing left. */
static uint32_t be_pool_work(struct be_pool *p, int thread)
{
    for (;;) {
        uint64_t w = atomic_load_explicit(&p->word, memory_order_acquire);
        size_t items = atomic_load_explicit(&p->items, memory_order_acquire);
        be_pool_fn *fn = atomic_load_explicit(&p->fn, memory_order_acquire);
        void *arg = atomic_load_explicit(&p->arg, memory_order_acquire);
        uint32_t item = (uint32_t)w;

        if (item == CLOSED || item >= items)
            return (uint32_t)(w >> 32);
        if (!atomic_compare_exchange_weak_explicit(&p->word, &w, w + 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        fn(arg, item, thread);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
    }
}

static bool be_pool_changed(const struct be_pool *p, uint32_t seen)
{
    return (uint32_t)(atomic_load(&p->word) >> 32) != seen || atomic_load(&p->quit);
}

/* Wait for another job than the one seen. */
static void be_pool_wait(struct be_pool *p, uint32_t seen)
{
    uint64_t end = p->spin ? be_now_ns() + SPIN_NS : 0;

    while (end) {
        for (int i = 0; i < 32; i++) {
            if (be_pool_changed(p, seen))
                return;
            be_pause();
        }
        if (be_now_ns() > end)
            break;
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (!be_pool_changed(p, seen))
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->lock);
}

static void be_pool_wake(struct be_pool *p)
{
    if (atomic_load(&p->sleepers) == 0)
        return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static void *be_pool_thread(void *arg)
{
    struct be_worker *w = arg;
    struct be_pool *p = w->pool;
    uint32_t seen = 0;

    for (;;) {
        be_pool_wait(p, seen);
        if (atomic_load(&p->quit))
            return NULL;
        seen = be_pool_work(p, w->number);
    }
}

struct be_pool *be_pool_new(int threads)
{
    struct be_pool *p = xcalloc(1, sizeof *p);
    sigset_t old;

    p->spin = threads <= be_cpu_count();
    p->n = 1;
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    p->workers = xcalloc((size_t)threads, sizeof *p->workers);
    atomic_store(&p->word, CLOSED);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);

    sig_block(&old);
    for (; p->n < threads; p->n++) {
        struct be_worker *w = &p->workers[p->n - 1];
        *w = (struct be_worker){.pool = p, .number = p->n};
        if (pthread_create(&w->id, NULL, be_pool_thread, w) != 0)
            break;
    }
    sig_restore(&old);
    return p;
}

void be_pool_free(struct be_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->quit, true);
    be_pool_wake(p);
    for (int i = 0; i + 1 < p->n; i++)
        pthread_join(p->workers[i].id, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}

int be_pool_threads(const struct be_pool *p)
{
    return p->n;
}

void be_pool_run(struct be_pool *p, be_pool_fn *fn, void *arg, size_t items)
{
    if (p->n == 1 || items <= 1) {
        for (size_t i = 0; i < items; i++)
            fn(arg, i, 0);
        return;
    }
    uint64_t job = (uint64_t)p->job << 32;
    atomic_store_explicit(&p->word, job | CLOSED, memory_order_release);
    atomic_store_explicit(&p->items, items, memory_order_release);
    atomic_store_explicit(&p->fn, fn, memory_order_release);
    atomic_store_explicit(&p->arg, arg, memory_order_release);
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    atomic_store(&p->word, (uint64_t)++p->job << 32);
    be_pool_wake(p);
    be_pool_work(p, 0);

    /* what is left is in the hands of others; on a busy machine let them run */
    for (int i = 0; atomic_load_explicit(&p->done, memory_order_acquire) < items; i++) {
        if (p->spin && i < 2000)
            be_pause();
        else
            sched_yield();
    }
}
