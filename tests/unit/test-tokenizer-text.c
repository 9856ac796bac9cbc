/* Text that must not become control, text in spans, and the cache. */
#include "config.h"

#include "tests/unit/vocab.h"

#include <pthread.h>

#include "tests/unit/hf-make.h"

static struct tok *t;
static struct buf got;

static int clean(void **state)
{
    (void)state;
    tok_free(t);
    t = NULL;
    buf_release(&got);
    return 0;
}

#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"
#define ADDED(id, text, flags) "{\"id\":" id ",\"content\":\"" text "\"," flags \
                               "\"special\":false}"

enum { AB = 256, THINK, INST, BARS, SPACES, WORD, HALF, STOP, LEFT, RIGHT };

/* A vocabulary with all kinds of added tokens. */
static void load(void)
{
    const struct hf_config none = {0};
    struct hf_make m = {
        .vocab = ",\"ab\":256", .merges = "\"a b\"", .pre_tokenizer = BYTE_LEVEL,
        .added = ADDED("257", "<think>", "") "," ADDED("258", "[INST]", "") ","
                 ADDED("259", "<|note|>", "") "," ADDED("260", "    ", "") ","
                 ADDED("261", "wrd", "") "," ADDED("262", "<half", "") ","
                 "{\"id\":263,\"content\":\"<stop>\",\"special\":true},"
                 "{\"id\":264,\"content\":\"<left>\",\"lstrip\":true,\"special\":true},"
                 "{\"id\":265,\"content\":\"<right>\",\"rstrip\":true,\"special\":true}",
    };
    struct buf text = {0};
    struct err e = {0};

    hf_make(&text, &m);
    t = tok_hf_memory(text.p, text.n, "small", &none, &e);
    if (!t)
        fail_msg("%s", e.text);
    buf_release(&text);
}

/* Ids as text: bytes as themselves, others in braces. */
static const char *shown(const struct tok_ids *ids)
{
    buf_reset(&got);
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->v[i] > ' ' && ids->v[i] < 127)
            buf_addc(&got, (char)ids->v[i]);
        else if (ids->v[i] < 256)
            buf_addf(&got, "{%02X}", (unsigned)ids->v[i]);
        else
            buf_addf(&got, "{%d}", (int)ids->v[i]);
    }
    return buf_str(&got);
}

typedef void encode_fn(const struct tok *tok, const char *text, size_t len,
                       enum tok_place place, struct tok_ids *out);

static void is(encode_fn *encode, const char *text, const char *want)
{
    struct tok_ids ids = {0};

    encode(t, text, strlen(text), TOK_AT_START, &ids);
    assert_string_equal(shown(&ids), want);
    tok_ids_release(&ids);
}

static void markup_is_no_token_in_foreign_text(void **state)
{
    (void)state;
    load();

    is(tok_encode, "<think>ab", "{257}{256}");
    is(tok_encode_foreign, "<think>ab", "<think>{256}");
    is(tok_encode, "[INST]", "{258}");
    is(tok_encode_foreign, "[INST]", "[INST]");
    /* control by its name, whatever the file says: in no text */
    is(tok_encode, "<|note|>", "<|note|>");
    is(tok_encode_foreign, "<|note|>", "<|note|>");
    is(tok_encode_special, "<|note|>", "{259}");
    is(tok_encode, "<stop>", "<stop>");
    is(tok_encode_foreign, "<stop>", "<stop>");
    is(tok_encode_special, "<stop>", "{263}");
    /* what is no markup is as ever */
    is(tok_encode, "a    wrd", "a{260}{261}");
    is(tok_encode_foreign, "a    wrd", "a{260}{261}");
    is(tok_encode_foreign, "<half", "{262}");
}

static void spans_are(const char *text, const struct tok_span *span, size_t n,
                      const char *want)
{
    struct tok_ids ids = {0};

    tok_encode_spans(t, text, span, n, TOK_AT_START, &ids);
    assert_string_equal(shown(&ids), want);
    tok_ids_release(&ids);
}

/* One text: what merges, merges across the border; markup only where all of it is ours. */
static void spans_are_one_text(void **state)
{
    (void)state;
    load();

    spans_are("ab", (struct tok_span[]){ { 1, TOK_TEXT_PLAIN }, { 1, TOK_TEXT_FOREIGN } },
              2, "{256}");
    spans_are("x<think>y",
              (struct tok_span[]){ { 1, TOK_TEXT_FOREIGN }, { 7, TOK_TEXT_PLAIN },
                                   { 1, TOK_TEXT_FOREIGN } }, 3, "x{257}y");
    spans_are("<think>",
              (struct tok_span[]){ { 3, TOK_TEXT_PLAIN }, { 0, TOK_TEXT_FOREIGN },
                                   { 4, TOK_TEXT_PLAIN } }, 3, "<think>");
    spans_are("<think>",
              (struct tok_span[]){ { 3, TOK_TEXT_PLAIN }, { 4, TOK_TEXT_PLAIN } }, 2, "{257}");
    for (size_t cut = 1; cut < 7; cut++) {
        spans_are("<think>",
                  (struct tok_span[]){ { cut, TOK_TEXT_PLAIN },
                                       { 7 - cut, TOK_TEXT_FOREIGN } }, 2, "<think>");
        spans_are("<think>",
                  (struct tok_span[]){ { cut, TOK_TEXT_FOREIGN },
                                       { 7 - cut, TOK_TEXT_PLAIN } }, 2, "<think>");
    }
    spans_are("a    b", (struct tok_span[]){ { 3, TOK_TEXT_PLAIN }, { 3, TOK_TEXT_FOREIGN } },
              2, "a{260}b");
    spans_are("", (struct tok_span[]){ { 0, TOK_TEXT_PLAIN } }, 1, "");
    spans_are("", NULL, 0, "");
    /* a shorter name that is no markup, where the longer one may not be */
    spans_are("<half", (struct tok_span[]){ { 2, TOK_TEXT_FOREIGN }, { 3, TOK_TEXT_PLAIN } },
              2, "{262}");
}

/* Real vocabularies: no name of a special token becomes it in foreign text. */
static void no_real_markup_from_foreign_text(void **state)
{
    static const char *const names[] = {
        "vocab/qwen2.gguf.xz", "vocab/gemma-spm.gguf.xz", "vocab/kimi-k2.gguf.xz",
        "vocab/deepseek-v3.gguf.xz", "vocab/tekken.gguf.xz",
        "llama.cpp/ggml-vocab-phi-3.gguf", "vocab/llama-bpe.gguf.xz",
    };
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[256];
        struct vocab v;
        size_t markup = 0;
        snprintf(path, sizeof path, "tokenizers/%s", names[k]);
        if (!vocab_open(&v, path))
            skip();
        for (size_t i = 0; i < tok_count(v.t); i++) {
            size_t n;
            const char *name = tok_name(v.t, (int32_t)i, &n);
            struct tok_ids ids = {0};
            struct buf back = {0};
            if (!tok_is_special(v.t, (int32_t)i) || n < 2 ||
                !((name[0] == '<' && name[n - 1] == '>') ||
                  (name[0] == '[' && name[n - 1] == ']')))
                continue;
            markup++;
            tok_encode_foreign(v.t, name, n, TOK_AFTER_TEXT, &ids);
            for (size_t j = 0; j < ids.n; j++)
                assert_false(tok_is_special(v.t, ids.v[j]));
            tok_decode(v.t, ids.v, ids.n, TOK_AFTER_TEXT, TOK_SPECIALS_HIDE, &back);
            assert_int_equal(back.n, n);
            assert_memory_equal(back.p, name, n);
            tok_ids_release(&ids);
            buf_release(&back);
        }
        print_message("%s: %zu names\n", names[k], markup);
        assert_true(markup > 0);
        vocab_close(&v);
    }
}

/* ---- threads ---- */

static const char *const thread_texts[] = { "ab abab <think> wrd", "    a b\n", "\xFF<stop>",
                                            "ab ab", "x" };

static void *encode_often(void *arg)
{
    struct tok_ids *out = arg;

    for (int round = 0; round < 400; round++) {
        const char *text = thread_texts[round % 5];
        tok_encode(t, text, strlen(text), TOK_AT_START, out);
    }
    return NULL;
}

/* Any thread may use a tokenizer, also while it still learns which pieces are tokens. */
static void threads_share_a_tokenizer(void **state)
{
    struct tok_ids ids[4] = {{0}};
    pthread_t thread[4];
    (void)state;
    load();

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, encode_often, &ids[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ids[i].n, ids[0].n);
        assert_memory_equal(ids[i].v, ids[0].v, ids[0].n * sizeof *ids[0].v);
    }
    for (int i = 0; i < 4; i++)
        tok_ids_release(&ids[i]);
}

/* ---- white space ---- */

static void some_tokens_take_white_space_along(void **state)
{
    static const char text[] = "a <left>\xC2\xA0 b <right> \n c";
    (void)state;
    load();

    assert_int_equal(tok_takes_space(t, LEFT), TOK_BEFORE);
    assert_int_equal(tok_takes_space(t, RIGHT), TOK_BEHIND);
    assert_int_equal(tok_takes_space(t, STOP), TOK_NO_SIDE);
    assert_int_equal(tok_takes_space(t, -1), TOK_NO_SIDE);
    assert_true(tok_has_takers(t, TOK_BEFORE));
    is(tok_encode_special, text, "a{264}{C2}{A0}{20}b{20}{265}c");
    assert_int_equal(tok_space_at_front(" \t\xC2\xA0\xE3\x80\x80x ", 8), 7);
    assert_int_equal(tok_space_at_end(" x\xE2\x80\x83\n", 6), 4);
    assert_int_equal(tok_space_at_front("\xA0", 1), 0);
    assert_int_equal(tok_space_at_end("\xA0", 1), 0);
    assert_int_equal(tok_space_at_end("", 0), 0);
}

/* ---- the cache ---- */

/* A conversation of n messages. */
static void render(struct tok_cache *c, int n, struct tok_ids *out)
{
    struct buf text = {0};

    out->n = 0;
    for (int i = 0; i < n; i++) {
        buf_reset(&text);
        buf_adds(&text, "user\n");
        for (int k = 0; k < 50; k++)
            buf_addf(&text, "message %d has a word %d ab ", i, k * i);
        struct tok_span span[] = { { 5, TOK_TEXT_PLAIN }, { text.n - 5, TOK_TEXT_FOREIGN } };
        tok_ids_add(out, STOP);
        if (c)
            tok_cache_encode(c, text.p, span, 2, TOK_AFTER_SPECIAL, out);
        else
            tok_encode_spans(t, text.p, span, 2, TOK_AFTER_SPECIAL, out);
    }
    buf_release(&text);
}

static void only_new_text_is_encoded(void **state)
{
    struct tok_ids with = {0}, without = {0};
    uint64_t before = 0, first = 0;
    (void)state;
    load();

    struct tok_cache *c = tok_cache_new(t, 1 << 20);
    for (int turn = 1; turn <= 30; turn++) {
        render(c, turn, &with);
        render(NULL, turn, &without);
        assert_int_equal(with.n, without.n);
        assert_memory_equal(with.v, without.v, with.n * sizeof *with.v);
        struct tok_cache_stats s = tok_cache_stats(c);
        assert_int_equal(s.misses, turn);               /* one text a turn */
        assert_int_equal(s.hits, turn * (turn - 1) / 2);
        if (turn == 1)
            first = s.bytes_encoded;
        assert_true(s.bytes_encoded - before < first * 2);
        before = s.bytes_encoded;
    }
    tok_cache_free(c);
    tok_ids_release(&with);
    tok_ids_release(&without);
}

/* Text, place and spans tell entries apart. */
static void entries_are_told_apart(void **state)
{
    static const char text[] = "<think> is a text that is long enough";
    const size_t n = sizeof text - 1;
    struct tok_span own = { n, TOK_TEXT_PLAIN }, foreign = { n, TOK_TEXT_FOREIGN };
    struct tok_ids ids = {0};
    (void)state;
    load();

    struct tok_cache *c = tok_cache_new(t, 1 << 20);
    for (int round = 0; round < 3; round++) {
        ids.n = 0;
        tok_cache_encode(c, text, &own, 1, TOK_AT_START, &ids);
        assert_int_equal(ids.v[0], THINK);
        ids.n = 0;
        tok_cache_encode(c, text, &foreign, 1, TOK_AT_START, &ids);
        assert_int_equal(ids.v[0], '<');
        tok_cache_encode(c, text, &foreign, 1, TOK_AFTER_TEXT, &ids);
    }
    assert_int_equal(tok_cache_stats(c).misses, 3);
    assert_int_equal(tok_cache_stats(c).hits, 6);
    tok_cache_free(c);
    tok_ids_release(&ids);
}

/* It stays within its limit, and forgets what was not used. */
static void memory_is_bounded(void **state)
{
    struct buf text = {0};
    struct tok_ids ids = {0};
    (void)state;
    load();

    struct tok_cache *c = tok_cache_new(t, 20000);
    for (int round = 0; round < 2000; round++) {
        int i = round % 2 ? 0 : round;                  /* text 0 is always used */
        buf_reset(&text);
        for (int k = 0; k < 40; k++)
            buf_addf(&text, "%d-%d ", i, k);
        struct tok_span span = { text.n, TOK_TEXT_PLAIN };
        uint64_t hits = tok_cache_stats(c).hits;
        tok_cache_encode(c, text.p, &span, 1, TOK_AT_START, &ids);
        if (round % 2)
            assert_int_equal(tok_cache_stats(c).hits, hits + 1);
        ids.n = 0;
    }
    assert_int_equal(tok_cache_stats(c).misses, 1000);
    /* one that is larger than all of it */
    while (text.n < 50000)
        buf_adds(&text, "abc ");
    struct tok_span span = { text.n, TOK_TEXT_PLAIN };
    tok_cache_encode(c, text.p, &span, 1, TOK_AT_START, &ids);
    assert_true(ids.n > 1000);
    tok_cache_free(c);
    tok_ids_release(&ids);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(markup_is_no_token_in_foreign_text, clean),
        cmocka_unit_test_teardown(spans_are_one_text, clean),
        cmocka_unit_test(no_real_markup_from_foreign_text),
        cmocka_unit_test_teardown(threads_share_a_tokenizer, clean),
        cmocka_unit_test_teardown(some_tokens_take_white_space_along, clean),
        cmocka_unit_test_teardown(only_new_text_is_encoded, clean),
        cmocka_unit_test_teardown(entries_are_told_apart, clean),
        cmocka_unit_test_teardown(memory_is_bounded, clean),
    };
    return UNIT_RUN(tests);
}
