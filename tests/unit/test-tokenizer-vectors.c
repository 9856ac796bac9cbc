/* The tokenizer against reference ids of real vocabularies
 * (../shared/tokenizers/README.md tells where they come from). */
#include "config.h"

#include "tests/unit/vocab.h"

#include "base/utf8.h"
#include "tokenizer/internal.h"

/* Known differences: the case, and why it is right to differ or belongs elsewhere. */
struct except {
    const char *name;
    const char *why;
};

static bool excepted(const struct except *x, const char *name)
{
    for (; x && x->name; x++)
        if (strcmp(x->name, name) == 0)
            return true;
    return false;
}

/* Every case of the corpus: names recognised against "ref", plain text against "plain"
 * (or "ref", where the file says that they are the same). */
static void check_corpus(struct vocab *v, const json_t *expected, const struct except *x)
{
    json_t *corpus = shared_json("tokenizers/corpus/hard.json");
    json_t *ref = json_object_get(expected, "ref"),
           *plain = json_object_get(expected, "plain");
    json_t *differs = json_object_get(expected, "llama_cpp_special");
    struct buf text = {0};
    int bad = 0, seen = 0;
    size_t i;
    json_t *c;

    json_array_foreach(json_object_get(corpus, "cases"), i, c)
    {
        const char *name = json_string_value(json_object_get(c, "name"));
        json_t *want = json_object_get(ref, name);
        struct tok_ids ids = {0};
        case_text(c, &text);
        assert_non_null(want);
        if (excepted(x, name))
            continue;
        tok_encode_special(v->t, text.p, text.n, TOK_AT_START, &ids);
        bad += !same_ids(name, &ids, want);
        ids.n = 0;
        /* Where llama.cpp differs and "plain" is silent, plain text is what ref is,
         * unless the text has a name in it. */
        json_t *p = json_object_get(plain, name);
        if (p || !json_object_get(differs, name) || strncmp(name, "special", 7) != 0) {
            tok_encode(v->t, text.p, text.n, TOK_AT_START, &ids);
            bad += !same_ids(name, &ids, p ? p : want);
        }
        seen++;
        tok_ids_release(&ids);
    }
    buf_release(&text);
    json_decref(corpus);
    assert_true(seen > 250);
    assert_int_equal(bad, 0);
}

/* The .inp and .out of llama.cpp: texts between marker lines, ids by line. */
static void check_inp(struct vocab *v, const char *base)
{
    static const char mark[] = "\n__ggml_vocab_test__\n";
    char path[8192], *line = NULL;
    size_t cap = 0;
    struct buf in = {0};
    int bad = 0, seen = 0, c;

    snprintf(path, sizeof path, "%s/tokenizers/llama.cpp/%s.inp", unit_shared(), base);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while ((c = getc(f)) != EOF)
        buf_addc(&in, (char)c);
    fclose(f);
    snprintf(path, sizeof path, "%s/tokenizers/llama.cpp/%s.out", unit_shared(), base);
    f = fopen(path, "r");
    assert_non_null(f);
    for (const char *s = in.p; getline(&line, &cap, f) > 0; seen++) {
        const char *end = strstr(s, mark);
        size_t n = end ? (size_t)(end - s) : strlen(s);
        struct tok_ids ids = {0}, want = {0};
        for (char *p = line, *q; *p && *p != '\n'; p = q) {
            long id = strtol(p, &q, 10);
            if (q == p)
                break;
            tok_ids_add(&want, (int32_t)id);
        }
        tok_encode(v->t, s, n, TOK_AT_START, &ids);
        if (ids.n != want.n ||
            (ids.n && memcmp(ids.v, want.v, ids.n * sizeof *ids.v) != 0)) {
            print_message("%s, text %d\n", base, seen);
            print_ids("  got", ids.v, ids.n);
            print_ids("  expected", want.v, want.n);
            bad++;
        }
        tok_ids_release(&ids);
        tok_ids_release(&want);
        if (!end)
            break;
        s = end + sizeof mark - 1;
    }
    fclose(f);
    free(line);
    buf_release(&in);
    assert_true(seen > 30);
    assert_int_equal(bad, 0);
}

/* What comes back of a text: for bytes that the vocabulary has no token for, nothing
 * where the text is UTF-8, and else U+FFFD. */
static void what_comes_back(const struct vocab *v, const struct buf *text,
                            struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < text->n;) {
        size_t n = utf8_char(text->p + i, text->n - i);
        for (size_t end = i + (n ? n : 1); i < end; i++) {
            if (!v->t->encode || v->t->byte_id[(unsigned char)text->p[i]] >= 0)
                buf_addc(out, text->p[i]);
            else if (!n)
                buf_adds(out, "\xEF\xBF\xBD");
        }
    }
}

static void comes_back(const struct vocab *v, const struct buf *text,
                       enum tok_place place)
{
    struct buf back = {0}, want = {0};
    struct tok_ids ids = {0};

    tok_encode(v->t, buf_str(text), text->n, place, &ids);
    for (size_t k = 0; k < ids.n; k++)
        assert_true(ids.v[k] >= 0 && (size_t)ids.v[k] < tok_count(v->t));
    tok_decode(v->t, ids.v, ids.n, place, TOK_SPECIALS_HIDE, &back);
    what_comes_back(v, text, &want);
    assert_int_equal(back.n, want.n);
    assert_memory_equal(buf_str(&back), buf_str(&want), want.n);
    tok_ids_release(&ids);
    buf_release(&back);
    buf_release(&want);
}

/* Bytes that are not UTF-8, and seeded random bytes: they come back as they were. */
static void check_bytes(struct vocab *v, enum tok_place place)
{
    static const char *const bits[] = {
        "\xE4\xBD", "\xF0\x9F\x98\x80", " ",    "\n", "'s", "\xCC", "<|im_end|>", "</s>",
        "a",        "\xED\xA0\x80",     "12345"
    };
    json_t *corpus = shared_json("tokenizers/corpus/invalid_utf8.json"), *c;
    struct buf text = {0};
    unsigned seed = 20261130;
    size_t i;

    json_array_foreach(json_object_get(corpus, "cases"), i, c)
    {
        case_text(c, &text);
        comes_back(v, &text, place);
    }
    for (int round = 0; round < 300; round++) {
        buf_reset(&text);
        for (int k = rand_r(&seed) % 40; k >= 0; k--) {
            if (rand_r(&seed) % 3)
                buf_addc(&text, (char)(rand_r(&seed) >> 7));
            else
                buf_adds(&text,
                         bits[(size_t)rand_r(&seed) % (sizeof bits / sizeof *bits)]);
        }
        comes_back(v, &text, place);
    }
    json_decref(corpus);
    buf_release(&text);
}

/* A long text of each awkward shape: no time is measured, but what is not near linear
 * would not come to an end here. */
static void check_long(struct vocab *v)
{
    static const char *const unit[] = {
        "a", " ",  "\n",    "1",        "ab",  "\xE4\xBD\xA0", "\xFF",
        "<", "=-", "word ", "\xCC\x81", " \n", "'s",           "\r"
    };
    struct buf text = {0};

    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
        buf_reset(&text);
        while (text.n < 100000)
            buf_adds(&text, unit[u]);
        comes_back(v, &text, TOK_AT_START);
    }
    buf_release(&text);
}

/* The name of every special token: as text it stays text, which no token of the name's
 * kind is part of; by name it is that token. */
static void check_names(struct vocab *v)
{
    struct tok_ids ids = {0};
    struct buf back = {0};

    for (size_t i = 0; i < tok_count(v->t); i++) {
        size_t len, bytes;
        const char *name = tok_name(v->t, (int32_t)i, &len);
        tok_bytes(v->t, (int32_t)i, &bytes);
        if (!tok_is_special(v->t, (int32_t)i) || bytes) /* control tokens have none */
            continue;
        ids.n = 0;
        buf_reset(&back);
        tok_encode(v->t, name, len, TOK_AT_START, &ids);
        for (size_t k = 0; k < ids.n; k++) {
            tok_bytes(v->t, ids.v[k], &bytes);
            assert_true(bytes > 0);
            assert_false(tok_is_end(v->t, ids.v[k]));
        }
        tok_decode(v->t, ids.v, ids.n, TOK_AT_START, TOK_SPECIALS_HIDE, &back);
        assert_int_equal(back.n, len);
        assert_memory_equal(back.p, name, len);
        ids.n = 0;
        tok_encode_special(v->t, name, len, TOK_AT_START, &ids);
        assert_int_equal(ids.n, 1);
        assert_int_equal(ids.v[0], i);
    }
    tok_ids_release(&ids);
    buf_release(&back);
}

/* Ids of the tokens that end a turn, -1 behind the last. */
static void check_ends(struct vocab *v, const int32_t *want)
{
    for (size_t i = 0; i < tok_count(v->t); i++) {
        bool end = tok_is_end(v->t, (int32_t)i);
        if (end != (*want == (int32_t)i))
            fail_msg("token %zu: end %d", i, end);
        want += end;
    }
}

/* Some cannot give every byte back: NFC changes text, and some have no token for bytes
 * that are never in UTF-8. */
enum check_bytes { WRITES_ANY_BYTES, CHANGES_BYTES };

static void check_vocab(const char *name, const char *inp, enum check_bytes bytes,
                        const int32_t *ends, const struct except *x)
{
    char path[256];
    struct vocab v;

    snprintf(path, sizeof path, "tokenizers/expected/%s.json", name);
    json_t *expected = shared_json(path);
    snprintf(path, sizeof path, "tokenizers/%s",
             json_string_value(json_object_get(expected, "vocab")));
    if (!vocab_open(&v, path)) {
        json_decref(expected);
        skip();
    }
    assert_int_equal(tok_count(v.t),
                     json_integer_value(json_object_get(expected, "n_vocab")));
    json_t *bos = json_object_get(expected, "add_special_prefix");
    assert_int_equal(tok_adds_bos(v.t), json_array_size(bos));
    if (json_array_size(bos))
        assert_int_equal(tok_bos(v.t), json_integer_value(json_array_get(bos, 0)));
    check_corpus(&v, expected, x);
    check_names(&v);
    if (ends)
        check_ends(&v, ends);
    if (inp)
        check_inp(&v, inp);
    if (bytes == WRITES_ANY_BYTES) {
        check_bytes(&v, TOK_AT_START);
        check_bytes(&v, TOK_AFTER_TEXT);
        check_long(&v);
    }
    json_decref(expected);
    vocab_close(&v);
}

static void llama_spm(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("llama-spm", "ggml-vocab-llama-spm.gguf", WRITES_ANY_BYTES,
                (const int32_t[]){ 2, -1 }, NULL);
}

static void phi_3(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("phi-3", "ggml-vocab-phi-3.gguf", WRITES_ANY_BYTES,
                (const int32_t[]){ 32000, 32007, -1 }, NULL);
}

static void mistral_v3(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("mistral-v3-spm", NULL, WRITES_ANY_BYTES, (const int32_t[]){ 2, -1 },
                NULL);
}

static void gemma(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("gemma-spm", NULL, WRITES_ANY_BYTES, (const int32_t[]){ 1, 106, -1 },
                NULL);
}

static void gpt_2(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("gpt-2", "ggml-vocab-gpt-2.gguf", WRITES_ANY_BYTES,
                (const int32_t[]){ 50256, -1 }, NULL);
}

static void llama_bpe(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("llama-bpe", "ggml-vocab-llama-bpe.gguf", WRITES_ANY_BYTES,
                (const int32_t[]){ 128001, 128009, -1 }, NULL);
}

static void qwen2(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("qwen2", "ggml-vocab-qwen2.gguf", CHANGES_BYTES,
                (const int32_t[]){ 151643, 151645, -1 }, NULL);
}

static void dbrx(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("dbrx", NULL, WRITES_ANY_BYTES, NULL, NULL);
}

static void olmo(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("olmo", NULL, CHANGES_BYTES, NULL, NULL);
}

static void mpt(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("mpt", "ggml-vocab-mpt.gguf", WRITES_ANY_BYTES, NULL, NULL);
}

static void deepseek_v3(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("deepseek-v3", NULL, WRITES_ANY_BYTES, NULL, NULL);
}

static void deepseek_llm(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("deepseek-llm", "ggml-vocab-deepseek-llm.gguf", WRITES_ANY_BYTES, NULL,
                NULL);
}

static void deepseek_coder(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("deepseek-coder", "ggml-vocab-deepseek-coder.gguf", WRITES_ANY_BYTES,
                NULL, NULL);
}

static void falcon(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("falcon", "ggml-vocab-falcon.gguf", WRITES_ANY_BYTES, NULL, NULL);
}

static void starcoder(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("starcoder", "ggml-vocab-starcoder.gguf", WRITES_ANY_BYTES, NULL, NULL);
}

static void refact(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("refact", "ggml-vocab-refact.gguf", WRITES_ANY_BYTES, NULL, NULL);
}

static void gpt_4o(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("gpt-4o", NULL, WRITES_ANY_BYTES, NULL, NULL);
}

static void tekken(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("tekken", NULL, WRITES_ANY_BYTES, NULL, NULL);
}

static void kimi_k2(void **state)
{
    (void)state;
    UNIT_NEEDS_SHARED();
    check_vocab("kimi-k2", NULL, WRITES_ANY_BYTES, NULL, NULL);
}

/* Prompts of a model whose ids stand with its expected logits; BOS is the caller's. */
static void stories260k(void **state)
{
    json_t *expected, *run;
    struct vocab v;
    size_t i;
    (void)state;
    UNIT_NEEDS_SHARED();

    expected = shared_json("models/expected/stories260K.json");
    assert_true(vocab_open(&v, "models/stories260K.gguf"));
    assert_true(tok_adds_bos(v.t));
    assert_int_equal(tok_eos(v.t), 2);
    json_array_foreach(json_object_get(expected, "runs"), i, run)
    {
        json_t *text = json_object_get(run, "prompt");
        struct tok_ids ids = {0};
        tok_ids_add(&ids, tok_bos(v.t));
        tok_encode(v.t, json_string_value(text), json_string_length(text), TOK_AT_START,
                   &ids);
        assert_true(same_ids("prompt", &ids, json_object_get(run, "prompt_ids")));
        tok_ids_release(&ids);
    }
    assert_true(i >= 3);
    check_names(&v);
    check_bytes(&v, TOK_AT_START);
    check_bytes(&v, TOK_AFTER_TEXT);
    check_long(&v);
    vocab_close(&v);
    json_decref(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_spm),      cmocka_unit_test(phi_3),
        cmocka_unit_test(mistral_v3),     cmocka_unit_test(gemma),
        cmocka_unit_test(gpt_2),          cmocka_unit_test(llama_bpe),
        cmocka_unit_test(qwen2),          cmocka_unit_test(dbrx),
        cmocka_unit_test(olmo),           cmocka_unit_test(mpt),
        cmocka_unit_test(deepseek_v3),    cmocka_unit_test(deepseek_llm),
        cmocka_unit_test(deepseek_coder), cmocka_unit_test(falcon),
        cmocka_unit_test(starcoder),      cmocka_unit_test(refact),
        cmocka_unit_test(gpt_4o),         cmocka_unit_test(tekken),
        cmocka_unit_test(kimi_k2),        cmocka_unit_test(stories260k),
    };
    return UNIT_RUN(tests);
}
