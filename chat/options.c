/* The table of options and how their values are read and shown.
 *
 * A value is checked completely before it is stored: whole text, finite, in range.
 * Reading goes through strtoll and a C-locale strtod, after a look at the characters,
 * because the C functions alone also take white space, "nan", "0x1p3" and, by locale, a
 * comma. */
#include "config.h"

#include "chat/options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define AT(field) offsetof(struct chat_settings, field)

enum {
    /* all that load weights */
    RUN = CHAT_CMD_CHAT | CHAT_CMD_ASK | CHAT_CMD_SCORE | CHAT_CMD_BENCH,
    PLACE = RUN | CHAT_CMD_PLAN,
    OPEN = PLACE | CHAT_CMD_TOKENIZE | CHAT_CMD_INFO | CHAT_CMD_RENDER | CHAT_CMD_PARSE |
           CHAT_CMD_DOCTOR,
    TALK = CHAT_CMD_CHAT | CHAT_CMD_ASK,
    TEXT = CHAT_CMD_ASK | CHAT_CMD_TOKENIZE | CHAT_CMD_SCORE,
};

const struct chat_option chat_options[] = {
    { "model", 'm', CHAT_OPT_TEXT, CHAT_GROUP_MODEL, AT(model), NULL, 0, 0, NULL, "MODEL",
      OPEN, false, "the model: a GGUF file, or any part of a split one" },
    { "ctx", 'c', CHAT_OPT_INT, CHAT_GROUP_MODEL, AT(ctx), "auto", 1, INT32_MAX, "auto",
      "N", PLACE, false, "positions of context; auto: from free memory and the model" },
    { "threads", 't', CHAT_OPT_INT, CHAT_GROUP_MODEL, AT(threads), "auto", 1, 1024,
      "auto", "N", PLACE, false,
      "compute threads; auto: one for each core that may be used" },
    { "memory", 0, CHAT_OPT_SIZE, CHAT_GROUP_MODEL, AT(memory), "auto", 1, 0x1p62, "auto",
      "SIZE", PLACE, false,
      "memory that may be allocated, such as 512M or 8G; auto: what is free" },
    { "device", 0, CHAT_OPT_TEXT, CHAT_GROUP_MODEL, AT(device), "auto", 0, 0, NULL,
      "DEVICE", PLACE, false,
      "where to compute: auto, cpu, gpu[:N], or fake:FILE to play a script" },
    { "cpu", 0, CHAT_OPT_CHOICE, CHAT_GROUP_MODEL, AT(cpu), "auto", 0, 0,
      "auto|portable|avx2|avx512", "ISA", PLACE, false,
      "the instruction set of the CPU kernels" },
    { "chunk", 0, CHAT_OPT_INT, CHAT_GROUP_MODEL, AT(chunk), "auto", 1, 65536, "auto", "N",
      PLACE, false,
      "positions for each step while the prompt is read; auto: 256, fewer on a slow model" },
    { "pre", 0, CHAT_OPT_TEXT, CHAT_GROUP_MODEL, AT(pre), NULL, 0, 0, NULL, "NAME", OPEN,
      false, "how text is cut before it is merged, for a file that does not say so" },
    { "template", 0, CHAT_OPT_TEXT, CHAT_GROUP_MODEL, AT(template_name), NULL, 0, 0, NULL,
      "NAME", TALK | CHAT_CMD_SCORE | CHAT_CMD_INFO | CHAT_CMD_RENDER | CHAT_CMD_PARSE |
          CHAT_CMD_DOCTOR,
      false,
      "the chat template: a name, one of the model's own by its name, or a file such as "
      "./NAME.jinja; without it the model's own" },
    { "syntax", 0, CHAT_OPT_TEXT, CHAT_GROUP_MODEL, AT(syntax), NULL, 0, 0, NULL, "NAME",
      CHAT_CMD_PARSE, false,
      "the output syntax by name; without it that of the model or the template" },

    { "temp", 0, CHAT_OPT_FLOAT, CHAT_GROUP_SAMPLING, AT(temp), "0.8", 0, 100, NULL, "X",
      TALK, true, "temperature; 0 takes the most likely token each time" },
    { "top-k", 0, CHAT_OPT_INT, CHAT_GROUP_SAMPLING, AT(top_k), "40", 0, INT32_MAX, NULL,
      "N", TALK, true, "sample among the N most likely tokens; 0: off" },
    { "top-p", 0, CHAT_OPT_FLOAT, CHAT_GROUP_SAMPLING, AT(top_p), "0.95", 0, 1, NULL, "X",
      TALK, true, "sample among the tokens that make up this probability; 1: off" },
    { "min-p", 0, CHAT_OPT_FLOAT, CHAT_GROUP_SAMPLING, AT(min_p), "0.05", 0, 1, NULL, "X",
      TALK, true, "drop tokens below X times the most likely one; 0: off" },
    { "repeat-penalty", 0, CHAT_OPT_FLOAT, CHAT_GROUP_SAMPLING, AT(repeat_penalty), "1",
      0.01, 100, NULL, "X", TALK, true, "make recent tokens less likely; 1: off" },
    { "repeat-last", 0, CHAT_OPT_INT, CHAT_GROUP_SAMPLING, AT(repeat_last), "64", 0,
      INT32_MAX, NULL, "N", TALK, true, "how many recent tokens the penalty looks at" },
    { "seed", 0, CHAT_OPT_INT, CHAT_GROUP_SAMPLING, AT(seed), "random", 0,
      (double)INT64_MAX, "random", "N", TALK, true,
      "the same seed gives the same text; random: chosen and recorded" },
    { "predict", 'n', CHAT_OPT_INT, CHAT_GROUP_SAMPLING, AT(n), "none", 1, INT32_MAX,
      "none", "N", TALK, true,
      "tokens to generate at most; none: until the end or a full context" },
    { "think", 0, CHAT_OPT_CHOICE, CHAT_GROUP_SAMPLING, AT(think), "auto", 0, 0,
      "auto|on|off|low|high|max", "HOW", TALK | CHAT_CMD_RENDER, true,
      "whether and how much the model thinks first, where its template knows it" },

    { "system", 's', CHAT_OPT_TEXT, CHAT_GROUP_TALK, AT(system), NULL, 0, 0, NULL, "TEXT",
      TALK, false, "the system message" },
    { "resume", 0, CHAT_OPT_TEXT, CHAT_GROUP_TALK, AT(resume), NULL, 0, 0, NULL,
      "SESSION", TALK, false,
      "go on with a saved conversation: id, beginning of it, file, or last" },
    { "private", 0, CHAT_OPT_FLAG, CHAT_GROUP_TALK, AT(private_session), NULL, 0, 0, NULL,
      NULL, TALK, false, "save nothing" },
    { "logprobs", 0, CHAT_OPT_INT, CHAT_GROUP_TALK, AT(logprobs), "5", 0, 64, NULL, "N",
      TALK | CHAT_CMD_SCORE, true, "alternatives to keep for each token" },

    { "no-chat", 0, CHAT_OPT_FLAG, CHAT_GROUP_TEXT, AT(no_chat), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_ASK, false, "continue the prompt as raw text, with no template" },
    { "special", 0, CHAT_OPT_FLAG, CHAT_GROUP_TEXT, AT(special), NULL, 0, 0, NULL, NULL,
      TEXT, false, "names of special tokens in the text stand for those tokens" },
    { "bos", 0, CHAT_OPT_FLAG, CHAT_GROUP_TEXT, AT(bos), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_TOKENIZE, false, "begin with the token that opens a text" },
    { "decode", 0, CHAT_OPT_FLAG, CHAT_GROUP_TEXT, AT(decode), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_TOKENIZE, false, "ids in, text out" },
    { "check", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(check), NULL, 0, 0, NULL, "FILE",
      CHAT_CMD_TOKENIZE, false, "compare with the ids in FILE, a JSON or an .inp file" },
    { "ids", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(ids), NULL, 0, 0, NULL, "N,...",
      CHAT_CMD_SCORE, false, "score these token ids instead of a file" },
    { "logits", 0, CHAT_OPT_FLAG, CHAT_GROUP_TEXT, AT(logits), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_SCORE, false,
      "with --json or --jsonl: the whole row of logits after each token" },
    { "start", 0, CHAT_OPT_CHOICE, CHAT_GROUP_TEXT, AT(start), "response", 0, 0,
      "response|think|idle|tool", "WHERE", CHAT_CMD_PARSE, false,
      "where the prompt left the model: in its answer, in its thoughts, outside of both, "
      "or among its calls" },
    { "template-file", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(template_file), NULL, 0, 0,
      NULL, "FILE", CHAT_CMD_RENDER, false, "the chat template is in this file" },
    { "bos-token", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(bos_token), NULL, 0, 0, NULL,
      "NAME", CHAT_CMD_RENDER, false, "the token that opens a text, for the template" },
    { "eos-token", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(eos_token), NULL, 0, 0, NULL,
      "NAME", CHAT_CMD_RENDER, false, "the token that ends a text, for the template" },
    { "now", 0, CHAT_OPT_TEXT, CHAT_GROUP_TEXT, AT(now), NULL, 0, 0, NULL, "TIME",
      CHAT_CMD_RENDER, false,
      "what a template that tells the time tells, such as 2026-01-15T12:34:56" },

    { "tokenizer", 0, CHAT_OPT_FLAG, CHAT_GROUP_BENCH, AT(tokenizer), NULL, 0, 0, NULL,
      NULL, CHAT_CMD_BENCH, false, "measure the tokenizer, and nothing else" },
    { "prompt-tokens", 0, CHAT_OPT_TEXT, CHAT_GROUP_BENCH, AT(prompt_tokens), "128", 0, 0,
      NULL, "N,...", CHAT_CMD_BENCH, false, "prompt lengths to measure" },
    { "decode-tokens", 0, CHAT_OPT_INT, CHAT_GROUP_BENCH, AT(decode_tokens), "64", 1, 1e6,
      NULL, "N", CHAT_CMD_BENCH, false, "tokens to generate after each prompt" },
    { "repeat", 0, CHAT_OPT_INT, CHAT_GROUP_BENCH, AT(repeat), "3", 1, 1000, NULL, "N",
      CHAT_CMD_BENCH, false, "measure so many times and take the median" },

    { "plain", 0, CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(plain), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_CHAT, false, "append-only text instead of the full screen" },
    { "json", 0, CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(json), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_ALL & ~(CHAT_CMD_CHAT | CHAT_CMD_HELP), false, "print JSON" },
    { "jsonl", 0, CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(jsonl), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_TOKENIZE | CHAT_CMD_SCORE | CHAT_CMD_RENDER | CHAT_CMD_PARSE, false,
      "one JSON value for each line of input, one for each line of output" },
    { "fold-thinking", 0, CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(fold_thinking), NULL, 0, 0,
      NULL, NULL, CHAT_CMD_CHAT, true, "show thinking as one line until it is opened" },
    { "ascii", 0, CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(ascii), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_CHAT, false, "draw lines and marks with ASCII only" },
    { "color", 0, CHAT_OPT_CHOICE, CHAT_GROUP_OUTPUT, AT(color), "auto", 0, 0,
      "auto|always|never", "WHEN", CHAT_CMD_CHAT | CHAT_CMD_SESSIONS | CHAT_CMD_RENDER,
      false,
      "use colour; auto: on a terminal, unless NO_COLOR is set" },
    { "verbose", 'v', CHAT_OPT_FLAG, CHAT_GROUP_OUTPUT, AT(verbose), NULL, 0, 0, NULL,
      NULL, CHAT_CMD_ASK | CHAT_CMD_INFO | CHAT_CMD_PARSE, false,
      "with ask: thinking and speed on stderr; with info: the whole metadata; with "
      "parse: markers, too" },

    { "trace", 0, CHAT_OPT_TEXT, CHAT_GROUP_COMMON, AT(trace), NULL, 0, 0, NULL, "FILE",
      CHAT_CMD_ALL, false, "log events and timings to FILE" },
    { "help", 'h', CHAT_OPT_FLAG, CHAT_GROUP_COMMON, AT(help), NULL, 0, 0, NULL, NULL,
      CHAT_CMD_ALL, false, "print help and exit" },
    { "version", 'V', CHAT_OPT_FLAG, CHAT_GROUP_COMMON, AT(version), NULL, 0, 0, NULL,
      NULL, CHAT_CMD_ALL, false, "print the version and exit" },
};

enum { COUNT = sizeof chat_options / sizeof *chat_options };
_Static_assert(COUNT <= 64, "chat_settings.given has one bit for each option");

size_t chat_options_count(void)
{
    return COUNT;
}

const struct chat_option *chat_option_find(const char *name, size_t len)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strlen(chat_options[i].name) == len &&
            !memcmp(chat_options[i].name, name, len))
            return &chat_options[i];
    return NULL;
}

const char *chat_option_group_name(enum chat_option_group g)
{
    static const char *const names[CHAT_GROUPS] = {
        [CHAT_GROUP_MODEL] = "Model and device", [CHAT_GROUP_SAMPLING] = "Sampling",
        [CHAT_GROUP_TALK] = "Conversation", [CHAT_GROUP_TEXT] = "Raw text and tokens",
        [CHAT_GROUP_BENCH] = "Measuring", [CHAT_GROUP_OUTPUT] = "Output",
        [CHAT_GROUP_COMMON] = "Common",
    };
    return names[g];
}

/* ---- reading ---- */

static bool only(const char *s, const char *chars)
{
    return *s && s[strspn(s, chars)] == '\0';
}

static bool parse_int(const char *s, int64_t *out)
{
    char *end;

    if (!only(s, "+-0123456789"))
        return false;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (*end || end == s || errno)
        return false;
    *out = v;
    return true;
}

/* The number at the start of s, with a point; *end tells where it stops. */
static bool parse_float(const char *s, double *out, char **end)
{
    if (!strchr("+-.0123456789", *s) || !*s || s[strcspn(s, "xXnN")])
        return false;
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    assert(c);      /* the C locale is always there */
    *out = strtod_l(s, end, c);
    freelocale(c);
    return *end != s && isfinite(*out);
}

/* A number and a unit: K, M, G, T in powers of 1024, "B" or "iB" behind it allowed. */
static bool parse_size(const char *s, int64_t *out)
{
    static const char units[] = "KMGT";
    double v, scale = 1;
    char *end;

    if (strpbrk(s, "eE") || !parse_float(s, &v, &end))
        return false;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        scale = (double)(1ULL << (10 * (unit - units + 1)));
        end++;
        if (!strcmp(end, "iB") || !strcmp(end, "B"))
            end += strlen(end);
    }
    v *= scale;
    if (*end || !(v >= 0 && v < 0x1p63))
        return false;
    *out = (int64_t)v;
    return true;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);

    if (strchr(value, '|'))
        return false;
    for (const char *p = choices; n && p; p = strchr(p, '|')) {
        p += *p == '|';
        if (!strncmp(p, value, n) && (p[n] == '|' || p[n] == '\0'))
            return true;
    }
    return false;
}

static void *field(struct chat_settings *s, const struct chat_option *o)
{
    return (char *)s + o->offset;
}

static const void *cfield(const struct chat_settings *s, const struct chat_option *o)
{
    return (const char *)s + o->offset;
}

static bool is_text(const struct chat_option *o)
{
    return o->type == CHAT_OPT_TEXT || o->type == CHAT_OPT_CHOICE;
}

static void set_text(char **to, const char *value)
{
    char *copy = value ? xstrdup(value) : NULL;
    free(*to);
    *to = copy;
}

static bool in_range(const struct chat_option *o, double v)
{
    return v >= o->min && v <= o->max;
}

/* Store value if it is good for o. */
static bool store(struct chat_settings *s, const struct chat_option *o, const char *value)
{
    int64_t i = 0;
    double d = 0;
    char *end;

    switch (o->type) {
    case CHAT_OPT_FLAG:
        if (value && strcmp(value, "on") && strcmp(value, "off"))
            return false;
        *(bool *)field(s, o) = !value || !strcmp(value, "on");
        return true;
    case CHAT_OPT_INT:
    case CHAT_OPT_SIZE:
        if (value && o->choices && !strcmp(value, o->choices))
            i = (int64_t)o->min - 1;
        else if (!value ||
                 !(o->type == CHAT_OPT_INT ? parse_int : parse_size)(value, &i) ||
                 !in_range(o, (double)i))
            return false;
        *(int64_t *)field(s, o) = i;
        return true;
    case CHAT_OPT_FLOAT:
        if (!value || !parse_float(value, &d, &end) || *end || !in_range(o, d))
            return false;
        *(double *)field(s, o) = d;
        return true;
    case CHAT_OPT_CHOICE:
        if (!value || !is_choice(o->choices, value))
            return false;
        set_text(field(s, o), value);
        return true;
    case CHAT_OPT_TEXT:
        if (!value)
            return false;
        set_text(field(s, o), value);
        return true;
    }
    return false;
}

void chat_option_range(const struct chat_option *o, struct buf *out)
{
    switch (o->type) {
    case CHAT_OPT_FLAG:
        buf_adds(out, "on or off");
        return;
    case CHAT_OPT_SIZE:
        buf_adds(out, "a size such as 512M or 8G");
        break;
    case CHAT_OPT_INT:
        buf_addf(out, "a number from %.0f to %" PRId64, o->min,
                 o->max >= 0x1p63 ? INT64_MAX : (int64_t)o->max);
        break;
    case CHAT_OPT_FLOAT:
        buf_addf(out, "a number from %g to %g", o->min, o->max);
        return;
    case CHAT_OPT_TEXT:
        buf_adds(out, "a value");
        return;
    case CHAT_OPT_CHOICE:
        buf_adds(out, "one of ");
        for (const char *p = o->choices; *p; p++)
            if (*p == '|')
                buf_adds(out, ", ");
            else
                buf_addc(out, *p);
        return;
    }
    if (o->choices)
        buf_addf(out, ", or %s", o->choices);
}

bool chat_option_set(struct chat_settings *s, const struct chat_option *o,
                     const char *value, struct err *e)
{
    if (!store(s, o, value)) {
        struct buf range = {0};
        chat_option_range(o, &range);
        if (value)
            err_set_kind(e, ERR_USAGE, "%s needs %s, not '%s'", o->name, range.p, value);
        else
            err_set_kind(e, ERR_USAGE, "%s needs %s", o->name, range.p);
        buf_release(&range);
        return false;
    }
    s->given |= 1ULL << (o - chat_options);
    return true;
}

bool chat_option_given(const struct chat_settings *s, const struct chat_option *o)
{
    return s->given >> (o - chat_options) & 1;
}

/* ---- showing ---- */

static void show_size(int64_t v, struct buf *out)
{
    static const char units[] = "KMGT";
    int unit = -1;

    while (v && v % 1024 == 0 && unit < 3) {
        v /= 1024;
        unit++;
    }
    buf_addf(out, "%" PRId64, v);
    if (unit >= 0)
        buf_addc(out, units[unit]);
}

/* The shortest form that reads back as the same value, with a point in every locale. */
static void show_float(double v, struct buf *out)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), was = uselocale(c);
    for (int digits = 6; digits <= 17; digits++) {
        size_t start = out->n;
        buf_addf(out, "%.*g", digits, v);
        if (strtod(out->p + start, NULL) == v)
            break;
        if (digits < 17)
            buf_truncate(out, start);
    }
    uselocale(was);
    freelocale(c);
}

void chat_option_show(const struct chat_settings *s, const struct chat_option *o,
                      struct buf *out)
{
    const void *p = cfield(s, o);

    if (o->type == CHAT_OPT_FLAG)
        buf_adds(out, *(const bool *)p ? "on" : "off");
    else if (o->type == CHAT_OPT_FLOAT)
        show_float(*(const double *)p, out);
    else if (is_text(o))
        buf_adds(out, *(char *const *)p ? *(char *const *)p : "");
    else if (o->choices && *(const int64_t *)p < (int64_t)o->min)
        buf_adds(out, o->choices);
    else if (o->type == CHAT_OPT_SIZE)
        show_size(*(const int64_t *)p, out);
    else
        buf_addf(out, "%" PRId64, *(const int64_t *)p);
}

/* ---- settings ---- */

void chat_settings_init(struct chat_settings *s)
{
    *s = (struct chat_settings){0};
    for (size_t i = 0; i < COUNT; i++) {
        bool ok = !chat_options[i].initial ||
                  store(s, &chat_options[i], chat_options[i].initial);
        assert(ok);
        (void)ok;
    }
}

void chat_settings_release(struct chat_settings *s)
{
    for (size_t i = 0; i < COUNT; i++)
        if (is_text(&chat_options[i]))
            set_text(field(s, &chat_options[i]), NULL);
    *s = (struct chat_settings){0};
}

void chat_settings_copy(struct chat_settings *dst, const struct chat_settings *src)
{
    *dst = *src;
    for (size_t i = 0; i < COUNT; i++) {
        const struct chat_option *o = &chat_options[i];
        if (!is_text(o))
            continue;
        const char *text = *(char *const *)cfield(src, o);
        *(char **)field(dst, o) = text ? xstrdup(text) : NULL;
    }
}
