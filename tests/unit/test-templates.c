/* The renderers of ours, and choosing. The vectors are those of ../shared/templates: what
 * the models' own Jinja templates give for the conversations in cases.json. */
#include "config.h"

#include "tests/unit/templates.h"

static const char *const qwen_names[] = { "<|im_start|>", "<|im_end|>", "<think>",
                                          "</think>", NULL };
static const char *const chatml_names[] = { "<|im_start|>", "<|im_end|>", NULL };
static const char *const llama3_names[] = { "<|begin_of_text|>", "<|start_header_id|>",
                                            "<|end_header_id|>", "<|eot_id|>", NULL };
static const char *const llama31_names[] = {
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eot_id|>",        "<|python_tag|>",      "<|eom_id|>",
    NULL,
};
static const char *const no_names[] = { "<s>", "</s>", NULL };
static const char *const gemma_names[] = { "<bos>", "<start_of_turn>", "<end_of_turn>",
                                           NULL };

#define GENERATE "{'add_generation_prompt': true}"
#define NO_THINK "{'add_generation_prompt': true, 'enable_thinking': false}"
#define THINK "{'add_generation_prompt': true, 'enable_thinking': true}"

static bool render_into(const char *tmpl, const char *messages, const char *tools,
                        const char *options, const char *const *names,
                        struct tmpl_prompt *p, struct err *e)
{
    json_t *m = js(messages), *t = js(tools), *o = js(options);
    struct tmpl_request r = { .messages = m, .tools = t, .options = o };
    struct tmpl_vocab vocab = vocab_of(names);
    bool ok = tmpl_render(tmpl_find(tmpl, NULL), &r, names ? &vocab : NULL, p, e);

    json_decref(m);
    json_decref(t);
    json_decref(o);
    return ok;
}

static char *render(const char *tmpl, const char *messages, const char *options,
                    const char *const *names, enum tmpl_channel *start)
{
    struct tmpl_prompt p = {0};
    struct buf b = {0};
    struct err e = {0};

    if (!render_into(tmpl, messages, NULL, options, names, &p, &e))
        fail_msg("%s", e.text);
    add_line(&b, &p, LINE_PLAIN);
    /* Two neighbouring texts would be encoded apart. */
    for (size_t i = 1; i < p.n; i++)
        if (p.v[i].kind == TMPL_PIECE_TEXT)
            assert_int_not_equal(p.v[i - 1].kind, TMPL_PIECE_TEXT);
    if (start)
        *start = p.start;
    tmpl_prompt_release(&p);
    buf_adds(&b, "");
    return buf_take(&b);
}

static void check(const char *tmpl, const char *messages, const char *options,
                  const char *const *names, const char *want)
{
    char *got = render(tmpl, messages, options, names, NULL);
    assert_string_equal(got ? got : "", want);
    free(got);
}

static void refused(const char *tmpl, const char *messages, const char *tools,
                    const char *words)
{
    struct tmpl_prompt p = {0};
    struct err e = {0};

    assert_false(render_into(tmpl, messages, tools, GENERATE, NULL, &p, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    if (!strstr(e.text, words))
        fail_msg("\"%s\" has no \"%s\"", e.text, words);
    tmpl_prompt_release(&p);
}

/* ---- one by one ---- */

static void chatml_marks_turns(void **state)
{
    static const char m[] = "[{'role': 'system', 'content': 'Be brief.'},"
                            " {'role': 'user', 'content': 'a<|im_end|>'},"
                            " {'role': 'assistant', 'content': 'x', '_said': true},"
                            " {'role': 'developer', 'content': 'Be long.'},"
                            " {'role': 'user', 'content': ''}]";
    (void)state;
    check("chatml", m, GENERATE, qwen_names,
          "[<|im_start|>]system\nBe brief.[<|im_end|>]\n[<|im_start|>]user\na<|im_end|>"
          "[<|im_end|>]\n[<|im_start|>]assistant\n{said 2}[<|im_end|>]\n"
          "[<|im_start|>]system\nBe long.[<|im_end|>]\n[<|im_start|>]user\n[<|im_end|>]\n"
          "[<|im_start|>]assistant\n");
    check("chatml", "[{'role': 'system', 'content': 'Be brief.'}]", NULL, qwen_names,
          "[<|im_start|>]system\nBe brief.[<|im_end|>]\n");
    check("chatml", "[]", GENERATE, qwen_names, "[<|im_start|>]assistant\n");
    check("chatml",
          "[{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'text': 'b'}]},"
          " {'role': 'assistant', 'content': null}]",
          NULL, chatml_names,
          "[<|im_start|>]user\nab[<|im_end|>]\n[<|im_start|>]assistant\n[<|im_end|>]\n");
}

static void chatml_thinks_or_not(void **state)
{
    static const char one[] = "[{'role': 'user', 'content': 'a'}]";
    static const char three[] =
        "[{'role': 'user', 'content': 'a'},"
        " {'role': 'assistant', '_said': true, '_think_off': true},"
        " {'role': 'user', 'content': 'b'}]";
    (void)state;
    check("chatml", one, NO_THINK, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n"
          "[<think>]\n\n[</think>]\n\n");
    /* The prompt after that answer begins with the prompt before it. */
    check("chatml", three, THINK, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n"
          "[<think>]\n\n[</think>]\n\n{said 1}[<|im_end|>]\n"
          "[<|im_start|>]user\nb[<|im_end|>]\n[<|im_start|>]assistant\n");
    check("chatml", one, NO_THINK, chatml_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n");
}

static void chatml_writes_reasoning_and_results(void **state)
{
    (void)state;
    check(
        "chatml",
        "[{'role': 'user', 'content': 'q'},"
        " {'role': 'assistant', 'content': '51', 'reasoning_content': '3*17',"
        "  'tool_calls': [{'function': {'name': 'f', 'arguments': {'x': 1.0}}}]},"
        " {'role': 'tool', 'content': '21'}, {'role': 'tool', 'content': '25'}]",
        NULL, qwen_names,
        "[<|im_start|>]user\nq[<|im_end|>]\n"
        "[<|im_start|>]assistant\n[<think>]\n3*17\n[</think>]\n\n51\n<tool_call>\n"
        "{\"name\": \"f\", \"arguments\": {\"x\": 1.0}}\n</tool_call>[<|im_end|>]\n"
        "[<|im_start|>]user\n<tool_response>\n21\n</tool_response>\n<tool_response>\n25\n"
        "</tool_response>[<|im_end|>]\n");
    /* Thoughts before the last question are not written again. */
    check("chatml",
          "[{'role': 'assistant', 'content': '51', 'reasoning_content': '3*17'},"
          " {'role': 'user', 'content': 'q'}]",
          NULL, qwen_names,
          "[<|im_start|>]assistant\n51[<|im_end|>]\n[<|im_start|>]user\nq[<|im_end|>]\n");
}

static void an_open_turn_stays_open(void **state)
{
#define Q "{'role': 'user', 'content': 'a'}, "
    static const char text[] =
        "[" Q "{'role': 'assistant', 'content': ' b ', '_open': true}]";
    static const char said[] =
        "[" Q "{'role': 'assistant', 'content': 'b', '_open': true, '_said': true}]";
    static const char thought[] =
        "[" Q "{'role': 'assistant', 'reasoning_content': 'hm', '_open': true}]";
    static const char begin[] = "[<|im_start|>]user\na[<|im_end|>]\n"
                                "[<|im_start|>]assistant\n";
    enum tmpl_channel start;
    struct buf want = {0};
    char *got;

    (void)state;
    buf_addf(&want, "%s b ", begin);
    check("chatml", text, GENERATE, qwen_names, want.p);
    check(
        "llama3", text, GENERATE, llama3_names,
        "[<|begin_of_text|>][<|start_header_id|>]user[<|end_header_id|>]\n\na[<|eot_id|>]"
        "[<|start_header_id|>]assistant[<|end_header_id|>]\n\nb ");
    check("plain", text, GENERATE, no_names, "a b ");
    buf_reset(&want);
    buf_addf(&want, "%s{said 1}", begin);
    check("chatml", said, GENERATE, qwen_names, want.p);
    /* Cut while it was thinking: the model goes on thinking. */
    buf_reset(&want);
    buf_addf(&want, "%s[<think>]\nhm", begin);
    got = render("chatml", thought, GENERATE, qwen_names, &start);
    assert_string_equal(got, want.p);
    assert_int_equal(start, TMPL_THINK);
    free(got);
    /* The ids of what was said are fed again: they begin where every answer does. */
    free(render("chatml", said, GENERATE, qwen_names, &start));
    assert_int_equal(start, TMPL_RESPONSE);
    buf_release(&want);
}

static void llama3_trims_and_renames(void **state)
{
    (void)state;
    /* 0x85 alone is no white space. */
    check("llama3",
          "[{'role': 'system', 'content': ' \\t\u00a0s \u3000\\n'},"
          " {'role': 'tool', 'content': '1'},"
          " {'role': 'assistant', '_said': true},"
          " {'role': 'user', 'content': '\u00e0 '}]",
          GENERATE, llama3_names,
          "[<|begin_of_text|>][<|start_header_id|>]system[<|end_header_id|>]\n\ns[<|eot_"
          "id|>]"
          "[<|start_header_id|>]tool[<|end_header_id|>]\n\n1[<|eot_id|>]"
          "[<|start_header_id|>]assistant[<|end_header_id|>]\n\n{said 2}[<|eot_id|>]"
          "[<|start_header_id|>]user[<|end_header_id|>]\n\n\u00e0[<|eot_id|>]"
          "[<|start_header_id|>]assistant[<|end_header_id|>]\n\n");
}

static void plain_goes_on(void **state)
{
#define STORY "{'role': 'system', 'content': 'Stories.'}," \
              "{'role': 'user', 'content': 'Once upon'}"
#define MORE STORY ", {'role': 'assistant', '_said': true}," \
                   "{'role': 'user', 'content': 'Then'}"
    (void)state;
    check("plain", "[" STORY "]", GENERATE, no_names, "Stories.\nOnce upon");
    check("plain", "[" MORE "]", GENERATE, no_names, "Stories.\nOnce upon{said 2}\nThen");
    check("plain", "[" MORE ", {'role': 'assistant', 'content': ' it rained.'}]",
          GENERATE, no_names, "Stories.\nOnce upon{said 2}\nThen it rained.\n");
    check("plain", "[]", GENERATE, no_names, "");
}

static void text_says_whose_it_is(void **state)
{
    struct tmpl_prompt p = {0};
    struct buf b = {0};

    (void)state;
    assert_true(render_into("chatml", "[{'role': 'user', 'content': '<|im_end|>'}]",
                            "[{'name': '<think>'}]", NULL, qwen_names, &p, NULL));
    add_line(&b, &p, LINE_WHOSE);
    assert_non_null(
        strstr(b.p, "<tools>\n\u00ab{\"name\": \"<think>\"}\u00bb\n</tools>"));
    assert_non_null(
        strstr(b.p, "[<|im_start|>]user\n\u00ab<|im_end|>\u00bb[<|im_end|>]\n"));
    buf_release(&b);
    tmpl_prompt_release(&p);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    refused("chatml", "[{'role': 'critic', 'content': 'x'}]", NULL, "message 1: the role "
                                                                   "\"critic\"");
    refused("chatml", "[{'content': 'x'}]", NULL, "role");
    refused("chatml", "[{'role': 'user', 'content': 3}]", NULL, "neither text");
    refused("chatml", "[{'role': 'user', 'content': [{'type': 'image_url'}]}]", NULL,
            "image input");
    refused("chatml", "[{'role': 'user', 'content': [{'type': 'x'}]}]", NULL, "no text");
    refused("chatml", "[{'role': 'user', 'content': [3]}]", NULL, "not an object");
    refused("chatml", "['x']", NULL, "message 1");
    refused("chatml", "{}", NULL, "not a list");
    refused("chatml", "[]", "{}", "not a list");
    refused("chatml", "[{'role': 'assistant', 'tool_calls': {}}]", NULL, "tool_calls");
    refused("chatml", "[{'role': 'assistant', 'tool_calls': [{}]}]", NULL, "no name");
    refused("chatml", "[{'role': 'assistant', '_said': 1}]", NULL, "true or false");
    refused("llama3", "[]", "[{'name': 'f'}]", "there is none");
    refused("plain", "[]", "[{'name': 'f'}]", "tools");
    refused("olmo", "[{'role': 'tool', 'content': '1'}]", NULL, "message 1");
}

static void a_template_needs_its_tokens(void **state)
{
    struct tmpl_prompt p = {0};
    struct err e = {0};

    (void)state;
    assert_false(render_into("chatml", "[{'role': 'user', 'content': 'a'}]", NULL,
                             GENERATE, no_names, &p, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "<|im_start|>"));
    assert_int_equal(p.n, 0);
    /* Without a model every token exists. */
    assert_true(render_into("chatml", "[]", NULL, GENERATE, NULL, &p, &e));
    tmpl_prompt_release(&p);
}

/* ---- choosing ---- */

static const char *choose(const char *source, const char *arch, const char *const *names,
                          struct buf *why, struct err *e)
{
    struct tmpl_vocab vocab = vocab_of(names);
    struct tmpl_source s = { "default", source, source ? strlen(source) : 0 };
    struct tmpl_model m = { &s, source != NULL, arch, &vocab };
    static char name[64];

    buf_reset(why);
    const struct tmpl *t = tmpl_choose(&m, why, e);
    if (!t)
        return NULL;
    snprintf(name, sizeof name, "%s", tmpl_name(t));
    tmpl_free(t);
    return name;
}

static void choosing_never_guesses(void **state)
{
    static const char *const k3[] = { "<|open|>", "<|close|>", "<|sep|>",
                                      "<|end_of_msg|>", NULL };
    static const char *const k2[] = { "<|im_user|>",   "<|im_assistant|>",
                                      "<|im_system|>", "<|im_middle|>",
                                      "<|im_end|>",    NULL };
    struct buf why = {0};
    struct err e = {0};

    (void)state;
    assert_string_equal(choose("x", NULL, qwen_names, &why, &e), "own");
    assert_non_null(strstr(why.p, "brings it along"));
    assert_string_equal(choose(NULL, NULL, chatml_names, &why, &e), "chatml");
    assert_non_null(strstr(why.p, "<|im_start|>"));
    assert_string_equal(choose(NULL, "olmo2", chatml_names, &why, &e), "olmo");
    assert_non_null(strstr(why.p, "olmo2"));
    assert_string_equal(choose(NULL, NULL, llama3_names, &why, &e), "llama3");
    assert_string_equal(choose(NULL, NULL, k2, &why, &e), "kimi-k2");
    /* The kind of model comes before what others wrote into its file. */
    assert_string_equal(choose("x", NULL, k3, &why, &e), "kimi-k3");
    assert_string_equal(choose(NULL, NULL, k3, &why, &e), "kimi-k3");
    assert_int_equal(e.kind, ERR_NONE);

    /* A base model goes on with text; a chat model of a family unknown is never guessed
     * at. */
    assert_string_equal(choose(NULL, "llama", no_names, &why, &e), "plain");
    assert_non_null(strstr(why.p, "no chat markers"));
    assert_null(choose(NULL, "llama", gemma_names, &why, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "<start_of_turn>"));
    assert_non_null(
        strstr(e.text, "kimi-k3, kimi-k2, glm4.5, glm4, mistral, llama3, olmo, chatml"));
    e = (struct err){0};
    assert_null(choose("a\n{% if \x1b %}", NULL, qwen_names, &why, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "line 2"));
    assert_non_null(strstr(e.text, "--template"));
    assert_non_null(strstr(e.text, "chatml"));
    assert_null(strchr(e.text, '\x1b'));
    buf_release(&why);
}

static void names_are_found(void **state)
{
    static const struct tmpl_source sources[] = { { "default", "a", 1 },
                                                  { "tool_use", "b", 1 } };
    static const struct tmpl_model m = { .sources = sources, .n_sources = 2 };
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < tmpl_count(); i++) {
        assert_ptr_equal(tmpl_find(tmpl_name(tmpl_at(i)), &e), tmpl_at(i));
        assert_true(strlen(tmpl_help(tmpl_at(i))) > 10);
    }
    assert_null(tmpl_find("nope", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "chatml, plain"));
    const struct tmpl *t = tmpl_choose_named("tool_use", &m, NULL, &e);
    assert_non_null(t);
    tmpl_free(t);
    assert_null(tmpl_choose_named("rag", &m, NULL, &e));
    assert_non_null(strstr(e.text, "plain, default, tool_use"));
}

static void thinking_is_switched(void **state)
{
    json_t *o = json_object();
    struct err e = {0};

    (void)state;
    assert_true(tmpl_think(tmpl_find("chatml", NULL), "off", o, &e));
    assert_true(json_is_false(json_object_get(o, "enable_thinking")));
    assert_true(tmpl_think(tmpl_find("chatml", NULL), "auto", o, &e));
    assert_true(tmpl_think(tmpl_find("chatml", NULL), NULL, o, &e));
    assert_false(tmpl_think(tmpl_find("chatml", NULL), "low", o, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "auto, off, on"));
    assert_false(tmpl_think(tmpl_find("plain", NULL), "off", o, &e));
    assert_false(tmpl_think(tmpl_find("plain", NULL), "on", o, &e));
    json_object_clear(o);
    assert_true(tmpl_think(tmpl_find("kimi-k3", NULL), "low", o, &e));
    assert_true(json_is_true(json_object_get(o, "thinking")));
    assert_string_equal(json_string_value(json_object_get(o, "thinking_effort")), "low");
    json_decref(o);
}

/* ---- the vectors ---- */

static json_t *load(const char *dir, const char *name)
{
    char path[4400];
    json_error_t bad;

    snprintf(path, sizeof path, "%s/templates/%s%s.json", unit_shared(), dir, name);
    json_t *root = json_load_file(path, 0, &bad);
    if (!root)
        fail_msg("%s: %s", path, bad.text);
    return root;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static bool listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

struct vectors {
    const char *tmpl;
    const char *const *names;       /* NULL: every special token exists */
    const char *dir, *file;
    const char *bos, *eos;          /* how the renderer names those of the vectors */
    const char *const *differ;      /* on purpose */
    const char *before;             /* a default prompt that the model's template puts at its
                                       beginning: cases that have it are not ours */
    bool no_tools;                  /* it knows none: cases that have some are not ours */
    size_t least;
};

/* The prompt as one text, BOS and EOS spelled as the vectors spell theirs. */
static char *flat(const struct vectors *v, const json_t *c, struct err *e)
{
    struct tmpl_vocab vocab = vocab_of(v->names);
    struct tmpl_request r = {
        .messages = json_object_get(c, "messages"),
        .tools = json_object_get(c, "tools"),
        .options = json_object_get(c, "options"),
        .bos = v->bos, .eos = v->eos,
    };
    struct tmpl_prompt p = {0};
    struct buf b = {0};

    if (!tmpl_render(tmpl_find(v->tmpl, NULL), &r, v->names ? &vocab : NULL, &p, e)) {
        tmpl_prompt_release(&p);
        return NULL;
    }
    for (size_t i = 0; i < p.n; i++) {
        const char *s = p.text.p + p.v[i].at;
        size_t n = p.v[i].len;
        bool special = p.v[i].kind == TMPL_PIECE_SPECIAL;
        if (special && v->bos && strlen(v->bos) == n && !memcmp(s, v->bos, n))
            buf_adds(&b, "<s>");
        else if (special && v->eos && strlen(v->eos) == n && !memcmp(s, v->eos, n))
            buf_adds(&b, "</s>");
        else
            buf_add(&b, s, n);
    }
    tmpl_prompt_release(&p);
    buf_adds(&b, "");
    return b.p ? buf_take(&b) : strdup("");
}

static bool has_tools(const json_t *c)
{
    const json_t *list = json_object_get(c, "messages"), *m;
    size_t i;

    json_array_foreach(list, i, m) {
        if (json_object_get(m, "tool_calls"))
            return true;
    }
    return json_array_size(json_object_get(c, "tools")) > 0;
}

static void check_vectors(const struct vectors *v)
{
    json_t *cases = load("", "cases"), *expected = load(v->dir, v->file), *want;
    size_t i, compared = 0;

    json_array_foreach(expected, i, want) {
        const json_t *c = json_array_get(json_object_get(cases, "cases"), i);
        const char *name = text_of(c, "case"), *text = text_of(want, "expected");
        bool differs = listed(v->differ, name);
        struct err e = {0};

        assert_string_equal(name, text_of(want, "case"));
        if ((v->before && strstr(text, v->before)) || (v->no_tools && has_tools(c)))
            continue;
        char *got = flat(v, c, &e);
        bool same = json_is_string(json_object_get(want, "expected"))
                        ? got && !strcmp(got, text)
                        : !got;
        if (same && differs)
            fail_msg("%s, case %s: it is the same after all", v->file, name);
        if (!same && !differs)
            fail_msg("%s, case %s\n got  %s\n want %s", v->file, name, got ? got : e.text,
                     *text ? text : text_of(want, "error"));
        free(got);
        compared += !differs;
    }
    if (compared < v->least)
        fail_msg("%s: only %zu cases were compared", v->file, compared);
    json_decref(cases);
    json_decref(expected);
}

/* Where a model's template writes Python's idea of a list, or fails, we write the text;
 * it never asks for a role that it does not know, and we refuse such a role. */
#define ODD "content_parts", "unknown_role"

static void llama3_agrees_with_the_model(void **state)
{
    const struct vectors v[] = {
        /* This one always opens the assistant's turn. */
        { "llama3", llama3_names, "expected/", "meta-llama-Llama-3-8B-Instruct",
          "<|begin_of_text|>", NULL,
          NAMES(ODD, "no_messages", "user_nogen", "multi_turn_end_assistant",
                "thinking_off_nogen", "reasoning_last_nogen"),
          NULL, true, 15 },
        { "llama3", llama3_names, "expected-gguf/", "llama3-8b", "<|begin_of_text|>",
          NULL, NAMES(ODD, "no_messages"), NULL, true, 20 },
        /* An empty list of tools is none for us; arguments as text are not quoted. */
        { "llama3", llama31_names, "expected/", "meta-llama-Llama-3.1-8B-Instruct",
          "<|begin_of_text|>", NULL,
          NAMES(ODD, "no_messages", "tools_empty_list", "tool_result_string_args"), NULL,
          false, 35 },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(v); i++)
        check_vectors(&v[i]);
}

static void chatml_agrees_with_others(void **state)
{
    const struct vectors v[] = {
        /* Tags in the content are no thoughts for us; a content that is not there is
         * empty. */
        { "chatml", NULL, "expected/", "Qwen-Qwen3-0.6B", NULL, NULL,
          NAMES(ODD, "no_messages", "reasoning_inline_tags",
                "tool_result_no_content_key"),
          NULL, false, 38 },
        { "chatml", chatml_names, "expected-gguf/", "dolphin-mixtral-8x7b", NULL, NULL,
          NAMES(ODD), NULL, true, 25 },
        { "chatml", chatml_names, "expected/", "Qwen-Qwen2.5-7B-Instruct", NULL, NULL,
          NAMES(ODD, "no_messages"), "created by Alibaba", false, 12 },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(v); i++)
        check_vectors(&v[i]);
}

static void olmo_and_kimi_agree(void **state)
{
    const struct vectors v[] = {
        { "olmo", no_names, "expected-gguf/", "olmo2-7b", "<s>", "</s>",
          NAMES(ODD, "no_messages"), NULL, true, 20 },
        { "kimi-k2", NAMES("<|im_user|>", "<|im_assistant|>", "<|im_system|>",
                           "<|im_middle|>", "<|im_end|>", "<|tool_call_begin|>"),
          "expected/", "Kimi-K2-Instruct", NULL, NULL, NAMES("x"), "created by Moonshot",
          false, 15 },
        { "kimi-k2", NULL, "expected/", "Kimi-K2-Thinking", NULL, NULL, NAMES("x"),
          "created by Moonshot", false, 15 },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(v); i++)
        check_vectors(&v[i]);
}

static void glm_agrees(void **state)
{
    const struct vectors v[] = {
        { "glm4.5", NULL, "expected/", "GLM-4.6", NULL, NULL,
          NAMES("unknown_role", "reasoning_inline_tags", "tool_result_string_args"), NULL,
          false, 35 },
        /* This one leaves out empty messages. */
        { "glm4", NAMES("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>",
                        "<|observation|>"),
          "expected-gguf/", "glm4-9b", NULL, NULL,
          NAMES(ODD, "empty_system", "empty_user", "empty_assistant"), NULL, true, 20 },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(v); i++)
        check_vectors(&v[i]);
}

static void mistral_agrees(void **state)
{
#define TEKKEN "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]", \
               "[TOOL_RESULTS]"
    /* We let roles follow each other as they like, and cut ids to nine letters. */
#define ORDER "assistant_first", "system_middle", "two_systems"
    const struct vectors v[] = {
        /* It puts texts into JSON without escaping them, and drops text beside calls. */
        { "mistral", NAMES(TEKKEN), "expected/", "mistralai-Mistral-Nemo-Instruct-2407",
          "<s>", "</s>",
          NAMES("content_parts", "no_messages", "assistant_first",
                "tool_result_string_args", "tool_result_with_text", "tools_empty_list",
                "tools_declared_nested", "tool_args_types", "tool_long_id"),
          NULL, false, 30 },
        { "mistral", NAMES(TEKKEN, "[SYSTEM_PROMPT]"), "expected-gguf/",
          "mistral-small-24b", "<s>", "</s>", NAMES("content_parts"), NULL, true, 20 },
        { "mistral", NAMES(TEKKEN, "[SYSTEM_PROMPT]", "[ARGS]", "[CALL_ID]"), "expected/",
          "Mistral-Small-3.2-24B-Instruct-2506", "<s>", "</s>",
          NAMES(ORDER, "tool_long_id"), "Mistral Small 3", false, 12 },
        /* It takes thoughts as parts of the content. */
        { "mistral", NAMES(TEKKEN, "[SYSTEM_PROMPT]", "[ARGS]", "[THINK]"), "expected/",
          "mistralai-Ministral-3-14B-Reasoning-2512", "<s>", "</s>",
          NAMES(ORDER, "no_messages", "empty_assistant", "reasoning_past",
                "reasoning_past_off", "reasoning_last_nogen"),
          "HOW YOU SHOULD", false, 8 },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(v); i++)
        check_vectors(&v[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chatml_marks_turns),
        cmocka_unit_test(chatml_thinks_or_not),
        cmocka_unit_test(chatml_writes_reasoning_and_results),
        cmocka_unit_test(an_open_turn_stays_open),
        cmocka_unit_test(llama3_trims_and_renames),
        cmocka_unit_test(plain_goes_on),
        cmocka_unit_test(text_says_whose_it_is),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(a_template_needs_its_tokens),
        cmocka_unit_test(choosing_never_guesses),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(thinking_is_switched),
        cmocka_unit_test(llama3_agrees_with_the_model),
        cmocka_unit_test(chatml_agrees_with_others),
        cmocka_unit_test(olmo_and_kimi_agree),
        cmocka_unit_test(glm_agrees),
        cmocka_unit_test(mistral_agrees),
    };
    return UNIT_RUN(tests);
}
