/* The output syntaxes of templates/, by the cases of tests/vectors/parse (README.md
 * there). Each is fed whole, byte by byte and cut in two at every place, and once more
 * with the markers as special tokens; the outcome is always the same. */
#include "config.h"

#include "tests/unit/unit.h"

#include <dirent.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "templates/parsed.h"
#include "templates/pyjson.h"
#include "templates/syntax.h"
#include "tests/unit/parse-cases.h"

/* ---- what goes in ---- */

/* The stream's bytes and its tokens. */
struct token {
    size_t at, n;               /* in text */
    bool special;
};

struct script {
    struct buf text;
    struct token *v;
    size_t n, cap;
    bool has_special;
};

static void script_add(struct script *sc, const char *s, size_t n, bool special)
{
    MEM_GROW(sc->v, sc->cap, sc->n + 1);
    sc->v[sc->n++] = (struct token){ sc->text.n, n, special };
    sc->has_special |= special;
    buf_add(&sc->text, s, n);
}

static void script_read(struct script *sc, const json_t *chunks)
{
    const json_t *chunk;
    size_t i;

    *sc = (struct script){0};
    json_array_foreach(chunks, i, chunk) {
        struct buf text = {0};
        const char *special = json_string_value(json_object_get(chunk, "special"));
        if (special) {
            script_add(sc, special, strlen(special), true);
            continue;
        }
        case_text(chunk, &text);
        script_add(sc, buf_str(&text), text.n, false);
        buf_release(&text);
    }
}

static void script_release(struct script *sc)
{
    buf_release(&sc->text);
    free(sc->v);
}

/* The longest marker of the syntax at s; 0: none. */
static size_t marker_at(const struct tmpl_syntax *syn, const char *s, size_t n)
{
    size_t best = 0;

    for (size_t i = 0; i < syn->n_marks; i++) {
        const char *m = syn->marks[i].text;
        if (syn_at(s, n, m) && strlen(m) > best)
            best = strlen(m);
    }
    for (const char *const *m = syn->inside; m && *m; m++)
        if (syn_at(s, n, *m) && strlen(*m) > best)
            best = strlen(*m);
    return best;
}

/* The same text with its markers as tokens. */
static void script_tokens(struct script *out, const struct script *in,
                          const struct tmpl_syntax *syn)
{
    const char *s = buf_str(&in->text);
    size_t n = in->text.n, from = 0;

    *out = (struct script){0};
    for (size_t at = 0; at < n;) {
        size_t len = marker_at(syn, s + at, n - at);
        if (!len) {
            at++;
            continue;
        }
        if (at > from)
            script_add(out, s + from, at - from, false);
        script_add(out, s + at, len, true);
        from = at += len;
    }
    if (n > from)
        script_add(out, s + from, n - from, false);
}

/* ---- what comes out ---- */

static void check_sound(const struct tmpl_parsed *p, const char *name)
{
    uint64_t to = 0;

    for (size_t i = 0; i < p->result.n_runs; i++) {
        const struct tmpl_run *run = &p->result.runs[i];
        if (run->from != to || run->to <= run->from)
            fail_msg("%s: a run is not where the one before ended", name);
        to = run->to;
    }
    if (to != p->text.n)
        fail_msg("%s: the runs cover %zu bytes of %zu", name, (size_t)to, p->text.n);
    for (size_t i = 0; i < p->result.n_calls; i++) {
        const struct tmpl_call *c = &p->result.calls[i];
        assert_true(c->raw && strlen(c->raw) <= c->raw_len && !c->raw[c->raw_len]);
        assert_true(c->at <= p->text.n);
        assert_true(c->error ? c->error_at <= c->raw_len : c->name && c->arguments);
    }
}

/* Feed with the text cut at one place, or at all. */
static void outcome_of(struct buf *line, const struct parse_case *pc,
                       const struct tmpl_syntax *syn, const struct script *sc, size_t cut,
                       bool all)
{
    struct tmpl_stream *st = tmpl_stream_open(syn, pc->start, NULL);
    struct tmpl_parsed p = {0};

    if (!sc->has_special)
        tmpl_stream_text_only(st);
    for (size_t i = 0; i < sc->n; i++) {
        const struct token *t = &sc->v[i];
        size_t from = t->special ? t->n : 0;
        char *copy = xmemdup0(buf_str(&sc->text) + t->at, t->n);
        if (t->special)
            tmpl_parsed_feed(&p, st, copy, t->n, copy);
        free(copy);
        for (size_t k = 1; !t->special && k <= t->n; k++) {
            if (k < t->n && !all && t->at + k != cut)
                continue;
            /* A copy of its own, so that ASan sees a read behind it. */
            copy = malloc(k - from);
            memcpy(copy, buf_str(&sc->text) + t->at + from, k - from);
            tmpl_parsed_feed(&p, st, copy, k - from, NULL);
            free(copy);
            from = k;
        }
    }
    tmpl_parsed_finish(&p, st);
    check_sound(&p, pc->name);
    buf_reset(line);
    tmpl_parsed_write(&p, line);
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
}

/* The first difference of a case is enough. */
static bool check_case(const struct parse_case *pc, const struct tmpl_syntax *syn,
                       const struct script *sc, const char *tokens)
{
    struct buf line = {0}, how = {0}, first = {0};
    bool ok = true;

    for (size_t cut = 0; ok && cut <= sc->text.n + 1; cut++) {
        bool all = cut == sc->text.n + 1;
        outcome_of(&line, pc, syn, sc, cut, all);
        if (cut && !strcmp(line.p, first.p))
            continue;
        buf_reset(&how);
        if (all)
            buf_addf(&how, "%s, byte by byte", tokens);
        else
            buf_addf(&how, "%s, cut at %zu", tokens, cut);
        ok = case_check(pc, line.p, how.p);
        buf_reset(&first);
        buf_adds(&first, line.p);
    }
    buf_release(&line);
    buf_release(&how);
    buf_release(&first);
    return ok;
}

struct count {
    size_t cases, failed;
};

static void one_case(void *arg, const struct parse_case *pc)
{
    const struct tmpl_syntax *syn = tmpl_syntax_find(pc->syntax, NULL);
    struct script sc, tokens;
    struct count *count = arg;
    bool ok;

    if (!syn)
        fail_msg("%s: there is no such syntax", pc->syntax);
    script_read(&sc, pc->chunks);
    ok = check_case(pc, syn, &sc, sc.has_special ? "as given" : "as text");
    if (ok && !sc.has_special && !pc->spelled) {
        script_tokens(&tokens, &sc, syn);
        ok = check_case(pc, syn, &tokens, "as tokens");
        script_release(&tokens);
    }
    script_release(&sc);
    count->cases++;
    count->failed += !ok;
}

static void every_case_however_it_is_cut(void **state)
{
    struct count count = {0};

    (void)state;
    for (size_t i = 0; i < tmpl_syntax_count(); i++) {
        const struct tmpl_syntax *syn = tmpl_syntax_at(i);
        size_t before = count.cases;
        if (syn->xtml)          /* xtml_cases.json, in test-xtml-parse */
            continue;
        cases_each(tmpl_syntax_name(syn), one_case, &count);
        if (count.cases < before + 10)
            fail_msg("%s has too few cases", tmpl_syntax_name(syn));
    }
    assert_int_equal(count.failed, 0);
}

/* ---- what cases cannot say ---- */

static const struct tmpl_syntax *syntax(const char *name)
{
    return tmpl_syntax_find(name, NULL);
}

/* These are control tokens. */
static bool is_one_of(const void *arg, const char *name)
{
    const char *const *names = arg;

    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Where the vocabulary has a marker as a token, text that spells it is text. */
static void text_does_not_become_a_token(void **state)
{
    static const char *const names[] = { "<|tool_calls_section_begin|>",
                                         "<|tool_call_begin|>", "<|tool_call_end|>",
                                         "<|tool_calls_section_end|>", NULL };
    struct tmpl_vocab vocab = { .has_special = is_one_of,
                                .arg = names,
                                .is_control = is_one_of };
    static const char text[] =
        "<think>a</think>The <|tool_calls_section_begin|> opens calls.";
    struct tmpl_stream *st = tmpl_stream_open(syntax("kimi-k2"), TMPL_RESPONSE, &vocab);
    struct tmpl_parsed p = {0};

    (void)state;
    tmpl_parsed_feed(&p, st, text, strlen(text), NULL);
    tmpl_parsed_feed(&p, st, names[0], strlen(names[0]), names[0]);
    tmpl_parsed_feed(&p, st, names[1], strlen(names[1]), names[1]);
    tmpl_parsed_feed(
        &p, st, "functions.f:0<|tool_call_argument_begin|>{<|tool_call_end|>}", 60, NULL);
    tmpl_parsed_feed(&p, st, names[2], strlen(names[2]), names[2]);
    tmpl_parsed_finish(&p, st);
    assert_string_equal(p.reasoning.p, "a");
    assert_string_equal(p.content.p, "The <|tool_calls_section_begin|> opens calls.");
    assert_int_equal(p.result.n_calls, 1);
    assert_string_equal(p.result.calls[0].raw,
                        "functions.f:0<|tool_call_argument_begin|>{<|tool_call_end|>}");
    check_sound(&p, "text that spells tokens");
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
}

/* How many bytes are decided behind text. */
static size_t decided(const char *name, enum tmpl_channel start, const char *text)
{
    struct tmpl_stream *st = tmpl_stream_open(syntax(name), start, NULL);
    struct tmpl_parsed p = {0};
    size_t n;

    tmpl_stream_text_only(st);
    tmpl_parsed_feed(&p, st, text, strlen(text), NULL);
    n = (size_t)p.to;
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
    return n;
}

static void text_comes_as_soon_as_it_can(void **state)
{
    (void)state;
    assert_int_equal(decided("hermes", TMPL_RESPONSE, "Hello <tool"), 6);
    assert_int_equal(decided("hermes", TMPL_RESPONSE, "Hello <tool_call>\n"), 6);
    assert_int_equal(decided("hermes", TMPL_RESPONSE, "Hello <tool_call>\n{\"na"), 22);
    assert_int_equal(decided("hermes", TMPL_RESPONSE, "see <tool_call> for"), 4);
    assert_int_equal(decided("hermes", TMPL_THINK, "Hm.\n"), 3);
    assert_int_equal(decided("llama3", TMPL_RESPONSE, "{\"nam"), 0);
    assert_int_equal(decided("llama3", TMPL_RESPONSE, "{\"age\""), 6);
    assert_int_equal(decided("llama3", TMPL_RESPONSE, "{\"name\": \"x\", \"age\""), 19);
    assert_int_equal(decided("harmony", TMPL_CONTROL, "<|channel|>final<|message|>Hi"),
                     29);
    assert_int_equal(decided("harmony", TMPL_RESPONSE, " t"), 0);
    assert_int_equal(decided("harmony", TMPL_RESPONSE, " th"), 3);
    assert_int_equal(decided("functionary-3.2", TMPL_CONTROL, "all\nHi >>"), 7);
    assert_int_equal(decided("none", TMPL_RESPONSE, "\n <think"), 8);
}

/* Whatever comes, it is covered, and soon: none of these may take more than a moment. */
static void hostile_text_is_no_trouble(void **state)
{
    static const char *const parts[] = {
        "<",
        "\n",
        "`",
        "{",
        "[",
        "\"",
        ">>>a\n",
        "<tool_call>",
        "<tool_call>x",
        "<function=",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]a",
        "<|channel|>",
        "<|start|>",
        " to=",
        "functools[",
        "{\"name\":",
        "<parameter=a>",
        "</parameter>",
        "<|tool_call>call:f{",
        "a:{",
        "f(a=(",
        "]<]minimax[>[<a>",
        "<|tool_call_begin|>",
        "<think>",
        "</think>",
        "\xff",
        "\xe2\x80",
    };

    (void)state;
    for (size_t i = 0; i < tmpl_syntax_count(); i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            struct tmpl_stream *st = tmpl_stream_open(tmpl_syntax_at(i),
                                                      (enum tmpl_channel)(k % 4), NULL);
            struct tmpl_parsed p = {0};
            struct buf text = {0};
            if (k % 2)
                tmpl_stream_text_only(st);
            while (text.n < 20000)
                buf_adds(&text, parts[k]);
            tmpl_parsed_feed(&p, st, text.p, text.n, NULL);
            tmpl_parsed_finish(&p, st);
            assert_int_equal(p.to, text.n);
            buf_release(&text);
            tmpl_parsed_release(&p);
            tmpl_stream_free(st);
        }
    }
}

static void nothing_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < tmpl_syntax_count(); i++) {
        for (int start = 0; start < 4; start++) {
            struct tmpl_stream *st = tmpl_stream_open(tmpl_syntax_at(i),
                                                      (enum tmpl_channel)start, NULL);
            struct tmpl_parsed p = {0};
            tmpl_parsed_feed(&p, st, NULL, 0, NULL);
            tmpl_parsed_feed(&p, st, NULL, 0, "<|box|>");
            tmpl_parsed_finish(&p, st);
            assert_int_equal(p.result.n_runs, 0);
            assert_int_equal(p.result.n_calls,
                             start == TMPL_TOOL_CALL && p.result.n_calls ? 1 : 0);
            tmpl_parsed_release(&p);
            tmpl_stream_free(st);
        }
    }
}

static void names_and_their_errors(void **state)
{
    struct err e = {0};

    (void)state;
    assert_ptr_equal(syntax("gpt-oss"), syntax("harmony"));
    assert_ptr_equal(syntax("xtml"), syntax("kimi-k3"));
    assert_null(tmpl_syntax_find("xtml|k3", NULL));
    assert_null(tmpl_syntax_find("", NULL));
    assert_null(tmpl_syntax_find("nonsense", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "hermes"));
    for (size_t i = 0; i < tmpl_syntax_count(); i++) {
        const struct tmpl_syntax *s = tmpl_syntax_at(i);
        assert_ptr_equal(syntax(tmpl_syntax_name(s)), s);
        assert_true(strlen(tmpl_syntax_help(s)) > 10);
        assert_true(s->n_marks <= 32);
        for (size_t k = 0; k < s->n_marks; k++)
            assert_true(*s->marks[k].text &&
                        s->marks[k].keep <= strlen(s->marks[k].text));
    }
}

/* ---- Kimi K3 by the same interface ---- */

static void xtml_case(const json_t *c)
{
    const char *start = json_string_value(json_object_get(c, "start"));
    const json_t *want = json_object_get(c, "expected"), *chunk, *call;
    struct tmpl_stream *st = tmpl_stream_open(
        tmpl_syntax_find("kimi-k3", NULL),
        !strcmp(start, "reasoning")  ? TMPL_THINK
        : !strcmp(start, "response") ? TMPL_RESPONSE
                                     : TMPL_CONTROL,
        NULL);
    struct tmpl_parsed p = {0};
    struct buf line = {0};
    size_t i;

    tmpl_stream_text_only(st);
    json_array_foreach(json_object_get(c, "chunks"), i, chunk)
        tmpl_parsed_feed(&p, st, json_string_value(chunk), json_string_length(chunk),
                         NULL);
    tmpl_parsed_finish(&p, st);
    tmpl_parsed_write(&p, &line);
    json_t *have = pyjson_load(line.p, line.n, PYJSON_STRICT, NULL);
    static const char *const keys[] = { "reasoning", "content", "end" };
    for (i = 0; i < 3; i++)
        if (!json_equal(json_object_get(have, keys[i]), json_object_get(want, keys[i])))
            fail_msg("%s: %s", json_string_value(json_object_get(c, "name")), line.p);
    const json_t *calls = json_object_get(want, "tool_calls");
    const json_t *got = json_object_get(have, "tool_calls");
    if (json_array_size(got) != json_array_size(calls))
        fail_msg("%s: %s", json_string_value(json_object_get(c, "name")), line.p);
    static const char *const of_call[] = { "name", "arguments", "arguments_raw",
                                           "status" };
    json_array_foreach(calls, i, call) {
        for (size_t k = 0; k < 4; k++) {
            const json_t *a = json_object_get(call, of_call[k]);
            const json_t *b = json_object_get(json_array_get(got, i), of_call[k]);
            if (a && !json_equal(a, b))
                fail_msg("%s: %s", json_string_value(json_object_get(c, "name")), line.p);
        }
    }
    json_decref(have);
    buf_release(&line);
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
}

static void kimi_k3(void **state)
{
    struct buf path = {0}, text = {0};
    const json_t *c;
    json_t *all;
    size_t i;

    (void)state;
    UNIT_NEEDS_SHARED();
    buf_addf(&path, "%s/kimi/xtml_cases.json", unit_shared());
    assert_true(case_file(path.p, &text));
    all = pyjson_load(text.p, text.n, PYJSON_STRICT, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "parse")), 58);
    json_array_foreach(json_object_get(all, "parse"), i, c)
        xtml_case(c);
    json_decref(all);
    buf_release(&path);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_however_it_is_cut),
        cmocka_unit_test(text_does_not_become_a_token),
        cmocka_unit_test(text_comes_as_soon_as_it_can),
        cmocka_unit_test(hostile_text_is_no_trouble),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(names_and_their_errors),
        cmocka_unit_test(kimi_k3),
    };
    return UNIT_RUN(tests);
}
