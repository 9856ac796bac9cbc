/* vitrine chat: open the model and hand it to the screen, or to its plain twin. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "chat/chat.h"
#include "cmd.h"
#include "tui/tui.h"

static bool full_screen(const struct cmd_call *c)
{
    const char *accessible = getenv("ACCESSIBLE");

    return !c->set.plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
           !cmd_terminal_is_dumb() && !(accessible && *accessible);
}

int cmd_chat(struct cmd_call *c)
{
    struct err e = {0};
    int status;

    if (!cmd_at_most(c, 0))
        return ERR_USAGE;
    struct chat *chat = chat_new(&c->set, &e);
    if (!chat || !chat_wait(chat, &e)) {
        status = cmd_fail(c, &e);
        chat_free(chat);
        return status;
    }
    /* The front end has handlers of its own. A signal that ended it may come twice,
     * and the second must not cut off the saving. */
    cmd_catch_signals();
    status = full_screen(c) ? tui_run(chat, &c->set, &e) : tui_plain(chat, &c->set, &e);
    if (e.kind)
        cmd_fail(c, &e);
    chat_free(chat);
    return status;
}
