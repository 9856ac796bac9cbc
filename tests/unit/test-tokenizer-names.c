/* Every value of tokenizer.ggml.pre that llama.cpp knows: the ids that it gives with the
 * vocabulary of GPT-2. Where the model's own tokenizer does something else, we do that,
 * and the table here says what. */
#include "config.h"

#include "tests/unit/vocab.h"

#include <utf8proc.h>

#include "tokenizer/internal.h"

/* Cases in which we differ, with good reason. */
static const struct {
    const char *name;
    const char *cases;
    const char *why;
} differs[] = {
    { "kimi-k2", "mixed_case",
      "contractions belong to the word before; its std::regex "
      "knows no case of letters" },
    { "youtu", "mixed_case", "the same" },
    { "tiny_aya", "mixed_case digits_letters ko_mixed esc_seq hash",
      "the same, and its \\b takes letters behind digits for a boundary" },
    { "cohere2moe", "mixed_case digits_letters ko_mixed esc_seq hash", "the same" },
};

static bool is_word_of(const char *word, const char *words)
{
    size_t n = strlen(word);

    for (const char *p = words; (p = strstr(p, word)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
            return true;
    return false;
}

static bool may_differ(const char *pre, const char *name, const struct buf *text)
{
    if (presplit_find(pre, strlen(pre))->flags & PRESPLIT_NFC) {
        /* llama.cpp does not normalise. */
        utf8proc_uint8_t *nfc = utf8proc_NFC((const utf8proc_uint8_t *)buf_str(text));
        bool same = nfc && strcmp((const char *)nfc, buf_str(text)) == 0;
        free(nfc);
        if (!same)
            return true;
    }
    for (size_t i = 0; i < sizeof differs / sizeof *differs; i++)
        if (strcmp(differs[i].name, pre) == 0 && is_word_of(name, differs[i].cases))
            return true;
    return false;
}

struct count {
    int cases, same, differ, bad;
};

static void check_name(const struct vocab *v, const char *pre, const json_t *corpus,
                       const json_t *base, const json_t *diff, struct count *n)
{
    struct err e = {0};
    struct tok *t = tok_from_gguf_pre(v->g, pre, &e);
    struct buf text = {0};
    size_t i;
    json_t *c;

    if (!t)
        fail_msg("%s", e.text);
    json_array_foreach(json_object_get(corpus, "cases"), i, c)
    {
        const char *name = json_string_value(json_object_get(c, "name"));
        const json_t *want = json_object_get(diff, name);
        struct tok_ids ids = {0}, ref = {0};
        case_text(c, &text);
        if (!want)
            want = json_object_get(base, name);
        assert_non_null(want);
        for (size_t k = 0; k < json_array_size(want); k++)
            tok_ids_add(&ref, (int32_t)json_integer_value(json_array_get(want, k)));
        tok_encode(t, buf_str(&text), text.n, TOK_AT_START, &ids);
        bool same = ids.n == ref.n &&
                    (!ids.n || memcmp(ids.v, ref.v, ids.n * sizeof *ids.v) == 0);
        n->cases++;
        n->same += same;
        if (!same && may_differ(pre, name, &text)) {
            n->differ++;
        } else if (!same) {
            n->bad++;
            print_message("%s: ", pre);
            same_ids(name, &ids, want);
        }
        tok_ids_release(&ids);
        tok_ids_release(&ref);
    }
    buf_release(&text);
    tok_free(t);
}

static void all_names_of_llama_cpp(void **state)
{
    struct vocab v;
    struct count n = {0};
    int names = 0;
    const char *key;
    json_t *group;
    (void)state;
    UNIT_NEEDS_SHARED();

    json_t *d = shared_json("tokenizers/expected/llama_cpp_pre_names.json");
    json_t *corpus = shared_json("tokenizers/corpus/hard.json");
    assert_true(vocab_open(&v, "tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf"));
    json_object_foreach(json_object_get(d, "groups"), key, group)
    {
        size_t i;
        json_t *name;
        json_array_foreach(group, i, name)
        {
            check_name(&v, json_string_value(name), corpus, json_object_get(d, "base"),
                       json_object_get(json_object_get(d, "diff"), key), &n);
            names++;
        }
    }
    print_message(
        "%d names, %d cases: %d as llama.cpp, %d as the model and not llama.cpp\n", names,
        n.cases, n.same, n.differ);
    vocab_close(&v);
    json_decref(corpus);
    json_decref(d);
    assert_int_equal(n.bad, 0);
    assert_true(names >= 67);
}

/* The table says nothing twice, and nothing that is not there. */
static void the_table_is_sound(void **state)
{
    (void)state;

    for (size_t i = 0; presplit_name_at(i); i++) {
        const struct presplit_name *n = presplit_name_at(i);
        assert_ptr_equal(presplit_find(n->name, strlen(n->name)), n);
        assert_non_null(presplit_family(n->family));
    }
    assert_null(presplit_find("", 0));
    assert_null(presplit_find("qwen", 4));
    assert_null(presplit_family("qwen"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_names_of_llama_cpp),
        cmocka_unit_test(the_table_is_sound),
    };
    return UNIT_RUN(tests);
}
