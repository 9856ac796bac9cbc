/* The router of templates/. A case is a text with special tokens in it, written as
 * \1name\2 (\3name\2: the same without bytes), and what is to come out, written as
 *
 *     t:thinking  r:answer  c:call  .control      runs, one behind the other, between |
 *     # id name arguments      or      # id - error@position
 *
 * Every case is fed whole, byte by byte, and cut in two at every place. */
#include "config.h"

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "templates/template.h"

#define SP(name) "\1" name "\2"
#define CTL(name) "\3" name "\2"

struct stream_case {
    const char *name, *tmpl;
    enum tmpl_channel start;
    const char *in, *runs, *calls;
};

static const struct stream_case cases[] = {
    { "an answer", "chatml", TMPL_RESPONSE, "Hello!", "r:Hello!", "" },
    { "nothing", "chatml", TMPL_RESPONSE, "", "", "" },
    { "thinking, then an answer", "chatml", TMPL_RESPONSE,
      "<think>\nHm.\n</think>\n\nYes.", ".<think>\n|t:Hm.|.\n</think>\n\n|r:Yes.", "" },
    { "the tags are special tokens", "chatml", TMPL_RESPONSE,
      SP("<think>") "\nHm.\n" SP("</think>") "\n\nYes." CTL("<|im_end|>"),
      ".<think>\n|t:Hm.|.\n</think>\n\n|r:Yes.", "" },
    { "special tags without bytes", "chatml", TMPL_RESPONSE,
      CTL("<think>") "Hm." CTL("</think>") "Yes.", "t:Hm.|r:Yes.", "" },
    { "one tag special, one text", "chatml", TMPL_RESPONSE, SP("<think>") "a</think>b",
      ".<think>|t:a|.</think>|r:b", "" },
    { "white space before <think>", "chatml", TMPL_RESPONSE, "\n \t<think>a</think>b",
      ".\n \t<think>|t:a|.</think>|r:b", "" },
    { "white space before an answer stays", "chatml", TMPL_RESPONSE, "\n  a", "r:\n  a",
      "" },
    { "only white space", "chatml", TMPL_RESPONSE, " \n ", "r: \n ", "" },
    { "the prompt opened the thought", "chatml", TMPL_THINK, "\nHm.\n\n</think>\n\nYes.",
      ".\n|t:Hm.|.\n\n</think>\n\n|r:Yes.", "" },
    { "a thought that does not end", "chatml", TMPL_THINK, "Hm.\n", "t:Hm.\n", "" },
    { "newlines inside a thought", "chatml", TMPL_THINK, "a\n\nb\n</think>c",
      "t:a\n\nb|.\n</think>|r:c", "" },
    { "CR LF around tags", "chatml", TMPL_RESPONSE, "<think>\r\na\r\n</think>\r\n\r\nb",
      ".<think>\r\n|t:a|.\r\n</think>\r\n\r\n|r:b", "" },
    { "an empty thought", "chatml", TMPL_RESPONSE, "<think>\n\n</think>\n\nYes.",
      ".<think>\n\n</think>\n\n|r:Yes.", "" },
    { "a thought of nothing at all", "chatml", TMPL_RESPONSE, "<think></think>",
      ".<think></think>", "" },
    { "half a tag at the end of the answer", "chatml", TMPL_RESPONSE, "a<tool_ca",
      "r:a<tool_ca", "" },
    { "half a tag at the start", "chatml", TMPL_RESPONSE, "<thin", "r:<thin", "" },
    { "half a closing tag", "chatml", TMPL_THINK, "a\n</thin", "t:a\n</thin", "" },
    { "half a tag, then the tag", "chatml", TMPL_THINK, "a</thi</think>b",
      "t:a</thi|.</think>|r:b", "" },
    { "brackets", "chatml", TMPL_RESPONSE, "<<think>> a < b <t <tool <!",
      "r:<<think>> a < b <t <tool <!", "" },
    { "a bracket before the tag", "chatml", TMPL_THINK, "a<</think>b",
      "t:a<|.</think>|r:b", "" },
    { "<think> inside an answer is text", "chatml", TMPL_RESPONSE,
      "Write <think>x</think>.", "r:Write <think>x</think>.", "" },
    { "a second thought is text", "chatml", TMPL_RESPONSE,
      "<think>a</think>b<think>c</think>d", ".<think>|t:a|.</think>|r:b<think>c</think>d",
      "" },
    { "tool syntax inside a thought is thinking", "chatml", TMPL_RESPONSE,
      "<think>I could <tool_call>{\"name\":\"x\"}</tool_call>\n</think>No.",
      ".<think>|t:I could <tool_call>{\"name\":\"x\"}</tool_call>|.\n</think>|r:No.",
      "" },
    { "special tool tags inside a thought too", "chatml", TMPL_THINK,
      "a " SP("<tool_call>") " b" SP("</think>") "c", "t:a <tool_call> b|.</think>|r:c",
      "" },
    { "a special tag out of place is text", "chatml", TMPL_RESPONSE,
      "a" SP("<think>") "b" SP("</tool_call>"), "r:a<think>b</tool_call>", "" },
    { "unknown specials are control", "chatml", TMPL_RESPONSE,
      SP("<|box|>") "a" SP("<|im_end|>") "b", ".<|box|>|r:a|.<|im_end|>|r:b", "" },
    { "an unknown special does not hide a thought", "chatml", TMPL_RESPONSE,
      SP("<|box|>") "<think>a", ".<|box|><think>|t:a", "" },
    { "a special cuts half a tag", "chatml", TMPL_RESPONSE,
      "a\n<tool_" CTL("<|x|>") "call>", "r:a\n<tool_call>", "" },
    { "a special cuts half a closing tag", "chatml", TMPL_THINK,
      "a\n</th" SP("<|x|>") "ink>", "t:a\n</th|.<|x|>|t:ink>", "" },
    { "text of a special name is text", "chatml", TMPL_RESPONSE, "a<|im_end|>b",
      "r:a<|im_end|>b", "" },
    { "UTF-8", "chatml", TMPL_RESPONSE,
      "<think>\xc3\xa4</think>\xf0\x9f\x98\x80\xe4\xbd\xa0",
      ".<think>|t:\xc3\xa4|.</think>|r:\xf0\x9f\x98\x80\xe4\xbd\xa0", "" },
    { "broken UTF-8", "chatml", TMPL_RESPONSE, "\xff\xf0\x9f", "r:\xff\xf0\x9f", "" },

    { "a call", "chatml", TMPL_RESPONSE,
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1.0}}\n</tool_call>",
      ".<tool_call>|c:\n{\"name\": \"f\", \"arguments\": {\"a\": 1.0}}\n|.</tool_call>",
      "# call_0 f {\"a\": 1.0}\n" },
    { "text, then a call", "chatml", TMPL_RESPONSE,
      "Wait.\n\n" SP("<tool_call>") "{\"name\":\"f\",\"arguments\":{}}"
      SP("</tool_call>"),
      "r:Wait.|.\n\n<tool_call>|c:{\"name\":\"f\",\"arguments\":{}}|.</tool_call>",
      "# call_0 f {}\n" },
    { "a thought, then a call", "chatml", TMPL_RESPONSE,
      "<think>a\n</think>\n\n<tool_call>{\"name\":\"f\"}</tool_call>",
      ".<think>|t:a|.\n</think>\n\n<tool_call>|c:{\"name\":\"f\"}|.</tool_call>",
      "# call_0 f {}\n" },
    { "several calls", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n"
      "<tool_call>{\"name\":\"g\",\"parameters\":{\"x\":[1,{}]}}</tool_call>\n",
      ".<tool_call>|c:{\"name\":\"f\",\"arguments\":{}}|.</tool_call>\n<tool_call>|"
      "c:{\"name\":\"g\",\"parameters\":{\"x\":[1,{}]}}|.</tool_call>\n",
      "# call_0 f {}\n# call_1 g {\"x\":[1,{}]}\n" },
    { "text after a call", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\"}</tool_call>\n\nDone.\n",
      ".<tool_call>|c:{\"name\":\"f\"}|.</tool_call>\n\n|r:Done.\n", "# call_0 f {}\n" },
    { "an id of its own", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"id\":\"x9\",\"name\":\"f\"}</tool_call>",
      ".<tool_call>|c:{\"id\":\"x9\",\"name\":\"f\"}|.</tool_call>", "# x9 f {}\n" },
    { "arguments in a string", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}</tool_call>",
      ".<tool_call>|c:{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}|.</tool_call>",
      "# call_0 f {\"a\":1}\n" },
    { "long numbers keep their digits", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"n\":123456789012345678901234567890}}"
      "</tool_call>",
      ".<tool_call>|c:{\"name\":\"f\",\"arguments\":{\"n\":"
      "123456789012345678901234567890}}|"
      ".</tool_call>",
      "# call_0 f {\"n\":123456789012345678901234567890}\n" },
    { "the closing tag inside a string", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"t\":\"\\\"</tool_call>\"}}"
      "</tool_call>b",
      ".<tool_call>|c:{\"name\":\"f\",\"arguments\":{\"t\":\"\\\"</tool_call>\"}}|"
      ".</tool_call>|r:b",
      "# call_0 f {\"t\":\"\\\"</tool_call>\"}\n" },
    { "a string that is never closed ends with its line", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\": \"f}\n</tool_call>b",
      ".<tool_call>|c:{\"name\": \"f}\n|.</tool_call>|r:b",
      "# call_0 - a control character inside a string@12\n" },
    { "broken JSON", "chatml", TMPL_RESPONSE, "<tool_call>{\"name\": f}</tool_call>b",
      ".<tool_call>|c:{\"name\": f}|.</tool_call>|r:b",
      "# call_0 - no JSON value@9\n" },
    { "an empty call", "chatml", TMPL_RESPONSE, "<tool_call></tool_call>",
      ".<tool_call></tool_call>", "# call_0 - the text ends too early@0\n" },
    { "a call that is a list", "chatml", TMPL_RESPONSE, "<tool_call>[1]</tool_call>",
      ".<tool_call>|c:[1]|.</tool_call>",
      "# call_0 - the call is not a JSON object@0\n" },
    { "a call without a name", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"arguments\":{}}</tool_call>",
      ".<tool_call>|c:{\"arguments\":{}}|.</tool_call>",
      "# call_0 - the call has no \"name\"@0\n" },
    { "arguments that are none", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call>",
      ".<tool_call>|c:{\"name\":\"f\",\"arguments\":[1]}|.</tool_call>",
      "# call_0 f the arguments of the call are not a JSON object@24\n" },
    { "a call cut short", "chatml", TMPL_RESPONSE, "a<tool_call>{\"name\":\"f\"</tool_",
      "r:a|.<tool_call>|c:{\"name\":\"f\"</tool_",
      "# call_0 - the answer ended before the call did@18\n" },
    { "a call cut before its closing tag can be read", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":\"f\"}\n", ".<tool_call>|c:{\"name\":\"f\"}\n",
      "# call_0 f {} the answer ended before the call did@13\n" },
    { "a special token inside a call", "chatml", TMPL_RESPONSE,
      "<tool_call>{\"name\":" SP("<|x|>") "\"f\"}</tool_call>",
      ".<tool_call>|c:{\"name\":|.<|x|>|c:\"f\"}|.</tool_call>", "# call_0 f {}\n" },

    { "plain knows no tags", "plain", TMPL_RESPONSE,
      "\n<think>a</think>\n<tool_call>{}</tool_call>" SP("<s>"),
      "r:\n<think>a</think>\n<tool_call>{}</tool_call>|.<s>", "" },
    { "plain has no named tags either", "plain", TMPL_RESPONSE, "a" SP("<think>") "b",
      "r:a|.<think>|r:b", "" },

    { "llama3: <|python_tag|>", "llama3", TMPL_RESPONSE,
      SP("<|python_tag|>") "{\"name\":\"f\",\"parameters\":{\"a\":\"x\"}}"
      CTL("<|eom_id|>"),
      ".<|python_tag|>|c:{\"name\":\"f\",\"parameters\":{\"a\":\"x\"}}",
      "# call_0 f {\"a\":\"x\"}\n" },
    { "llama3: <|python_tag|> up to the end", "llama3", TMPL_RESPONSE,
      "<|python_tag|>{\"name\":\"f\",\"parameters\":{}}",
      ".<|python_tag|>|c:{\"name\":\"f\",\"parameters\":{}}", "# call_0 f {}\n" },
    { "llama3: <|python_tag|> and no JSON", "llama3", TMPL_RESPONSE,
      "<|python_tag|>print(1)", ".<|python_tag|>|c:print(1)",
      "# call_0 - no JSON value@0\n" },
    { "llama3: an answer that is a call", "llama3", TMPL_RESPONSE,
      "{\"name\": \"f\", \"parameters\": {\"a\": 1}}" CTL("<|eot_id|>"),
      "c:{\"name\": \"f\", \"parameters\": {\"a\": 1}}", "# call_0 f {\"a\": 1}\n" },
    { "llama3: the same with its type", "llama3", TMPL_RESPONSE,
      "\n{\"type\":\"function\",\"name\":\"f\",\"parameters\":{}}\n",
      "c:\n{\"type\":\"function\",\"name\":\"f\",\"parameters\":{}}\n",
      "# call_0 f {}\n" },
    { "llama3: JSON that is no call", "llama3", TMPL_RESPONSE, "{\"name\": \"f\"}",
      "r:{\"name\": \"f\"}", "" },
    { "llama3: more members than a call has", "llama3", TMPL_RESPONSE,
      "{\"name\":\"f\",\"parameters\":{},\"age\":3}",
      "r:{\"name\":\"f\",\"parameters\":{},\"age\":3}", "" },
    { "llama3: a call with text behind it", "llama3", TMPL_RESPONSE,
      "{\"name\":\"f\",\"parameters\":{}} ok", "r:{\"name\":\"f\",\"parameters\":{}} ok",
      "" },
    { "llama3: a call with text before it", "llama3", TMPL_RESPONSE,
      "ok {\"name\":\"f\",\"parameters\":{}}", "r:ok {\"name\":\"f\",\"parameters\":{}}",
      "" },
    { "llama3: no <tool_call>", "llama3", TMPL_RESPONSE, "<tool_call>{}</tool_call>",
      "r:<tool_call>{}</tool_call>", "" },
    { "llama3: thinking", "llama3", TMPL_RESPONSE, "<think>\na\n</think>\n\nb",
      ".<think>\n|t:a|.\n</think>\n\n|r:b", "" },
};

/* ---- feeding ---- */

/* The stream's bytes (what runs number) and its tokens. */
struct token {
    size_t at, len;             /* in text */
    char special[32];           /* "": text */
};

struct script {
    struct buf text;
    struct token tokens[16];
    size_t n;
};

static void script_read(struct script *sc, const char *in)
{
    *sc = (struct script){0};
    while (*in) {
        struct token *t = &sc->tokens[sc->n++];
        size_t n = strcspn(in, "\1\3");

        assert_true(sc->n <= 16);
        t->at = sc->text.n;
        if (n) {
            t->len = n;
            buf_add(&sc->text, in, n);
            in += n;
            continue;
        }
        n = strcspn(in + 1, "\2");
        assert_true(n < sizeof t->special);
        memcpy(t->special, in + 1, n);
        t->len = *in == '\1' ? n : 0;
        buf_add(&sc->text, in + 1, t->len);
        in += n + 2;
    }
}

/* What came out so far, in the notation of the cases. */
struct outcome {
    struct buf runs, calls;
    int channel;
    uint64_t to;
};

static void outcome_take(struct outcome *o, const struct script *sc,
                         struct tmpl_result *r)
{
    static const char *const names[] = {
        [TMPL_THINK] = "t:", [TMPL_RESPONSE] = "r:", [TMPL_TOOL_CALL] = "c:",
        [TMPL_CONTROL] = ".",
    };

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct tmpl_run *run = &r->runs[i];
        assert_int_equal(run->from, o->to);
        assert_true(run->from < run->to && run->to <= sc->text.n);
        if (o->channel != (int)run->channel)
            buf_addf(&o->runs, "%s%s", o->runs.n ? "|" : "", names[run->channel]);
        o->channel = (int)run->channel;
        o->to = run->to;
        buf_add(&o->runs, sc->text.p + run->from, (size_t)(run->to - run->from));
    }
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tmpl_call *c = &r->calls[i];
        assert_int_equal(strlen(c->raw), c->raw_len);
        assert_true(c->at <= sc->text.n);
        buf_addf(&o->calls, "# %s %s", c->id, c->name ? c->name : "-");
        if (c->name && c->arguments)
            buf_addf(&o->calls, " %s", c->arguments);
        if (c->error)
            buf_addf(&o->calls, " %s@%zu", c->error, c->error_at);
        buf_addc(&o->calls, '\n');
    }
    tmpl_result_reset(r);
}

/* Feed with the text cut at one place, or at all. */
static void outcome_of(struct outcome *o, const struct stream_case *c,
                       const struct script *sc, size_t cut, bool all)
{
    struct err *none = NULL;
    struct tmpl_stream *st = tmpl_stream_new(tmpl_find(c->tmpl, none), c->start);
    struct tmpl_result r = {0};

    *o = (struct outcome){ .channel = -1 };
    for (size_t i = 0; i < sc->n; i++) {
        const struct token *t = &sc->tokens[i];
        const char *s = sc->text.p ? sc->text.p + t->at : "";
        size_t from = 0;
        if (*t->special) {
            tmpl_feed(st, s, t->len, t->special, &r);
            outcome_take(o, sc, &r);
            continue;
        }
        for (size_t k = 1; k <= t->len; k++) {
            if (k < t->len && !all && t->at + k != cut)
                continue;
            /* A copy of its own, so that ASan sees a read behind it. */
            char *copy = malloc(k - from);
            memcpy(copy, s + from, k - from);
            tmpl_feed(st, copy, k - from, NULL, &r);
            free(copy);
            outcome_take(o, sc, &r);
            from = k;
        }
    }
    tmpl_finish(st, &r);
    outcome_take(o, sc, &r);
    assert_int_equal(o->to, sc->text.n);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

static void outcome_release(struct outcome *o)
{
    buf_release(&o->runs);
    buf_release(&o->calls);
}

static void check_outcome(const struct stream_case *c, const struct outcome *o,
                          const char *how, size_t cut)
{
    if (!strcmp(buf_str(&o->runs), c->runs) && !strcmp(buf_str(&o->calls), c->calls))
        return;
    fail_msg("%s, %s %zu\n  runs  %s\n  want  %s\n  calls %s  want  %s", c->name, how,
             cut, buf_str(&o->runs), c->runs, buf_str(&o->calls), c->calls);
}

static void every_case_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct script sc;
        struct outcome o;

        script_read(&sc, cases[i].in);
        outcome_of(&o, &cases[i], &sc, 0, true);
        check_outcome(&cases[i], &o, "byte by byte", 0);
        outcome_release(&o);
        for (size_t cut = 0; cut <= sc.text.n; cut++) {
            outcome_of(&o, &cases[i], &sc, cut, false);
            check_outcome(&cases[i], &o, "cut at", cut);
            outcome_release(&o);
        }
        buf_release(&sc.text);
    }
}

static void text_comes_as_soon_as_it_is_decided(void **state)
{
    struct tmpl_stream *st = tmpl_stream_new(tmpl_find("chatml", NULL), TMPL_RESPONSE);
    struct tmpl_result r = {0};

    (void)state;
    tmpl_feed(st, "Hello <", 7, NULL, &r);
    assert_int_equal(r.n_runs, 1);
    assert_int_equal(r.runs[0].to, 6);          /* all but what could become a tag */
    tmpl_feed(st, "3\n", 2, NULL, &r);
    assert_int_equal(r.n_runs, 1);              /* merged with the run before */
    assert_int_equal(r.runs[0].to, 8);
    tmpl_finish(st, &r);
    assert_int_equal(r.n_runs, 1);
    assert_int_equal(r.runs[0].to, 9);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

static void plain_text_never_waits(void **state)
{
    struct tmpl_stream *st = tmpl_stream_new(tmpl_find("plain", NULL), TMPL_RESPONSE);
    struct tmpl_result r = {0};

    (void)state;
    tmpl_feed(st, "\n <", 3, NULL, &r);
    assert_int_equal(r.n_runs, 1);
    assert_int_equal(r.runs[0].to, 3);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

static void a_call_says_where_it_ends_and_keeps_its_text(void **state)
{
    const char *s = "a<tool_call>{\"name\":\"f\"} </tool_call>b";
    struct tmpl_stream *st = tmpl_stream_new(tmpl_find("chatml", NULL), TMPL_RESPONSE);
    struct tmpl_result r = {0};

    (void)state;
    tmpl_feed(st, s, strlen(s), NULL, &r);
    assert_int_equal(r.n_calls, 1);
    assert_int_equal(r.calls[0].at, strlen(s) - 1);
    assert_string_equal(r.calls[0].raw, "{\"name\":\"f\"} ");
    tmpl_finish(st, &r);
    assert_int_equal(r.n_calls, 1);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

static void much_white_space_is_no_trouble(void **state)
{
    enum { N = 200000 };
    struct tmpl_stream *st = tmpl_stream_new(tmpl_find("chatml", NULL), TMPL_RESPONSE);
    struct tmpl_result r = {0};

    (void)state;
    for (int i = 0; i < N; i++)
        tmpl_feed(st, "\n", 1, NULL, &r);
    assert_int_equal(r.n_runs, 0);
    tmpl_feed(st, "<think>", 7, NULL, &r);
    assert_int_equal(r.n_runs, 1);
    assert_int_equal(r.runs[0].channel, TMPL_CONTROL);
    assert_int_equal(r.runs[0].to, N + 7);
    tmpl_result_release(&r);
    tmpl_stream_free(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_however_it_is_cut),
        cmocka_unit_test(text_comes_as_soon_as_it_is_decided),
        cmocka_unit_test(plain_text_never_waits),
        cmocka_unit_test(a_call_says_where_it_ends_and_keeps_its_text),
        cmocka_unit_test(much_white_space_is_no_trouble),
    };
    return UNIT_RUN(tests);
}
