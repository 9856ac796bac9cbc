/* The XTML stream: every parse case of ../shared/kimi as text and as tokens, and cases of
 * our own. Each is fed whole, byte by byte and cut at every place, with one result. */
#include "config.h"

#include "tests/unit/unit.h"

#include "base/mem.h"
#include "templates/xtml.h"
#include "tests/unit/xtml-cases.h"

static const char *const marks[] = {
    "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>",
};

/* ---- feeding ---- */

/* How markers come: spelled in text, or as special tokens, with their bytes or
 * without. */
enum how { AS_TEXT, AS_TOKENS, AS_BARE_TOKENS };

struct outcome {
    struct buf channel[4];      /* the bytes of each */
    struct buf story;           /* all runs and calls, as one text */
    struct tmpl_result calls;   /* the calls */
    bool ended;
    char left[32];
};

static void outcome_release(struct outcome *o)
{
    for (int i = 0; i < 4; i++)
        buf_release(&o->channel[i]);
    buf_release(&o->story);
    tmpl_result_release(&o->calls);
}

static const char *bytes_of(const struct outcome *o, enum tmpl_channel ch)
{
    return buf_str(&o->channel[ch]);
}

static void tell(struct outcome *o, const char *stream, struct tmpl_result *r)
{
    static const char names[] = "trc.";
    uint64_t to = 0;

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct tmpl_run *run = &r->runs[i];
        size_t n = (size_t)(run->to - run->from);
        assert_int_equal(run->from, to);
        assert_true(n > 0);
        to = run->to;
        buf_add(&o->channel[run->channel], stream + run->from, n);
        buf_addf(&o->story, "%c:", names[run->channel]);
        buf_add(&o->story, stream + run->from, n);
        buf_addc(&o->story, '|');
    }
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tmpl_call *c = &r->calls[i];
        assert_int_equal(strlen(c->raw), c->raw_len);
        assert_true(c->at <= to && c->error_at <= c->raw_len);
        assert_true((c->id != NULL) == (c->name != NULL));
        assert_true(c->error || (c->name && c->arguments));
        assert_false(c->truncated && !c->error);
        buf_addf(&o->story, "\n%s %s %s%s%s", c->id ? c->id : "-",
                 c->name ? c->name : "-", c->arguments ? c->arguments : "-",
                 c->block ? " block " : "", c->block ? c->block : "");
        if (c->error)
            buf_addf(&o->story, " %s: %s@%.4s@", c->truncated ? "truncated" : "malformed",
                     c->error, c->raw + c->error_at);
        buf_addf(&o->story, " %s @%.12s", c->raw, stream + c->at);
    }
}

static size_t marker_at(const char *s)
{
    for (int i = 0; i < 4; i++)
        if (!strncmp(s, marks[i], strlen(marks[i])))
            return strlen(marks[i]);
    return 0;
}

/* A copy of its own, so that ASan sees a read behind it. */
static void feed(struct xtml_stream *st, const char *s, size_t n, const char *special,
                 struct tmpl_result *r)
{
    char *copy = xmalloc(n);

    memcpy(copy, s, n);
    xtml_stream_feed(st, copy, n, special, r);
    free(copy);
}

/* Feed text with a cut wherever is_cut says so: bit by bit in cuts (n + 1), where cuts[i]
 * is a cut before byte i. */
static void outcome_of(struct outcome *o, enum tmpl_channel start, enum how how,
                       const char *text, const bool *cuts)
{
    struct xtml_stream *st = xtml_stream_new(start);
    struct tmpl_result r = {0};
    struct buf stream = {0};
    size_t n = strlen(text), from = 0, i = 0;

    *o = (struct outcome){0};
    if (how == AS_TEXT)
        xtml_stream_markers_in_text(st);
    while (i < n) {
        size_t mark = how == AS_TEXT ? 0 : marker_at(text + i);
        if (i > from && (mark || cuts[i])) {
            feed(st, text + from, i - from, NULL, &r);
            from = i;
        }
        if (mark) {
            char *name = xmemdup0(text + i, mark);
            feed(st, name, how == AS_TOKENS ? mark : 0, name, &r);
            if (how == AS_TOKENS)
                buf_adds(&stream, name);
            free(name);
            i += mark;
            from = i;
        } else {
            buf_addc(&stream, text[i++]);
        }
    }
    if (n > from)
        feed(st, text + from, n - from, NULL, &r);
    const char *left = xtml_stream_left(st);
    xtml_stream_finish(st, &r);
    snprintf(o->left, sizeof o->left, "%s", xtml_stream_left(st));
    if (how != AS_TEXT)         /* where half a marker is not yet text */
        assert_string_equal(left, o->left);
    assert_true(!stream.n || (r.n_runs && r.runs[r.n_runs - 1].to == stream.n));
    tell(o, buf_str(&stream), &r);
    o->ended = xtml_stream_ended(st);
    o->calls = r;
    xtml_stream_free(st);
    buf_release(&stream);
}

/* ---- all the ways to cut ---- */

typedef void check_fn(const void *arg, const struct outcome *o, enum how how);

static void same_story(const char *name, const struct outcome *whole,
                       enum tmpl_channel start, enum how how, const char *text,
                       const bool *cuts, const char *what, size_t at)
{
    struct outcome o;

    outcome_of(&o, start, how, text, cuts);
    if (strcmp(buf_str(&o.story), buf_str(&whole->story)) || o.ended != whole->ended ||
        strcmp(o.left, whole->left))
        fail_msg("%s, %s %zu, how %d\n  have %s\n  want %s", name, what, at, how,
                 buf_str(&o.story), buf_str(&whole->story));
    outcome_release(&o);
}

static void however_it_is_cut(const char *name, enum tmpl_channel start, const char *text,
                              check_fn *check, const void *arg)
{
    static const size_t sizes[] = { 1, 2, 3, 5, 7, 11 };
    size_t n = strlen(text);
    bool *cuts = xcalloc(n + 1, sizeof *cuts);

    for (int how = AS_TEXT; how <= AS_BARE_TOKENS; how++) {
        struct outcome whole;

        memset(cuts, 0, n + 1);
        outcome_of(&whole, start, (enum how)how, text, cuts);
        check(arg, &whole, (enum how)how);
        for (size_t i = 1; i < n; i++) {
            cuts[i] = true;
            same_story(name, &whole, start, (enum how)how, text, cuts, "cut at", i);
            cuts[i] = false;
        }
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            for (size_t i = 0; i < n; i++)
                cuts[i] = i % sizes[k] == 0;
            same_story(name, &whole, start, (enum how)how, text, cuts, "pieces of",
                       sizes[k]);
        }
        outcome_release(&whole);
    }
    free(cuts);
}

/* ---- the cases ---- */

static enum tmpl_channel start_of(const json_t *c)
{
    const char *start = xtml_case_str(c, "start");

    if (!strcmp(start, "reasoning"))
        return TMPL_THINK;
    if (!strcmp(start, "response"))
        return TMPL_RESPONSE;
    assert_string_equal(start, "idle");
    return TMPL_CONTROL;
}

static void check_call(const char *name, const json_t *want, const struct tmpl_call *have)
{
    const char *status = !have->error ? "complete" : have->truncated ? "truncated"
                                                                     : "malformed";
    const json_t *text = json_object_get(want, "arguments_text");
    const json_t *block = json_object_get(want, "arguments_raw");
    const json_t *object = json_object_get(want, "arguments");

    if (strcmp(have->name, xtml_case_str(want, "name")))
        fail_msg("%s: the call is of %s", name, have->name);
    if (strcmp(status, xtml_case_str(want, "status")))
        fail_msg("%s: the call is %s", name, status);
    assert_true(text || block);
    if (text && strcmp(json_string_value(text), have->arguments))
        fail_msg("%s: the arguments are %s", name, have->arguments);
    if (block && (!have->block || strcmp(json_string_value(block), have->block)))
        fail_msg("%s: the block is %s", name, have->block ? have->block : "not there");
    if (object) {
        json_t *v = json_loads(have->arguments, 0, NULL);
        if (!json_equal(v, object))
            fail_msg("%s: the arguments are %s", name, have->arguments);
        json_decref(v);
    }
}

static void check_case(const void *arg, const struct outcome *o, enum how how)
{
    const json_t *c = arg, *want = json_object_get(c, "expected");
    const json_t *calls = json_object_get(want, "tool_calls");
    const char *name = xtml_case_str(c, "name");
    size_t n = 0;

    /* A marker that turned out to be text has no bytes of its own then. */
    if (how != AS_BARE_TOKENS || !strstr(xtml_case_str(want, "content"), "<|open|>")) {
        if (strcmp(bytes_of(o, TMPL_RESPONSE), xtml_case_str(want, "content")))
            fail_msg("%s: the content is %s", name, bytes_of(o, TMPL_RESPONSE));
        if (strcmp(bytes_of(o, TMPL_THINK), xtml_case_str(want, "reasoning")))
            fail_msg("%s: the reasoning is %s", name, bytes_of(o, TMPL_THINK));
    }
    for (size_t i = 0; i < o->calls.n_calls; i++) {
        if (!o->calls.calls[i].name)
            continue;
        if (n == json_array_size(calls))
            fail_msg("%s: too many calls", name);
        check_call(name, json_array_get(calls, n++), &o->calls.calls[i]);
    }
    if (n != json_array_size(calls))
        fail_msg("%s: %zu calls", name, n);
    if (strcmp(o->ended ? "message" : "eof", xtml_case_str(want, "end")))
        fail_msg("%s: the end is %s", name, o->ended ? "message" : "eof");
}

static void every_parse_case(void **state)
{
    UNIT_NEEDS_SHARED();
    json_t *all = xtml_cases(), *cases = json_object_get(all, "parse");

    (void)state;
    assert_true(json_array_size(cases) >= 58);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        const json_t *chunks = json_object_get(c, "chunks");
        struct buf text = {0};

        for (size_t k = 0; k < json_array_size(chunks); k++)
            buf_adds(&text, json_string_value(json_array_get(chunks, k)));
        however_it_is_cut(xtml_case_str(c, "name"), start_of(c), buf_str(&text),
                          check_case, c);
        buf_release(&text);
    }
    json_decref(all);
}

/* Text of the answer comes with the chunk that decides it. (What a case says of the
 * arguments of a call in pieces has no place in struct tmpl_result: calls come whole.) */
static void text_comes_with_its_chunk(void **state)
{
    UNIT_NEEDS_SHARED();
    json_t *all = xtml_cases(), *cases = json_object_get(all, "parse");
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        const json_t *chunks = json_object_get(c, "chunks");
        const json_t *want = json_object_get(c, "expected_deltas");
        struct xtml_stream *st = xtml_stream_new(start_of(c));
        struct tmpl_result r = {0};
        struct buf text = {0}, have = {0}, all_want = {0};

        xtml_stream_markers_in_text(st);
        for (size_t k = 0; want && k < json_array_size(want); k++) {
            const json_t *d = json_array_get(want, k);
            const char *what = json_string_value(json_array_get(d, 0));
            if (!strcmp(what, "content") || !strcmp(what, "reasoning"))
                buf_addf(&all_want, "%s %s\n", what,
                         json_string_value(json_array_get(d, 1)));
        }
        for (size_t k = 0; want && k < json_array_size(chunks); k++) {
            const char *s = json_string_value(json_array_get(chunks, k));
            buf_adds(&text, s);
            xtml_stream_feed(st, s, strlen(s), NULL, &r);
            for (size_t m = 0; m < r.n_runs; m++) {
                const struct tmpl_run *run = &r.runs[m];
                if (run->channel != TMPL_THINK && run->channel != TMPL_RESPONSE)
                    continue;
                buf_addf(&have, "%s %.*s\n",
                         run->channel == TMPL_THINK ? "reasoning" : "content",
                         (int)(run->to - run->from), text.p + run->from);
                seen++;
            }
            tmpl_result_reset(&r);
        }
        if (strcmp(buf_str(&have), buf_str(&all_want)))
            fail_msg("%s: %s", xtml_case_str(c, "name"), buf_str(&have));
        buf_release(&text);
        buf_release(&have);
        buf_release(&all_want);
        tmpl_result_release(&r);
        xtml_stream_free(st);
    }
    assert_true(seen >= 6);
    json_decref(all);
}

/* ---- our own ---- */

#define O(tag) "<|open|>" tag "<|sep|>"
#define C(tag) "<|close|>" tag "<|sep|>"
#define CALL O("call tool=\"f\" index=\"1\"")
#define ARG(key, type) O("argument key=\"" key "\" type=\"" type "\"")
#define END C("message") "<|end_of_msg|>"

/* want is the story of the case: the runs; then for each call its id, name, arguments and
 * block, what is wrong and the text there, raw, and what follows it in the stream. */
struct own_case {
    const char *name;
    enum tmpl_channel start;
    const char *in, *want, *left;
};

static const struct own_case own[] = {
    { "nothing", TMPL_THINK, "", "", "think" },
    { "a whole turn", TMPL_THINK, "Hm." C("think") O("response") "Yes." C("response") END,
      "t:Hm.|.:" C("think") O("response") "|r:Yes.|.:" C("response") END "|", "done" },
    { "the end token alone", TMPL_RESPONSE, "Yes.<|end_of_msg|>",
      "r:Yes.|.:<|end_of_msg|>|", "response" },
    { "behind the end nothing counts", TMPL_RESPONSE, "a" END "b" O("think") "c" END,
      "r:a|.:" END "b" O("think") "c" END "|", "done" },
    { "a separator out of place is text of a body", TMPL_RESPONSE, "a<|sep|>b",
      "r:a<|sep|>b|", "response" },
    { "and nothing elsewhere", TMPL_CONTROL, "<|sep|>b", ".:<|sep|>|r:b|", "idle" },
    { "a header cut by a marker is text", TMPL_RESPONSE,
      "a<|open|>thi<|open|>tools<|sep|>",
      "r:a<|open|>thi|.:<|open|>tools<|sep|>|", "tools" },
    { "a close cut by a marker closes", TMPL_RESPONSE, "a<|close|>response<|end_of_msg|>",
      "r:a|.:<|close|>response<|end_of_msg|>|", "sep epilogue" },
    { "a close of something else is text", TMPL_THINK, "a" C("response") "b",
      "t:a" C("response") "b|", "think" },
    { "a thought is not opened twice", TMPL_THINK, "a" O("think") "b",
      "t:a" O("think") "b|", "think" },
    { "nor behind white space", TMPL_THINK, "\n" O("think") "b", "t:\n" O("think") "b|",
      "think" },
    { "thinking after all", TMPL_RESPONSE, O("think") "a" C("think") O("response") "b",
      ".:" O("think") "|t:a|.:" C("think") O("response") "|r:b|", "response" },
    { "white space before a channel is none of it", TMPL_THINK,
      "a" C("think") " \n\t" O("response") " b", "t:a|.:" C("think") " \n\t" O("response")
      "|r: b|", "response" },
    { "white space inside stays", TMPL_CONTROL, "\n a \n", ".:\n |r:a \n|", "idle" },
    { "half of a tag at the end", TMPL_THINK, "a<|close|>thi", "t:a|.:<|close|>thi|",
      "sep think" },
    { "a tag without its end", TMPL_THINK, "a<|close|>think", "t:a|.:<|close|>think|",
      "sep idle" },
    { "half of a marker in a tag", TMPL_THINK, "a<|close|>think<|se",
      "t:a|.:<|close|>think<|se|", "sep think" },
    { "brackets", TMPL_RESPONSE, "<<|<|o<|open<|open|<<|sep|<|<", "r:<<|<|o<|open<|open|<"
      "<|sep|<|<|", "response" },
    { "other names begin alike", TMPL_RESPONSE, O("toolset") C("responses") "a",
      "r:" O("toolset") C("responses") "a|", "response" },

    { "a call", TMPL_TOOL_CALL, CALL ARG("a", "number") "1.0" C("argument") C("call")
      C("tools") END,
      "c:" CALL ARG("a", "number") "1.0" C("argument") C("call") "|.:" C("tools") END "|"
      "\ncall_0 f {\"a\":1.0} " CALL ARG("a", "number") "1.0" C("argument") C("call")
      " @<|close|>too", "done" },
    { "text between calls and arguments is markup", TMPL_TOOL_CALL,
      "x" CALL "y" C("call") "z",
      ".:x|c:" CALL "y" C("call") "|.:z|\ncall_0 f {} " CALL "y" C("call") " @z",
      "tools" },
    { "tool syntax in a thought is thinking", TMPL_THINK, CALL "x" C("call"),
      "t:" CALL "x" C("call") "|", "think" },
    { "tags in a value are text", TMPL_TOOL_CALL,
      CALL ARG("a", "string") CALL O("think") "<|sep|>&quot;" C("json") C("argument")
      C("call"),
      "c:" CALL ARG("a", "string") CALL O("think") "<|sep|>&quot;" C("json") C("argument")
      C("call") "|\ncall_0 f {\"a\":\"<|open|>call tool=\\\"f\\\" index=\\\"1\\\"<|sep|>"
      "<|open|>think<|sep|><|sep|>&quot;<|close|>json<|sep|>\"} "
      CALL ARG("a", "string") CALL O("think") "<|sep|>&quot;" C("json") C("argument")
      C("call") " @", "tools" },
    { "a block of JSON", TMPL_TOOL_CALL, CALL O("json type=\"object\"") " {\"a\": 1.0}\n"
      C("json") C("call"),
      "c:" CALL O("json type=\"object\"") " {\"a\": 1.0}\n" C("json") C("call") "|"
      "\ncall_0 f  {\"a\": 1.0}\n block  {\"a\": 1.0}\n " CALL O("json type=\"object\"")
      " {\"a\": 1.0}\n" C("json") C("call") " @", "tools" },
    { "a block that is broken", TMPL_TOOL_CALL, CALL O("json") "{\"a\": }" C("json")
      C("call"),
      "c:" CALL O("json") "{\"a\": }" C("json") C("call") "|"
      "\ncall_0 f - block {\"a\": } malformed: the block of JSON cannot be read@}<|c@ "
      CALL O("json") "{\"a\": }" C("json") C("call") " @", "tools" },
    { "a block that is no object", TMPL_TOOL_CALL,
      CALL O("json") "[1]" C("json") C("call"),
      "c:" CALL O("json") "[1]" C("json") C("call") "|"
      "\ncall_0 f - block [1] malformed: the block of JSON is not an object@[1]<@ "
      CALL O("json") "[1]" C("json") C("call") " @", "tools" },
    { "two blocks", TMPL_TOOL_CALL,
      CALL O("json") "{}" C("json") O("json") "{}" C("call"),
      "c:" CALL O("json") "{}" C("json") O("json") "{}" C("call") "|"
      "\ncall_0 f - block {} malformed: the call has two blocks of JSON@json@ "
      CALL O("json") "{}" C("json") O("json") "{}" C("call") " @", "tools" },
    { "an argument without a key", TMPL_TOOL_CALL, CALL O("argument type=\"string\"") "x"
      C("argument") C("call"),
      "c:" CALL O("argument type=\"string\"") "x" C("argument") C("call") "|"
      "\ncall_0 f {} malformed: an argument has no key@argu@ " CALL
      O("argument type=\"string\"") "x" C("argument") C("call") " @", "tools" },
    { "an argument that cannot be read", TMPL_TOOL_CALL, CALL O("argument key=x") "x"
      C("call"),
      "c:" CALL O("argument key=x") "x" C("call")
      "|\ncall_0 f {} malformed: the attributes of an argument cannot be read@argu@ "
      CALL O("argument key=x") "x" C("call") " @",
      "tools" },
    { "a call inside a call", TMPL_TOOL_CALL,
      CALL ARG("a", "null") "null" C("argument") CALL C("call"),
      "c:" CALL ARG("a", "null") "null" C("argument") CALL C("call") "|"
      "\ncall_0 f {\"a\":null} truncated: the text ended before the call did@@ "
      CALL ARG("a", "null") "null" C("argument") " @<|open|>call\ncall_1 f {} "
      CALL C("call") " @", "tools" },
    { "the tools end in a value", TMPL_TOOL_CALL, CALL ARG("a", "string") "x" C("tools")
      C("message"),
      "c:" CALL ARG("a", "string") "x|.:" C("tools") C("message") "|"
      "\ncall_0 f {\"a\":\"x\"} truncated: the text ended before the call did@@ "
      CALL ARG("a", "string") "x @<|close|>too", "done" },
    { "the message ends in a value", TMPL_TOOL_CALL, CALL ARG("a", "array") "[1,"
      "<|end_of_msg|>",
      "c:" CALL ARG("a", "array") "[1,|.:<|end_of_msg|>|"
      "\ncall_0 f {} truncated: the text ended before the call did@@ "
      CALL ARG("a", "array") "[1, @<|end_of_msg", "argument" },
    { "the text ends in the tag that ends the call", TMPL_TOOL_CALL, CALL "<|close|>call",
      "c:" CALL "<|close|>call|\ncall_0 f {} truncated: the text ended before the call "
      "did@@ " CALL "<|close|>call @", "sep tools" },
    { "a number that JSON does not have", TMPL_TOOL_CALL, CALL ARG("a", "number") "NaN"
      C("argument") C("call"),
      "c:" CALL ARG("a", "number") "NaN" C("argument") C("call") "|\ncall_0 f "
      "{\"a\":\"NaN\"} " CALL ARG("a", "number") "NaN" C("argument") C("call") " @",
      "tools" },
    { "a nameless call is there, but does not count", TMPL_TOOL_CALL,
      O("call tool=\"\"") C("call") CALL C("call"),
      "c:" O("call tool=\"\"") C("call") CALL C("call")
      "|\n- - - malformed: the call has no name@call@ " O("call tool=\"\"") C("call")
      " @<|open|>call\ncall_0 f {} " CALL C("call") " @",
      "tools" },
    { "bytes that are no text", TMPL_TOOL_CALL, CALL ARG("a", "string") "\xff\x01"
      C("argument") ARG("\xff", "string") C("call"),
      "c:" CALL ARG("a", "string") "\xff\x01" C("argument") ARG("\xff", "string")
      C("call") "|\ncall_0 f {\"a\":\"\xef\xbf\xbd\\u0001\"} malformed: the attributes "
      "of an argument cannot be read@argu@ "
      CALL ARG("a", "string") "\xff\x01" C("argument") ARG("\xff", "string") C("call")
      " @", "tools" },
};

static void check_own(const void *arg, const struct outcome *o, enum how how)
{
    const struct own_case *c = arg;

    /* As tokens the same, but half a marker is one as text only; those cases say so. */
    if (how == AS_TEXT && strcmp(buf_str(&o->story), c->want))
        fail_msg("%s\n  have %s\n  want %s", c->name, buf_str(&o->story), c->want);
    if (how == AS_TOKENS && !strstr(c->in, "<|se") && strcmp(buf_str(&o->story), c->want))
        fail_msg("%s, as tokens\n  have %s\n  want %s", c->name, buf_str(&o->story),
                 c->want);
    if (how == AS_TEXT && strcmp(o->left, c->left))
        fail_msg("%s: \"%s\" is left", c->name, o->left);
}

static void our_own_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        however_it_is_cut(own[i].name, own[i].start, own[i].in, check_own, &own[i]);
}

/* Where tokens are seen, a marker that is spelled in text ends nothing. */
static void spelled_markers_are_text(void **state)
{
    const char *s = "a" C("think") END;
    struct xtml_stream *st = xtml_stream_new(TMPL_THINK);
    struct tmpl_result r = {0};

    (void)state;
    xtml_stream_feed(st, s, strlen(s), NULL, &r);
    assert_int_equal(r.n_runs, 1);
    assert_int_equal(r.runs[0].channel, TMPL_THINK);
    assert_int_equal(r.runs[0].to, strlen(s));      /* and nothing is held */
    xtml_stream_finish(st, &r);
    assert_false(xtml_stream_ended(st));
    tmpl_result_release(&r);
    xtml_stream_free(st);
}

static void other_special_tokens(void **state)
{
    struct xtml_stream *st = xtml_stream_new(TMPL_THINK);
    struct tmpl_result r = {0};

    (void)state;
    xtml_stream_feed(st, "a", 1, NULL, &r);
    xtml_stream_feed(st, "<osagent_mode>", 14, "<osagent_mode>", &r);
    xtml_stream_feed(st, "b", 1, NULL, &r);
    xtml_stream_feed(st, "[EOS]", 5, "[EOS]", &r);
    assert_true(xtml_stream_ended(st));
    assert_string_equal(xtml_stream_left(st), "think");
    assert_int_equal(r.n_runs, 4);
    assert_int_equal(r.runs[0].channel, TMPL_THINK);
    assert_int_equal(r.runs[1].channel, TMPL_CONTROL);
    assert_int_equal(r.runs[2].channel, TMPL_THINK);
    assert_int_equal(r.runs[3].channel, TMPL_CONTROL);
    xtml_stream_finish(st, &r);
    tmpl_result_release(&r);
    xtml_stream_free(st);
}

/* A header has a limit, wherever it is cut; then it was text. */
static void a_header_without_end(void **state)
{
    enum { N = 5000 };
    char *text = xmalloc(N + 9);

    (void)state;
    memset(text, 'x', N + 8);
    memcpy(text, "<|open|>", 8);
    text[N + 8] = '\0';
    for (size_t step = 1; step < 3 * N; step = step * 3 + 1) {
        struct xtml_stream *st = xtml_stream_new(TMPL_RESPONSE);
        struct tmpl_result r = {0};
        xtml_stream_markers_in_text(st);
        for (size_t i = 0; i < N + 8; i += step)
            xtml_stream_feed(st, text + i, step < N + 8 - i ? step : N + 8 - i, NULL, &r);
        assert_int_equal(r.n_runs, 1);
        assert_int_equal(r.runs[0].channel, TMPL_RESPONSE);
        assert_int_equal(r.runs[0].to, N + 8);
        xtml_stream_finish(st, &r);
        assert_int_equal(r.n_runs, 1);
        tmpl_result_release(&r);
        xtml_stream_free(st);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parse_case),
        cmocka_unit_test(text_comes_with_its_chunk),
        cmocka_unit_test(our_own_cases),
        cmocka_unit_test(spelled_markers_are_text),
        cmocka_unit_test(other_special_tokens),
        cmocka_unit_test(a_header_without_end),
    };
    return UNIT_RUN(tests);
}
