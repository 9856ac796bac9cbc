/* Vocabularies that are wrong: refused with a sentence, or harmless. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "tests/unit/vocab-make.h"

static struct gguf_write made;
static struct buf made_file;

static void refused(const char *what)
{
    struct err e = {0};

    struct gguf *g = gm_open(&made, &made_file, &e);
    if (!g)
        fail_msg("%s", e.text);
    if (tok_from_gguf(g, &e))
        fail_msg("a vocabulary was loaded that is wrong about %s", what);
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "made.gguf"));
    if (!strstr(e.text, what))
        fail_msg("\"%s\" does not name %s", e.text, what);
    gguf_free(g);
    gw_release(&made);
    buf_release(&made_file);
}

static void accepted(void)
{
    struct err e = {0};
    struct gguf *g = gm_open(&made, &made_file, &e);
    struct tok *t = g ? tok_from_gguf(g, &e) : NULL;

    if (!t)
        fail_msg("%s", e.text);
    tok_free(t);
    gguf_free(g);
    gw_release(&made);
    buf_release(&made_file);
}

static void start(const char *model)
{
    gw_kv_str(&made, "tokenizer.ggml.model", model);
}

static void wrong_files_are_refused(void **state)
{
    static struct gm_vocab v, b;
    (void)state;

    v.n = b.n = 0;
    spm_tokens(&v);
    bpe_tokens(&b);
    gw_kv_str(&made, "general.name", "x");
    refused("tokenizer.ggml.model");
    start("bert");
    refused("\"bert\"");
    start("llama");
    refused("tokenizer.ggml.tokens");
    start("llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES);
    refused("tokenizer.ggml.scores");
    start("llama");
    gw_kv_array(&made, "tokenizer.ggml.tokens", GGUF_STRING, 0);
    refused("0 tokens");
    start("llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_SCORES);
    gw_kv_array(&made, "tokenizer.ggml.token_type", GGUF_I32, 1);
    gw_u32(&made.kv, 1);
    refused("tokenizer.ggml.token_type");
    v.v[5].type = 9;
    start("llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    refused("type 9");
    v.v[5].type = NORMAL;
    v.v[270].type = BYTE;
    start("llama");
    gm_vocab(&made, &v, GM_TOKENS | GM_TYPES | GM_SCORES);
    refused("token 270");
    start("gpt2");
    gm_vocab(&made, &b, GM_TOKENS | GM_TYPES);
    bpe_merge_list(&made);
    refused("tokenizer.ggml.pre is missing");
    start("gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", "martian");
    gm_vocab(&made, &b, GM_TOKENS | GM_TYPES);
    bpe_merge_list(&made);
    refused("\"martian\"");
    start("gpt2");
    gw_kv_u32(&made, "tokenizer.ggml.pre", 3);
    gm_vocab(&made, &b, GM_TOKENS | GM_TYPES);
    refused("tokenizer.ggml.pre");
    start("gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", "qwen2");
    gm_vocab(&made, &b, GM_TOKENS | GM_TYPES);
    refused("tokenizer.ggml.merges");
    start("gpt2");
    gw_kv_str(&made, "tokenizer.ggml.pre", "qwen2");
    gm_vocab(&made, &b, GM_TOKENS | GM_TYPES);
    gw_kv_array(&made, "tokenizer.ggml.merges", GGUF_STRING, 1);
    gw_str(&made.kv, "nospace", 7);
    refused("nospace");
}

static void a_long_special_name_is_refused(void **state)
{
    static char name[2000];
    (void)state;

    memset(name, 'x', sizeof name);
    for (int type = NORMAL; type <= USER; type++) {
        start("llama");
        gw_kv_array(&made, "tokenizer.ggml.tokens", GGUF_STRING, 1);
        gw_str(&made.kv, name, sizeof name);
        gw_kv_array(&made, "tokenizer.ggml.token_type", GGUF_I32, 1);
        gw_u32(&made.kv, (uint32_t)type);
        gw_kv_array(&made, "tokenizer.ggml.scores", GGUF_F32, 1);
        gw_u32(&made.kv, 0);
        if (type == NORMAL) {
            accepted();
        } else if (type != UNKNOWN) {
            refused("2000 bytes");
        } else {
            gw_release(&made);
        }
    }
}

/* What a file of ../shared/bad-files is worth as a vocabulary. */
static void hostile_vocabularies_get_their_verdict(void **state)
{
    json_t *list, *entry;
    int seen = 0;
    size_t i;
    (void)state;
    UNIT_NEEDS_SHARED();

    list = shared_json("bad-files/manifest.json");
    json_array_foreach(list, i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        const char *verdict = json_string_value(json_object_get(entry, "expect"));
        char path[8192];
        struct err e = {0};
        if (strncmp(file, "vocab-", 6) != 0 && strncmp(file, "bpe-", 4) != 0)
            continue;
        seen++;
        snprintf(path, sizeof path, "%s/bad-files/%s", unit_shared(), file);
        struct gguf *g = gguf_open(path, &e);
        if (!g)
            fail_msg("%s", e.text);
        struct tok *t = tok_from_gguf(g, &e);
        if (t && strcmp(verdict, "reject") == 0)
            fail_msg("%s was loaded", file);
        if (!t && strcmp(verdict, "accept") == 0)
            fail_msg("%s", e.text);
        if (!t) {
            assert_int_equal(e.kind, ERR_MODEL);
            assert_non_null(strstr(e.text, file));
            assert_non_null(strstr(e.text, "tokenizer.ggml."));
        } else {
            struct tok_ids ids = {0};
            struct buf back = {0};
            tok_encode_special(t, "abc \0 </s> <0x0A> tok9tok10", 27, TOK_AT_START, &ids);
            tok_decode(t, ids.v, ids.n, TOK_AT_START, TOK_SPECIALS_SHOW, &back);
            assert_true(ids.n > 0 && back.n > 0);
            tok_ids_release(&ids);
            buf_release(&back);
        }
        if (getenv("VERBOSE"))
            print_message("# %s: %s\n", file, t ? "loaded" : e.text);
        tok_free(t);
        gguf_free(g);
    }
    json_decref(list);
    assert_true(seen >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(a_long_special_name_is_refused),
        cmocka_unit_test(hostile_vocabularies_get_their_verdict),
    };
    return UNIT_RUN(tests);
}
