/* Prompts as ids: what was said stays as it was sampled, whatever the template makes of
 * its text; nobody's text becomes a special token; nothing depends on what was
 * remembered. */
#include "config.h"

#include "tests/unit/templates.h"

#include "tests/unit/vocab.h"

#include "base/mem.h"
#include "chat/encode.h"
#include "chat/prompt.h"
#include "chat/vocab.h"

/* ---- a model that is a list of tokens and a template ---- */

static const char *const words[] = { "Hel", "lo", "Hello", " there", "Hm", "m.", "\n\n",
                                     " \n", "{\"a\": 1}", "{\"a\":1}", "assistant" };

struct world {
    struct buf bytes;               /* the single bytes */
    const char *text[600];
    size_t len[600];
    bool special[600];
    size_t n;
    struct chat_model m;
    struct chat_conv conv;
    int next;
};

static void world_add(struct world *w, const char *text, size_t n, bool special)
{
    assert_true(w->n < N(w->text));
    w->text[w->n] = text;
    w->len[w->n] = n;
    w->special[w->n++] = special;
}

/* bos may be NULL; </s> is EOS. template is its source, or the name of a row of ours. */
static void world_open(struct world *w, const char *template, const char *const *specials,
                       const char *bos)
{
    struct chat_event ev = { .type = CHAT_EV_SESSION };
    struct tok_list list;
    struct err e = {0};

    *w = (struct world){ .next = 1 };
    for (int i = 0; i < 256; i++)
        buf_addc(&w->bytes, (char)i);
    for (int i = 0; i < 256; i++)
        world_add(w, w->bytes.p + i, 1, false);
    for (size_t i = 0; i < N(words); i++)
        world_add(w, words[i], strlen(words[i]), false);
    list = (struct tok_list){ .text = w->text, .len = w->len, .special = w->special,
                              .bos = -1, .eos = -1 };
    for (; *specials; specials++) {
        if (bos && !strcmp(*specials, bos))
            list.bos = (int32_t)w->n;
        if (!strcmp(*specials, "</s>"))
            list.eos = (int32_t)w->n;
        world_add(w, *specials, strlen(*specials), true);
    }
    list.n = w->n;
    w->m.tok = tok_from_list(&list, &e);
    if (!w->m.tok)
        fail_msg("%s", e.text);
    w->m.specials = chat_vocab_new(w->m.tok);
    w->m.vocab = chat_vocab_tmpl(w->m.specials);
    w->m.tmpl = tmpl_find(template, NULL);
    if (!w->m.tmpl) {
        struct tmpl_source s = { "default", template, strlen(template) };
        w->m.tmpl = tmpl_compile("own", &s, 1, &w->m.vocab, &e);
        if (!w->m.tmpl)
            fail_msg("%s", e.text);
    }
    w->m.syntax = tmpl_syntax_of(w->m.tmpl);
    chat_conv_init(&w->conv);
    ev.session = json_pack("{s:{s:s}}", "model", "sha256", "me");
    chat_conv_apply(&w->conv, &ev);
    chat_event_release(&ev);
}

static void world_close(struct world *w)
{
    chat_conv_release(&w->conv);
    tmpl_free(w->m.tmpl);
    chat_vocab_free(w->m.specials);
    tok_free(w->m.tok);
    buf_release(&w->bytes);
}

static int world_message(struct world *w, enum chat_role role, const char *text)
{
    struct chat_event ev = { .type = CHAT_EV_MESSAGE, .message = w->next };

    ev.msg.parent = w->conv.head;
    ev.msg.role = role;
    ev.msg.text = xstrdup(text);
    ev.msg.len = strlen(text);
    assert_true(chat_conv_apply(&w->conv, &ev));
    chat_event_release(&ev);
    return w->next++;
}

/* One token of the answer; a word of the vocabulary, a special token, or any text. */
static void world_token(struct world *w, int message, const char *text,
                        enum chat_channel ch)
{
    struct chat_span span = { ch, 0, strlen(text) };
    struct chat_event ev = { .type = CHAT_EV_TOKEN, .message = message };
    struct tok_ids ids = {0};
    int32_t id = tok_special(w->m.tok, text);

    if (id >= 0)
        tok_ids_add(&ids, id);
    else
        tok_encode(w->m.tok, text, strlen(text), TOK_AFTER_TEXT, &ids);
    for (size_t i = 0; i < ids.n; i++) {
        ev.token.id = ids.v[i];
        ev.token.bytes = (char *)text;
        ev.token.len = i ? 0 : strlen(text);
        ev.token.spans = &span;
        ev.token.n_spans = i ? 0 : 1;
        assert_true(chat_conv_apply(&w->conv, &ev));
    }
    tok_ids_release(&ids);
}

/* What the router would say of a token is given by a letter before it: t(hink),
 * r(esponse), c(ontrol). */
static int world_say(struct world *w, const char *const *tokens)
{
    int id = world_message(w, CHAT_ROLE_ASSISTANT, "");

    for (; *tokens; tokens++)
        world_token(w, id, *tokens + 1,
                    **tokens == 't'   ? CHAT_CH_THINK
                    : **tokens == 'r' ? CHAT_CH_RESPONSE
                                      : CHAT_CH_CONTROL);
    return id;
}

/* The prompt for the answer to the newest message; a new prompter if pr is NULL. */
static void world_prompt(struct world *w, struct chat_prompter *pr, int answer,
                         struct chat_prompt *out)
{
    struct chat_prompter *own = pr ? NULL : chat_prompter_new(&w->m);
    struct err e = {0};

    if (!chat_prompt_make(pr ? pr : own, &w->conv, w->conv.head, answer, NULL, out, &e))
        fail_msg("%s", e.text);
    chat_prompter_free(own);
}

static char *shown(const struct world *w, const struct tok_ids *ids)
{
    struct buf b = {0};

    for (size_t i = 0; i < ids->n; i++) {
        size_t n;
        const char *special, *text = chat_token_text(w->m.tok, ids->v[i], &n, &special);
        buf_addf(&b, "%s%.*s%s", special ? "[" : i ? "|" : "", (int)n, text,
                 special ? "]" : "");
    }
    buf_adds(&b, "");
    return buf_take(&b);
}

static void check_shown(const struct world *w, const struct chat_prompt *p,
                        const char *want)
{
    char *got = shown(w, &p->ids);

    assert_string_equal(got, want);
    free(got);
}

/* ---- answers in their place ---- */

#define NAMES_CHATML NAMES("<|im_start|>", "<|im_end|>", "<think>", "</think>", \
                           "<tool_call>", "</tool_call>", "<s>")
#define TURN(body) \
    "{% for m in messages %}<|im_start|>{% if m.role == 'assistant' %}A:" body \
    "{% else %}U:{{ m.content }}{% endif %}<|im_end|>" \
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>A:{% endif %}"
#define KEEPS \
    TURN( \
        "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}" \
        "{{ m.content }}")
#define DROPS TURN("{{ m.content }}")
#define TRIMS TURN("{{ m.content | trim }}")
#define CALLS TURN("{{ m.content }}<tool_call>{{ m.tool_calls[0].function.arguments | " \
                   "tojson }}</tool_call>")

static void answers_stay_as_they_were_sampled(void **state)
{
    struct world w;
    struct chat_prompt before, after;

    (void)state;
    world_open(&w, KEEPS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "Hello");
    world_prompt(&w, NULL, 2, &before);
    check_shown(&w, &before, "[<|im_start|>]|U|:|Hello[<|im_end|>][<|im_start|>]|A|:");
    /* Encoded anew, "Hel", "lo" would be "Hello". */
    world_say(&w, NAMES("c<think>", "tHm", "tm.", "c</think>", "rHel", "rlo"));
    world_message(&w, CHAT_ROLE_USER, "Hello");
    world_prompt(&w, NULL, 4, &after);
    check_shown(&w, &after,
                "[<|im_start|>]|U|:|Hello[<|im_end|>][<|im_start|>]|A|:"
                "[<think>]|Hm|m.[</think>]|Hel|lo[<|im_end|>]"
                "[<|im_start|>]|U|:|Hello[<|im_end|>][<|im_start|>]|A|:");
    assert_int_equal(after.n_whys, 0);
    assert_memory_equal(before.ids.v, after.ids.v, before.ids.n * sizeof *before.ids.v);
    chat_prompt_release(&before);
    chat_prompt_release(&after);
    world_close(&w);
}

static void a_template_that_drops_thoughts_is_named(void **state)
{
    struct world w;
    struct chat_prompt p;

    (void)state;
    world_open(&w, DROPS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    world_say(&w, NAMES("c<think>", "tHm", "c</think>", "c\n\n", "rHel", "rlo"));
    world_message(&w, CHAT_ROLE_USER, "b");
    world_prompt(&w, NULL, 0, &p);
    check_shown(&w, &p,
                "[<|im_start|>]|U|:|a[<|im_end|>][<|im_start|>]|A|:|Hel|lo[<|im_end|>]"
                "[<|im_start|>]|U|:|b[<|im_end|>][<|im_start|>]|A|:");
    assert_int_equal(p.n_whys, 1);
    assert_string_equal(p.whys[0].why, "the template drops earlier thinking");
    assert_true(p.whys[0].at <= 8);
    chat_prompt_release(&p);
    world_close(&w);
}

static void what_was_written_otherwise_is_encoded(void **state)
{
    struct world w;
    struct chat_prompt p;
    struct chat_event call = { .type = CHAT_EV_TOOL_CALL, .message = 2 };

    (void)state;
    /* The end was trimmed: all but the white space is as it was. */
    world_open(&w, TRIMS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    world_say(&w, NAMES("rHel", "rlo", "r \n"));
    world_message(&w, CHAT_ROLE_USER, "b");
    world_prompt(&w, NULL, 0, &p);
    check_shown(&w, &p,
                "[<|im_start|>]|U|:|a[<|im_end|>][<|im_start|>]|A|:|Hel|lo[<|im_end|>]"
                "[<|im_start|>]|U|:|b[<|im_end|>][<|im_start|>]|A|:");
    assert_int_equal(p.n_whys, 1);
    chat_prompt_release(&p);
    world_close(&w);

    /* The call is spelled in another way: up to its marker the ids stay. */
    world_open(&w, CALLS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    world_say(&w, NAMES("rHel", "rlo", "c<tool_call>", "c{\"a\":1}", "c</tool_call>"));
    call.call.name = xstrdup("f");
    call.call.arguments = xstrdup("{\"a\":1}");
    assert_true(chat_conv_apply(&w.conv, &call));
    chat_event_release(&call);
    world_message(&w, CHAT_ROLE_TOOL, "b");
    world_prompt(&w, NULL, 0, &p);
    check_shown(&w, &p,
                "[<|im_start|>]|U|:|a[<|im_end|>][<|im_start|>]|A|:|Hel|lo[<tool_call>]|"
                "{\"a\": 1}[</tool_call>][<|im_end|>]"
                "[<|im_start|>]|U|:|b[<|im_end|>][<|im_start|>]|A|:");
    assert_string_equal(
        p.whys[0].why, "the template writes an earlier answer differently than the model "
                       "did");
    chat_prompt_release(&p);
    world_close(&w);
}

static void an_answer_inside_another_word_is_not_cut_out(void **state)
{
    struct world w;
    struct chat_prompt p;

    (void)state;
    /* "Hel" and the user's "lo" stand together: no border, and so one word. */
    world_open(&w, TURN("{{ m.content }}{{ messages[0].content }}"), NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "lo");
    world_say(&w, NAMES("rHel"));
    world_message(&w, CHAT_ROLE_USER, "b");
    world_prompt(&w, NULL, 0, &p);
    check_shown(&w, &p,
                "[<|im_start|>]|U|:|lo[<|im_end|>][<|im_start|>]|A|:|Hello[<|im_end|>]"
                "[<|im_start|>]|U|:|b[<|im_end|>][<|im_start|>]|A|:");
    chat_prompt_release(&p);
    world_close(&w);
}

static void an_answer_goes_on(void **state)
{
    struct world w;
    struct chat_prompt p;
    int id;

    (void)state;
    world_open(&w, TRIMS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    id = world_say(&w, NAMES("rHel", "rlo", "r \n"));
    world_prompt(&w, NULL, id, &p);
    /* Nothing is trimmed there, as the model did not write the end. */
    check_shown(&w, &p, "[<|im_start|>]|U|:|a[<|im_end|>][<|im_start|>]|A|:|Hel|lo| \n");
    chat_prompt_release(&p);
    world_close(&w);
}

/* Kimi K3: an answer that was stopped in its thought is closed, as its ids tell. */
static void what_was_left_open_is_closed(void **state)
{
    struct world w;
    struct chat_prompt p;

    (void)state;
    world_open(&w, "kimi-k3",
               NAMES("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"), NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    world_say(&w, NAMES("tHm", "tm."));
    world_message(&w, CHAT_ROLE_USER, "b");
    world_prompt(&w, NULL, 0, &p);
    char *got = shown(&w, &p.ids);
    if (!strstr(got, "[<|open|>]|t|h|i|n|k[<|sep|>]|Hm|m.[<|close|>]|t|h|i|n|k[<|sep|>]"
                     "[<|open|>]|r|e|s|p|o|n|s|e[<|sep|>]"
                     "[<|close|>]|r|e|s|p|o|n|s|e[<|sep|>]"
                     "[<|close|>]|m|e|s|s|a|g|e[<|sep|>][<|end_of_msg|>]"))
        fail_msg("%s", got);
    free(got);
    assert_int_equal(p.start, TMPL_THINK);
    chat_prompt_release(&p);
    world_close(&w);
}

/* Bytes that are no UTF-8 and NUL come through, whatever reads them on the way. */
static void any_bytes_come_through(void **state)
{
    static const char *const sources[] = { DROPS, TRIMS, "chatml", "llama3" };
    static const char text[] = "\x80 a\xff\xc3(\xe2\x82 \xf5\x80\x80\x80z";
    struct world w;
    struct chat_prompt p;

    (void)state;
    for (size_t i = 0; i < N(sources); i++) {
        struct buf all = {0};
        world_open(&w, sources[i],
                   NAMES("<|im_start|>", "<|im_end|>", "<|start_header_id|>",
                         "<|end_header_id|>", "<|eot_id|>"),
                   NULL);
        world_message(&w, CHAT_ROLE_USER, text);
        world_prompt(&w, NULL, 0, &p);
        tok_decode(w.m.tok, p.ids.v, p.ids.n, TOK_AFTER_TEXT, TOK_SPECIALS_HIDE, &all);
        assert_non_null(memmem(all.p, all.n, text, sizeof text - 1));
        buf_release(&all);
        chat_prompt_release(&p);
        world_close(&w);
    }
}

static void ids_of_others_mean_nothing(void **state)
{
    struct chat_event ev = { .type = CHAT_EV_SESSION };
    struct world w;
    struct chat_prompt p;

    (void)state;
    world_open(&w, KEEPS, NAMES_CHATML, NULL);
    world_message(&w, CHAT_ROLE_USER, "a");
    world_say(&w, NAMES("rHel", "rlo"));
    world_message(&w, CHAT_ROLE_USER, "b");
    ev.session = json_pack("{s:{s:s}}", "model", "sha256", "another");
    chat_conv_apply(&w.conv, &ev);
    chat_event_release(&ev);
    world_prompt(&w, NULL, 0, &p);
    check_shown(&w, &p,
                "[<|im_start|>]|U|:|a[<|im_end|>][<|im_start|>]|A|:|Hello[<|im_end|>]"
                "[<|im_start|>]|U|:|b[<|im_end|>][<|im_start|>]|A|:");
    chat_prompt_release(&p);
    world_close(&w);
}

static void bos_comes_once(void **state)
{
    static const char *const sources[] = { "{{ bos_token }}" KEEPS, KEEPS, "<s>" KEEPS,
                                           "chatml" };
    struct world w;
    struct chat_prompt p;

    (void)state;
    for (size_t i = 0; i < N(sources); i++) {
        world_open(&w, sources[i], NAMES_CHATML, "<s>");
        world_message(&w, CHAT_ROLE_USER, "<s>");
        world_prompt(&w, NULL, 0, &p);
        char *got = shown(&w, &p.ids);
        assert_memory_equal(got, "[<s>][<|im_start|>]|", 20);
        assert_null(strstr(got + 4, "[<s>]"));
        free(got);
        chat_prompt_release(&p);
        world_close(&w);
    }
}

/* ---- real templates ---- */

static const struct real {
    const char *file;
    bool thinks;            /* the model opens its thought itself */
    const char *open, *close;
    const char *const *specials;
} reals[] = {
    { "jinja/Qwen-Qwen3-0.6B", true, "<think>", "</think>",
      (const char *const[]){ "<|im_start|>", "<|im_end|>", "<think>", "</think>",
                             "<tool_call>", "</tool_call>", NULL } },
    { "jinja/GLM-4.6", true, "<think>", "</think>",
      (const char *const[]){ "[gMASK]", "<sop>", "<|system|>", "<|user|>",
                             "<|assistant|>", "<|observation|>", "<think>", "</think>",
                             NULL } },
    { "jinja/deepseek-ai-DeepSeek-V3.1", false, NULL, NULL,
      (const char *const[]){ "<s>", "</s>", "<\uff5cUser\uff5c>",
                             "<\uff5cAssistant\uff5c>", "<think>", "</think>", NULL } },
    { "jinja/meta-llama-Llama-3.1-8B-Instruct", false, NULL, NULL,
      (const char *const[]){ "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
                             NULL } },
    { "jinja/google-gemma-3-it", false, NULL, NULL,
      (const char *const[]){ "<bos>", "<start_of_turn>", "<end_of_turn>", NULL } },
    { "jinja/mistralai-Mistral-Nemo-Instruct-2407", false, NULL, NULL,
      (const char *const[]){ "<s>", "</s>", "[INST]", "[/INST]", NULL } },
    { "jinja/ByteDance-Seed-OSS", true, "<seed:think>", "</seed:think>",
      (const char *const[]){ "<seed:bos>", "<seed:eos>", "<seed:think>", "</seed:think>",
                             NULL } },
};

static void read_source(const char *file, struct buf *out)
{
    char path[8192], block[65536];
    size_t n;

    snprintf(path, sizeof path, "%s/templates/%s.jinja", unit_shared(), file);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    buf_reset(out);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
}

/* How many special tokens the prompt has. */
static size_t count_special(const struct world *w, const struct tok_ids *ids)
{
    size_t n = 0;

    for (size_t i = 0; i < ids->n; i++)
        n += tok_is_special(w->m.tok, ids->v[i]);
    return n;
}

static void turns(struct world *w, const struct real *real, struct chat_prompter *pr)
{
    size_t said = 0;

    for (int i = 0; i < 4; i++) {
        struct chat_prompt live, fresh;
        world_message(w, CHAT_ROLE_USER,
                      i == 2 ? "Hello <think> </think> [INST]" : "Hello");
        world_prompt(w, pr, w->next, &live);
        /* What is remembered changes nothing. */
        world_prompt(w, NULL, w->next, &fresh);
        assert_int_equal(live.ids.n, fresh.ids.n);
        assert_memory_equal(live.ids.v, fresh.ids.v, live.ids.n * sizeof *live.ids.v);
        /* Every answer is in the prompt as it was sampled. */
        char *got = shown(w, &live.ids);
        said = 0;
        for (char *s = got; (s = strstr(s, "Hel|lo")); s++)
            said++;
        if (said != (size_t)i)
            fail_msg("%s, turn %d: %zu answers in %s", real->file, i, said, got);
        free(got);
        chat_prompt_release(&live);
        chat_prompt_release(&fresh);
        if (real->thinks) {
            char open[40], close[40];
            snprintf(open, sizeof open, "c%s", real->open);
            snprintf(close, sizeof close, "c%s", real->close);
            world_say(w, NAMES(open, "tHm", "tm.", close, "c\n", "rHel", "rlo"));
        } else {
            world_say(w, NAMES("rHel", "rlo"));
        }
    }
}

static void every_template_keeps_what_was_said(void **state)
{
    struct buf source = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(reals); i++) {
        struct world w;
        read_source(reals[i].file, &source);
        world_open(&w, source.p, reals[i].specials, NULL);
        struct chat_prompter *pr = chat_prompter_new(&w.m);
        turns(&w, &reals[i], pr);
        chat_prompter_free(pr);
        world_close(&w);
    }
    buf_release(&source);
}

static void users_make_no_specials(void **state)
{
    struct buf source = {0}, evil = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(reals); i++) {
        size_t n[2];
        buf_reset(&evil);
        for (const char *const *s = reals[i].specials; *s; s++)
            buf_adds(&evil, *s);
        read_source(reals[i].file, &source);
        for (int k = 0; k < 2; k++) {
            struct world w;
            struct chat_prompt p;
            world_open(&w, source.p, reals[i].specials, NULL);
            world_message(&w, CHAT_ROLE_USER, k ? evil.p : "x");
            world_say(&w, NAMES("rHel"));
            world_message(&w, CHAT_ROLE_USER, k ? evil.p : "x");
            world_prompt(&w, NULL, 0, &p);
            n[k] = count_special(&w, &p.ids);
            chat_prompt_release(&p);
            world_close(&w);
        }
        assert_true(n[0] > 0);
        assert_int_equal(n[0], n[1]);
    }
    buf_release(&source);
    buf_release(&evil);
}

/* The same with the models' own vocabularies, all of whose special names are said. */
static void users_make_no_specials_in_real_vocabularies(void **state)
{
    static const char *const pairs[][2] = {
        { "vocab/qwen2.gguf.xz", "jinja/Qwen-Qwen3-0.6B" },
        { "vocab/llama-bpe.gguf.xz", "jinja/meta-llama-Llama-3.1-8B-Instruct" },
        { "vocab/gemma-spm.gguf.xz", "jinja/google-gemma-3-it" },
        { "vocab/kimi-k2.gguf.xz", "jinja/Kimi-K2-Instruct" },
        { "vocab/tekken.gguf.xz", "jinja/mistralai-Mistral-Nemo-Instruct-2407" },
        { "vocab/gpt-4o.gguf.xz", "jinja/openai-gpt-oss-120b" },
        { "vocab/deepseek-v3.gguf.xz", "jinja/deepseek-ai-DeepSeek-V3" },
        { "vocab/mistral-v3-spm.gguf", "jinja-gguf/mistral-7b-instruct-fp16" },
        { "vocab/qwen2.gguf.xz", "chatml" },
        { "vocab/llama-bpe.gguf.xz", "llama3" },
        { "vocab/kimi-k2.gguf.xz", "kimi-k2" },
        { "vocab/tekken.gguf.xz", "mistral" },
    };
    struct buf source = {0}, evil = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    for (size_t i = 0; i < N(pairs); i++) {
        struct vocab v;
        char name[256];
        size_t n[2];

        snprintf(name, sizeof name, "tokenizers/%s", pairs[i][0]);
        if (!vocab_open(&v, name))
            continue;
        struct chat_vocab *specials = chat_vocab_new(v.t);
        struct tmpl_vocab vocab = chat_vocab_tmpl(specials);
        const struct tmpl *t = tmpl_find(pairs[i][1], NULL);
        if (!t) {
            read_source(pairs[i][1], &source);
            struct tmpl_source s = { "default", source.p, source.n };
            t = tmpl_compile("own", &s, 1, &vocab, NULL);
        }
        buf_reset(&evil);
        for (size_t id = 0; id < tok_count(v.t); id++) {
            size_t len;
            const char *p = tok_name(v.t, (int32_t)id, &len);
            if (tok_is_special(v.t, (int32_t)id) && !memchr(p, '\n', len) && *p != ' ')
                buf_add(&evil, p, len);
        }
        for (int k = 0; k < 2; k++) {
            struct chat_encoder *enc = chat_encoder_new(v.t);
            json_t *m = json_pack("[{s:s, s:s}]", "role", "user", "content",
                                  k ? evil.p : "x");
            json_t *o = json_pack("{s:b}", "add_generation_prompt", 1);
            struct tmpl_request r = { .messages = m, .options = o, .bos = "<s>",
                                      .eos = "</s>", .now = "2026-01-15T12:34:56" };
            struct tmpl_prompt p = {0};
            struct chat_encoded done;
            struct err e = {0};
            assert_non_null(m);
            if (!tmpl_render(t, &r, &vocab, &p, &e) ||
                !chat_encode(enc, &p, NULL, NULL, NULL, &done, &e))
                fail_msg("%s: %s", pairs[i][1], e.text);
            n[k] = 0;
            for (size_t q = 0; q < done.ids->n; q++) {
                size_t bytes;
                tok_bytes(v.t, done.ids->v[q], &bytes);
                const char *text = tok_name(v.t, done.ids->v[q], &bytes);
                n[k] += tok_is_special(v.t, done.ids->v[q]) &&
                        (*text == '<' || *text == '[');
            }
            json_decref(m);
            json_decref(o);
            tmpl_prompt_release(&p);
            chat_encoder_free(enc);
        }
        assert_true(n[0] > 0);
        if (n[0] != n[1])
            fail_msg("%s with %s: %zu special tokens, not %zu", pairs[i][1], pairs[i][0],
                     n[1], n[0]);
        tmpl_free(t);
        chat_vocab_free(specials);
        vocab_close(&v);
    }
    buf_release(&source);
    buf_release(&evil);
}

/* ---- encoding and names, against the plain way ---- */

static uint32_t dice = 1;
static uint32_t roll(uint32_t n)
{
    return (dice = dice * 1664525 + 1013904223) / 65536 % n;
}

/* Longer and shorter prompts with much in common: as if each were the first. */
static void remembering_changes_nothing(void **state)
{
    static const char *const specials[] = { "<a>", "<b>", "<|x|>", NULL };
    static const char *const texts[] = { "Hel", "lo", "<a>", " there", "\n", "Hm" };
    struct world w;

    (void)state;
    world_open(&w, KEEPS, specials, NULL);
    struct chat_encoder *enc = chat_encoder_new(w.m.tok);
    for (int round = 0; round < 300; round++) {
        struct chat_encoder *fresh = chat_encoder_new(w.m.tok);
        struct tmpl_prompt p = {0};
        struct chat_encoded a, b;
        uint32_t same = roll(12);
        dice = 7;
        for (uint32_t i = 0, n = 2 + same; i < n; i++) {
            if (i == same)
                dice = (uint32_t)round * 977 + 5;
            uint32_t what = roll(5);
            const char *s = what ? texts[roll(N(texts))] : specials[roll(3)];
            struct tmpl_piece piece = { what ? TMPL_PIECE_TEXT : TMPL_PIECE_SPECIAL,
                                        p.text.n, strlen(s), 0 };
            buf_adds(&p.text, s);
            MEM_GROW(p.v, p.cap, p.n + 1);
            p.v[p.n++] = piece;
            MEM_GROW(p.spans, p.cap_spans, p.n_spans + 1);
            p.spans[p.n_spans++] =
                (struct tmpl_span){ p.text.n, (enum tmpl_origin)roll(2) };
        }
        dice = (uint32_t)round + 1;
        assert_true(chat_encode(enc, &p, NULL, NULL, NULL, &a, NULL));
        assert_true(chat_encode(fresh, &p, NULL, NULL, NULL, &b, NULL));
        assert_int_equal(a.ids->n, b.ids->n);
        assert_memory_equal(a.ids->v, b.ids->v, a.ids->n * sizeof *a.ids->v);
        assert_memory_equal(a.ends, b.ends, p.n * sizeof *a.ends);
        tmpl_prompt_release(&p);
        chat_encoder_free(fresh);
    }
    chat_encoder_free(enc);
    world_close(&w);
}

static void a_name_that_is_not_there_is_an_error(void **state)
{
    struct world w;
    struct tmpl_prompt p = {0};
    struct tmpl_piece piece = { TMPL_PIECE_SPECIAL, 0, 3, 0 };
    struct chat_encoded done;
    struct err e = {0};

    (void)state;
    world_open(&w, KEEPS, NAMES("<a>"), NULL);
    struct chat_encoder *enc = chat_encoder_new(w.m.tok);
    buf_adds(&p.text, "<b>");
    p.v = &piece;
    p.n = 1;
    assert_false(chat_encode(enc, &p, NULL, NULL, NULL, &done, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "<b>"));
    buf_release(&p.text);
    chat_encoder_free(enc);
    world_close(&w);
}

static void the_longest_name_is_found(void **state)
{
    static const char *const specials[] = { "<a", "<a>", "<a><b", "<a><b>", "<", "<b>",
                                            "[x]", "<a><c>", "<ab>", "<a><b>c>", NULL };
    struct world w;

    (void)state;
    world_open(&w, KEEPS, specials, NULL);
    for (int round = 0; round < 20000; round++) {
        char text[12];
        size_t n = roll(sizeof text), want;
        for (size_t i = 0; i < n; i++)
            text[i] = "<a>bc[x]"[roll(8)];
        want = names_at(specials, text, n);
        assert_int_equal(w.m.vocab.special_at(w.m.vocab.arg, text, n), want);
    }
    assert_true(w.m.vocab.has_special(w.m.vocab.arg, "[x]"));
    assert_false(w.m.vocab.has_special(w.m.vocab.arg, "[y]"));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_stay_as_they_were_sampled),
        cmocka_unit_test(a_template_that_drops_thoughts_is_named),
        cmocka_unit_test(what_was_written_otherwise_is_encoded),
        cmocka_unit_test(an_answer_inside_another_word_is_not_cut_out),
        cmocka_unit_test(an_answer_goes_on),
        cmocka_unit_test(what_was_left_open_is_closed),
        cmocka_unit_test(any_bytes_come_through),
        cmocka_unit_test(ids_of_others_mean_nothing),
        cmocka_unit_test(bos_comes_once),
        cmocka_unit_test(every_template_keeps_what_was_said),
        cmocka_unit_test(users_make_no_specials),
        cmocka_unit_test(users_make_no_specials_in_real_vocabularies),
        cmocka_unit_test(remembering_changes_nothing),
        cmocka_unit_test(a_name_that_is_not_there_is_an_error),
        cmocka_unit_test(the_longest_name_is_found),
    };
    return UNIT_RUN(tests);
}
