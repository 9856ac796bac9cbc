#ifndef TUI_TUI_H
#define TUI_TUI_H

/* The front end: a full screen and its append-only twin. Both drive a struct chat that
 * the caller opened and will free; both end with the exit status of the program (0, or
 * 128 plus the signal that ended it) and the terminal as they found it. */

struct chat;
struct chat_settings;
struct err;

/* The full screen. Wants a terminal on stdin and stdout. A status of 1 or more with e
 * filled (e->kind set) means that it could not start or go on. */
int tui_run(struct chat *c, const struct chat_settings *s, struct err *e);

/* Lines in, text out: no escapes, no box drawing, roles as words. For pipes, for screen
 * readers, for terminals that can do no more. */
int tui_plain(struct chat *c, const struct chat_settings *s, struct err *e);

#endif
