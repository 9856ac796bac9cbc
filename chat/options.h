#ifndef CHAT_OPTIONS_H
#define CHAT_OPTIONS_H

/* The one table of options: it feeds the command line, /set, --help, completion and the
 * manual. A row says name, type, range, default, help and which commands take it; a new
 * option is a row and a field. Numbers are read and written with a point, whatever the
 * locale. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum chat_option_type {
    CHAT_OPT_FLAG,      /* bool */
    CHAT_OPT_INT,       /* int64_t */
    CHAT_OPT_FLOAT,     /* double */
    CHAT_OPT_SIZE,      /* int64_t, in bytes; "512M", "8G", "1.5G" */
    CHAT_OPT_TEXT,      /* char *, owned; NULL: not given */
    CHAT_OPT_CHOICE,    /* char *, owned; one of the words in choices */
};

/* Headings in --help and the manual. */
enum chat_option_group {
    CHAT_GROUP_MODEL, CHAT_GROUP_SAMPLING, CHAT_GROUP_TALK, CHAT_GROUP_TEXT,
    CHAT_GROUP_BENCH, CHAT_GROUP_OUTPUT, CHAT_GROUP_COMMON, CHAT_GROUPS,
};

/* Commands that take an option, as bits. */
enum chat_command_bit {
    CHAT_CMD_CHAT = 1 << 0, CHAT_CMD_ASK = 1 << 1, CHAT_CMD_TOKENIZE = 1 << 2,
    CHAT_CMD_SCORE = 1 << 3, CHAT_CMD_INFO = 1 << 4, CHAT_CMD_PLAN = 1 << 5,
    CHAT_CMD_BENCH = 1 << 6, CHAT_CMD_SESSIONS = 1 << 7, CHAT_CMD_DEVICES = 1 << 8,
    CHAT_CMD_HELP = 1 << 9, CHAT_CMD_PARSE = 1 << 10, CHAT_CMD_RENDER = 1 << 11,
    CHAT_CMD_DOCTOR = 1 << 12,
    CHAT_CMD_ALL = (1 << 13) - 1,
};

/* Every option's value. Strings are owned; NULL means not given. */
struct chat_settings {
    /* model and device */
    char *model;            /* NULL: the default model */
    int64_t ctx;            /* positions; 0: auto */
    int64_t threads;        /* 0: auto */
    int64_t memory;         /* bytes; 0: auto */
    char *device, *cpu;     /* "auto", ...; never NULL */
    int64_t chunk;          /* positions per prefill step; 0: auto */
    char *pre;              /* NULL: the file says it */
    char *template_name;    /* NULL: chosen by the model */
    char *syntax;           /* NULL: the template's */

    /* sampling */
    double temp, top_p, min_p, repeat_penalty;
    int64_t top_k;          /* 0: off */
    int64_t repeat_last;
    int64_t seed;           /* -1: choose one at random, and record it */
    int64_t n;              /* tokens at most; 0: no limit but the context */
    char *think;            /* "auto", "on", "off", "low", "high", "max" */

    /* the conversation */
    char *system, *resume;
    bool private_session;   /* nothing is saved */
    int64_t logprobs;       /* how many alternatives each token keeps */

    /* raw text, ids and scores */
    bool no_chat, special, bos, decode, logits;
    char *ids;              /* "1,2,3" */
    char *check;            /* a file of texts and ids */
    char *start;            /* "response", "think", "idle", "tool" */

    /* render */
    char *template_file, *bos_token, *eos_token, *now;

    /* bench */
    bool tokenizer;
    char *prompt_tokens;    /* "128,512" */
    int64_t decode_tokens, repeat;

    /* output */
    bool plain, json, jsonl, ascii, fold_thinking, verbose;
    char *color;            /* "auto", "always", "never" */
    char *trace;            /* a file */
    bool help, version;

    uint64_t given;         /* bit i: row i of the table was set by chat_option_set() */
};

struct chat_option {
    const char *name;       /* long name; also the name for /set */
    char letter;            /* short option; 0: none */
    enum chat_option_type type;
    enum chat_option_group group;
    size_t offset;          /* in struct chat_settings */
    const char *initial;    /* default as text; NULL: not given */
    double min, max;        /* INT, FLOAT, SIZE */
    const char *choices;    /* CHOICE: "a|b|c"; INT, SIZE: a word that stands for min - 1,
                               such as "auto"; or NULL */
    const char *arg;        /* name of the value in help: "N", "FILE" */
    unsigned commands;      /* chat_command_bit */
    bool live;              /* /set may change it in a chat */
    const char *help;
};

extern const struct chat_option chat_options[];
size_t chat_options_count(void);
const struct chat_option *chat_option_find(const char *name, size_t len);
const char *chat_option_group_name(enum chat_option_group g);

void chat_settings_init(struct chat_settings *s);       /* all defaults */
void chat_settings_release(struct chat_settings *s);
void chat_settings_copy(struct chat_settings *dst, const struct chat_settings *src);

/* Set one option from text. value is NULL, "on" or "off" for a flag. On failure (kind
 * ERR_USAGE) nothing changes and e says what the option takes; the text begins with the
 * option's name. */
bool chat_option_set(struct chat_settings *s, const struct chat_option *o,
                     const char *value, struct err *e);
/* Was it set, or is the value the default? */
bool chat_option_given(const struct chat_settings *s, const struct chat_option *o);
/* Append the value as text; nothing for a text that is not given. */
void chat_option_show(const struct chat_settings *s, const struct chat_option *o,
                      struct buf *out);
/* Append what the option takes: "a number from 0 to 10", "one of on, off". */
void chat_option_range(const struct chat_option *o, struct buf *out);

#endif
