/* The manual and the shell's completion, made from the tables. `vitrine help mdoc FILE`
 * prints FILE with the lines @COMMANDS@, @OPTIONS@, @KEYS@ and the like replaced; `vitrine
 * help bash` prints the completion. `make docs` calls both; neither is in the help. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "backend/arch.h"
#include "backend/kernels.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "cmd.h"
#include "tui/tables.h"

/* ---- mdoc ---- */

/* Text that mdoc takes as it is: no escapes, no request at the start of a line. */
static void put_text(const char *s)
{
    if (*s == '.' || *s == '\'')
        fputs("\\&", stdout);
    for (; *s; s++) {
        if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
    }
}

/* Words behind a macro, where punctuation and names of macros have a meaning. */
static void put_argument(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"')
            fputs("\\(dq", stdout);
        else if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
    }
    putchar('"');
}

/* A sentence, with its capital and its full stop. */
static void put_sentence(const char *s)
{
    if (*s >= 'a' && *s <= 'z')
        putchar(*s++ & ~0x20);
    put_text(s);
    fputs(".\n", stdout);
}

/* Text of several sentences: each begins a line of its own. */
static void put_paragraph(const char *s)
{
    struct buf b = {0};

    for (; *s; s++) {
        bool ends = *s == '\n' || (*s == ' ' && b.n && strchr(".?!", b.p[b.n - 1]));
        if (!ends) {
            buf_addc(&b, *s);
        } else if (b.n) {
            put_text(b.p);
            putchar('\n');
            buf_reset(&b);
        }
    }
    if (b.n) {
        put_text(b.p);
        putchar('\n');
    }
    buf_release(&b);
}

static void put_commands(void)
{
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *cmd = &cmd_table[i];
        printf(".It Cm %s", cmd->name);
        if (*cmd->args) {
            fputs(" Ar ", stdout);
            put_argument(cmd->args);
        }
        putchar('\n');
        put_sentence(cmd->help);
        if (cmd->more)
            put_paragraph(cmd->more);
    }
}

static void put_option(const struct chat_option *o)
{
    struct buf range = {0};

    fputs(".It ", stdout);
    if (o->letter)
        printf("Fl %c , ", o->letter);
    printf("Fl -%s", o->name);
    if (o->arg) {
        fputs(" Ar ", stdout);
        put_argument(o->arg);
    }
    putchar('\n');
    put_sentence(o->help);
    if (o->type != CHAT_OPT_FLAG && o->type != CHAT_OPT_TEXT) {
        chat_option_range(o, &range);
        put_sentence(range.p);
    }
    if (o->initial)
        printf("The default is %s.\n", o->initial);
    if (o->commands != CHAT_CMD_ALL) {
        const char *between = "Taken by ";
        for (size_t i = 0; i < cmd_count(); i++) {
            if (!(o->commands & cmd_table[i].bit))
                continue;
            fputs(between, stdout);
            fputs(cmd_table[i].name, stdout);
            between = ", ";
        }
        fputs(".\n", stdout);
    }
    buf_release(&range);
}

static void put_options(void)
{
    for (int g = 0; g < CHAT_GROUPS; g++) {
        printf(".Ss %s\n.Bl -tag -width Ds\n",
               chat_option_group_name((enum chat_option_group)g));
        for (size_t i = 0; i < chat_options_count(); i++)
            if ((int)chat_options[i].group == g)
                put_option(&chat_options[i]);
        fputs(".El\n", stdout);
    }
}

static void put_live_options(void)
{
    const char *between = "";

    for (size_t i = 0; i < chat_options_count(); i++) {
        if (!chat_options[i].live)
            continue;
        printf("%s%s", between, chat_options[i].name);
        between = ",\n";
    }
    fputs(".\n", stdout);
}

/* A row without a help text is another name for the row above it. */
static void put_slash_commands(void)
{
    for (size_t i = 0, n = tui_command_count(); i < n;) {
        const struct tui_command *cmd = tui_command_at(i);
        printf(".It Cm /%s", cmd->name);
        for (i++; i < n && !tui_command_at(i)->help; i++)
            printf(" , /%s", tui_command_at(i)->name);
        if (*cmd->args) {
            fputs(" Ar ", stdout);
            put_argument(cmd->args);
        }
        putchar('\n');
        put_sentence(cmd->help);
    }
}

static void put_keys(enum tui_where where)
{
    for (size_t i = 0, n = tui_binding_count(); i < n;) {
        const struct tui_binding *b = tui_binding_at(i);
        bool wanted = b->where == where;
        if (wanted) {
            fputs(".It ", stdout);
            put_text(b->key);
        }
        for (i++; i < n && !tui_binding_at(i)->help; i++) {
            if (wanted) {
                fputs(" , ", stdout);
                put_text(tui_binding_at(i)->key);
            }
        }
        if (wanted) {
            putchar('\n');
            put_sentence(b->help);
        }
    }
}

static void put_exit_status(void)
{
    static const struct {
        int status;
        const char *means;
    } table[] = {
        { CMD_OK, "fine" },
        { ERR_FAILED, "failed while running" },
        { ERR_USAGE, "the command line is wrong" },
        { ERR_MODEL, "the model cannot be loaded" },
        { ERR_CONTEXT,
          "the prompt does not fit the context, or the context became full" },
        { ERR_TOOL, "a tool was refused or failed" },
        { ERR_REPLAY, "a replay differs" },
        { CMD_SIGNAL + SIGINT, "ended by SIGINT" },
        { CMD_PIPE, "nobody reads the output any more" },
        { CMD_SIGNAL + SIGTERM, "ended by SIGTERM" },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        printf(".It %d\n", table[i].status);
        put_sentence(table[i].means);
    }
}

/* The tensor types that matrices may have. */
static void put_types(void)
{
    const char *before = "";

    for (uint32_t d = 0; d < GGUF_DT_LIMIT; d++)
        if (be_can_compute(d)) {
            printf("%s%s", before, gguf_dtype_info(d)->name);
            before = ",\n";
        }
    puts(".");
}

static void put_architectures(void)
{
    for (size_t i = 0; be_arch_at(i); i++)
        printf("%s%s", i ? ",\n" : "", be_arch_at(i)->name);
    puts(".");
}

static bool put_mark(const char *line)
{
    static const struct {
        const char *mark;
        void (*put)(void);
    } marks[] = {
        { "@COMMANDS@", put_commands }, { "@OPTIONS@", put_options },
        { "@LIVE@", put_live_options }, { "@SLASH@", put_slash_commands },
        { "@EXIT@", put_exit_status }, { "@TYPES@", put_types },
        { "@ARCHITECTURES@", put_architectures },
    };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strcmp(line, marks[i].mark)) {
            marks[i].put();
            return true;
        }
    if (strcmp(line, "@KEYS@") && strcmp(line, "@SEARCHKEYS@"))
        return false;
    put_keys(line[1] == 'K' ? TUI_IN_CHAT : TUI_IN_SEARCH);
    return true;
}

int cmd_docs_mdoc(struct cmd_call *c, const char *path)
{
    struct buf in = {0};
    struct err e = {0};

    if (!cmd_read(path, &in, &e)) {
        buf_release(&in);
        return cmd_fail(c, &e);
    }
    for (char *line = in.n ? in.p : NULL, *next; line && *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (!put_mark(line))
            puts(line);
    }
    buf_release(&in);
    return CMD_OK;
}

/* ---- bash ---- */

static void put_words(const char *text, char between)
{
    for (; *text; text++)
        putchar(*text == between ? ' ' : *text);
}

/* What may follow an option: its words, or files. */
static void put_bash_values(void)
{
    for (size_t i = 0; i < chat_options_count(); i++) {
        const struct chat_option *o = &chat_options[i];
        if (o->type == CHAT_OPT_FLAG)
            continue;
        if (o->letter)
            printf("    -%c|--%s)\n", o->letter, o->name);
        else
            printf("    --%s)\n", o->name);
        if (o->choices) {
            fputs("        COMPREPLY=($(compgen -W '", stdout);
            put_words(o->choices, '|');
            fputs("' -- \"$cur\"))\n", stdout);
        } else if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "MODEL")) {
            fputs("        compopt -o filenames\n"
                  "        COMPREPLY=($(compgen -f -- \"$cur\"))\n", stdout);
        } else {
            fputs("        COMPREPLY=()\n", stdout);
        }
        fputs("        return\n        ;;\n", stdout);
    }
}

static void put_bash_options(unsigned bits)
{
    for (size_t i = 0; i < chat_options_count(); i++)
        if (chat_options[i].commands & bits)
            printf(" --%s", chat_options[i].name);
}

static void put_command_names(const char *between)
{
    for (size_t i = 0; i < cmd_count(); i++)
        printf("%s%s", i ? between : "", cmd_table[i].name);
}

/* The command is the first word that names one; options may stand before it. */
int cmd_docs_bash(void)
{
    puts("# bash completion for vitrine, made by `make docs` from the program's tables\n"
         "_vitrine()\n{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local word command= options=\n"
         "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "        case $word in");
    fputs("        ", stdout);
    put_command_names("|");
    puts(")\n            command=$word\n            break\n            ;;\n"
         "        esac\n    done\n    case $prev in");
    put_bash_values();
    puts("    esac\n    case $command in");
    for (size_t i = 0; i < cmd_count(); i++) {
        printf("    %s%s)\n        options='", i ? "" : "''|", cmd_table[i].name);
        put_bash_options(cmd_table[i].bit);
        puts("'\n        ;;");
    }
    puts("    esac\n"
         "    if [[ $cur == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "    elif [[ -z $command ]]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    put_command_names(" ");
    puts("' -- \"$cur\"))\n"
         "    elif [[ $command == sessions && $prev == sessions ]]; then\n"
         "        COMPREPLY=($(compgen -W 'list show' -- \"$cur\"))\n"
         "    elif [[ $command == sessions ]]; then\n"
         "        options=$(\"${COMP_WORDS[0]}\" sessions list 2>/dev/null |\n"
         "            sed -n '2,$s/ .*//p')\n"
         "        COMPREPLY=($(compgen -W \"last $options\" -- \"$cur\"))\n"
         "    else\n"
         "        compopt -o filenames\n"
         "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "    fi\n"
         "}\n"
         "complete -F _vitrine vitrine");
    return CMD_OK;
}
