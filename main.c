/* The command line: find the command, read the options by the table in chat/options.c,
 * check that the command takes them, and run it. The rest is in the cmd_*.c files.
 *
 * Options may stand before and after the command's name and the operands. The leading "-"
 * in the option string makes getopt hand out operands in their order, whatever
 * POSIXLY_CORRECT says; the ":" makes it tell a missing value from an unknown option. */
#include "config.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"

const struct cmd cmd_table[] = {
    { "chat", "", "chat with a model on the full screen",
      "Without terminals on both sides, with TERM=dumb, or when the environment variable "
      "ACCESSIBLE is set, it is as with --plain: lines in, text out.",
      CHAT_CMD_CHAT, cmd_chat },
    { "ask", "[PROMPT...|-]", "print one answer",
      "Without PROMPT the standard input is the prompt, if it is no terminal; - reads it "
      "in any case. The answer alone goes to standard output; --json prints the events "
      "instead, one on a line, as vitrine-session(5) describes them.",
      CHAT_CMD_ASK, cmd_ask },
    { "score", "[FILE|SESSION]", "tell how likely each token of a text is",
      "Reads a text, a saved conversation, or with --ids token ids. With --jsonl each "
      "line is a JSON string, {\"hex\": ...} for bytes, or a list of ids.",
      CHAT_CMD_SCORE, cmd_score },
    { "tokenize", "[FILE]", "turn text into token ids, and back",
      "With --jsonl each line is a JSON string, or {\"hex\": ...} for bytes, and gives a "
      "list of ids; with --decode the other way round. The model may also be a "
      "tokenizer.json, a tiktoken.model, or a directory with one.",
      CHAT_CMD_TOKENIZE, cmd_tokenize },
    { "parse", "[FILE]", "take apart what a model wrote",
      "Reads raw output and prints its thinking, answer and calls as they are decided, "
      "one JSON object on a line. --json prints the whole as one object. With --jsonl "
      "each line is {\"start\": \"think\" or \"response\", \"chunks\": [...]}, a chunk being "
      "a text or {\"special\": NAME}. Without a model, template or syntax it looks for "
      "<think> and for JSON in <tool_call>; an unknown --syntax lists those there are.",
      CHAT_CMD_PARSE, cmd_parse },
    { "render", "[FILE]", "turn a conversation into the prompt that a model gets",
      "FILE, or standard input, is JSON: a list of messages, or an object with messages, "
      "tools and options, which are variables for the template. In a terminal special "
      "tokens are marked; --json gives the pieces. The prompt ends with the opening of "
      "the answer unless the option add_generation_prompt says otherwise. With --jsonl "
      "each line is such an object, with all options in it, and gives {\"text\", \"ids\"} "
      "or {\"error\"}.",
      CHAT_CMD_RENDER, cmd_render },
    { "info", "[MODEL]", "tell what a model file is", NULL, CHAT_CMD_INFO, cmd_info },
    { "doctor", "[MODEL]", "tell what was found in a model, and test it",
      "MODEL may also be a tokenizer.json, a tiktoken.model, or a directory with one. Ends "
      "with status 1 when something is bad.",
      CHAT_CMD_DOCTOR, cmd_doctor },
    { "plan", "[MODEL]", "tell what a model needs in memory, before it is loaded", NULL,
      CHAT_CMD_PLAN, cmd_plan },
    { "bench", "[MODEL]", "measure how fast a model runs here", NULL, CHAT_CMD_BENCH,
      cmd_bench },
    { "sessions", "[list | show SESSION]", "list and show saved conversations",
      "SESSION is an id, the beginning of one, a file, or last.", CHAT_CMD_SESSIONS,
      cmd_sessions },
    { "devices", "", "list the CPU and the GPUs, and which are used", NULL,
      CHAT_CMD_DEVICES, cmd_devices },
    { "help", "[COMMAND]", "say how to use the program, or one command", NULL,
      CHAT_CMD_HELP, cmd_help },
};

size_t cmd_count(void)
{
    return sizeof cmd_table / sizeof *cmd_table;
}

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; i < cmd_count(); i++)
        if (!strcmp(cmd_table[i].name, name))
            return &cmd_table[i];
    return NULL;
}

static void print_version(void)
{
    printf("%s (%s) %s\n"
           "Copyright (C) 2026 the vitrine authors\n"
           "License GPLv3+: GNU GPL version 3 or later "
           "<https://gnu.org/licenses/gpl.html>.\n"
           "This is free software: you are free to change and redistribute it.\n"
           "There is NO WARRANTY, to the extent permitted by law.\n",
           PACKAGE_NAME, PACKAGE, PACKAGE_VERSION);
}

/* ---- near misses ---- */

enum { NAME_MAX_LEN = 31 };

/* Edits (insert, drop, change, swap two) from a to b; large when a name is too long. */
static int distance(const char *a, const char *b)
{
    int d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];
    int n = (int)strlen(a), m = (int)strlen(b);

    if (n > NAME_MAX_LEN || m > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (int i = 0; i <= n; i++)
        for (int k = 0; k <= m; k++) {
            if (!i || !k) {
                d[i][k] = i + k;
                continue;
            }
            int best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            if (d[i - 1][k] + 1 < best)
                best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best)
                best = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                d[i - 2][k - 2] + 1 < best)
                best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[n][m];
}

/* Is word near enough to name to be meant? */
static bool is_near(const char *word, const char *name)
{
    size_t n = strlen(word);
    return distance(word, name) <= (n < 4 ? 1 : 2) || (n > 1 && !strncmp(word, name, n));
}

/* Append "; did you mean A or B?" when names are near. */
static void suggest(struct buf *out, const char *prefix, const char *word,
                    const char *(*name_at)(size_t), size_t n)
{
    int found = 0;

    for (size_t i = 0; i < n && found < 3; i++)
        if (is_near(word, name_at(i)))
            buf_addf(out, "%s%s%s", found++ ? " or " : "; did you mean ", prefix,
                     name_at(i));
    if (found)
        buf_addc(out, '?');
}

static const char *command_name_at(size_t i)
{
    return cmd_table[i].name;
}

static const char *option_name_at(size_t i)
{
    return chat_options[i].name;
}

/* ---- reading the command line ---- */

enum { LONG_BASE = 256 };   /* getopt's value of option i is LONG_BASE + i */

struct command_line {
    struct option *longs;
    struct buf shorts;
    char **words;           /* operands in order, borrowed from argv */
    size_t n_words, cap_words;
};

static void prepare(struct command_line *cl)
{
    size_t n = chat_options_count();

    cl->longs = xcalloc(n + 1, sizeof *cl->longs);
    buf_adds(&cl->shorts, "-:");
    for (size_t i = 0; i < n; i++) {
        const struct chat_option *o = &chat_options[i];
        bool flag = o->type == CHAT_OPT_FLAG;
        cl->longs[i].name = o->name;
        cl->longs[i].has_arg = flag ? no_argument : required_argument;
        cl->longs[i].val = LONG_BASE + (int)i;
        if (o->letter)
            buf_addf(&cl->shorts, "%c%s", o->letter, flag ? "" : ":");
    }
}

static void release(struct command_line *cl)
{
    free(cl->longs);
    buf_release(&cl->shorts);
    free(cl->words);
}

static const struct chat_option *option_of(int value)
{
    if (value >= LONG_BASE)
        return &chat_options[value - LONG_BASE];
    for (size_t i = 0; value && i < chat_options_count(); i++)
        if (chat_options[i].letter == value)
            return &chat_options[i];
    return NULL;
}

/* What was wrong with the word that getopt stopped at. */
static int bad_option(const struct cmd_call *c, const char *word)
{
    const struct chat_option *o = option_of(optopt);
    struct buf text = {0};
    int status;

    if (o) {
        status = cmd_usage(c, "option '--%s' takes no value", o->name);
    } else if (optopt || strncmp(word, "--", 2)) {
        status = cmd_usage(c, "unknown option '-%c'", optopt);
    } else {
        const char *name = word + 2;
        size_t n = strcspn(name, "="), matches = 0;
        for (size_t i = 0; i < chat_options_count(); i++)
            matches += !strncmp(chat_options[i].name, name, n);
        buf_addf(&text,
                 matches ? "option '--%.*s' is ambiguous" : "unknown option '--%.*s'",
                 (int)n, name);
        char *bare = xmemdup0(name, n);
        suggest(&text, "--", bare, option_name_at, chat_options_count());
        free(bare);
        status = cmd_usage(c, "%s", text.p);
    }
    buf_release(&text);
    return status;
}

/* Options and operands; 0 or an exit status. */
static int parse(struct command_line *cl, struct cmd_call *c, int argc, char **argv)
{
    int value;

    opterr = 0;
    while ((value = getopt_long(argc, argv, cl->shorts.p, cl->longs, NULL)) != -1) {
        struct err e = {0};
        if (value == 1) {
            MEM_GROW(cl->words, cl->cap_words, cl->n_words + 1);
            cl->words[cl->n_words++] = optarg;
            continue;
        }
        if (value == ':')
            return cmd_usage(c, "option '--%s' needs a value (%s)",
                             option_of(optopt)->name, option_of(optopt)->arg);
        if (value == '?')
            return bad_option(c, argv[optind - 1]);
        if (!chat_option_set(&c->set, option_of(value), optarg, &e))
            return cmd_usage(c, "--%s", e.text);
    }
    for (; optind < argc; optind++) {       /* what stands after "--" */
        MEM_GROW(cl->words, cl->cap_words, cl->n_words + 1);
        cl->words[cl->n_words++] = argv[optind];
    }
    return 0;
}

/* The first operand names the command; without one it is the first of the table. */
static int choose_command(struct cmd_call *c, const struct command_line *cl)
{
    c->cmd = &cmd_table[0];
    if (!cl->n_words)
        return 0;
    c->cmd = cmd_find(cl->words[0]);
    c->args = cl->words + 1;
    c->n_args = cl->n_words - 1;
    if (c->cmd)
        return 0;

    struct buf text = {0};
    buf_addf(&text, "unknown command '%s'", cl->words[0]);
    suggest(&text, "", cl->words[0], command_name_at, cmd_count());
    int status = cmd_usage(c, "%s", text.p);
    buf_release(&text);
    return status;
}

/* Every option given must mean something to the command. */
static int check_options(const struct cmd_call *c)
{
    for (size_t i = 0; i < chat_options_count(); i++) {
        const struct chat_option *o = &chat_options[i];
        if (chat_option_given(&c->set, o) && !(o->commands & c->cmd->bit))
            return cmd_usage(c, "the command '%s' takes no option '--%s'", c->cmd->name,
                             o->name);
    }
    return 0;
}

static int run(struct cmd_call *c, const struct command_line *cl)
{
    struct err e = {0};
    int status;

    if (c->set.version) {
        print_version();
        return 0;
    }
    if (c->set.help && !cl->n_words) {
        cmd_help_general();
        return 0;
    }
    if ((status = choose_command(c, cl)))
        return status;
    if (c->set.help) {
        cmd_help_command(c->cmd);
        return 0;
    }
    if ((status = check_options(c)))
        return status;
    if (c->set.trace && !log_open(c->set.trace, &e))
        return cmd_fail(c, &e);
    status = c->cmd->run(c);
    log_close();
    return status;
}

int main(int argc, char **argv)
{
    struct command_line cl = {0};
    struct cmd_call c = {0};

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");     /* JSON and options have a point, not a comma */
    cmd_start();
    chat_settings_init(&c.set);
    prepare(&cl);

    int status = parse(&cl, &c, argc, argv);
    if (!status)
        status = run(&c, &cl);

    status = cmd_finish(status);
    release(&cl);
    chat_settings_release(&c.set);
    return status;
}
