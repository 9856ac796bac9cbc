#ifndef TMPL_SYNTAX_H
#define TMPL_SYNTAX_H

/* Output syntaxes: how models of a family write thinking, answers and calls. A syntax
 * is a row of data, mostly markers and what each of them does where, and a function
 * that reads the text of a call. The machine that walks through the text is in
 * stream.c; the rows are in parse_*.c, one file for a kinship; the table is in
 * syntax.c. Not for callers of the module. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "templates/pyjson.h"
#include "templates/template.h"

/* Where the stream is. */
enum syn_mode {
    SYN_START,       /* nothing said yet */
    SYN_THINK_START, /* behind the marker of a thought */
    SYN_THINK,
    SYN_THINK_END, /* behind a thought, or the marker of an answer */
    SYN_ANSWER,
    SYN_IDLE,    /* a channel was closed and none is open */
    SYN_SECTION, /* between the calls of a section */
    SYN_CALL,
    SYN_CALL_MORE, /* behind a JSON value that another one may follow */
    SYN_CALL_END,  /* behind a call */
    SYN_DOUBT,     /* behind what may be the marker of a call, spelled in the answer */
    SYN_HEAD,      /* in a header */
    SYN_BARE,      /* in an answer that may be a call as a whole */
    SYN_MODES,
};
#define SYN_IN(mode) (1u << (mode))
/* Outside of everything, or in an answer. */
#define SYN_IN_OPEN (SYN_IN(SYN_START) | SYN_IN(SYN_THINK_END) | SYN_IN(SYN_IDLE) | \
                     SYN_IN(SYN_CALL_END))
#define SYN_IN_SAID (SYN_IN_OPEN | SYN_IN(SYN_ANSWER))
#define SYN_IN_THOUGHT (SYN_IN(SYN_THINK_START) | SYN_IN(SYN_THINK))

/* What a marker does, and where it counts when its row does not say otherwise. */
enum syn_act {
    SYN_DO_THINK,       /* a thought begins: START, IDLE; again in THINK_START */
    SYN_DO_THINK_END,   /* in a thought, START */
    SYN_DO_ANSWER,      /* the answer begins: SYN_IN_OPEN */
    SYN_DO_ANSWER_END,  /* it ends, if such a marker began it: ANSWER */
    SYN_DO_SECTION,     /* calls follow: SYN_IN_SAID */
    SYN_DO_SECTION_END, /* SECTION; CALL, which it ends */
    SYN_DO_CALL,        /* SYN_IN_SAID, SECTION; CALL of the same group, which it ends */
    SYN_DO_CALL_END,    /* CALL of the same group; behind one it means nothing */
    SYN_DO_INSIDE,      /* a marker inside a call, part of its text: CALL */
    SYN_DO_CLOSE,       /* ends the thought, answer or call: all but SECTION */
    SYN_DO_HEAD,        /* a header begins: SYN_IN_OPEN */
    SYN_DO_NOTHING,     /* IDLE */
    SYN_DO_END,         /* the turn ends: everywhere, but spelled as text only where
                               there are no tokens */
};

/* Tells a text from its beginning; what it says of one stays true when more follows. */
enum syn_sure { SYN_NO, SYN_YES, SYN_WAIT };

/* What ends a call besides its markers. A special token that is no marker ends it, too,
 * unless only a marker does. */
enum syn_until {
    SYN_UNTIL_MARK,         /* nothing */
    SYN_UNTIL_TURN,         /* nothing but the turn's end */
    SYN_UNTIL_JSON,         /* the first JSON object or list is complete */
    SYN_UNTIL_JSON_HERE,    /* the same, if the call begins with one */
};

struct syn_mark {
    const char *text;       /* of two that match the longer one counts */
    enum syn_act act;
    unsigned in;            /* modes where it counts; 0: as the act says */
    unsigned named_in;      /* where it counts besides, as a special token of that name */
    enum syn_until until;   /* CALL */
    unsigned group;         /* CALL, CALL_END: which belong together */
    unsigned keep;          /* CALL: so many bytes of it, the last ones, begin the call's
                               text; CALL_END: the first ones end it */
    bool ends;              /* the model has ended its message with it */
    /* CALL, spelled in an answer: does the text behind it look like a call? NULL: it
     * is one. A text that never does is a call only if its closing marker comes. */
    enum syn_sure (*begins)(const char *raw, size_t n);
};

/* Where a marker of the end does not count in the text of a call, with the exception
 * of special tokens. With both, a call that begins with a bracket has strings, another
 * spans. */
enum syn_guard {
    SYN_GUARD_NONE = 0,
    SYN_GUARD_STRINGS = 1,  /* inside a JSON string */
    SYN_GUARD_SPANS = 2,    /* between span_open and span_close */
};

/* A header that was read. */
struct syn_head {
    size_t used;            /* bytes of it; what was seen behind is not part of it */
    enum tmpl_channel channel;
    char *name;             /* of a call; owned by the caller */
};

/* The text of one call, or of several, between its markers. */
struct syn_reading {
    const char *raw;        /* (n), NUL-terminated */
    size_t n;
    const char *name;       /* what the header said; NULL: there was none */
    struct tmpl_result *out;
    size_t first;           /* index of the first call that this reading added */
};

struct tmpl_syntax {
    const char *name, *help;
    const char *also;                   /* other names, "a|b"; or NULL */

    /* The chat template contains all of in_source, or all of or_source, and none of
     * not_in_source; or the vocabulary has all of the special tokens. NULL: it does not
     * decide. */
    const char *const *in_source, *const *or_source, *const *not_in_source;
    const char *const *tokens;

    const struct syn_mark *marks;       /* (n_marks), at most 32 */
    size_t n_marks;
    const char *const *inside;          /* special tokens that are text inside a call */

    unsigned guard;                     /* enum syn_guard */
    const char *span_open, *span_close;
    const char *span_exit;              /* behind this the call may end in a span, too:
                                           one was not closed */
    const char *more;                   /* may stand between JSON values of one call */
    bool exact;                         /* white space around markers is text */

    /* A header of so many bytes, the marker that began it included. used is set when
     * it is one, and also when a marker began it and it is none: so many bytes are
     * control then, with 0 the marker was text. */
    enum syn_sure (*head)(const char *s, size_t n, struct syn_head *h);
    bool head_first;                    /* the text may begin inside a header */
    /* The brackets that an answer begins with which may be a call as a whole, and the key
     * of its arguments; NULL: none. */
    const char *bare, *bare_key;

    /* Add the calls in r. What cannot be read is a call with an error. */
    void (*read)(struct syn_reading *r);
    /* What the end of a prompt says; NULL: only what the markers say. */
    bool (*start)(const char *prompt, size_t n, enum tmpl_channel *start);
    bool xtml;                          /* the row of templates/xtml.h */
};

#define SYN_MARKS(m) .marks = (m), .n_marks = sizeof(m) / sizeof *(m)
#define SYN_LIST(...) (const char *const[]){ __VA_ARGS__, NULL }
/* Marks that many families share. */
#define SYN_THINK_TAGS \
    { .text = "<think>", .act = SYN_DO_THINK }, \
    { \
        .text = "</think>", .act = SYN_DO_THINK_END \
    }
#define SYN_TURN_END(name) { .text = (name), .act = SYN_DO_END }

/* The rows. */
extern const struct tmpl_syntax
    syn_none, syn_think, syn_thought, syn_marco,
    syn_hermes, syn_apriel, syn_apertus, syn_nemotron, syn_granite, syn_cohere,
    syn_command_r, syn_firefunction, syn_gigachat, syn_llama3, syn_cogito, syn_mistral,
    syn_qwen_coder, syn_seed, syn_minimax, syn_minimax_m3, syn_dsml, syn_minicpm,
    syn_mcp, syn_functionary31, syn_functionary32, syn_glm4,
    syn_glm, syn_hunyuan, syn_kimi_k2, syn_deepseek, syn_solar,
    syn_lfm2, syn_gemma4, syn_harmony, syn_kimi_k3;

/* ---- for the readers ---- */

/* Add a call whose raw is [from, to). The pointer holds until the next one is added. */
struct tmpl_call *syn_call(struct syn_reading *r, size_t from, size_t to);
/* The first error of a call stays; at counts in the text of the reading. from is where
 * the call's raw begins there. */
void syn_wrong(struct tmpl_call *c, const char *what, size_t at, size_t from);
/* The name of a call, unless it is empty or no text; a call without one is wrong. */
void syn_set_name(struct tmpl_call *c, const char *s, size_t n);

/* A JSON call {"name", "arguments"}, several of them, or lists of them. */
void syn_read_json(struct syn_reading *r);
/* The same, where a call is written {"NAME": {...}}. */
void syn_read_json_by_name(struct syn_reading *r);
/* raw is JSON calls and nothing else, each with a name and arguments. */
bool syn_is_json_call(const char *raw, size_t n);
/* The arguments of c are r->raw[from, to): an object, maybe inside a string; blank:
 * none. */
void syn_json_arguments(struct syn_reading *r, struct tmpl_call *c, size_t from,
                        size_t to, size_t raw_from);
/* r->raw is the arguments of the call that the header named. */
void syn_read_arguments(struct syn_reading *r);
/* What stands between <tool_call> and </tool_call>: JSON or tags, whichever it is. */
void syn_read_tool_call(struct syn_reading *r);
/* NAME(key=value, ...), or a list of them. */
void syn_read_python(struct syn_reading *r);
/* s is a Python literal: append it as JSON. */
bool syn_python_value(const char *s, size_t n, struct buf *json);

/* Arguments that come one by one: an object from key as JSON to value as JSON. Of one
 * that comes twice the last counts. */
json_t *syn_arguments_new(void);
void syn_argument(json_t *args, const char *key, size_t n, const char *json, size_t len);
/* The value is JSON if it can be read as such, else a string. */
void syn_argument_text(json_t *args, const char *key, size_t n, const char *s,
                       size_t len);
void syn_argument_string(json_t *args, const char *key, size_t n, const char *s,
                         size_t len);
/* As JSON object text; args is released. */
char *syn_arguments_take(json_t *args);

/* Looks of a call, for begins: JSON; a tag; one of them; a name and then a byte of ends;
 * white space may come first. */
enum syn_sure syn_begins_json(const char *raw, size_t n);
enum syn_sure syn_begins_tag(const char *raw, size_t n);
enum syn_sure syn_begins_json_or_tag(const char *raw, size_t n);
enum syn_sure syn_begins_name(const char *raw, size_t n, const char *ends);
/* A name, then a text, white space, and one of these (NULL-terminated). */
enum syn_sure syn_begins_name_then(const char *raw, size_t n, const char *then,
                                   const char *const *one_of);

/* A byte of a function's name, as models write it. */
bool syn_is_name(char c);
/* Bytes of white space at s. */
size_t syn_space(const char *s, size_t n);
/* Where needle begins in s, or n. */
size_t syn_find(const char *s, size_t n, const char *needle);
bool syn_at(const char *s, size_t n, const char *word);

/* ---- quoting in an answer, quote.c ---- */

/* Markdown code and quotation marks, followed byte by byte. */
struct syn_quote {
    char fence;             /* the code block's character; 0: none is open */
    size_t fence_len;
    bool fence_line;        /* and its first line is not over */
    size_t code;            /* backticks that opened a code span on this line; 0: none */
    bool quoted;            /* an odd number of " on this line */
    bool line_start;        /* nothing but spaces on this line */
    char run_char;          /* a run of ` or ~ that goes on */
    size_t run;
    bool run_first;         /* it began the line */
    unsigned char last[3];  /* the bytes before */
};
void syn_quote_init(struct syn_quote *q);
void syn_quote_feed(struct syn_quote *q, const char *s, size_t n);
/* What comes next is quoted. */
bool syn_quote_inside(const struct syn_quote *q);

/* ---- an answer that may be a call, bare.c ---- */

struct syn_bare {
    int depth, call_depth;  /* of brackets; inside an object that is a call */
    bool in_string, escaped;
    bool wants_key;         /* of that object */
    bool is_key;            /* the string is one */
    char key[16];
    size_t key_len;
};
/* The next byte of it. False: it is no call. */
bool syn_bare_feed(struct syn_bare *b, char c, const char *args_key);

#endif
