#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

/* The history of what was typed: one entry is one prompt, with its newlines. The file is
 * shared by all running programs: each appends its entries under a lock. */

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { TUI_HISTORY_MAX = 1000 };

struct tui_history {
    char **v;               /* (n) oldest first */
    char **edited;          /* (n) what became of an entry while walking; or NULL */
    size_t n, cap;
    size_t at;              /* the entry in the editor; n: the draft */
    char *draft;            /* what was typed before walking; NULL: nothing kept */
    char *path;             /* NULL: kept in memory only */
};

/* Read the file at path; a missing file is an empty history. Identical entries are kept
 * once, the newest of them, and the file is cut to TUI_HISTORY_MAX. */
bool tui_history_load(struct tui_history *h, const char *path, struct err *e);
void tui_history_release(struct tui_history *h);

/* Keep an entry, unless it is blank, begins with a space, or repeats the last one. An
 * older copy goes. Ends walking. False when the file could not be written: the entry
 * is kept in memory all the same. */
bool tui_history_add(struct tui_history *h, const char *text, struct err *e);

/* Forget the draft and what became of entries: the next walk starts at the end. */
void tui_history_rest(struct tui_history *h);

/* Walk: current is what the editor shows now and comes back when one returns to its
 * entry. Returns the text to show, or NULL at either end. */
const char *tui_history_move(struct tui_history *h, const char *current, size_t to);
const char *tui_history_prev(struct tui_history *h, const char *current);
const char *tui_history_next(struct tui_history *h, const char *current);

#endif
