#ifndef TUI_TABLES_H
#define TUI_TABLES_H

/* The tables of the front end, for whoever prints them: /help and the manual. */

#include <stdbool.h>
#include <stddef.h>

struct err;
struct tui_call;

/* ---- slash commands ---- */

/* What Tab offers behind the command's name. */
enum tui_complete_kind { TUI_COMPLETE_NONE, TUI_COMPLETE_TOPIC, TUI_COMPLETE_OPTION,
                         TUI_COMPLETE_FILE };

struct tui_command {
    const char *name;           /* without the slash */
    const char *args;           /* "[NAME [VALUE]]"; "" for none */
    const char *help;           /* one line; NULL: another name of the row above */
    enum tui_complete_kind complete;
    bool (*run)(struct tui_call *call, struct err *e);
};

size_t tui_command_count(void);
const struct tui_command *tui_command_at(size_t i);

/* ---- keys ---- */

enum tui_where {
    TUI_IN_CHAT,        /* while a message is being typed */
    TUI_IN_SEARCH,      /* while the history is searched */
};

enum tui_action {
    TUI_ACT_EDITOR,     /* the line editor's own; the row is there for the reader */
    TUI_ACT_SEND, TUI_ACT_NEWLINE, TUI_ACT_COMPLETE,
    TUI_ACT_UP, TUI_ACT_DOWN, TUI_ACT_HISTORY_FIRST, TUI_ACT_HISTORY_LAST,
    TUI_ACT_EXTERNAL,   /* write in $VISUAL or $EDITOR */
    TUI_ACT_INTERRUPT, TUI_ACT_END_OF_FILE, TUI_ACT_SUSPEND, TUI_ACT_QUIT_SIGNAL,
    TUI_ACT_REDRAW, TUI_ACT_FOLD,
    TUI_ACT_PAGE_UP, TUI_ACT_PAGE_DOWN, TUI_ACT_LINE_UP, TUI_ACT_LINE_DOWN,
    TUI_ACT_TOP, TUI_ACT_BOTTOM,
    TUI_ACT_HOME, TUI_ACT_END,          /* of the transcript when nothing is typed */
    TUI_ACT_SEARCH_TAKE, TUI_ACT_SEARCH_SEND, TUI_ACT_SEARCH_LEAVE,
};

struct tui_binding {
    enum tui_where where;
    const char *key;            /* as tui_key_parse() reads it; "Ctrl-X Ctrl-E" for two */
    enum tui_action action;
    const char *help;           /* NULL: another key for the row above */
};

size_t tui_binding_count(void);
const struct tui_binding *tui_binding_at(size_t i);

#endif
