#include "config.h"

#include "tui/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static const struct {
    int number;
    unsigned bit;
} caught[] = {
    { SIGWINCH, TUI_SIG_RESIZE },   { SIGTSTP, TUI_SIG_SUSPEND },
    { SIGCONT, TUI_SIG_CONTINUE },  { SIGINT, TUI_SIG_INTERRUPT },
    { SIGTERM, TUI_SIG_TERMINATE }, { SIGHUP, TUI_SIG_HANGUP },
};
static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };

enum { CAUGHT = sizeof caught / sizeof *caught, FATAL = sizeof fatal / sizeof *fatal };

static int signal_pipe[2] = { -1, -1 };
static volatile sig_atomic_t came[CAUGHT];
static struct sigaction old_caught[CAUGHT], old_fatal[FATAL], old_pipe;
static bool is_caught[CAUGHT];
static void (*rescue_terminal)(void);
static char fatal_stack[64 * 1024];     /* for the handler of a stack overflow */

static void on_signal(int number)
{
    int saved = errno;

    for (int i = 0; i < CAUGHT; i++)
        if (caught[i].number == number)
            came[i] = 1;
    ssize_t done = write(signal_pipe[1], "", 1);        /* full: it is readable already */
    (void)done;
    errno = saved;
}

/* The old action comes back first: the default one ends the program and leaves a core,
 * and a sanitizer's tells its story, on a terminal that can show it. */
static void on_fatal(int number)
{
    if (rescue_terminal)
        rescue_terminal();
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == number)
            sigaction(number, &old_fatal[i], NULL);
    raise(number);
}

static void install(int number, void (*handler)(int), int flags, struct sigaction *old)
{
    struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&sa.sa_mask);
    sigaction(number, &sa, old);
}

bool tui_signals_start(unsigned mask, void (*rescue)(void), struct err *e)
{
    stack_t stack = { .ss_sp = fatal_stack, .ss_size = sizeof fatal_stack };

    if (pipe2(signal_pipe, O_NONBLOCK | O_CLOEXEC) < 0)
        return err_set(e, "cannot make a pipe for signals: %s", strerror(errno));
    for (int i = 0; i < CAUGHT; i++) {
        came[i] = 0;
        is_caught[i] = mask & caught[i].bit;
        if (is_caught[i])
            install(caught[i].number, on_signal, SA_RESTART, &old_caught[i]);
        /* What was ignored when the program began stays ignored (nohup, "&" in sh). */
        if (is_caught[i] && old_caught[i].sa_handler == SIG_IGN) {
            sigaction(caught[i].number, &old_caught[i], NULL);
            is_caught[i] = false;
        }
    }
    install(SIGPIPE, SIG_IGN, 0, &old_pipe);
    rescue_terminal = rescue;
    if (rescue) {
        sigaltstack(&stack, NULL);
        for (int i = 0; i < FATAL; i++)
            install(fatal[i], on_fatal, SA_ONSTACK, &old_fatal[i]);
    }
    return true;
}

void tui_signals_stop(void)
{
    if (signal_pipe[0] < 0)
        return;
    for (int i = 0; i < CAUGHT; i++)
        if (is_caught[i])
            sigaction(caught[i].number, &old_caught[i], NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
    if (rescue_terminal) {
        stack_t none = { .ss_flags = SS_DISABLE };
        for (int i = 0; i < FATAL; i++)
            sigaction(fatal[i], &old_fatal[i], NULL);
        sigaltstack(&none, NULL);
        rescue_terminal = NULL;
    }
    close(signal_pipe[0]);
    close(signal_pipe[1]);
    signal_pipe[0] = signal_pipe[1] = -1;
}

int tui_signals_fd(void)
{
    return signal_pipe[0];
}

unsigned tui_signals_take(void)
{
    char drain[64];
    unsigned bits = 0;

    while (read(signal_pipe[0], drain, sizeof drain) > 0)
        ;
    for (int i = 0; i < CAUGHT; i++)
        if (came[i]) {
            came[i] = 0;
            bits |= caught[i].bit;
        }
    return bits;
}

/* In an orphaned process group, where no shell could wake us, the kernel drops the
 * signal and we simply go on. */
void tui_signals_suspend(void)
{
    struct sigaction ours;

    for (int i = 0; i < CAUGHT; i++)
        if (caught[i].number == SIGTSTP && !is_caught[i])
            return;             /* there is no job control */
    install(SIGTSTP, SIG_DFL, 0, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    for (int i = 0; i < CAUGHT; i++)
        if (caught[i].number == SIGCONT)
            came[i] = 0;        /* the caller knows */
}
