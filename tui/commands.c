#include "config.h"

#include "tui/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "chat/chat.h"
#include "tui/help.h"

/* The argument as a path: "~/" is the home directory, as a shell would have it. */
static char *path_of(const struct tui_call *call)
{
    struct buf out = {0};
    const char *home = getenv("HOME");

    if (call->len >= 2 && call->arg[0] == '~' && call->arg[1] == '/' && home) {
        buf_adds(&out, home);
        buf_add(&out, call->arg + 1, call->len - 1);
    } else {
        buf_add(&out, call->arg, call->len);
    }
    return buf_take(&out);
}

/* What became of a request that the worker has to carry out. */
static bool job(struct tui_call *call, bool accepted)
{
    if (accepted)
        call->effects |= TUI_EFFECT_JOB;
    return accepted;
}

static bool run_quit(struct tui_call *call, struct err *e)
{
    (void)e;
    call->effects |= TUI_EFFECT_LEAVE;
    return true;
}

static bool run_help(struct tui_call *call, struct err *e)
{
    if (!call->len) {
        tui_help_all(call->keys, call->out);
        return true;
    }
    return tui_help_topic(call->arg, call->len, call->out, e);
}

static bool run_new(struct tui_call *call, struct err *e)
{
    return job(call, chat_reset(call->chat, e));
}

static bool run_retry(struct tui_call *call, struct err *e)
{
    return job(call, chat_retry(call->chat, e));
}

static bool run_continue(struct tui_call *call, struct err *e)
{
    return job(call, chat_continue(call->chat, e));
}

static bool run_system(struct tui_call *call, struct err *e)
{
    if (!call->len)
        return chat_get(call->chat, "system", call->out, e);
    bool none = call->len == 1 && *call->arg == '-';
    return job(call, chat_set_system(call->chat, call->arg, none ? 0 : call->len, e));
}

static bool set_list(struct tui_call *call, struct err *e)
{
    for (size_t i = 0; i < chat_options_count(); i++) {
        if (!chat_options[i].live || !(chat_options[i].commands & CHAT_CMD_CHAT))
            continue;
        if (call->out->n)
            buf_addc(call->out, '\n');
        if (!chat_get(call->chat, chat_options[i].name, call->out, e))
            return false;
    }
    return true;
}

static bool run_set(struct tui_call *call, struct err *e)
{
    if (!call->len)
        return set_list(call, e);

    const char *end = call->arg + call->len, *p = call->arg;
    while (p < end && !strchr(" \t\n=", *p))
        p++;
    char *name = xmemdup0(call->arg, (size_t)(p - call->arg));
    while (p < end && strchr(" \t\n=", *p))
        p++;
    char *value = p < end ? xmemdup0(p, (size_t)(end - p)) : NULL;
    const struct chat_option *o = chat_option_find(name, strlen(name));
    bool flag = o && o->type == CHAT_OPT_FLAG;
    bool ok = (!value || chat_set(call->chat, name, value, e)) &&
              chat_get(call->chat, name, call->out, e);

    if (ok && value && flag && !strcmp(name, "fold-thinking"))
        call->effects |= !strcmp(value, "off") ? TUI_EFFECT_FOLD_OFF : TUI_EFFECT_FOLD_ON;
    free(name);
    free(value);
    return ok;
}

static bool run_model(struct tui_call *call, struct err *e)
{
    if (!call->len) {
        struct chat_status st;
        chat_status(call->chat, &st);
        if (st.state == CHAT_NO_MODEL)
            buf_adds(call->out, "no model is loaded; /model FILE loads one");
        else
            buf_addf(call->out,
                     "model %s\ndevice %s\ntemplate %s: %s\ncontext %u of %u tokens",
                     st.model ? st.model : "-", st.device ? st.device : "-",
                     st.template_name ? st.template_name : "-",
                     st.template_why ? st.template_why : "-", (unsigned)st.ctx_used,
                     (unsigned)st.ctx);
        return true;
    }
    char *path = path_of(call);
    bool ok = job(call, chat_load(call->chat, path, e));
    free(path);
    return ok;
}

static bool run_save(struct tui_call *call, struct err *e)
{
    if (!call->len)
        return err_set_kind(e, ERR_USAGE, "/save wants the name of a file to write");
    char *path = path_of(call);
    bool ok = chat_save(call->chat, path, e);
    if (ok)
        buf_addf(call->out, "saved to %s", path);
    free(path);
    return ok;
}

static bool run_session(struct tui_call *call, struct err *e)
{
    struct chat_status st;

    (void)e;
    chat_status(call->chat, &st);
    if (!st.session_path) {
        buf_adds(call->out, "this conversation is not saved yet");
        return true;
    }
    buf_addf(call->out, "session %s\nfile %s", st.session_id, st.session_path);
    return true;
}

static bool run_think(struct tui_call *call, struct err *e)
{
    (void)e;
    call->effects |= TUI_EFFECT_FOLD;
    return true;
}

static bool run_edit(struct tui_call *call, struct err *e)
{
    if (!call->keys)
        return err_set_kind(e, ERR_USAGE, "/edit needs the full screen");
    call->effects |= TUI_EFFECT_EDIT;
    return true;
}

static const struct tui_command commands[] = {
    { "help", "[NAME]", "list commands and keys, or explain one", TUI_COMPLETE_TOPIC,
      run_help },
    { "new", "", "begin a new conversation; the old one stays", TUI_COMPLETE_NONE,
      run_new },
    { "retry", "", "answer anew; the old answer stays in the file", TUI_COMPLETE_NONE,
      run_retry },
    { "continue", "", "go on with an answer that was cut", TUI_COMPLETE_NONE,
      run_continue },
    { "system", "[TEXT|-]", "show the system message, set it, or remove it with -",
      TUI_COMPLETE_NONE, run_system },
    { "set", "[NAME [VALUE]]", "show all options, show one, or change it",
      TUI_COMPLETE_OPTION, run_set },
    { "model", "[FILE]", "say which model runs, or load another", TUI_COMPLETE_FILE,
      run_model },
    { "think", "", "open or fold the thinking", TUI_COMPLETE_NONE, run_think },
    { "edit", "", "write the message in $VISUAL or $EDITOR", TUI_COMPLETE_NONE,
      run_edit },
    { "save", "FILE", "copy the session so far to a file", TUI_COMPLETE_FILE, run_save },
    { "session", "", "say where this conversation is saved", TUI_COMPLETE_NONE,
      run_session },
    { "quit", "", "leave", TUI_COMPLETE_NONE, run_quit },
    { "exit", "", NULL, TUI_COMPLETE_NONE, run_quit },
    { "bye", "", NULL, TUI_COMPLETE_NONE, run_quit },
};

size_t tui_command_count(void)
{
    return sizeof commands / sizeof *commands;
}

const struct tui_command *tui_command_at(size_t i)
{
    return &commands[i];
}

bool tui_line_is_command(const char *line, size_t len)
{
    return len > 0 && line[0] == '/' && (len == 1 || line[1] != '/');
}

const char *tui_line_message(const char *line, size_t *len)
{
    if (*len >= 2 && line[0] == '/' && line[1] == '/') {
        --*len;
        return line + 1;
    }
    return line;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

bool tui_command_run(const char *line, size_t len, struct tui_call *call, struct err *e)
{
    size_t name = 1;

    while (name < len && !is_blank(line[name]))
        name++;
    size_t from = name, to = len;
    while (from < to && is_blank(line[from]))
        from++;
    while (to > from && is_blank(line[to - 1]))
        to--;
    call->arg = line + from;
    call->len = to - from;
    for (size_t i = 0; i < tui_command_count(); i++) {
        const struct tui_command *c = &commands[i];
        if (strlen(c->name) != name - 1 || memcmp(c->name, line + 1, name - 1))
            continue;
        if (!*c->args && call->len)
            return err_set_kind(e, ERR_USAGE, "/%s takes nothing behind it", c->name);
        return c->run(call, e);
    }
    return err_set_kind(e, ERR_USAGE, "there is no command %.*s; /help lists them, and a "
                        "second slash (/%.*s) makes it a message",
                        (int)name, line, (int)name, line);
}
