/* Rendering and choosing. The vectors are those of ../shared/templates: what the models'
 * own Jinja templates give for the conversations in cases.json. */
#include "config.h"

#include "tests/unit/unit.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "templates/template.h"

/* ---- a vocabulary of a few names ---- */

static bool has_one_of(const void *arg, const char *name)
{
    for (const char *const *p = arg; *p; p++)
        if (!strcmp(*p, name))
            return true;
    return false;
}

static const char *const qwen_names[] = { "<|im_start|>", "<|im_end|>", "<think>",
                                          "</think>", NULL };
static const char *const chatml_names[] = { "<|im_start|>", "<|im_end|>", NULL };
static const char *const llama3_names[] = { "<|begin_of_text|>", "<|start_header_id|>",
                                            "<|end_header_id|>", "<|eot_id|>", NULL };
static const char *const no_names[] = { "<s>", "</s>", NULL };

static struct tmpl_vocab vocab_of(const char *const *names)
{
    return (struct tmpl_vocab){ .has_special = has_one_of, .arg = names };
}

/* Pieces in one line: [special] {said 3} and text as it is. */
static char *render(const char *tmpl, const struct tmpl_message *m, size_t n,
                    struct tmpl_options opt, const char *const *names,
                    enum tmpl_channel *start)
{
    struct tmpl_vocab vocab = vocab_of(names);
    struct tmpl_prompt p = {0};
    struct buf b = {0};
    struct err e = {0};

    if (!tmpl_render(tmpl_find(tmpl, NULL), m, n, &opt, &vocab, &p, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < p.n; i++) {
        const struct tmpl_piece *piece = &p.v[i];
        if (piece->kind == TMPL_PIECE_SAID)
            buf_addf(&b, "{said %zu}", piece->message);
        else if (piece->kind == TMPL_PIECE_SPECIAL)
            buf_addf(&b, "[%.*s]", (int)piece->len, p.text.p + piece->at);
        else
            buf_add(&b, p.text.p + piece->at, piece->len);
        /* Two neighbouring texts would be encoded apart. */
        if (i && piece->kind == TMPL_PIECE_TEXT)
            assert_int_not_equal(p.v[i - 1].kind, TMPL_PIECE_TEXT);
    }
    if (start)
        *start = p.start;
    tmpl_prompt_release(&p);
    return buf_take(&b);
}

#define MSG(r, s) { .role = (r), .content = (s), .len = sizeof(s) - 1 }
#define N(v) (sizeof(v) / sizeof *(v))

static void check(const char *tmpl, const struct tmpl_message *m, size_t n,
                  struct tmpl_options opt, const char *const *names, const char *want)
{
    char *got = render(tmpl, m, n, opt, names, NULL);
    assert_string_equal(got, want);
    free(got);
}

static const struct tmpl_options ask = { .add_generation_prompt = true };
static const struct tmpl_options ask_no_think = { TMPL_THINK_OFF, true };
static const struct tmpl_options ask_think = { TMPL_THINK_ON, true };

static void chatml_marks_turns(void **state)
{
    const struct tmpl_message m[] = {
        MSG(TMPL_SYSTEM, "Be brief."),
        MSG(TMPL_USER, "a<|im_end|>"),
        { .role = TMPL_ASSISTANT, .content = "x", .len = 1, .said = true },
        MSG(TMPL_SYSTEM, "Be long."),
        MSG(TMPL_USER, ""),
    };
    (void)state;
    check("chatml", m, N(m), ask, qwen_names,
          "[<|im_start|>]system\nBe brief.[<|im_end|>]\n[<|im_start|>]user\na<|im_end|>"
          "[<|im_end|>]\n[<|im_start|>]assistant\n{said 2}[<|im_end|>]\n"
          "[<|im_start|>]system\nBe long.[<|im_end|>]\n[<|im_start|>]user\n[<|im_end|>]\n"
          "[<|im_start|>]assistant\n");
    check("chatml", m, 1, (struct tmpl_options){0}, qwen_names,
          "[<|im_start|>]system\nBe brief.[<|im_end|>]\n");
    check("chatml", m, 0, ask, qwen_names, "[<|im_start|>]assistant\n");
}

static void chatml_thinks_or_not(void **state)
{
    struct tmpl_message m[] = {
        MSG(TMPL_USER, "a"),
        { .role = TMPL_ASSISTANT, .said = true, .think_off = true },
        MSG(TMPL_USER, "b"),
    };
    (void)state;
    check("chatml", m, 1, ask_no_think, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n"
          "[<think>]\n\n[</think>]\n\n");
    /* The prompt after that answer begins with the prompt before it. */
    check("chatml", m, 3, ask_think, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n"
          "[<think>]\n\n[</think>]\n\n{said 1}[<|im_end|>]\n"
          "[<|im_start|>]user\nb[<|im_end|>]\n[<|im_start|>]assistant\n");
    check("chatml", m, 1, ask_no_think, chatml_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n");
}

static void chatml_writes_reasoning_and_results(void **state)
{
    const struct tmpl_message m[] = {
        { .role = TMPL_ASSISTANT, .content = "51", .len = 2, .reasoning = "3*17",
          .reasoning_len = 4 },
        MSG(TMPL_TOOL, "21"),
        MSG(TMPL_TOOL, "25"),
        MSG(TMPL_USER, "go"),
    };
    (void)state;
    check(
        "chatml", m, N(m), (struct tmpl_options){ 0 }, qwen_names,
        "[<|im_start|>]assistant\n[<think>]\n3*17\n[</think>]\n\n51[<|im_end|>]\n"
        "[<|im_start|>]user\n<tool_response>\n21\n</tool_response>\n<tool_response>\n25\n"
        "</tool_response>[<|im_end|>]\n[<|im_start|>]user\ngo[<|im_end|>]\n");
    check("chatml", m, 1, (struct tmpl_options){0}, chatml_names,
          "[<|im_start|>]assistant\n<think>\n3*17\n</think>\n\n51[<|im_end|>]\n");
}

static void an_open_turn_stays_open(void **state)
{
    struct tmpl_message m[] = {
        MSG(TMPL_USER, "a"),
        { .role = TMPL_ASSISTANT, .content = " b ", .len = 3, .open = true },
    };
    enum tmpl_channel start;
    char *got;

    (void)state;
    check("chatml", m, 2, ask, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n b ");
    check(
        "llama3", m, 2, ask, llama3_names,
        "[<|begin_of_text|>][<|start_header_id|>]user[<|end_header_id|>]\n\na[<|eot_id|>]"
        "[<|start_header_id|>]assistant[<|end_header_id|>]\n\nb ");
    check("plain", m, 2, ask, no_names, "a b ");
    m[1].said = true;
    check("chatml", m, 2, ask, qwen_names,
          "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n{said 1}");
    /* Cut while it was thinking: the model goes on thinking. */
    m[1] = (struct tmpl_message){
        .role = TMPL_ASSISTANT, .reasoning = "hm", .reasoning_len = 2, .open = true
    };
    got = render("chatml", m, 2, ask, qwen_names, &start);
    assert_string_equal(got,
                        "[<|im_start|>]user\na[<|im_end|>]\n[<|im_start|>]assistant\n"
                        "[<think>]\nhm");
    assert_int_equal(start, TMPL_THINK);
    free(got);
    /* The ids of what was said are fed again: they begin where every answer does. */
    m[1].said = true;
    free(render("chatml", m, 2, ask, qwen_names, &start));
    assert_int_equal(start, TMPL_RESPONSE);
    free(render("chatml", m, 1, ask, qwen_names, &start));
    assert_int_equal(start, TMPL_RESPONSE);
}

static void llama3_trims_and_renames(void **state)
{
    const struct tmpl_message m[] = {
        MSG(TMPL_SYSTEM, " \t\xc2\xa0s \xe3\x80\x80\n"),
        MSG(TMPL_TOOL, "1"),
        { .role = TMPL_ASSISTANT, .said = true },
        MSG(TMPL_USER, "\xc3\xa0 \x85"),       /* 0x85 alone is no white space */
    };
    (void)state;
    check("llama3", m, N(m), ask, llama3_names,
          "[<|begin_of_text|>][<|start_header_id|>]system[<|end_header_id|>]\n\ns[<|eot_"
          "id|>]"
          "[<|start_header_id|>]ipython[<|end_header_id|>]\n\n1[<|eot_id|>]"
          "[<|start_header_id|>]assistant[<|end_header_id|>]\n\n{said 2}[<|eot_id|>]"
          "[<|start_header_id|>]user[<|end_header_id|>]\n\n\xc3\xa0 \x85[<|eot_id|>]"
          "[<|start_header_id|>]assistant[<|end_header_id|>]\n\n");
}

static void plain_goes_on(void **state)
{
    const struct tmpl_message m[] = {
        MSG(TMPL_SYSTEM, "Stories."),
        MSG(TMPL_USER, "Once upon"),
        { .role = TMPL_ASSISTANT, .said = true },
        MSG(TMPL_USER, "Then"),
        MSG(TMPL_ASSISTANT, " it rained."),
    };
    (void)state;
    check("plain", m, 2, ask, no_names, "Stories.\nOnce upon");
    check("plain", m, 4, ask, no_names, "Stories.\nOnce upon{said 2}\nThen");
    check("plain", m, 5, ask, no_names, "Stories.\nOnce upon{said 2}\nThen it rained.\n");
    check("plain", m, 0, ask, no_names, "");
}

static void a_template_needs_its_tokens(void **state)
{
    const struct tmpl_message m[] = { MSG(TMPL_USER, "a") };
    struct tmpl_vocab vocab = vocab_of(no_names);
    struct tmpl_prompt p = {0};
    struct err e = {0};

    (void)state;
    assert_false(tmpl_render(tmpl_find("chatml", NULL), m, 1, &ask, &vocab, &p, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "<|im_start|>"));
    assert_int_equal(p.n, 0);
    /* Without a model every token exists. */
    assert_true(tmpl_render(tmpl_find("chatml", NULL), m, 1, &ask, NULL, &p, &e));
    tmpl_prompt_release(&p);
}

/* ---- choosing ---- */

static const char *choose(const char *source, const char *const *names, struct buf *why,
                          struct err *e)
{
    struct tmpl_vocab vocab = vocab_of(names);
    buf_reset(why);
    const struct tmpl *t =
        tmpl_choose(source, source ? strlen(source) : 0, &vocab, why, e);
    return t ? tmpl_name(t) : NULL;
}

static void choosing_never_guesses(void **state)
{
    struct buf why = {0};
    struct err e = {0};

    (void)state;
    assert_string_equal(choose("{{'<|im_start|>'}}", qwen_names, &why, &e), "chatml");
    assert_non_null(strstr(why.p, "<|im_start|>"));
    assert_string_equal(choose("x<|start_header_id|>y", llama3_names, &why, &e),
                        "llama3");
    assert_string_equal(choose(NULL, chatml_names, &why, &e), "chatml");
    assert_string_equal(choose(NULL, llama3_names, &why, &e), "llama3");
    assert_string_equal(choose(NULL, no_names, &why, &e), "plain");
    assert_non_null(strstr(why.p, "no chat template"));
    assert_int_equal(e.kind, ERR_NONE);

    assert_null(choose("[INST] \x1b[31m", no_names, &why, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "--template one of chatml, llama3, plain"));
    assert_null(strchr(e.text, '\x1b'));
    assert_null(choose("<|im_start|>", no_names, &why, &e));
    assert_non_null(strstr(e.text, "no special token <|im_start|>"));
    assert_null(choose("<|im_start|>user<|im_sep|>", chatml_names, &why, &e));
    assert_null(
        choose("<|start_header_id|>x<|end_header_id|>\\n", llama3_names, &why, &e));
    assert_string_equal(
        choose("<|start_header_id|>x<|end_header_id|>\\n\\n", llama3_names, &why, &e),
        "llama3");
    buf_release(&why);
}

static void names_are_found(void **state)
{
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < tmpl_count(); i++) {
        assert_ptr_equal(tmpl_find(tmpl_name(tmpl_at(i)), &e), tmpl_at(i));
        assert_true(strlen(tmpl_help(tmpl_at(i))) > 10);
    }
    assert_null(tmpl_find("nope", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.text, "chatml, llama3, plain"));
}

/* ---- the vectors ---- */

static json_t *load(const char *fmt, const char *name)
{
    char path[4400], tail[128];
    json_error_t bad;

    snprintf(tail, sizeof tail, fmt, name);
    snprintf(path, sizeof path, "%s/templates/%s", unit_shared(), tail);
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

/* Messages of a case as ours; false if it has what our interface has not (lists as
 * content, calls in a message, roles of its own). */
static bool take_messages(const json_t *list, struct tmpl_message *m, size_t *n)
{
    static const char *const roles[] = { "system", "user", "assistant", "tool" };

    *n = json_array_size(list);
    assert_true(*n <= 16);
    for (size_t i = 0; i < *n; i++) {
        const json_t *o = json_array_get(list, i);
        size_t role = 0;
        while (role < 4 && strcmp(text_of(o, "role"), roles[role]))
            role++;
        if (role == 4 || !json_is_string(json_object_get(o, "content")) ||
            json_object_get(o, "tool_calls"))
            return false;
        m[i] = (struct tmpl_message){
            .role = (enum tmpl_role)role,
            .content = text_of(o, "content"),
            .len = strlen(text_of(o, "content")),
            .reasoning = text_of(o, "reasoning_content"),
            .reasoning_len = strlen(text_of(o, "reasoning_content")),
        };
    }
    return true;
}

/* The prompt as one text, our BOS spelled as the vectors spell theirs. */
static char *flat(const char *tmpl, const struct tmpl_message *m, size_t n,
                  const json_t *opt)
{
    const json_t *think = json_object_get(opt, "enable_thinking");
    struct tmpl_options o = {
        .think = think ? json_is_true(think) ? TMPL_THINK_ON : TMPL_THINK_OFF
                       : TMPL_THINK_AUTO,
        .add_generation_prompt =
            json_is_true(json_object_get(opt, "add_generation_prompt")),
    };
    struct tmpl_prompt p = {0};
    struct buf b = {0};

    assert_true(tmpl_render(tmpl_find(tmpl, NULL), m, n, &o, NULL, &p, NULL));
    for (size_t i = 0; i < p.n; i++) {
        const char *s = p.text.p + p.v[i].at;
        if (!strncmp(s, "<|begin_of_text|>", p.v[i].len))
            buf_adds(&b, "<s>");
        else
            buf_add(&b, s, p.v[i].len);
    }
    tmpl_prompt_release(&p);
    return buf_take(&b);
}

static bool listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Compare all cases that our interface can say, but those where we differ on purpose. */
static void check_vectors(const char *tmpl, const char *fmt, const char *file,
                          const char *const *differ, size_t least)
{
    json_t *cases = load("cases.json%s", ""), *expected = load(fmt, file), *want;
    size_t i, compared = 0;

    json_array_foreach(expected, i, want) {
        const json_t *c = json_array_get(json_object_get(cases, "cases"), i);
        const char *name = text_of(c, "case");
        struct tmpl_message m[16];
        size_t n;

        assert_string_equal(name, text_of(want, "case"));
        if (!json_is_string(json_object_get(want, "expected")) || listed(differ, name) ||
            json_array_size(json_object_get(c, "tools")) ||
            !take_messages(json_object_get(c, "messages"), m, &n))
            continue;
        char *got = flat(tmpl, m, n, json_object_get(c, "options"));
        if (strcmp(got, text_of(want, "expected")))
            fail_msg("%s, case %s\n got  %s\n want %s", file, name, got,
                     text_of(want, "expected"));
        free(got);
        compared++;
    }
    if (compared < least)
        fail_msg("%s: only %zu cases were compared", file, compared);
    json_decref(cases);
    json_decref(expected);
}

static void llama3_agrees_with_the_model(void **state)
{
    /* This template always opens the assistant's turn, and knows no reasoning; the one
     * with no messages has no BOS either. */
    static const char *const differ[] = {
        "user_nogen",
        "multi_turn_end_assistant",
        "thinking_off_nogen",
        "reasoning_last_nogen",
        "reasoning_past",
        "reasoning_past_off",
        "reasoning_two_past",
        "no_messages",
        NULL,
    };
    /* That of the GGUF file opens it when asked. */
    static const char *const gguf_differ[] = {
        "reasoning_last_nogen", "reasoning_past", "reasoning_past_off",
        "reasoning_two_past",   "no_messages",    NULL,
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vectors("llama3", "expected/%s.json", "meta-llama-Llama-3-8B-Instruct", differ,
                  16);
    check_vectors("llama3", "expected-gguf/%s.json", "llama3-8b", gguf_differ, 20);
}

static void chatml_agrees_with_qwen(void **state)
{
    /* Qwen 3 drops what was thought before the last question and thinks nothing before
     * its last answer; we keep what a message has. */
    static const char *const qwen3_differ[] = {
        "reasoning_past",
        "reasoning_past_off",
        "reasoning_two_past",
        "reasoning_inline_tags",
        "multi_turn_end_assistant",
        "thinking_off_nogen",
        NULL,
    };
    static const char *const coder_differ[] = {
        "reasoning_past",
        "reasoning_past_off",
        "reasoning_two_past",
        "reasoning_last_nogen",
        NULL,
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vectors("chatml", "expected/%s.json", "Qwen-Qwen3-0.6B", qwen3_differ, 18);
    check_vectors("chatml", "expected/%s.json", "Qwen3-Coder", coder_differ, 20);
}

static void chatml_agrees_with_others(void **state)
{
    /* No reasoning in these; the ones that think off has no effect on are Qwen's alone.
     */
    static const char *const dolphin_differ[] = {
        "reasoning_past",
        "reasoning_past_off",
        "reasoning_two_past",
        "reasoning_last_nogen",
        NULL,
    };
    /* Qwen 2.5 has a default system prompt: only conversations that bring their own. */
    static const char *const qwen25_differ[] = {
        "user_nogen",
        "multi_turn_no_system",
        "long_multi_turn",
        "thinking_off_nogen",
        "reasoning_past",
        "reasoning_past_off",
        "reasoning_two_past",
        "reasoning_last_nogen",
        "reasoning_inline_tags",
        "tools_empty_list",
        "empty_user",
        "empty_assistant",
        "assistant_first",
        "system_middle",
        "no_messages",
        NULL,
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vectors("chatml", "expected-gguf/%s.json", "dolphin-mixtral-8x7b",
                  dolphin_differ, 20);
    check_vectors("chatml", "expected/%s.json", "Qwen-Qwen2.5-7B-Instruct", qwen25_differ,
                  8);
}

/* Every chat template of the shared set is either ours or refused with the choices. */
static void shared_templates_are_known_or_refused(void **state)
{
    static const struct {
        const char *file, *tmpl;
    } want[] = {
        { "jinja/Qwen-Qwen3-0.6B.jinja", "chatml" },
        { "jinja/Qwen-Qwen2.5-7B-Instruct.jinja", "chatml" },
        { "jinja-gguf/smollm2-135m.jinja", "chatml" },
        { "jinja/meta-llama-Llama-3-8B-Instruct.jinja", "llama3" },
        { "jinja/meta-llama-Llama-3.1-8B-Instruct.jinja", "llama3" },
        { "jinja-gguf/llama3.2-3b.jinja", "llama3" },
        { "jinja-gguf/phi4-14b.jinja", NULL },
        { "jinja-gguf/rnj-1-latest.jinja", NULL },
        { "jinja/google-gemma-3-it.jinja", NULL },
        { "jinja-gguf/mistral-7b-instruct-fp16.jinja", NULL },
    };
    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(want); i++) {
        char path[4400];
        static char source[1 << 16];
        struct err e = {0};

        snprintf(path, sizeof path, "%s/templates/%s", unit_shared(), want[i].file);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t n = fread(source, 1, sizeof source, f);
        fclose(f);
        const struct tmpl *t = tmpl_choose(source, n, NULL, NULL, &e);
        if (want[i].tmpl) {
            assert_non_null(t);
            assert_string_equal(tmpl_name(t), want[i].tmpl);
        } else {
            assert_null(t);
            assert_int_equal(e.kind, ERR_MODEL);
        }
    }
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
        cmocka_unit_test(a_template_needs_its_tokens),
        cmocka_unit_test(choosing_never_guesses),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(llama3_agrees_with_the_model),
        cmocka_unit_test(chatml_agrees_with_qwen),
        cmocka_unit_test(chatml_agrees_with_others),
        cmocka_unit_test(shared_templates_are_known_or_refused),
    };
    return UNIT_RUN(tests);
}
