#ifndef CMD_H
#define CMD_H

/* What the subcommands share: the table of commands, how they report, what they read and
 * how they end. main.c reads the command line into a struct cmd_call and calls run();
 * what run() returns is the exit status (DESIGN.md section 3). */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "chat/options.h"

struct buf;
struct err;
struct cmd_call;

struct cmd {
    const char *name;
    const char *args;           /* operands as help shows them: "[PROMPT|-]" */
    const char *help;           /* one line */
    const char *more;           /* a paragraph for `vitrine NAME --help`, or NULL */
    unsigned bit;               /* enum chat_command_bit */
    int (*run)(struct cmd_call *c);
};

extern const struct cmd cmd_table[];
size_t cmd_count(void);
const struct cmd *cmd_find(const char *name);

struct cmd_call {
    const struct cmd *cmd;
    struct chat_settings set;
    char **args;                /* (n_args) operands, without the command's name */
    size_t n_args;
};

/* Beyond the kinds in base/err.h. */
enum { CMD_OK = 0, CMD_PIPE = 141, CMD_SIGNAL = 128 };

/* The first act of main(): the clock, descriptors and signals. */
void cmd_start(void);
long long cmd_started_us(void);

/* Say e on stderr and return the exit status that belongs to it. */
int cmd_fail(const struct cmd_call *c, const struct err *e);
/* A usage error: one line, "Try ...", and status 2. */
int cmd_usage(const struct cmd_call *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A line on stderr, with foreign bytes shown. */
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for each line of notes. */
void cmd_notes(const struct buf *notes);

/* May stdout have colour? --color, NO_COLOR, CLICOLOR_FORCE, TERM and isatty decide. */
bool cmd_color(const struct chat_settings *set);
bool cmd_terminal_is_dumb(void);

/* The most operands the command takes; says so and returns false when there are more. */
bool cmd_at_most(const struct cmd_call *c, size_t n);

/* The first operand, if there is one, is the model. Says so and returns false when -m
 * names one too. */
bool cmd_model_operand(struct cmd_call *c);

/* Flush stdout. False when it, or an earlier write, failed; a reader that went away is
 * reported by cmd_finish() with CMD_PIPE and no word, anything else with a sentence. */
bool cmd_flush(void);
int cmd_finish(int status);

/* Read a file, or stdin for NULL or "-", to its end. */
bool cmd_read(const char *path, struct buf *out, struct err *e);

/* Signals. Until a command says otherwise, SIGINT, SIGTERM and SIGHUP end the program at
 * once with 128 + number. After cmd_catch_signals() the first one sets the flag and makes
 * the descriptor readable, so that the command can end in order; a later one still ends
 * at once. cmd_signal() is the number caught, or 0. */
int cmd_catch_signals(void);
int cmd_signal(void);
const atomic_bool *cmd_cancel(void);

/* cmd_help.c */
void cmd_help_general(void);
void cmd_help_command(const struct cmd *cmd);
int cmd_help(struct cmd_call *c);

/* cmd_docs.c: the manual's tables, and the shell's completion */
int cmd_docs_mdoc(struct cmd_call *c, const char *path);
int cmd_docs_bash(void);

/* one file each */
int cmd_ask(struct cmd_call *c);
int cmd_bench(struct cmd_call *c);
int cmd_bench_tokenizer(struct cmd_call *c);    /* with --tokenizer */
int cmd_chat(struct cmd_call *c);
int cmd_devices(struct cmd_call *c);
int cmd_doctor(struct cmd_call *c);
int cmd_info(struct cmd_call *c);
int cmd_parse(struct cmd_call *c);
int cmd_plan(struct cmd_call *c);
int cmd_render(struct cmd_call *c);
int cmd_score(struct cmd_call *c);
int cmd_sessions(struct cmd_call *c);
int cmd_tokenize(struct cmd_call *c);

#endif
