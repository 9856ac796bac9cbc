#ifndef CHAT_OPTIONS_H
#define CHAT_OPTIONS_H

/* The one table of options: it feeds the command line, /set, --help, completion and the
 * manual. A row says name, type, range, default, help and which commands take it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum chat_option_type { CHAT_OPT_FLAG, CHAT_OPT_INT, CHAT_OPT_FLOAT, CHAT_OPT_SIZE,
                        CHAT_OPT_TEXT, CHAT_OPT_CHOICE };

/* Commands that take an option, as bits. */
enum chat_command_bit {
    CHAT_CMD_CHAT = 1 << 0, CHAT_CMD_ASK = 1 << 1, CHAT_CMD_TOKENIZE = 1 << 2,
    CHAT_CMD_SCORE = 1 << 3, CHAT_CMD_INFO = 1 << 4, CHAT_CMD_PLAN = 1 << 5,
    CHAT_CMD_BENCH = 1 << 6, CHAT_CMD_SESSIONS = 1 << 7, CHAT_CMD_DEVICES = 1 << 8,
};

/* Every option's value. Strings are owned; NULL means not given. */
struct chat_settings {
    char *model, *device, *cpu, *template_name, *system, *think, *trace, *color, *resume;
    int64_t ctx, threads, memory, chunk, n, top_k, repeat_last, logprobs, seed;
    double temp, top_p, min_p, repeat_penalty;
    bool plain, json, jsonl, no_chat, special, bos, decode, logits, private_session, ids_given,
         fold_thinking, ascii;
    char *ids, *prompt_tokens, *prompt_ids;
    int64_t decode_tokens, repeat;
};

struct chat_option {
    const char *name;       /* long name; also the name for /set */
    char letter;            /* short option; 0: none */
    enum chat_option_type type;
    size_t offset;          /* in struct chat_settings */
    const char *initial;    /* default as text; NULL: not given */
    double min, max;        /* INT, FLOAT, SIZE */
    const char *choices;    /* CHOICE: "a|b|c" */
    const char *arg;        /* name of the value in help: "N", "FILE" */
    unsigned commands;      /* chat_command_bit */
    bool live;              /* /set may change it in a chat */
    const char *help;
};

extern const struct chat_option chat_options[];
size_t chat_options_count(void);
const struct chat_option *chat_option_find(const char *name, size_t len);

void chat_settings_init(struct chat_settings *s);       /* all defaults */
void chat_settings_release(struct chat_settings *s);
void chat_settings_copy(struct chat_settings *dst, const struct chat_settings *src);

/* Set one option from text; e (ERR_USAGE) names option, value and range. value is NULL or
 * "on"/"off" for a flag. */
bool chat_option_set(struct chat_settings *s, const struct chat_option *o, const char *value,
                     struct err *e);
/* Append the value as text. */
void chat_option_show(const struct chat_settings *s, const struct chat_option *o,
                      struct buf *out);

#endif
