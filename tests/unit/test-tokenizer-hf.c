/* tokenizer.json: the real ones against the ids of Hugging Face's own library, small ones
 * made here for what each part of the file means, and broken ones. Ids of the small ones
 * were compared with that library, too. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "tests/unit/hf-make.h"

#include <unistd.h>

/* ---- the real ones ---- */

static void write_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "w");

    if (!f || fwrite(p, 1, n, f) != n || fclose(f))
        fail_msg("cannot write %s", path);
}

static struct tok *open_real(const char *name)
{
    char path[8192];
    struct buf text = {0};
    const struct hf_config none = {0};
    struct err e = {0};

    snprintf(path, sizeof path, "%s/tokenizers/%s", unit_shared(), name);
    if (!vocab_unxz(path, &text)) {
        print_message("skipped: xz cannot unpack %s\n", name);
        skip();
    }
    struct tok *t = tok_hf_memory(text.p, text.n, name, &none, &e);
    if (!t)
        fail_msg("%s", e.text);
    buf_release(&text);
    return t;
}

/* All cases of expected/NAME.json, whose "ref" is what the library makes of this file. */
static void check_real(const char *expected)
{
    char path[256];
    struct buf text = {0};
    int bad = 0, seen = 0;
    size_t i;
    json_t *c;

    snprintf(path, sizeof path, "tokenizers/expected/%s.json", expected);
    json_t *d = shared_json(path), *corpus = shared_json("tokenizers/corpus/hard.json");
    struct tok *t = open_real(json_string_value(json_object_get(d, "tokenizer_json")));
    json_array_foreach(json_object_get(corpus, "cases"), i, c) {
        const char *name = json_string_value(json_object_get(c, "name"));
        struct tok_ids ids = {0};
        case_text(c, &text);
        tok_encode_special(t, buf_str(&text), text.n, TOK_AT_START, &ids);
        bad += !same_ids(name, &ids, json_object_get(json_object_get(d, "ref"), name));
        seen++;
        tok_ids_release(&ids);
    }
    tok_free(t);
    buf_release(&text);
    json_decref(corpus);
    json_decref(d);
    assert_true(seen > 250);
    assert_int_equal(bad, 0);
}

static void real_files(void **state)
{
    static const char *const names[] = { "dbrx",      "deepseek-v3", "gemma-spm",
                                         "gpt-4o",    "kimi-k2",     "llama-bpe",
                                         "olmo",      "qwen2",       "tekken" };
    (void)state;
    UNIT_NEEDS_SHARED();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        print_message("%s\n", names[i]);
        check_real(names[i]);
    }
}

/* ---- small ones ---- */

static struct tok *small;

static int clean(void **state)
{
    (void)state;
    tok_free(small);
    small = NULL;
    return 0;
}

static void load(const struct hf_make *m)
{
    const struct hf_config none = {0};
    struct buf text = {0};
    struct err e = {0};

    tok_free(small);
    hf_make(&text, m);
    small = tok_hf_memory(text.p, text.n, "small", &none, &e);
    if (!small)
        fail_msg("%s", e.text);
    buf_release(&text);
}

static void ids_are(const char *text, const char *want)
{
    struct buf b = {0};

    hf_ids(small, text, TOK_AT_START, true, &b);
    assert_string_equal(buf_str(&b), want);
    buf_release(&b);
}

#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"
#define ADDED(id, text, flags) "{\"id\":" id ",\"content\":\"" text "\"," flags \
                               "\"special\":false}"

static void merges_in_both_forms(void **state)
{
    struct hf_make m = { .vocab = ",\"ab\":256,\"abc\":257", .pre_tokenizer = BYTE_LEVEL };
    (void)state;

    m.merges = "\"a b\",\"ab c\"";
    load(&m);
    ids_are("abcab", "257 256");
    m.merges = "[\"a\",\"b\"], [ \"ab\" , \"c\" ]";
    load(&m);
    ids_are("abcab", "257 256");
    assert_string_equal(tok_kind(small), "BPE tokenizer.json");
    assert_int_equal(tok_count(small), 258);
}

static void strings_have_escapes(void **state)
{
    struct hf_make m = { .vocab = ",\"\\u0061\\u0062\":256,\"\\\"\\\\\":257,\"x\\/\":258",
                         .merges = "\"a b\",[\"\\\"\",\"\\\\\"],\"x \\/\"",
                         .added = ADDED("259", "\\ud83d\\ude00", ""),
                         .pre_tokenizer = BYTE_LEVEL };
    (void)state;

    load(&m);
    ids_are("ab\"\\x/", "256 257 258");
    ids_are("\xF0\x9F\x98\x80", "259");
}

static void pieces_that_are_tokens(void **state)
{
    struct hf_make m = { .vocab = ",\"ab\":256,\"bc\":257,\"abc\":258",
                         .merges = "\"b c\",\"a b\"", .pre_tokenizer = BYTE_LEVEL };
    (void)state;

    load(&m);
    ids_are("abc", "97 257");       /* no merges lead to the token */
    ids_are("abc", "97 257");       /* also when it is known */
    m.model = "\"ignore_merges\":true,";
    load(&m);
    ids_are("abc", "258");
}

static void added_tokens_in_text(void **state)
{
    struct hf_make m = {
        .pre_tokenizer = BYTE_LEVEL,
        .added = ADDED("256", "wrd", "\"single_word\":true,") ","
                 ADDED("257", "<l>", "\"lstrip\":true,") ","
                 ADDED("258", "<r>", "\"rstrip\":true,") ","
                 ADDED("259", "<lr>", "\"lstrip\":true,\"rstrip\":true,") ","
                 ADDED("260", "<r>x", "") ","
                 "{\"id\":261,\"content\":\"<s>\",\"special\":true}",
    };
    (void)state;

    load(&m);
    ids_are("wrd", "256");
    ids_are("a wrd!", "97 32 256 33");
    ids_are("wrds", "119 114 100 115");
    ids_are("\xC3\xA9wrd", "195 169 119 114 100");
    ids_are("a \xC2\xA0<l> b", "97 257 32 98");
    ids_are("a <r>\n\t b", "97 32 258 98");
    ids_are("a <lr> <l> b", "97 259 257 32 98");
    ids_are("<r>x", "260");                         /* the longest */
    ids_are("<s> <s>", "261 32 261");
    assert_int_equal(tok_special(small, "<s>"), 261);
    assert_true(tok_is_special(small, 256));
}

static void normalized_tokens_are_found_late(void **state)
{
    struct hf_make m = {
        .pre_tokenizer = BYTE_LEVEL, .normalizer = "{\"type\":\"NFC\"}",
        /* e and an acute, in one character and in two */
        .added = ADDED("256", "caf\\u00e9", "\"normalized\":true,") ","
                 ADDED("257", "e\\u0301x", "\"normalized\":false,") ","
                 ADDED("258", "u\\u0308", "\"normalized\":true,"),
    };
    (void)state;

    load(&m);
    ids_are("cafe\xCC\x81", "256");
    ids_are("caf\xC3\xA9", "256");
    ids_are("e\xCC\x81x", "257");
    ids_are("\xC3\xA9x", "195 169 120");
    ids_are("\xC3\xBC", "258");
    ids_are("u\xCC\x88", "258");
}

static void normalizers(void **state)
{
    struct hf_make m = { .pre_tokenizer = BYTE_LEVEL };
    (void)state;

    m.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},"
                   "{\"type\":\"Replace\",\"pattern\":{\"String\":\"e\"},"
                   "\"content\":\"oo\"}]}";
    load(&m);
    ids_are("\xC3\xA9t", "111 111 204 129 116");
    m.normalizer = "{\"type\":\"NFKC\"}";
    load(&m);
    ids_are("\xEF\xAC\x81", "102 105");             /* the ligature fi */
    m.normalizer = "{\"type\":\"NFKD\"}";
    load(&m);
    ids_are("\xC2\xBD", "49 226 129 132 50");
    m.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[]}";
    load(&m);
    ids_are("\xC3\xA9", "195 169");
}

static void pre_tokenizers(void **state)
{
    struct hf_make m = { .vocab = ",\"aa\":256,\"11\":257,\"" GS "a\":258,\"--\":259",
                         .merges = "\"a a\",\"1 1\",\"" GS " a\",\"- -\"" };
    (void)state;

    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\","
                      "\"individual_digits\":true}," BYTE_LEVEL "]}";
    load(&m);
    ids_are("aa11aa", "256 49 49 256");
    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"},"
                      BYTE_LEVEL "]}";
    load(&m);
    ids_are("a1111", "97 257 257");
    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
                      "\"pattern\":{\"String\":\"a.\"},\"behavior\":\"Isolated\"},"
                      BYTE_LEVEL "]}";
    load(&m);
    ids_are("aa.aa", "97 97 46 256");
    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
                      "\"pattern\":{\"Regex\":\"-\"},\"behavior\":\"Removed\"},"
                      BYTE_LEVEL "]}";
    load(&m);
    ids_are("a-a--", "97 97");
    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
                      "\"WhitespaceSplit\"}," BYTE_LEVEL "]}";
    load(&m);
    ids_are("a  aa\n", "97 256");
    m.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Punctuation\","
                      "\"behavior\":\"Contiguous\"}," BYTE_LEVEL "]}";
    load(&m);
    ids_are("--!a", "259 33 97");
    m.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}";
    load(&m);
    ids_are("a aa", "258 32 256");
    ids_are(" aa", "32 256");
}

/* ---- characters ---- */

#define SPACES_OUT "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"}," \
                   "\"content\":\"" SP "\"}"

static void characters_and_bytes(void **state)
{
    struct hf_make m = {
        .chars = true,
        .model = "\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,",
        .vocab = ",\"<unk>\":283,\"" SP "a\":284,\"aa\":285,\"" SP SP "\":286",
        .merges = "\"" SP " a\",\"a a\",\"" SP " " SP "\"",
        .normalizer = SPACES_OUT,
        .post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":"
                          "{\"id\":\"<s>\"}},{\"Sequence\":{\"id\":\"A\"}}],"
                          "\"special_tokens\":{\"<s>\":{\"ids\":[287]}}}",
        .added = "{\"id\":287,\"content\":\"<s>\",\"special\":true}",
    };
    (void)state;

    load(&m);
    ids_are("a aa", "257 284 257");
    ids_are("a  a", "257 256 284");                     /* the earlier merge first */
    ids_are("  b", "286 258");
    ids_are("\xC3\xA9", "195 169");
    ids_are("a\xFF", "257 255");
    assert_true(tok_adds_bos(small));
    assert_int_equal(tok_bos(small), 287);
    m.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","
                   "\"prepend\":\"" SP "\"}," SPACES_OUT "]}";
    load(&m);
    ids_are("a", "284");
    ids_are("a<s>a", "284 287 284");
    ids_are("", "");
    m.model = "\"unk_token\":\"<unk>\",\"fuse_unk\":true,";
    load(&m);
    ids_are("\xC3\xA9\xC3\xA9z", "256 283 282");
    m.model = "\"unk_token\":\"<unk>\",";
    load(&m);
    ids_are("\xC3\xA9\xC3\xA9z", "256 283 283 282");
}

/* Where the normaliser puts a space before a text, it does so before the names in it, too:
 * a name that is looked for in normalised text has a space in front, as Llama 2's have. */
static void names_behind_a_space(void **state)
{
    struct hf_make m = {
        .chars = true, .model = "\"byte_fallback\":true,",
        .vocab = ",\"" SP "a\":283", .merges = "\"" SP " a\"",
        .normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","
                      "\"prepend\":\"" SP "\"}," SPACES_OUT "]}",
        .added = ADDED("284", "xy", "\"normalized\":true,") ","
                 ADDED("285", "two words", "\"normalized\":true,"),
    };
    (void)state;

    load(&m);
    ids_are("a xya", "283 284 257");
    ids_are("xy", "284");
    ids_are("axy", "283 280 281");
    ids_are("a two words", "283 285");
}

static void metaspace(void **state)
{
    static const struct {
        const char *scheme, *start, *behind;
    } row[] = {
        { "\"always\"", "284", "284" },
        { "\"first\"", "284", "257" },
        { "\"never\"", "257", "257" },
    };
    struct hf_make m = { .chars = true, .vocab = ",\"<s>\":283,\"" SP "a\":284,\"" SP SP
                                                 "\":285",
                         .merges = "\"" SP " a\",\"" SP " " SP "\"",
                         .model = "\"byte_fallback\":true,",
                         .added = "{\"id\":283,\"content\":\"<s>\",\"special\":true}" };
    char pre[256], want[64];
    (void)state;

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(pre, sizeof pre,
                 "{\"type\":\"Metaspace\",\"replacement\":\"" SP "\",\"prepend_scheme\":%s,"
                 "\"split\":false}", row[i].scheme);
        m.pre_tokenizer = pre;
        load(&m);
        ids_are("a", row[i].start);
        ids_are(" a", "284");                           /* never two */
        snprintf(want, sizeof want, "%s 283 %s", row[i].start, row[i].behind);
        ids_are("a<s>a", want);
        ids_are("  ", "285");
    }
    m.pre_tokenizer = "{\"type\":\"Metaspace\",\"replacement\":\"" SP "\","
                      "\"prepend_scheme\":\"never\",\"split\":true}";
    load(&m);
    ids_are("  a", "256 284");                          /* a space begins a piece */
}

/* ---- the files beside it ---- */

static void configuration_files(void **state)
{
    struct hf_make m = { .pre_tokenizer = BYTE_LEVEL,
                         .added = "{\"id\":256,\"content\":\"<s>\",\"special\":true},"
                                  "{\"id\":257,\"content\":\"</s>\",\"special\":true},"
                                  "{\"id\":258,\"content\":\"<stop>\",\"special\":true}" };
    static const char config[] = "{\"bos_token\":{\"content\":\"<s>\"},"
                                 "\"eos_token\":\"</s>\",\"add_bos_token\":true}";
    static const char generation[] = "{\"eos_token_id\":[257,258,99999]}";
    char dir[] = "/tmp/vitrine-hf-XXXXXX", path[256];
    struct buf text = {0};
    struct err e = {0};
    (void)state;

    assert_non_null(mkdtemp(dir));
    hf_make(&text, &m);
    snprintf(path, sizeof path, "%s/tokenizer_config.json", dir);
    write_file(path, config, sizeof config - 1);
    snprintf(path, sizeof path, "%s/generation_config.json", dir);
    write_file(path, generation, sizeof generation - 1);
    assert_null(tok_from_hf(dir, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    write_file(path, text.p, text.n);
    for (int k = 0; k < 3; k++) {
        struct tok *t = k == 0 ? tok_from_hf(dir, &e) : k == 1 ? tok_from_hf(path, &e)
                                                               : tok_from_files(dir, NULL, &e);
        if (!t)
            fail_msg("%s", e.text);
        assert_int_equal(tok_bos(t), 256);
        assert_int_equal(tok_eos(t), 257);
        assert_true(tok_adds_bos(t));
        assert_true(tok_is_end(t, 257));
        assert_true(tok_is_end(t, 258));
        assert_false(tok_is_end(t, 256));
        assert_non_null(strstr(tok_origin(t), "tokenizer_config.json"));
        tok_free(t);
    }
    assert_null(tok_from_files(path, "qwen2", &e));     /* --pre means nothing here */
    unlink(path);
    assert_null(tok_from_files(dir, NULL, &e));
    assert_non_null(strstr(e.text, "neither a tokenizer.json nor"));
    snprintf(path, sizeof path, "%s/tokenizer_config.json", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/generation_config.json", dir);
    unlink(path);
    rmdir(dir);
    buf_release(&text);
}

/* ---- broken ones ---- */

static void refused(const char *text, size_t n, const char *why)
{
    const struct hf_config none = {0};
    struct err e = {0};
    struct tok *t = tok_hf_memory(text, n, "bad.json", &none, &e);

    assert_null(t);
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "bad.json"));
    if (!strstr(e.text, why))
        fail_msg("not \"%s\" but: %s", why, e.text);
}

static void what_is_not_supported_is_refused_by_name(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "", "no \"model\"" },
        { "[]", "no \"model\"" },
        { "{\"model\":{}", "no tokenizer.json" },
        { "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]]}}", "\"Unigram\"" },
        { "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}}", "\"WordPiece\"" },
        { "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}}", "\"WordLevel\"" },
        { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}", "no list \"merges\"" },
        { "{\"model\":{\"type\":\"BPE\",\"merges\":[]}}", "no list \"vocab\"" },
        { "{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", "is empty" },
        { "{\"model\":{\"vocab\":{\"a\":-1},\"merges\":[]}}", "has the id -1" },
        { "{\"model\":{\"vocab\":{\"a\":4294967296},\"merges\":[]}}", "has the id 4294967296" },
        { "{\"model\":{\"vocab\":{\"a\":1.5},\"merges\":[]}}", "entry 0 is wrong" },
        { "{\"model\":{\"vocab\":{\"a\":0,},\"merges\":[]}}", "entry 1 is wrong" },
        { "{\"model\":{\"vocab\":{\"a\":0 \"b\":1},\"merges\":[]}}", "entry 1 is wrong" },
        { "{\"model\":{\"vocab\":{\"\\ud800\":0},\"merges\":[]}}", "entry 0 is wrong" },
        { "{\"model\":{\"vocab\":{\"\\q\":0},\"merges\":[]}}", "entry 0 is wrong" },
        { "{\"model\":{\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}}", "two tokens have the id 0" },
        { "{\"model\":{\"vocab\":{\"a\":9999999},\"merges\":[]}}", "1 tokens, but ids up to" },
        { "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1}}", "dropout" },
        { "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[],\"end_of_word_suffix\":\"</w>\"}}",
          "end_of_word_suffix" },
        { "{\"added_tokens\":[{\"id\":1,\"content\":\"\"}],"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "added token 0" },
        { "{\"added_tokens\":[{\"id\":99999999,\"content\":\"x\"}],"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "has the id 99999999" },
        { "{\"normalizer\":{\"type\":\"Lowercase\"},"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "normalizer \"Lowercase\"" },
        { "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "\"BertPreTokenizer\"" },
        { "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "keeps spaces" },
        { "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" BYTE_LEVEL ","
          "{\"type\":\"Digits\"}]},\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}",
          "behind ByteLevel" },
        { "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
          "\"pattern\":{\"Regex\":\"((((\"},\"behavior\":\"Isolated\"}," BYTE_LEVEL "]},"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "closing parenthesis" },
        { "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
          "\"pattern\":{\"Regex\":\"a\"},\"behavior\":\"Sometimes\"}," BYTE_LEVEL "]},"
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", "\"Sometimes\"" },
        { "{\"pre_tokenizer\":" BYTE_LEVEL ","
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[[\"a\"],\"ab\",5]}}", "entry 0 is wrong" },
        { "{\"pre_tokenizer\":" BYTE_LEVEL ","
          "\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"ab\"]}}", "entry 0" },
        { "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]},\"model\":{}}", "no tokenizer.json" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i].text, strlen(bad[i].text), bad[i].why);
}

/* Cut anywhere, and with any byte changed: it loads or is refused, and that is all. */
static void cut_and_changed_files(void **state)
{
    struct hf_make m = { .vocab = ",\"ab\":256", .merges = "\"a b\",[\"ab\",\"c\"]",
                         .pre_tokenizer = BYTE_LEVEL, .normalizer = "{\"type\":\"NFC\"}",
                         .added = ADDED("257", "<x>", "\"lstrip\":true,") };
    const struct hf_config none = {0};
    struct buf text = {0};
    unsigned seed = 7;
    (void)state;

    hf_make(&text, &m);
    for (size_t n = 0; n < text.n; n += n < 300 || n + 200 > text.n ? 1 : 37) {
        struct err e = {0};
        char *part = malloc(n ? n : 1);         /* its end is watched by the sanitizer */
        memcpy(part, text.p, n);
        assert_null(tok_hf_memory(part, n, "cut", &none, &e));
        assert_true(e.kind == ERR_MODEL && e.text[0]);
        free(part);
    }
    for (int round = 0; round < 3000; round++) {
        struct err e = {0};
        size_t at = (size_t)rand_r(&seed) % text.n;
        char was = text.p[at];
        text.p[at] = "{}[]\",:\\0a\xFF "[(size_t)rand_r(&seed) % 13];
        struct tok *t = tok_hf_memory(text.p, text.n, "changed", &none, &e);
        if (!t)
            assert_true(e.kind == ERR_MODEL && e.text[0]);
        tok_free(t);
        text.p[at] = was;
    }
    buf_release(&text);
}

static void the_bad_folder(void **state)
{
    char path[8192];
    struct err e = {0};
    (void)state;
    UNIT_NEEDS_SHARED();

    snprintf(path, sizeof path, "%s/bad-files/dir-tokenizer-bad", unit_shared());
    assert_null(tok_from_files(path, NULL, &e));
    assert_int_equal(e.kind, ERR_MODEL);
    assert_non_null(strstr(e.text, "tokenizer.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files),
        cmocka_unit_test_teardown(merges_in_both_forms, clean),
        cmocka_unit_test_teardown(strings_have_escapes, clean),
        cmocka_unit_test_teardown(pieces_that_are_tokens, clean),
        cmocka_unit_test_teardown(added_tokens_in_text, clean),
        cmocka_unit_test_teardown(normalized_tokens_are_found_late, clean),
        cmocka_unit_test_teardown(normalizers, clean),
        cmocka_unit_test_teardown(pre_tokenizers, clean),
        cmocka_unit_test_teardown(characters_and_bytes, clean),
        cmocka_unit_test_teardown(names_behind_a_space, clean),
        cmocka_unit_test_teardown(metaspace, clean),
        cmocka_unit_test(configuration_files),
        cmocka_unit_test(what_is_not_supported_is_refused_by_name),
        cmocka_unit_test(cut_and_changed_files),
        cmocka_unit_test(the_bad_folder),
    };
    return UNIT_RUN(tests);
}
