#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

/* The terminal as a whole: taken, given back, measured. Only here and in draw.c is curses
 * known. There is one terminal, so this module has state of its own. */

#include <stdbool.h>

struct err;

enum tui_screen_color { TUI_SCREEN_MONO, TUI_SCREEN_COLOR };

/* Take the terminal: alternate screen, raw input, bracketed paste. */
bool tui_screen_start(enum tui_screen_color color, struct err *e);
/* Give it back as it was; safe to call twice and before start. */
void tui_screen_stop(void);

/* Lend it to somebody else (a shell, an editor) and take it again, painting all anew. */
void tui_screen_pause(void);
void tui_screen_resume(void);

/* Measure, tell curses, and say the size; at least 1x1, 80x24 when it cannot be known.
 * Returns whether it changed. */
bool tui_screen_measure(int *rows, int *cols);

/* Whatever is on the terminal, the next frame paints every cell. */
void tui_screen_repaint(void);

bool tui_screen_has_color(void);

/* Give the terminal back with async-signal-safe calls only: for fatal signals and for
 * the end of memory. */
void tui_screen_rescue(void);

#endif
