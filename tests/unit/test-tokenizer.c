/* The tokenizer on small vocabularies that are written here, where every id can be told
 * by hand. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "tests/unit/vocab-make.h"

static struct gguf_write made;
static struct buf made_file;
static struct vocab small;

/* Load what was made; on failure the test ends. */
static void load(void)
{
    struct err e = {0};

    small.g = gm_open(&made, &made_file, &e);
    small.t = small.g ? tok_from_gguf(small.g, &e) : NULL;
    if (!small.t)
        fail_msg("%s", e.text);
}

static void unload(void)
{
    vocab_close(&small);
    gw_release(&made);
    buf_release(&made_file);
}

/* After every test, for those that end in the middle. */
static int clean(void **state)
{
    (void)state;
    unload();
    return 0;
}

typedef void encode_fn(const struct tok *t, const char *text, size_t len,
                       enum tok_place place, struct tok_ids *out);

/* The ids of text as words, so that a difference can be read. */
static void expect(encode_fn *encode, enum tok_place place, const char *text, size_t len,
                   const char *want)
{
    struct tok_ids ids = {0};
    struct buf b = {0};

    encode(small.t, text, len, place, &ids);
    for (size_t i = 0; i < ids.n; i++) {
        size_t n;
        const char *name = tok_name(small.t, ids.v[i], &n);
        buf_addf(&b, "%s%.*s", i ? " " : "", (int)n, name);
    }
    assert_string_equal(buf_str(&b), want);
    buf_release(&b);
    tok_ids_release(&ids);
}

static void text_is(enum tok_place place, const char *text, const char *want)
{
    expect(tok_encode, place, text, strlen(text), want);
}

static void special_is(enum tok_place place, const char *text, const char *want)
{
    expect(tok_encode_special, place, text, strlen(text), want);
}

static void decodes_to(const char *names, enum tok_place place,
                       enum tok_specials specials, const char *want)
{
    struct tok_ids ids = {0};
    struct buf b = {0};

    for (const char *p = names; *p;) {
        size_t len = strcspn(p, " ");
        for (size_t i = 0; i < tok_count(small.t); i++) {
            size_t n;
            const char *name = tok_name(small.t, (int32_t)i, &n);
            if (n == len && memcmp(name, p, n) == 0) {
                tok_ids_add(&ids, (int32_t)i);
                break;
            }
        }
        p += len + (p[len] == ' ');
    }
    tok_decode(small.t, ids.v, ids.n, place, specials, &b);
    assert_string_equal(buf_str(&b), want);
    buf_release(&b);
    tok_ids_release(&ids);
}

/* ---- lists ---- */

static void a_list_is_cut_by_longest_match(void **state)
{
    static char bytes[256][2];
    const char *text[260];
    size_t len[260];
    bool special[260] = { false };
    struct err e = {0};
    (void)state;

    for (int b = 0; b < 256; b++) {
        bytes[b][0] = (char)b;
        text[b] = bytes[b];
        len[b] = 1;
    }
    text[256] = "hello";
    text[257] = "hell";
    text[258] = "<end>";
    text[259] = "hello wor";
    for (int i = 256; i < 260; i++)
        len[i] = strlen(text[i]);
    special[258] = true;
    struct tok_list list = { 260, text, len, special, -1, 258 };
    small.t = tok_from_list(&list, &e);
    if (!small.t)
        fail_msg("%s", e.text);
    assert_string_equal(tok_kind(small.t), "list");
    assert_int_equal(tok_count(small.t), 260);
    text_is(TOK_AT_START, "hello world", "hello wor l d");
    text_is(TOK_AT_START, "hello, hel", "hello ,   h e l");
    text_is(TOK_AT_START, "<end>", "< e n d >");
    special_is(TOK_AT_START, "hell<end>", "hell <end>");
    decodes_to("hello <end> hell", TOK_AT_START, TOK_SPECIALS_HIDE, "hellohell");
    decodes_to("hello <end> hell", TOK_AT_START, TOK_SPECIALS_SHOW, "hello<end>hell");
    assert_int_equal(tok_special(small.t, "<end>"), 258);
    assert_int_equal(tok_special(small.t, "hello"), -1);
    assert_true(tok_is_end(small.t, 258));
    assert_false(tok_is_end(small.t, 257));
    assert_false(tok_adds_bos(small.t));
    assert_int_equal(tok_bos(small.t), -1);

    struct tok_ids ids = {0};
    struct buf back = {0};
    char all[512];
    for (int i = 0; i < 512; i++)
        all[i] = (char)(i * 7);
    tok_encode(small.t, all, sizeof all, TOK_AT_START, &ids);
    tok_decode(small.t, ids.v, ids.n, TOK_AT_START, TOK_SPECIALS_HIDE, &back);
    assert_int_equal(back.n, sizeof all);
    assert_memory_equal(back.p, all, sizeof all);
    tok_ids_release(&ids);
    buf_release(&back);
    tok_free(small.t);
    small.t = NULL;

    list.n = 255; /* without the byte FF */
    assert_null(tok_from_list(&list, &e));
    assert_non_null(strstr(e.text, "0xFF"));
}

static void ids_out_of_range_are_harmless(void **state)
{
    static const int32_t bad[] = { -1, INT32_MIN, INT32_MAX, 4 };
    struct gm_vocab v = { .n = 0 };
    struct buf b = {0};
    size_t n;
    (void)state;

    gm_token(&v, "<unk>", UNKNOWN, 0);
    gm_token(&v, "a", NORMAL, 0);
    gm_token(&v, "b", NORMAL, 0);
    gm_token(&v, "c", NORMAL, 0);
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    gw_kv_u32(&made, "tokenizer.ggml.bos_token_id", 4);
    gw_kv_u32(&made, "tokenizer.ggml.eos_token_id", UINT32_MAX);
    load();
    assert_int_equal(tok_bos(small.t), -1);
    assert_int_equal(tok_eos(small.t), -1);
    assert_false(tok_adds_bos(small.t));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(tok_name(small.t, bad[i], &n));
        assert_int_equal(n, 0);
        assert_non_null(tok_bytes(small.t, bad[i], &n));
        assert_int_equal(n, 0);
        assert_false(tok_is_end(small.t, bad[i]));
        assert_false(tok_is_special(small.t, bad[i]));
    }
    tok_decode(small.t, bad, sizeof bad / sizeof *bad, TOK_AT_START, TOK_SPECIALS_SHOW,
               &b);
    assert_int_equal(b.n, 0);
    buf_release(&b);
    unload();
}

/* ---- SentencePiece ---- */

static void spm_merges_by_score(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    spm_tokens(&v);
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    load();
    assert_string_equal(tok_kind(small.t), "SPM");
    assert_true(tok_adds_bos(small.t));
    assert_int_equal(tok_bos(small.t), 1); /* by name: the file does not say */
    assert_int_equal(tok_eos(small.t), 2);
    text_is(TOK_AFTER_TEXT, "", "");
    text_is(TOK_AT_START, "", "");
    text_is(TOK_AFTER_TEXT, "abc", "a bc"); /* bc has the higher score */
    text_is(TOK_AFTER_TEXT, "aaaaa", "aa aa a");
    text_is(TOK_AT_START, "ab", SP " ab");
    text_is(TOK_AT_START, "a", SP "a");
    text_is(TOK_AFTER_TEXT, "b a", "b " SP "a");
    text_is(TOK_AFTER_TEXT, "b   b", "b " SP SP " " SP " b");
    text_is(TOK_AFTER_TEXT, "b" SP "a", "b " SP "a");
    text_is(TOK_AFTER_TEXT, "\n\xC3\xA4\xFF", "<0x0A> <0xC3> <0xA4> <0xFF>");
    expect(tok_encode, TOK_AFTER_TEXT, "a\0b", 3, "a <0x00> b");
    unload();
}

static void text_never_becomes_a_control_token(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    spm_tokens(&v);
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    load();
    /* "</s" merges, and with ">" would make the token for the end of the text. */
    text_is(TOK_AFTER_TEXT, "</s>", "</s >");
    text_is(TOK_AFTER_TEXT, "<0x0A>", "< <0x30> <0x78> <0x30> <0x41> >");
    text_is(TOK_AFTER_TEXT, "a<tool>a", "a <tool> " SP "a");
    special_is(TOK_AFTER_TEXT, "a</s>a<tool><s>", "a </s> " SP "a <tool> <s>");
    /* Called user-defined, but a control token by its looks. */
    assert_true(tok_is_special(small.t, tok_special(small.t, "<|turn|>")));
    text_is(TOK_AFTER_TEXT, "<|turn|>", "< <0x7C> <0x74> <0x75> <0x72> <0x6E> <0x7C> >");
    special_is(TOK_AFTER_TEXT, "<|turn|>", "<|turn|>");
    /* Names that end turns somewhere: not from text, whether they do here or not. */
    text_is(TOK_AFTER_TEXT, "[EOT]", "<0x5B> <0x45> <0x4F> <0x54> <0x5D>");
    special_is(TOK_AFTER_TEXT, "[EOT]<end_of_turn>", "[EOT] <end_of_turn>");
    assert_false(tok_is_end(small.t, tok_special(small.t, "[EOT]")));
    assert_true(tok_is_end(small.t, tok_special(small.t, "<end_of_turn>")));
    decodes_to("<s> " SP "a <|turn|> <tool> a </s>", TOK_AT_START, TOK_SPECIALS_HIDE,
               "a<tool>a");
    decodes_to("<s> " SP "a <|turn|> a </s>", TOK_AT_START, TOK_SPECIALS_SHOW,
               "<s>a<|turn|>a</s>");
    decodes_to(SP "a " SP "a", TOK_AFTER_TEXT, TOK_SPECIALS_HIDE, " a a");
    assert_true(tok_is_end(small.t, 2));
    assert_false(tok_is_end(small.t, 1));
    unload();
}

static void spm_keys_are_obeyed(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    spm_tokens(&v);
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    gm_kv_bool(&made, "tokenizer.ggml.add_space_prefix", false);
    gm_kv_bool(&made, "tokenizer.ggml.add_bos_token", false);
    gw_kv_u32(&made, "tokenizer.ggml.eot_token_id", 1);
    load();
    text_is(TOK_AT_START, "a", "a");
    special_is(TOK_AT_START, "a<s>a", "a <s> a");
    decodes_to(SP "a", TOK_AT_START, TOK_SPECIALS_HIDE, " a");
    assert_false(tok_adds_bos(small.t));
    assert_true(tok_is_end(small.t, 1));
    unload();
}

static void what_cannot_be_written_is_unknown(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    gm_token(&v, "<unk>", UNKNOWN, 0);
    gm_token(&v, "a", NORMAL, -1);
    gm_token(&v, "<0xC3>", BYTE, 0); /* half of it does not help */
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    load();
    text_is(TOK_AFTER_TEXT,
            "a\xC3\xA4"
            "a",
            "a <unk> a");
    text_is(TOK_AFTER_TEXT,
            "a\xC3"
            "a",
            "a <0xC3> a");
    decodes_to("a <unk> a", TOK_AFTER_TEXT, TOK_SPECIALS_HIDE, "aa");
    unload();
}

static void runs_of_spaces_are_found_in_both_forms(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    spm_tokens(&v);
    gm_token(&v, "   ", USER, 0);
    gm_token(&v, SP SP SP SP, USER, 0);
    gw_kv_str(&made, "tokenizer.ggml.model", "llama");
    gm_kv_bool(&made, "tokenizer.ggml.add_space_prefix", false);
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    load();
    text_is(TOK_AFTER_TEXT, "b   b", "b     b");
    text_is(TOK_AFTER_TEXT, "b" SP SP SP "b", "b     b");
    text_is(TOK_AFTER_TEXT, "b    b", "b " SP SP SP SP " b");
    text_is(TOK_AFTER_TEXT, "b  b", "b " SP SP " b");
    decodes_to("b " SP SP SP SP " b", TOK_AFTER_TEXT, TOK_SPECIALS_HIDE, "b    b");
    unload();
}

/* ---- byte-level BPE ---- */

static void bpe_load(const char *pre)
{
    struct gm_vocab v = { .n = 0 };

    bpe_tokens(&v);
    gw_kv_str(&made, "tokenizer.ggml.model", "gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", pre);
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    gw_kv_u32(&made, "tokenizer.ggml.bos_token_id", 263);
    bpe_merge_list(&made);
    load();
}

static void bpe_merges_by_rank(void **state)
{
    (void)state;
    bpe_load("gpt-2");
    assert_string_equal(tok_kind(small.t), "BPE gpt-2");
    assert_false(tok_adds_bos(small.t));
    assert_int_equal(tok_bos(small.t), 263);
    assert_true(tok_is_special(small.t, 263)); /* the file names it as BOS */
    text_is(TOK_AT_START, "", "");
    text_is(TOK_AT_START, "abc", "a bc");
    text_is(TOK_AT_START, "aaab", "aa ab"); /* "a b" comes before "a a" */
    text_is(TOK_AT_START, "b a", "b " GS "a");
    text_is(TOK_AT_START, "abcc", "a bc c");
    text_is(TOK_AT_START, "a<tool>b<|end|>", "a <tool> b < | e n d | >");
    special_is(TOK_AT_START, "a<tool>b<|end|>", "a <tool> b <|end|>");
    text_is(TOK_AT_START, "\xFF\xC3", "\xC3\xBF \xC3\x83");
    decodes_to("a <tool> " GS "a <|end|>", TOK_AT_START, TOK_SPECIALS_HIDE, "a<tool> a");
    unload();

    bpe_load("llama-bpe");
    assert_true(tok_adds_bos(small.t));
    text_is(TOK_AT_START, "abcc", "abcc"); /* a piece that is a token */
    text_is(TOK_AT_START, "abccb", "a bc c b");
    unload();
}

/* A file without tokenizer.ggml.pre: refused, unless somebody says what it is. */
static void the_pre_tokenizer_can_be_named(void **state)
{
    struct gm_vocab v = { .n = 0 };
    struct err e = {0};
    (void)state;

    bpe_tokens(&v);
    gw_kv_str(&made, "tokenizer.ggml.model", "gpt2");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    bpe_merge_list(&made);
    small.g = gm_open(&made, &made_file, &e);
    assert_null(tok_from_gguf(small.g, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "--pre NAME"));
    assert_non_null(strstr(e.text, "llama-bpe, "));
    assert_null(tok_from_gguf_pre(small.g, "martian", &e));
    assert_non_null(strstr(e.text, "--pre is \"martian\""));
    small.t = tok_from_gguf_pre(small.g, "llama-bpe", &e);
    assert_non_null(small.t);
    assert_string_equal(tok_kind(small.t), "BPE llama-bpe");
    text_is(TOK_AT_START, "abcc", "abcc");
}

/* What GGUF has no place for is known by the pre-tokenizer's name. */
static void the_mask_takes_spaces_along(void **state)
{
    struct gm_vocab v = { .n = 0 };
    (void)state;

    bpe_tokens(&v);
    gm_token(&v, "<mask>", CONTROL, 0);
    gw_kv_str(&made, "tokenizer.ggml.model", "gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", "roberta-bpe");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    bpe_merge_list(&made);
    load();
    special_is(TOK_AT_START, "a  <mask> a", "a <mask> " GS "a");
}

/* Kimi's files need no merges: the id is the rank. Others do. */
static void kimi_needs_no_merges(void **state)
{
    struct gm_vocab v = { .n = 0 };
    struct err e = {0};
    (void)state;

    for (int b = 0; b < 256; b++)
        gm_token(&v, letter(b), NORMAL, 0);
    gm_token(&v, "bc", NORMAL, 0);
    gm_token(&v, "ab", NORMAL, 0);
    gm_token(&v, "abc", NORMAL, 0);
    gw_kv_str(&made, "tokenizer.ggml.model", "gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", "kimi-k2");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    load();
    text_is(TOK_AT_START, "abcd", "abc d");     /* b c first, then a with it */
    text_is(TOK_AT_START, "ab", "ab");
    text_is(TOK_AT_START, "abb", "ab b");
    assert_null(tok_from_gguf_pre(small.g, "qwen2", &e));
    assert_non_null(strstr(e.text, "tokenizer.ggml.merges is missing"));
}

/* Gemma 4's form: merges over characters, spaces as U+2581, bytes by name. */
static void merges_over_characters(void **state)
{
    static const char *const merges[] = { "a b", SP " a", SP " " SP, "\n \n" };
    struct gm_vocab v = { .n = 0 };
    char name[8];
    (void)state;

    gm_token(&v, "<bos>", CONTROL, 0);
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        gm_token(&v, name, BYTE, 0);
    }
    static const char *const tokens[] = { SP, "a", "b", "\n", "ab", SP "a", SP SP,
                                          "\n\n", "\n\n\n" };
    for (int i = 0; i < 9; i++)
        gm_token(&v, tokens[i], NORMAL, 0);
    gw_kv_str(&made, "tokenizer.ggml.model", "gemma4");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    gw_kv_array(&made, "tokenizer.ggml.merges", GGUF_STRING, 4);
    for (int i = 0; i < 4; i++)
        gw_str(&made.kv, merges[i], strlen(merges[i]));
    gw_kv_u32(&made, "tokenizer.ggml.bos_token_id", 0);
    load();
    assert_string_equal(tok_kind(small.t), "BPE gemma4");
    assert_true(tok_adds_bos(small.t));
    text_is(TOK_AT_START, "ab a", "ab " SP "a");
    text_is(TOK_AT_START, "a  b", "a " SP SP " b");
    text_is(TOK_AT_START, "\xC3\xA9" "c", "<0xC3> <0xA9> <0x63>");
    text_is(TOK_AT_START, "a\n\n\nb", "a \n\n\n b");     /* a token, no merge leads to it */
    text_is(TOK_AT_START, "\xFF", "<0xFF>");
    decodes_to(SP "a <0x0A> b", TOK_AT_START, TOK_SPECIALS_HIDE, " a\nb");
}

static void qwen_text_is_normalised(void **state)
{
    (void)state;
    bpe_load("qwen2");
    text_is(TOK_AT_START, "e\xCC\x81", "\xC3\x83 \xC2\xA9"); /* é */
    text_is(TOK_AT_START, "\xC3\xA4 e\xCC\x81x",
            "\xC3\x83 \xC2\xA4 " GS " \xC3\x83 \xC2\xA9 x");
    text_is(TOK_AT_START, "\xCC\x81", "\xC3\x8C \xC4\xA3");
    text_is(TOK_AT_START, "e\xFF\xCC\x81",
            "e \xC3\xBF \xC3\x8C \xC4\xA3"); /* not across bad bytes */
    unload();
    bpe_load("gpt-2");
    text_is(TOK_AT_START, "e\xCC\x81", "e \xC3\x8C \xC4\xA3");
    unload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_list_is_cut_by_longest_match, clean),
        cmocka_unit_test_teardown(ids_out_of_range_are_harmless, clean),
        cmocka_unit_test_teardown(spm_merges_by_score, clean),
        cmocka_unit_test_teardown(text_never_becomes_a_control_token, clean),
        cmocka_unit_test_teardown(spm_keys_are_obeyed, clean),
        cmocka_unit_test_teardown(what_cannot_be_written_is_unknown, clean),
        cmocka_unit_test_teardown(runs_of_spaces_are_found_in_both_forms, clean),
        cmocka_unit_test_teardown(bpe_merges_by_rank, clean),
        cmocka_unit_test_teardown(the_pre_tokenizer_can_be_named, clean),
        cmocka_unit_test_teardown(the_mask_takes_spaces_along, clean),
        cmocka_unit_test_teardown(kimi_needs_no_merges, clean),
        cmocka_unit_test_teardown(merges_over_characters, clean),
        cmocka_unit_test_teardown(qwen_text_is_normalised, clean),
    };
    return UNIT_RUN(tests);
}
