#ifndef TUI_INPUT_H
#define TUI_INPUT_H

/* The text being typed: GNU readline behind our own keys and our own drawing. There is
 * one readline in a process, so this module has state of its own. Only here is
 * readline known. */

#include <stdbool.h>
#include <stddef.h>

#include "tui/tables.h"
#include "tui/wrap.h"

struct err;
struct tui_key;

/* Read inputrc and the history. history is NULL when none is to be kept on disk. A
 * history that cannot be read is told in e by returning false; editing works all the
 * same. */
bool tui_input_start(const char *history, enum tui_charset cs, struct err *e);
void tui_input_stop(void);

/* Give a key to the line editor. What it means may be ours to do (readline's
 * accept-line is TUI_ACT_SEND): that is returned; TUI_ACT_EDITOR when all is done. */
enum tui_action tui_input_key(const struct tui_key *k);

/* Insert text as if it had been typed; never submits. */
void tui_input_insert(const char *text, size_t n);
/* Replace the bytes from to the cursor; the whole text. */
void tui_input_replace(size_t from, const char *text, size_t n);
void tui_input_set(const char *text, size_t n);

/* The text, owned here and valid until the next call, and the cursor in it. */
const char *tui_input_text(size_t *n, size_t *point);

/* What readline wants to stand in front of the text (a search, a count), or NULL. */
const char *tui_input_prompt(void);
bool tui_input_is_searching(void);
/* End a search: keep what it found, or go back to what was there. */
enum tui_input_search_end { TUI_INPUT_TAKE, TUI_INPUT_LEAVE };
void tui_input_end_search(enum tui_input_search_end how);
/* Does the editor wait for the rest of a key sequence, so that the next key is its
 * own? */
bool tui_input_takes_any(void);
/* Is Esc a command of the editor (in vi mode)? */
bool tui_input_wants_escape(void);
/* Leave any half-entered key sequence. */
void tui_input_abort(void);

/* One line up or down in the text, else through the history. */
void tui_input_up(void);
void tui_input_down(void);
void tui_input_history_first(void);
void tui_input_history_last(void);

/* The text was used: keep it in the history and start with an empty one. */
bool tui_input_done(struct err *e);
/* Empty the text without keeping it. */
void tui_input_clear(void);

#endif
