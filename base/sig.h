#ifndef BASE_SIG_H
#define BASE_SIG_H

/* Signals and threads: they are the main thread's business, so a thread is started with them
 * blocked. Not so the faults of the thread itself: blocked, they would kill the program
 * before a handler could give the terminal back. */

#include <signal.h>

/* Block all signals but faults in the calling thread; old is what sig_restore() wants. */
void sig_block(sigset_t *old);
void sig_restore(const sigset_t *old);

#endif
