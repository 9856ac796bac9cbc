#include "config.h"

#include "base/sig.h"

#include <stddef.h>

static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };

void sig_block(sigset_t *old)
{
    sigset_t set;

    sigfillset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, old);
}

void sig_restore(const sigset_t *old)
{
    pthread_sigmask(SIG_SETMASK, old, NULL);
}
