#include "config.h"

#include "tests/unit/unit.h"

#include <pthread.h>

#include "base/sig.h"

static void *look(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return NULL;
}

static void a_thread_sees_its_faults_and_nothing_else(void **state)
{
    sigset_t before, old, after, in_thread;
    pthread_t id;

    (void)state;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sig_block(&old);
    assert_int_equal(pthread_create(&id, NULL, look, &in_thread), 0);
    sig_restore(&old);
    pthread_join(id, NULL);
    assert_false(sigismember(&in_thread, SIGSEGV));
    assert_false(sigismember(&in_thread, SIGBUS));
    assert_false(sigismember(&in_thread, SIGABRT));
    assert_true(sigismember(&in_thread, SIGINT));
    assert_true(sigismember(&in_thread, SIGTERM));
    assert_true(sigismember(&in_thread, SIGWINCH));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&after, s), sigismember(&before, s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_sees_its_faults_and_nothing_else),
    };
    return UNIT_RUN(tests);
}
