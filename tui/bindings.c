/* Keys of the screen. What is not here belongs to the line editor, whose Emacs keys users
 * expect in full; those that deserve a line in the help stand at the end. */
#include "config.h"

#include "tui/bindings.h"

#include "tui/keys.h"

static const struct tui_binding bindings[] = {
    { TUI_IN_CHAT, "Enter", TUI_ACT_SEND, "send the message, or run the /command" },
    { TUI_IN_CHAT, "Ctrl-J", TUI_ACT_NEWLINE, "start a new line" },
    { TUI_IN_CHAT, "Alt-Enter", TUI_ACT_NEWLINE, NULL },
    { TUI_IN_CHAT, "Shift-Enter", TUI_ACT_NEWLINE, NULL },
    { TUI_IN_CHAT, "Ctrl-Enter", TUI_ACT_NEWLINE, NULL },
    { TUI_IN_CHAT, "Tab", TUI_ACT_COMPLETE, "complete a command, an option or a file" },
    { TUI_IN_CHAT, "Up", TUI_ACT_UP, "line up; in the first line, the message before" },
    { TUI_IN_CHAT, "Down", TUI_ACT_DOWN,
      "line down; in the last line, the next message" },
    { TUI_IN_CHAT, "Alt-<", TUI_ACT_HISTORY_FIRST, "the oldest message of the history" },
    { TUI_IN_CHAT, "Alt->", TUI_ACT_HISTORY_LAST, "back to what was being typed" },
    { TUI_IN_CHAT, "Ctrl-C", TUI_ACT_INTERRUPT,
      "stop the answer, else clear the line, else leave" },
    { TUI_IN_CHAT, "Ctrl-D", TUI_ACT_END_OF_FILE, "leave, when the line is empty" },
    { TUI_IN_CHAT, "PgUp", TUI_ACT_PAGE_UP, "scroll back one page" },
    { TUI_IN_CHAT, "PgDn", TUI_ACT_PAGE_DOWN, "scroll forward one page" },
    { TUI_IN_CHAT, "Ctrl-Up", TUI_ACT_LINE_UP, "scroll back one line" },
    { TUI_IN_CHAT, "Shift-Up", TUI_ACT_LINE_UP, NULL },
    { TUI_IN_CHAT, "Alt-Up", TUI_ACT_LINE_UP, NULL },
    { TUI_IN_CHAT, "Ctrl-Down", TUI_ACT_LINE_DOWN, "scroll forward one line" },
    { TUI_IN_CHAT, "Shift-Down", TUI_ACT_LINE_DOWN, NULL },
    { TUI_IN_CHAT, "Alt-Down", TUI_ACT_LINE_DOWN, NULL },
    { TUI_IN_CHAT, "Ctrl-Home", TUI_ACT_TOP, "go to the beginning of the conversation" },
    { TUI_IN_CHAT, "Ctrl-End", TUI_ACT_BOTTOM, "go to its end and follow it" },
    { TUI_IN_CHAT, "Esc", TUI_ACT_BOTTOM, NULL },
    { TUI_IN_CHAT, "Home", TUI_ACT_HOME,
      "start of the line; on an empty one, of the conversation" },
    { TUI_IN_CHAT, "End", TUI_ACT_END,
      "end of the line; on an empty one, of the conversation" },
    { TUI_IN_CHAT, "Ctrl-O", TUI_ACT_FOLD, "open or fold the thinking" },
    { TUI_IN_CHAT, "Ctrl-L", TUI_ACT_REDRAW, "draw the screen anew" },
    { TUI_IN_CHAT, "Ctrl-Z", TUI_ACT_SUSPEND, "suspend; the shell's fg comes back" },
    { TUI_IN_CHAT, "Ctrl-\\", TUI_ACT_QUIT_SIGNAL, "end at once, as SIGQUIT does" },

    { TUI_IN_CHAT, "Ctrl-R", TUI_ACT_EDITOR, "search the history backwards" },
    { TUI_IN_CHAT, "Ctrl-A", TUI_ACT_EDITOR, "start of the line" },
    { TUI_IN_CHAT, "Ctrl-E", TUI_ACT_EDITOR, "end of the line" },
    { TUI_IN_CHAT, "Alt-B", TUI_ACT_EDITOR, "back one word" },
    { TUI_IN_CHAT, "Alt-F", TUI_ACT_EDITOR, "forward one word" },
    { TUI_IN_CHAT, "Ctrl-W", TUI_ACT_EDITOR, "cut the word before the cursor" },
    { TUI_IN_CHAT, "Ctrl-K", TUI_ACT_EDITOR, "cut to the end of the line" },
    { TUI_IN_CHAT, "Ctrl-U", TUI_ACT_EDITOR, "cut to the start of the line" },
    { TUI_IN_CHAT, "Ctrl-Y", TUI_ACT_EDITOR, "paste what was cut" },
    { TUI_IN_CHAT, "Ctrl-_", TUI_ACT_EDITOR, "undo" },
    { TUI_IN_CHAT, "Ctrl-V", TUI_ACT_EDITOR, "insert the next key as it is" },
    { TUI_IN_CHAT, "Ctrl-X Ctrl-E", TUI_ACT_EDITOR,
      "write the message in $VISUAL or $EDITOR" },

    { TUI_IN_SEARCH, "Enter", TUI_ACT_SEARCH_SEND, "send what was found" },
    { TUI_IN_SEARCH, "Esc", TUI_ACT_SEARCH_TAKE, "take what was found and edit it" },
    { TUI_IN_SEARCH, "Ctrl-J", TUI_ACT_SEARCH_TAKE, NULL },
    { TUI_IN_SEARCH, "Ctrl-C", TUI_ACT_SEARCH_LEAVE, "leave the search" },
    { TUI_IN_SEARCH, "Ctrl-G", TUI_ACT_SEARCH_LEAVE, NULL },
};

size_t tui_binding_count(void)
{
    return sizeof bindings / sizeof *bindings;
}

const struct tui_binding *tui_binding_at(size_t i)
{
    return &bindings[i];
}

const struct tui_binding *tui_binding_find(enum tui_where where, const struct tui_key *k)
{
    struct tui_key row;

    for (size_t i = 0; i < tui_binding_count(); i++)
        if (bindings[i].where == where && bindings[i].action != TUI_ACT_EDITOR &&
            tui_key_parse(bindings[i].key, &row) && row.code == k->code &&
            row.mods == k->mods)
            return &bindings[i];
    return NULL;
}
