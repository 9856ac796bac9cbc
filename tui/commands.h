#ifndef TUI_COMMANDS_H
#define TUI_COMMANDS_H

/* Slash commands: one table for the screen and for --plain. A command asks the chat for
 * something and answers with text and effects; it never draws or prints. */

#include <stdbool.h>
#include <stddef.h>

#include "tui/tables.h"

struct buf;
struct chat;
struct err;

/* What the front end must do after a command. */
enum tui_effect {
    TUI_EFFECT_LEAVE = 1,
    TUI_EFFECT_FOLD = 2,            /* toggle the thinking */
    TUI_EFFECT_FOLD_ON = 4, TUI_EFFECT_FOLD_OFF = 8,
    TUI_EFFECT_EDIT = 16,           /* open an editor on the text being typed */
    TUI_EFFECT_JOB = 32,            /* the chat is at work; CHAT_EV_READY will end it */
};

struct tui_call {
    struct chat *chat;
    bool keys;              /* in: the front end has keys, so help tells them */
    const char *arg;        /* in: what stands behind the name, without the blanks at */
    size_t len;             /*     both ends; filled in by tui_command_run() */
    struct buf *out;        /* out: lines for the user */
    unsigned effects;       /* out: tui_effect */
};

/* A line that begins with one slash is a command; with two, it is a message that
 * begins with one. */
bool tui_line_is_command(const char *line, size_t len);
/* The message in a line that is none: where it begins. */
const char *tui_line_message(const char *line, size_t *len);

/* Run a command line. False and e when there is no such command or it failed. */
bool tui_command_run(const char *line, size_t len, struct tui_call *call, struct err *e);

/* ---- completion ---- */

struct tui_completion {
    size_t from;            /* the candidates replace the text from here to the cursor */
    char **v;               /* (n) sorted */
    size_t n, cap;
    const char *after;      /* to be added behind a single candidate */
};

/* What could stand at the cursor, at byte point of line. */
void tui_complete(const char *line, size_t point, struct tui_completion *out);
void tui_completion_release(struct tui_completion *c);
/* Bytes that all candidates begin with. */
size_t tui_completion_common(const struct tui_completion *c);

#endif
