/* Families whose messages begin with a header that says what follows: gpt-oss (harmony),
 * Functionary, GLM 4. */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "templates/syntax.h"

static bool is_word(const char *s, size_t n, const char *word)
{
    return n == strlen(word) && !memcmp(s, word, n);
}

/* s is the beginning of word, which goes on. */
static bool is_part(const char *s, size_t n, const char *word)
{
    return n < strlen(word) && !memcmp(s, word, n);
}

/* ---- harmony ----
 *
 *     <|start|>assistant<|channel|>analysis<|message|>...<|end|>
 *     <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json
 *     <|message|>{...}<|call|>
 *     <|start|>assistant<|channel|>final<|message|>...<|return|>
 *
 * The recipient may stand before the channel. The prompt ends behind "assistant". */

struct harmony {
    const char *channel, *to;
    size_t channel_n, to_n;
    bool wants_channel;
};

static void harmony_word(struct harmony *h, const char *s, size_t n)
{
    if (syn_at(s, n, "to=")) {
        h->to = s + 3;
        h->to_n = n - 3;
    } else if (h->wants_channel) {
        h->channel = s;
        h->channel_n = n;
        h->wants_channel = false;
    }
}

/* A message to a tool is a call; the names of the people that talk are not. */
static void harmony_decide(const struct harmony *h, struct syn_head *out)
{
    static const char prefix[] = "functions.";
    const char *to = h->to;
    size_t n = h->to_n;

    if (n && !is_word(to, n, "user") && !is_word(to, n, "assistant") &&
        !is_word(to, n, "all")) {
        if (syn_at(to, n, prefix) && n > strlen(prefix)) {
            to += strlen(prefix);
            n -= strlen(prefix);
        }
        out->channel = TMPL_TOOL_CALL;
        out->name = xmemdup0(to, n);
    } else {
        out->channel = h->channel && is_word(h->channel, h->channel_n, "analysis")
                           ? TMPL_THINK
                           : TMPL_RESPONSE;
    }
}

/* The token at s. */
static enum syn_sure harmony_token(const char *s, size_t n, size_t *len,
                                   const char **token)
{
    static const char *const tokens[] = {
        "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>",
    };

    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        *len = strlen(tokens[i]);
        *token = tokens[i];
        if (syn_at(s, n, tokens[i]))
            return SYN_YES;
        if (is_part(s, n, tokens[i]))
            return SYN_WAIT;
    }
    return SYN_NO;
}

static enum syn_sure harmony_head(const char *s, size_t n, struct syn_head *out)
{
    struct harmony h = {0};
    size_t at = 0, first = syn_space(s, n);

    for (;;) {
        const char *token;
        size_t len;
        at += syn_space(s + at, n - at);
        out->used = n;
        if (at == n)
            return SYN_WAIT;
        if (s[at] == '<') {
            enum syn_sure sure = harmony_token(s + at, n - at, &len, &token);
            if (sure == SYN_WAIT)
                return SYN_WAIT;
            if (sure == SYN_NO || (at > first && is_word(token, len, "<|start|>")))
                break;
            at += len;
            h.wants_channel = is_word(token, len, "<|channel|>");
            if (is_word(token, len, "<|message|>")) {
                harmony_decide(&h, out);
                out->used = at;
                return SYN_YES;
            }
            continue;
        }
        size_t word = at;
        while (at < n && s[at] != '<' && !syn_space(s + at, 1))
            at++;
        /* What no token began is a header only if it names a recipient. */
        if (word == first && !syn_at(s + word, at - word, "to=")) {
            if (at < n || !is_part(s + word, at - word, "to=")) {
                at = 0;
                break;
            }
        }
        if (at == n)
            return SYN_WAIT;
        harmony_word(&h, s + word, at - word);
    }
    out->used = at;
    return SYN_NO;
}

static bool ends_in(const char *s, size_t n, const char *word)
{
    size_t len = strlen(word);

    return n >= len && !memcmp(s + n - len, word, len);
}

static bool harmony_start(const char *prompt, size_t n, enum tmpl_channel *start)
{
    if (ends_in(prompt, n, "<|start|>assistant"))
        *start = TMPL_CONTROL;
    else if (ends_in(prompt, n, "<|channel|>analysis<|message|>"))
        *start = TMPL_THINK;
    else
        return false;
    return true;
}

/* Tokens open a header wherever they stand, as the model sometimes forgets to close
 * what it said; text does so only where nothing is open. */
#define HARMONY_NAMED (SYN_IN_THOUGHT | SYN_IN(SYN_ANSWER) | SYN_IN(SYN_CALL))

static const struct syn_mark harmony_marks[] = {
    { .text = "<|start|>", .act = SYN_DO_HEAD, .named_in = HARMONY_NAMED },
    { .text = "<|channel|>", .act = SYN_DO_HEAD, .named_in = HARMONY_NAMED },
    { .text = "<|message|>", .act = SYN_DO_HEAD },
    { .text = "<|end|>", .act = SYN_DO_CLOSE },
    { .text = "<|return|>", .act = SYN_DO_CLOSE, .ends = true },
    { .text = "<|call|>", .act = SYN_DO_CLOSE, .ends = true },
};

const struct tmpl_syntax syn_harmony = {
    .name = "harmony",
    .help = "<|channel|>analysis, commentary to=functions.NAME, final: gpt-oss",
    .also = "gpt-oss",
    .in_source = SYN_LIST("<|channel|>", "<|message|>"),
    .tokens = SYN_LIST("<|channel|>", "<|message|>", "<|call|>"),
    SYN_MARKS(harmony_marks),
    .guard = SYN_GUARD_STRINGS,
    .exact = true,
    .head = harmony_head,
    .head_first = true,
    .read = syn_read_arguments,
    .start = harmony_start,
};

/* ---- Functionary 3.2: >>>NAME and a line break; "all" is the answer ---- */

/* The first header may lack the >>>, which the prompt wrote. */
static enum syn_sure functionary_head(const char *s, size_t n, struct syn_head *out)
{
    bool begun = syn_at(s, n, ">>>");
    size_t name = begun ? 3 : 0, at = name;

    out->used = 0;
    if (is_part(s, n, ">>>"))
        return SYN_WAIT;
    while (at < n && syn_is_name(s[at]))
        at++;
    if (at == n)
        return SYN_WAIT;
    if (at == name || s[at] != '\n')
        return SYN_NO;
    bool all = is_word(s + name, at - name, "all");
    bool python = is_word(s + name, at - name, "python");
    size_t next = at + syn_space(s + at, n - at);
    if (!begun && !all && !python) {
        if (next == n)
            return SYN_WAIT;
        if (s[next] != '{')
            return SYN_NO;
    }
    out->used = at + 1;
    out->channel = all ? TMPL_RESPONSE : TMPL_TOOL_CALL;
    if (!all)
        out->name = xmemdup0(s + name, at - name);
    return SYN_YES;
}

/* What python is sent is code. */
static void functionary_read(struct syn_reading *r)
{
    if (r->name && !strcmp(r->name, "python") &&
        r->raw[syn_space(r->raw, r->n)] != '{') {
        struct tmpl_call *c = syn_call(r, 0, r->n);
        json_t *args = syn_arguments_new();
        syn_set_name(c, r->name, strlen(r->name));
        syn_argument_string(args, "code", 4, r->raw, r->n);
        c->arguments = syn_arguments_take(args);
    } else {
        syn_read_arguments(r);
    }
}

static bool functionary_start(const char *prompt, size_t n, enum tmpl_channel *start)
{
    *start = TMPL_CONTROL;
    return ends_in(prompt, n, ">>>");
}

static const struct syn_mark functionary32_marks[] = {
    { .text = ">>>", .act = SYN_DO_HEAD, .in = SYN_IN_SAID | SYN_IN(SYN_CALL) },
};

const struct tmpl_syntax syn_functionary32 = {
    .name = "functionary-3.2",
    .help = ">>>NAME and the arguments, >>>all and the answer: Functionary 3.2",
    .also = "functionary",
    .in_source = SYN_LIST(">>>all"),
    SYN_MARKS(functionary32_marks),
    .guard = SYN_GUARD_STRINGS,
    .head = functionary_head,
    .head_first = true,
    .read = functionary_read,
    .start = functionary_start,
};

/* ---- Functionary 3.1: <function=NAME>{...}</function>, <|python_tag|> and code ---- */

static void functionary31_read(struct syn_reading *r)
{
    static const char open[] = "<function=";
    struct syn_reading code = *r;
    size_t name = strlen(open), end;

    if (!syn_at(r->raw, r->n, open)) {
        code.name = "python";
        functionary_read(&code);
        return;
    }
    struct tmpl_call *c = syn_call(r, 0, r->n);
    end = name + syn_find(r->raw + name, r->n - name, ">");
    syn_set_name(c, r->raw + name, end - name);
    if (!c->name || end == r->n)
        syn_wrong(c, "the tag of the call cannot be read", name, 0);
    else
        syn_json_arguments(r, c, end + 1, r->n, 0);
}

static enum syn_sure functionary31_begins(const char *raw, size_t n)
{
    return syn_begins_name_then(raw, n, ">", SYN_LIST("{", "</function>"));
}

static const struct syn_mark functionary31_marks[] = {
    { .text = "<function=",
      .act = SYN_DO_CALL,
      .keep = 10,
      .begins = functionary31_begins },
    { .text = "</function>", .act = SYN_DO_CALL_END },
    { .text = "<|python_tag|>",
      .act = SYN_DO_CALL,
      .in = SYN_IN_OPEN,
      .named_in = SYN_IN(SYN_ANSWER),
      .until = SYN_UNTIL_TURN,
      .group = 1 },
};

const struct tmpl_syntax syn_functionary31 = {
    .name = "functionary-3.1",
    .help = "<function=NAME>{...}</function>, <|python_tag|>: Functionary 3.1",
    .in_source = SYN_LIST("<function=", "</function>"),
    SYN_MARKS(functionary31_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = functionary31_read,
};

/* ---- GLM 4: a call is NAME, a line break and the arguments; an answer begins with a
 * line break ---- */

static enum syn_sure glm4_head(const char *s, size_t n, struct syn_head *out)
{
    size_t at = 0, next;

    while (at < n && syn_is_name(s[at]))
        at++;
    if (at == n)
        return SYN_WAIT;
    next = at + syn_space(s + at, n - at);
    if (!at || s[at] != '\n')
        return SYN_NO;
    if (next == n)
        return SYN_WAIT;
    if (s[next] != '{')
        return SYN_NO;
    out->used = at + 1;
    out->channel = TMPL_TOOL_CALL;
    out->name = xmemdup0(s, at);
    return SYN_YES;
}

static const struct syn_mark glm4_marks[] = {
    SYN_TURN_END("<|observation|>"),
    SYN_TURN_END("<|user|>"),
};

const struct tmpl_syntax syn_glm4 = {
    .name = "glm4",
    .help = "NAME, a line break and the arguments: GLM 4",
    .also = "chatglm4|glm-4",
    .in_source = SYN_LIST("[gMASK]<sop>"),
    SYN_MARKS(glm4_marks),
    .guard = SYN_GUARD_STRINGS,
    .head = glm4_head,
    .head_first = true,
    .read = syn_read_arguments,
};
