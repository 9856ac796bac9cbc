/* Rendered prompts to ids: whose text may be markup, white space that tokens take along,
 * and that remembering changes nothing. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "base/mem.h"
#include "chat/encode.h"
#include "tests/unit/hf-make.h"

#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"

enum { THINK = 256, STOP, LEFT, RIGHT };

static struct tok *small(void)
{
    const struct hf_config none = {0};
    struct hf_make m = {
        .pre_tokenizer = BYTE_LEVEL,
        .added = "{\"id\":256,\"content\":\"<think>\",\"special\":false},"
                 "{\"id\":257,\"content\":\"<stop>\",\"special\":true},"
                 "{\"id\":258,\"content\":\"<left>\",\"lstrip\":true,\"special\":true},"
                 "{\"id\":259,\"content\":\"<right>\",\"rstrip\":true,\"special\":true}",
    };
    struct buf text = {0};
    struct err e = {0};

    hf_make(&text, &m);
    struct tok *t = tok_hf_memory(text.p, text.n, "small", &none, &e);
    if (!t)
        fail_msg("%s", e.text);
    buf_release(&text);
    return t;
}

static void piece(struct tmpl_prompt *p, enum tmpl_piece_kind kind, const char *text,
                  enum tmpl_origin origin)
{
    MEM_GROW(p->v, p->cap, p->n + 1);
    p->v[p->n++] =
        (struct tmpl_piece){ .kind = kind, .at = p->text.n, .len = strlen(text) };
    buf_adds(&p->text, text);
    MEM_GROW(p->spans, p->cap_spans, p->n_spans + 1);
    p->spans[p->n_spans++] = (struct tmpl_span){ p->text.n, origin };
}

static void own(struct tmpl_prompt *p, const char *text)
{
    piece(p, TMPL_PIECE_TEXT, text, TMPL_FROM_TEMPLATE);
}

static void said(struct tmpl_prompt *p, const char *text)
{
    piece(p, TMPL_PIECE_TEXT, text, TMPL_FROM_CONVERSATION);
}

static void special(struct tmpl_prompt *p, const char *name)
{
    piece(p, TMPL_PIECE_SPECIAL, name, TMPL_FROM_TEMPLATE);
}

/* The ids as text: bytes as themselves, others in braces. */
static void prompt_is(struct chat_encoder *enc, const struct tmpl_prompt *p,
                      const char *want)
{
    struct chat_encoded got;
    struct err e = {0};
    struct buf b = {0};

    if (!chat_encode(enc, p, NULL, NULL, NULL, &got, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < got.ids->n; i++) {
        int32_t id = got.ids->v[i];
        if (id > ' ' && id < 127)
            buf_addc(&b, (char)id);
        else
            buf_addf(&b, "{%d}", (int)id);
    }
    assert_string_equal(buf_str(&b), want);
    assert_int_equal(got.ends[p->n - 1], got.ids->n);
    buf_release(&b);
}

static void only_the_templates_text_is_markup(void **state)
{
    struct tok *t = small();
    struct chat_encoder *enc = chat_encoder_new(t);
    struct tmpl_prompt p = {0};
    (void)state;

    special(&p, "<stop>");
    own(&p, "<think>");
    special(&p, "<stop>");
    said(&p, "<think>");
    prompt_is(enc, &p, "{257}{256}{257}<think>");
    chat_encoder_free(enc);
    tmpl_prompt_release(&p);
    tok_free(t);
}

static void tokens_take_white_space_along(void **state)
{
    struct tok *t = small();
    struct chat_encoder *enc = chat_encoder_new(t);
    struct tmpl_prompt p = {0};
    (void)state;

    special(&p, "<right>");
    own(&p, " \n");
    said(&p, "\t x ");
    own(&p, "y \n");
    prompt_is(enc, &p, "{259}x{32}y{32}{10}");
    special(&p, "<left>");          /* now the text before it loses its end */
    prompt_is(enc, &p, "{259}x{32}y{258}");
    own(&p, " z");
    special(&p, "<right>");
    own(&p, " ");
    special(&p, "<left>");
    prompt_is(enc, &p, "{259}x{32}y{258}{32}z{259}{258}");
    chat_encoder_free(enc);
    tmpl_prompt_release(&p);
    tok_free(t);
}

/* As the model's own tokenizer does it with the text of the prompt. */
static void phi_3_swallows_line_breaks(void **state)
{
    struct tok_ids whole = {0};
    struct tmpl_prompt p = {0};
    struct chat_encoded got;
    struct err e = {0};
    struct vocab v;
    (void)state;
    UNIT_NEEDS_SHARED();

    assert_true(vocab_open(&v, "tokenizers/llama.cpp/ggml-vocab-phi-3.gguf"));
    special(&p, "<s>");
    special(&p, "<|user|>");
    own(&p, "\n");
    said(&p, " Hi ");
    special(&p, "<|end|>");
    own(&p, "\n");
    special(&p, "<|assistant|>");
    own(&p, "\n");
    tok_encode_special(v.t, p.text.p, p.text.n, TOK_AT_START, &whole);
    struct chat_encoder *enc = chat_encoder_new(v.t);
    assert_true(chat_encode(enc, &p, NULL, NULL, NULL, &got, &e));
    assert_int_equal(got.ids->n, whole.n);
    assert_memory_equal(got.ids->v, whole.v, whole.n * sizeof *whole.v);
    assert_true(whole.n < 8);
    chat_encoder_free(enc);
    tok_ids_release(&whole);
    tmpl_prompt_release(&p);
    vocab_close(&v);
}

/* Prompts that share texts, in any order: always the ids of a new encoder. */
static void remembering_changes_nothing(void **state)
{
    static const char *const texts[] = {
        "a text that is long enough to be kept for later, <think>",
        "another one, which has to be told apart from it  ",
        " and a third with white space around it \n ", "short", " ",
    };
    static const char *const names[] = { "<stop>", "<left>", "<right>" };
    struct tok *t = small();
    struct chat_encoder *enc = chat_encoder_new(t);
    unsigned seed = 3;
    (void)state;

    for (int round = 0; round < 300; round++) {
        struct tmpl_prompt p = {0};
        struct chat_encoded a, b;
        struct err e = {0};
        for (int k = 1 + rand_r(&seed) % 6; k > 0; k--) {
            int what = rand_r(&seed) % 3;
            const char *text = texts[(size_t)rand_r(&seed) % 5];
            if (what == 0)
                special(&p, names[(size_t)rand_r(&seed) % 3]);
            else
                piece(&p, TMPL_PIECE_TEXT, text,
                      what == 1 ? TMPL_FROM_TEMPLATE : TMPL_FROM_CONVERSATION);
        }
        struct chat_encoder *fresh = chat_encoder_new(t);
        assert_true(chat_encode(enc, &p, NULL, NULL, NULL, &a, &e));
        assert_true(chat_encode(fresh, &p, NULL, NULL, NULL, &b, &e));
        assert_int_equal(a.ids->n, b.ids->n);
        if (a.ids->n)
            assert_memory_equal(a.ids->v, b.ids->v, a.ids->n * sizeof *a.ids->v);
        assert_memory_equal(a.ends, b.ends, p.n * sizeof *a.ends);
        chat_encoder_free(fresh);
        tmpl_prompt_release(&p);
    }
    chat_encoder_free(enc);
    tok_free(t);
}

static void a_token_that_is_not_there(void **state)
{
    struct tok *t = small();
    struct chat_encoder *enc = chat_encoder_new(t);
    struct tmpl_prompt p = {0};
    struct chat_encoded got;
    struct err e = {0};
    (void)state;

    own(&p, "a");
    special(&p, "<none>");
    assert_false(chat_encode(enc, &p, NULL, NULL, NULL, &got, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "<none>"));
    chat_encoder_free(enc);
    tmpl_prompt_release(&p);
    tok_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_templates_text_is_markup),
        cmocka_unit_test(tokens_take_white_space_along),
        cmocka_unit_test(phi_3_swallows_line_breaks),
        cmocka_unit_test(remembering_changes_nothing),
        cmocka_unit_test(a_token_that_is_not_there),
    };
    return UNIT_RUN(tests);
}
