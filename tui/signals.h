#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

/* Signals as something to poll. Handlers only set a flag and write a byte; what is to
 * be done is done by the loop. Fatal signals are the exception: they give the terminal
 * back with async-signal-safe calls and then take their usual course. */

#include <stdbool.h>

struct err;

enum tui_signal {
    TUI_SIG_RESIZE = 1, TUI_SIG_SUSPEND = 2, TUI_SIG_INTERRUPT = 4,
    TUI_SIG_TERMINATE = 8, TUI_SIG_HANGUP = 16,
    TUI_SIG_CONTINUE = 32,          /* the process was stopped, and not by us */
};

/* Start catching the signals in mask (tui_signal). rescue, if not NULL, is called on a
 * fatal signal and must be async-signal-safe. */
bool tui_signals_start(unsigned mask, void (*rescue)(void), struct err *e);
void tui_signals_stop(void);            /* the handlers of before come back */

int tui_signals_fd(void);               /* readable when a signal came */
unsigned tui_signals_take(void);        /* those that came, as bits */

/* Stop the process as Ctrl-Z would; returns when it goes on. */
void tui_signals_suspend(void);

#endif
