/* Help, from the tables: the general page, the page of one command, and (for the build,
 * not shown) the same tables as mdoc for the manual and as words for the shell's
 * completion. */
#include "config.h"

#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum { HELP_COLUMN = 28, HELP_WIDTH = 79 };

/* Print text from column indent on, broken at spaces. */
static void print_wrapped(const char *text, int indent)
{
    for (int column = indent; *text;) {
        size_t n = strcspn(text, " ");
        if (column > indent && column + 1 + (int)n > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        column += printf("%.*s", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Print left, then right in its own column. */
static void print_columns(const char *left, const char *right)
{
    int column = printf("  %s", left);

    if (column > HELP_COLUMN - 2) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    print_wrapped(right, HELP_COLUMN);
}

/* "what it does (one of a, b; default a)" */
static void option_text(const struct chat_option *o, struct buf *out)
{
    buf_adds(out, o->help);
    bool choice = o->type == CHAT_OPT_CHOICE;
    bool named = o->initial && o->type != CHAT_OPT_FLAG;
    if (!choice && !named)
        return;
    buf_adds(out, " (");
    if (choice)
        chat_option_range(o, out);
    if (choice && named)
        buf_adds(out, "; ");
    if (named)
        buf_addf(out, "default %s", o->initial);
    buf_addc(out, ')');
}

static void print_option(const struct chat_option *o)
{
    struct buf left = {0}, right = {0};

    if (o->letter)
        buf_addf(&left, "-%c, ", o->letter);
    else
        buf_adds(&left, "    ");
    buf_addf(&left, "--%s", o->name);
    if (o->arg)
        buf_addf(&left, " %s", o->arg);
    option_text(o, &right);
    print_columns(left.p, right.p);
    buf_release(&left);
    buf_release(&right);
}

/* Options of the commands in bits, by group. */
static void print_options(unsigned bits)
{
    for (int g = 0; g < CHAT_GROUPS; g++) {
        bool any = false;
        for (size_t i = 0; i < chat_options_count(); i++) {
            const struct chat_option *o = &chat_options[i];
            if ((int)o->group != g || !(o->commands & bits))
                continue;
            if (!any)
                printf("\n%s:\n", chat_option_group_name((enum chat_option_group)g));
            any = true;
            print_option(o);
        }
    }
}

void cmd_help_general(void)
{
    puts("Usage: vitrine [COMMAND] [OPTION]... [ARGUMENT]...\n"
         "Chat with a local language model in the terminal, and look inside.\n");
    printf("Commands (without one: %s):\n", cmd_table[0].name);
    for (size_t i = 0; i < cmd_count(); i++) {
        struct buf left = {0};
        buf_addf(&left, "%s%s%s", cmd_table[i].name, *cmd_table[i].args ? " " : "",
                 cmd_table[i].args);
        print_columns(left.p, cmd_table[i].help);
        buf_release(&left);
    }
    puts("\n'vitrine COMMAND --help' lists the options that COMMAND takes. All options:");
    print_options(CHAT_CMD_ALL);
    putchar('\n');
    print_wrapped("Exit status: 0 fine; 1 failed while running; 2 usage; 3 the model "
                  "cannot be loaded; 4 the context is too small; 130 and 143 after SIGINT "
                  "and SIGTERM.", 0);
}

void cmd_help_command(const struct cmd *cmd)
{
    printf("Usage: vitrine %s [OPTION]...%s%s\n%c%s.\n", cmd->name, *cmd->args ? " " : "",
           cmd->args, cmd->help[0] & ~0x20, cmd->help + 1);
    if (cmd->more) {
        putchar('\n');
        print_wrapped(cmd->more, 0);
    }
    print_options(cmd->bit);
}

int cmd_help(struct cmd_call *c)
{
    if (c->n_args == 2 && !strcmp(c->args[0], "mdoc"))
        return cmd_docs_mdoc(c, c->args[1]);
    if (c->n_args == 1 && !strcmp(c->args[0], "bash"))
        return cmd_docs_bash();
    if (!cmd_at_most(c, 1))
        return ERR_USAGE;
    if (!c->n_args) {
        cmd_help_general();
        return CMD_OK;
    }
    const struct cmd *cmd = cmd_find(c->args[0]);
    if (!cmd)
        return cmd_usage(c, "unknown command '%s'", c->args[0]);
    cmd_help_command(cmd);
    return CMD_OK;
}
