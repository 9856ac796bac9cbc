/* The output syntaxes by the templates of ../shared/templates: each template chooses
 * one, and the calls that a template writes into a prompt are what the syntax chosen
 * reads out of it.
 *
 * What stands behind the question in a rendered prompt is the opening of the
 * assistant's turn, which the row "tools_declared" ends with, and then what the model
 * is made to have said; other turns may follow. */
#include "config.h"

#include "tests/unit/unit.h"

#include <dirent.h>
#include <jansson.h>

#include "base/buf.h"
#include "templates/parsed.h"
#include "templates/pyjson.h"
#include "templates/template.h"
#include "tests/unit/parse-cases.h"

static json_t *load(const char *folder, const char *name, const char *ext)
{
    struct buf path = {0}, text = {0};
    json_t *v = NULL;

    buf_addf(&path, "%s/templates/%s%s%s", unit_shared(), folder, name, ext);
    if (case_file(path.p, &text))
        v = pyjson_load(text.p, text.n, PYJSON_NUMBER_TEXT, NULL);
    buf_release(&path);
    buf_release(&text);
    return v;
}

static const json_t *row_of(const json_t *rows, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
        if (!strcmp(json_string_value(json_object_get(row, "case")), name))
            return row;
    return NULL;
}

/* The last thing that a role says. */
static const json_t *last_of(const json_t *conversation, const char *role)
{
    const json_t *list = json_object_get(conversation, "messages");

    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *m = json_array_get(list, i);
        if (!strcmp(json_string_value(json_object_get(m, "role")), role))
            return m;
    }
    return NULL;
}

static const char *behind(const char *text, const char *question)
{
    const char *at = NULL;

    for (const char *s = text; (s = strstr(s, question)); s++)
        at = s + strlen(question);
    return at;
}

/* Where what the model said begins in tail: behind what it has in common with the opening
 * of a turn, but not inside of a marker. */
static size_t said_at(const char *tail, const char *opening)
{
    size_t n = 0, back;

    while (tail[n] && tail[n] == opening[n])
        n++;
    for (back = n; back && tail[back - 1] != '>' && tail[back - 1] != '\n'; back--)
        if (tail[back - 1] == '<')
            return back - 1;
    return n;
}

struct tally {
    size_t asked, read;
};

/* What the template cannot say, or says so that it cannot be read. */
static const struct {
    const char *template, *row, *why;
} exceptions[] = {
    { "GigaChat3-10B-A1.8B", "tool_parallel", "writes the first call only" },
    { "GigaChat3.1-10B-A1.8B", "tool_parallel", "writes the first call only" },
    { "openai-gpt-oss-120b", "tool_parallel", "writes the first call only" },
    { "qwen3-coder-30b", "tool_args_types",
      "writes lists as Python does, which are strings" },
    { "MiniMax-M3", "tool_args_types", "leaves out a member that is null" },
    { "cogito-3b", "tool_result_with_text",
      "the list of calls follows the text directly" },
};

static bool is_exception(const char *template, const char *row)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (!strcmp(exceptions[i].template, template) && !strcmp(exceptions[i].row, row))
            return true;
    return false;
}

static bool calls_equal(const json_t *want, const char *line)
{
    json_t *have = pyjson_load(line, strlen(line), PYJSON_NUMBER_TEXT, NULL);
    const json_t *calls = json_object_get(have, "tool_calls"), *call;
    size_t i;
    bool ok = json_array_size(calls) >= json_array_size(want);

    json_array_foreach(want, i, call) {
        const json_t *f = json_object_get(call, "function");
        const json_t *got = json_array_get(calls, i);
        ok = ok && !json_object_get(got, "error") &&
             case_equal(json_object_get(f, "name"), json_object_get(got, "name"));
        /* Some templates sort the keys. */
        const char *key;
        const json_t *v, *args = json_object_get(got, "arguments");
        json_object_foreach(json_object_get(f, "arguments"), key, v)
            ok = ok && case_equal(v, json_object_get(args, key));
        ok = ok &&
             json_object_size(args) == json_object_size(json_object_get(f, "arguments"));
    }
    json_decref(have);
    return ok;
}

static void one_row(const char *name, const struct tmpl_syntax *syn, const json_t *rows,
                    const json_t *conversation, struct tally *tally)
{
    const char *row = json_string_value(json_object_get(conversation, "case"));
    const json_t *m = last_of(conversation, "assistant");
    const char *question =
        json_string_value(json_object_get(last_of(conversation, "user"), "content"));
    const char *text =
        json_string_value(json_object_get(row_of(rows, row), "expected"));
    const char *declared =
        json_string_value(json_object_get(row_of(rows, "tools_declared"), "expected"));
    const json_t *calls = json_object_get(m, "tool_calls");
    const char *tail = text ? behind(text, question) : NULL, *opening;
    const char *function = json_string_value(json_object_get(
        json_object_get(json_array_get(calls, 0), "function"), "name"));

    if (!tail || !strstr(tail, function))
        return;                         /* the template writes no calls */
    opening = declared ? behind(declared, "Weather in Paris?") : "";
    size_t at = said_at(tail, opening);
    enum tmpl_channel start =
        opening[at] ? TMPL_RESPONSE : tmpl_syntax_start(syn, opening, strlen(opening));
    struct tmpl_stream *st = tmpl_stream_open(syn, start, NULL);
    struct tmpl_parsed p = {0};
    struct buf line = {0};

    tmpl_stream_text_only(st);
    tmpl_parsed_feed(&p, st, tail + at, strlen(tail + at), NULL);
    tmpl_parsed_finish(&p, st);
    tmpl_parsed_write(&p, &line);
    bool ok = calls_equal(calls, line.p);
    tally->asked++;
    tally->read += ok || is_exception(name, row);
    if (ok == is_exception(name, row))
        print_error("%s (%s), %s\n  said %s\n  have %s\n", name, tmpl_syntax_name(syn),
                    row, tail + at, line.p);
    buf_release(&line);
    tmpl_parsed_release(&p);
    tmpl_stream_free(st);
}

static const char *const folders[][2] = {
    { "jinja/", "expected/" }, { "jinja-gguf/", "expected-gguf/" },
};

typedef void template_fn(void *arg, const char *name, const char *source, size_t len,
                         const char *expected);

static void each_template(template_fn *f, void *arg)
{
    for (size_t i = 0; i < 2; i++) {
        struct buf dir = {0}, path = {0}, text = {0};
        buf_addf(&dir, "%s/templates/%s", unit_shared(), folders[i][0]);
        DIR *d = opendir(dir.p);
        struct dirent *entry;
        assert_non_null(d);
        while ((entry = readdir(d))) {
            char *name = strdup(entry->d_name), *dot = strstr(name, ".jinja");
            if (dot) {
                buf_reset(&path);
                buf_reset(&text);
                buf_addf(&path, "%s%s", dir.p, name);
                assert_true(case_file(path.p, &text));
                *dot = '\0';
                f(arg, name, text.p, text.n, folders[i][1]);
            }
            free(name);
        }
        closedir(d);
        buf_release(&dir);
        buf_release(&path);
        buf_release(&text);
    }
}

static void read_calls(void *arg, const char *name, const char *source, size_t len,
                       const char *expected)
{
    static const char *const names[] = {
        "tool_call_last_nogen", "tool_parallel", "tool_args_types", "tool_no_args",
        "tool_result_with_text", "tool_result_reasoning",
    };
    json_t *rows = load(expected, name, ".json"), *cases = load("", "cases", ".json");
    const struct tmpl_syntax *syn = tmpl_syntax_choose(source, len, NULL, NULL);

    assert_non_null(rows);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        one_row(name, syn, rows, row_of(json_object_get(cases, "cases"), names[i]), arg);
    json_decref(rows);
    json_decref(cases);
}

static void what_the_templates_write_is_read(void **state)
{
    struct tally tally = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    each_template(read_calls, &tally);
    print_message("%zu turns with calls\n", tally.asked);
    assert_true(tally.asked > 250);
    assert_int_equal(tally.read, tally.asked);
}

/* ---- choosing ---- */

static const struct {
    const char *syntax;
    const char *templates;      /* "A|B", beginnings of names */
} chosen[] = {
    { "harmony", "openai-gpt-oss" },
    { "kimi-k2", "Kimi-K2|moonshotai-Kimi-K2" },
    { "dsml", "deepseek-ai-DeepSeek-V3.2|deepseek-ai-DeepSeek-V4" },
    { "deepseek", "deepseek-ai-DeepSeek-V3.1|deepseek-ai-DeepSeek-V3|llama-cpp-deepseek|"
      "deepcoder|deepseek-r1|deepseek-v3|r1-1776" },
    { "minimax-m3", "MiniMax-M3" },
    { "minimax", "MiniMax-M2" },
    { "gemma4", "google-gemma-4" },
    { "solar", "upstage-Solar" },
    { "apertus", "Apertus" },
    { "cohere", "Cohere2MoE|CohereForAI-c4ai-command-r7b|command-a|command-r7b" },
    { "command-r", "CohereForAI-c4ai-command-r-plus" },
    { "lfm2", "LFM2" },
    { "hunyuan", "tencent-Hy3" },
    { "glm", "GLM-|poolside-Laguna" },
    { "seed", "ByteDance-Seed" },
    { "mcp", "MiroThinker" },
    { "nemotron", "NVIDIA-Nemotron-Nano-v2" },
    { "minicpm", "openbmb-MiniCPM5" },
    { "apriel", "Apriel|unsloth-Apriel" },
    { "gigachat", "GigaChat" },
    { "qwen-coder", "Qwen3-Coder|Qwen3.5|StepFun|NVIDIA-Nemotron-3|qwen3-coder" },
    { "functionary-3.2", "meetkai-functionary-medium-v3.2" },
    { "functionary-3.1", "meetkai-functionary-medium-v3.1" },
    { "firefunction", "fireworks-ai|firefunction" },
    { "mistral", "mistralai-|Mistral-Small|unsloth-mistral" },
    { "granite", "ibm-granite-granite-3|granite3.2|granite3.3" },
    { "glm4", "glm4-9b" },
    { "hermes", "NousResearch-Hermes|Qwen-Q|Bielik|MiMo|Reka|rnj|ibm-granite-granite-4|"
      "granite4|cogito-14b|qwen2.5-0.5b|qwen3-next|qwq" },
    { "cogito", "cogito-3b" },
    { "llama3", "meta-llama|llama3|llama-guard|nemotron-70b" },
    { "thought", "exaone-deep" },
    { "marco", "marco-o1" },
    { "think", "llama-cpp-rwkv|phi4-reasoning" },
};

static const char *chosen_for(const char *name)
{
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        for (const char *p = chosen[i].templates; *p; p += *p == '|') {
            size_t n = strcspn(p, "|");
            if (!strncmp(name, p, n))
                return chosen[i].syntax;
            p += n;
        }
    }
    return "none";
}

static void check_choice(void *arg, const char *name, const char *source, size_t len,
                         const char *expected)
{
    struct buf why = {0};
    const struct tmpl_syntax *s = tmpl_syntax_choose(source, len, NULL, &why);

    (void)expected;
    if (strcmp(tmpl_syntax_name(s), chosen_for(name)))
        fail_msg("%s is read as %s: %s", name, tmpl_syntax_name(s), why.p);
    assert_true(why.n > 0);
    buf_release(&why);
    ++*(size_t *)arg;
}

static void each_template_has_its_syntax(void **state)
{
    size_t n = 0;

    (void)state;
    UNIT_NEEDS_SHARED();
    each_template(check_choice, &n);
    assert_true(n > 140);
}

/* A vocabulary that has these. */
static bool has_one_of(const void *arg, const char *name)
{
    const char *const *names = arg;

    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

static const char *by_vocab(const char *const *names)
{
    struct tmpl_vocab vocab = { .has_special = has_one_of, .arg = names };

    return tmpl_syntax_name(tmpl_syntax_choose(NULL, 0, &vocab, NULL));
}

static void a_vocabulary_has_its_syntax(void **state)
{
    (void)state;
    assert_string_equal(by_vocab((const char *[]){ "<|im_start|>", NULL }), "none");
    assert_string_equal(by_vocab((const char *[]){ "<think>", NULL }), "think");
    assert_string_equal(by_vocab((const char *[]){ "<think>", "<tool_call>", NULL }),
                        "hermes");
    assert_string_equal(
        by_vocab((const char *[]){ "<think>", "<tool_call>", "<arg_key>", NULL }), "glm");
    assert_string_equal(by_vocab((const char *[]){ "[TOOL_CALLS]", NULL }), "mistral");
    assert_string_equal(
        by_vocab((const char *[]){ "<|end_of_msg|>", "<|open|>", "<|sep|>", NULL }),
        "kimi-k3");
    assert_string_equal(
        by_vocab((const char *[]){ "<|start_header_id|>", "<|eot_id|>", NULL }),
        "llama3");
    assert_string_equal(
        tmpl_syntax_name(tmpl_syntax_choose(NULL, 0, NULL, NULL)), "none");
}

/* ---- where a prompt leaves the model ---- */

static enum tmpl_channel start_of(const char *syntax, const char *prompt)
{
    return tmpl_syntax_start(tmpl_syntax_find(syntax, NULL), prompt, strlen(prompt));
}

static void the_prompt_tells_where_to_start(void **state)
{
    (void)state;
    assert_int_equal(start_of("hermes", "<|im_start|>assistant\n<think>\n"), TMPL_THINK);
    assert_int_equal(start_of("hermes", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
                     TMPL_RESPONSE);
    assert_int_equal(start_of("hermes", "<|im_start|>assistant\n"), TMPL_RESPONSE);
    assert_int_equal(start_of("hermes", ""), TMPL_RESPONSE);
    assert_int_equal(start_of("none", "<think>"), TMPL_RESPONSE);
    assert_int_equal(
        start_of("apriel", "<|begin_assistant|>\nHere are my reasoning steps:\n"),
        TMPL_THINK);
    assert_int_equal(start_of("gemma4", "<|turn>model\n<|channel>thought\n<channel|>"),
                     TMPL_RESPONSE);
    assert_int_equal(start_of("gemma4", "<|turn>model\n<|channel>thought\n"), TMPL_THINK);
    assert_int_equal(start_of("cohere", "<|CHATBOT_TOKEN|><|START_THINKING|>"),
                     TMPL_THINK);
    assert_int_equal(start_of("harmony", "<|end|><|start|>assistant"), TMPL_CONTROL);
    assert_int_equal(start_of("harmony", "<|channel|>analysis<|message|>"), TMPL_THINK);
    assert_int_equal(start_of("harmony", "<|channel|>final<|message|>"), TMPL_RESPONSE);
    assert_int_equal(start_of("functionary-3.2", "<|end_header_id|>\n\n>>>"),
                     TMPL_CONTROL);
    assert_int_equal(start_of("kimi-k3", "<|open|>think<|sep|>"), TMPL_THINK);
    assert_int_equal(start_of("kimi-k3", "<|open|>response<|sep|>"), TMPL_RESPONSE);
    assert_int_equal(start_of("kimi-k3", "<|open|>message role=\"assistant\"<|sep|>"),
                     TMPL_CONTROL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_templates_write_is_read),
        cmocka_unit_test(each_template_has_its_syntax),
        cmocka_unit_test(a_vocabulary_has_its_syntax),
        cmocka_unit_test(the_prompt_tells_where_to_start),
    };
    return UNIT_RUN(tests);
}
