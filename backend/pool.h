#ifndef BE_POOL_H
#define BE_POOL_H

/* A pool of threads that share out numbered items of one job at a time. The thread that
 * asks for a job works on it too. One thread at a time may ask. */

#include <stddef.h>

struct be_pool;

/* What to do with one item; thread is 0 (the asking one) .. be_pool_threads() - 1. */
typedef void be_pool_fn(void *arg, size_t item, int thread);

/* threads counts the asking one. If the system gives fewer, the pool has fewer. */
struct be_pool *be_pool_new(int threads);
void be_pool_free(struct be_pool *p);
int be_pool_threads(const struct be_pool *p);

/* Do all items, in any order, and return when all are done. */
void be_pool_run(struct be_pool *p, be_pool_fn *fn, void *arg, size_t items);

/* Processors this process may use. */
int be_cpu_count(void);

#endif
