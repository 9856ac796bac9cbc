#include "config.h"

#include "tui/help.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "chat/options.h"
#include "tui/tables.h"

enum { COMMAND_COLS = 23, KEY_COLS = 15 };

/* Commands that only give another one a second name have no line of their own. */
void tui_help_all(bool keys, struct buf *out)
{
    char head[64];

    buf_adds(out, "Commands");
    for (size_t i = 0; i < tui_command_count(); i++) {
        const struct tui_command *c = tui_command_at(i);
        if (!c->help)
            continue;
        snprintf(head, sizeof head, "/%s %s", c->name, c->args);
        buf_addf(out, "\n  %-*s %s", COMMAND_COLS, head, c->help);
    }
    if (!keys) {
        buf_adds(out, "\nA message begins with // to begin with a slash. A backslash at the "
                      "end of a line\ngoes on in the next one.");
        return;
    }
    buf_adds(out, "\nKeys");
    for (size_t i = 0; i < tui_binding_count(); i++) {
        const struct tui_binding *b = tui_binding_at(i);
        if (b->help && b->where == TUI_IN_CHAT)
            buf_addf(out, "\n  %-*s %s", KEY_COLS, b->key, b->help);
    }
    buf_adds(out, "\nKeys while the history is searched");
    for (size_t i = 0; i < tui_binding_count(); i++) {
        const struct tui_binding *b = tui_binding_at(i);
        if (b->help && b->where == TUI_IN_SEARCH)
            buf_addf(out, "\n  %-*s %s", KEY_COLS, b->key, b->help);
    }
    buf_adds(out, "\nA message begins with // to begin with a slash.");
}

static void help_option(const struct chat_option *o, struct buf *out)
{
    buf_addf(out, "%s%s%s\n%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "",
             o->help);
    if (o->type == CHAT_OPT_CHOICE)
        buf_addf(out, "\none of %s", o->choices);
    else if (o->type == CHAT_OPT_INT || o->type == CHAT_OPT_FLOAT)
        buf_addf(out, "\nfrom %.15g to %.15g", o->min, o->max);
    if (o->initial)
        buf_addf(out, "\nby default %s", o->initial);
    if (!o->live)
        buf_adds(out, "\nset when the program starts");
}

bool tui_help_topic(const char *name, size_t len, struct buf *out, struct err *e)
{
    size_t skip = len && *name == '/';

    for (size_t i = 0; i < tui_command_count(); i++) {
        const struct tui_command *c = tui_command_at(i);
        if (strlen(c->name) != len - skip || memcmp(c->name, name + skip, len - skip))
            continue;
        for (size_t k = i; !c->help && k > 0; k--)
            c = tui_command_at(k - 1);
        buf_addf(out, "/%s%s%s\n%s", c->name, *c->args ? " " : "", c->args, c->help);
        return true;
    }
    const struct chat_option *o = chat_option_find(name, len);
    if (o && o->commands & CHAT_CMD_CHAT) {
        help_option(o, out);
        return true;
    }
    return err_set_kind(e, ERR_USAGE,
                        "there is no command and no option %.*s; /help lists the "
                        "commands and /set the options",
                        (int)len, name);
}
