/* The fast ways against the plain one: random vocabularies and texts, merged as the
 * definition says, by searching the whole row for the next pair each time. */
#include "config.h"

#include "tests/unit/vocab.h"

#include "tests/unit/vocab-make.h"

/* A part of whole, which is the text as the vocabulary writes it. */
struct part {
    size_t at, len;
    int32_t id;
};

static struct buf whole;

static struct gm_vocab vocab;
static struct part row[512];
static size_t n_row;
static unsigned seed = 7;

static size_t dice(size_t n)
{
    return (size_t)rand_r(&seed) % n;
}

static int32_t find(const char *text, size_t len)
{
    for (size_t i = 0; i < vocab.n; i++)
        if (vocab.v[i].type == NORMAL && vocab.v[i].n == len &&
            memcmp(vocab.v[i].text, text, len) == 0)
            return (int32_t)i;
    return -1;
}

static void add_row(const char *letter, int32_t id)
{
    row[n_row++] = (struct part){ .at = whole.n, .len = strlen(letter), .id = id };
    buf_adds(&whole, letter);
}

static void merge_row(size_t i, int32_t id)
{
    row[i].len += row[i + 1].len;
    row[i].id = id;
    memmove(&row[i + 1], &row[i + 2], (n_row - i - 2) * sizeof *row);
    n_row--;
}

static void expect_row(const struct tok_ids *ids, const char *text)
{
    bool same = ids->n == n_row;

    for (size_t i = 0; same && i < n_row; i++)
        same = ids->v[i] == row[i].id;
    if (same)
        return;
    print_message("text \"%s\"\n", text);
    for (size_t i = 0; i < n_row; i++)
        print_message("  expected %d %.*s\n", row[i].id, (int)row[i].len,
                      whole.p + row[i].at);
    print_ids("  got", ids->v, ids->n);
    fail();
}

/* ---- SentencePiece ---- */

static const char *const spm_letters[] = { "a", "b", "c", SP, "\xC3\xA4" };

static void spm_random_vocab(void)
{
    char name[64];

    vocab.n = 0;
    gm_token(&vocab, "<unk>", UNKNOWN, 0);
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        gm_token(&vocab, name, BYTE, 0);
    }
    for (int i = 0; i < 5; i++)
        gm_token(&vocab, spm_letters[i], NORMAL, -100);
    for (int i = 0; i < 30; i++) {
        struct buf b = {0};
        bool inner = dice(8) == 0; /* a space inside: seldom, as in real ones */
        for (size_t k = 2 + dice(4); k > 0; k--)
            buf_adds(&b,
                     spm_letters[k == 1 && dice(2) && !inner ? 0 : dice(inner ? 5 : 3)]);
        if (!inner && dice(2)) {
            struct buf c = {0};
            buf_addf(&c, SP "%s", b.p);
            buf_release(&b);
            b = c;
        }
        if (find(b.p, b.n) < 0)
            gm_token(&vocab, b.p, NORMAL, -(float)dice(12)); /* equal scores too */
        buf_release(&b);
    }
}

static void spm_plain(void)
{
    for (;;) {
        size_t best = n_row;
        int32_t id = -1;
        for (size_t i = 0; i + 1 < n_row; i++) {
            int32_t got = find(whole.p + row[i].at, row[i].len + row[i + 1].len);
            if (got >= 0 && (id < 0 || vocab.v[got].score > vocab.v[id].score)) {
                best = i;
                id = got;
            }
        }
        if (id < 0)
            return;
        merge_row(best, id);
    }
}

static void spm_agrees_with_the_definition(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct gguf_write m = {0};
        struct buf file = {0};
        struct err e = {0};
        struct vocab v = {0};
        spm_random_vocab();
        gw_kv_str(&m, "tokenizer.ggml.model", "llama");
        gm_vocab(&m, &vocab, GM_TOKENS | GM_TYPES | GM_SCORES);
        v.g = gm_open(&m, &file, &e);
        v.t = tok_from_gguf(v.g, &e);
        assert_non_null(v.t);
        for (int k = 0; k < 20; k++) {
            struct buf text = {0};
            struct tok_ids ids = {0};
            n_row = 0;
            buf_reset(&whole);
            for (size_t i = 1 + dice(k % 4 ? 20 : 120); i > 0; i--) {
                const char *s = spm_letters[dice(5)];
                add_row(s, find(s, strlen(s)));
                buf_adds(&text, strcmp(s, SP) == 0 && dice(2) ? " " : s);
            }
            tok_encode(v.t, text.p, text.n, TOK_AFTER_TEXT, &ids);
            spm_plain();
            expect_row(&ids, text.p);
            tok_ids_release(&ids);
            buf_release(&text);
        }
        vocab_close(&v);
        gw_release(&m);
        buf_release(&file);
    }
}

/* ---- byte-level BPE ---- */

struct rule {
    int32_t left, right, made;
};

static struct rule rules[64];
static size_t n_rules;

static void bpe_random_vocab(struct gguf_write *m)
{
    struct buf merges = {0};
    static const char *const letters[] = { "a", "b", "c", "d" };

    vocab.n = n_rules = 0;
    for (int i = 0; i < 4; i++)
        gm_token(&vocab, letters[i], NORMAL, 0);
    while (n_rules < 24) {
        int32_t l = (int32_t)dice(vocab.n), r = (int32_t)dice(vocab.n);
        char both[128];
        if (vocab.v[l].n + vocab.v[r].n > 24)
            continue;
        snprintf(both, sizeof both, "%s%s", vocab.v[l].text, vocab.v[r].text);
        int32_t made = find(both, strlen(both)); /* two ways to one token happen */
        if (made < 0)
            made = gm_token(&vocab, both, NORMAL, 0);
        bool again = false;
        for (size_t i = 0; i < n_rules; i++)
            again = again || (rules[i].left == l && rules[i].right == r);
        if (again)
            continue;
        rules[n_rules++] = (struct rule){ l, r, made };
    }
    gw_kv_str(m, "tokenizer.ggml.model", "gpt2");
    gw_kv_str(m, "tokenizer.ggml.pre", "gpt-2");
    gm_vocab(m, &vocab, GM_TOKENS | GM_TYPES);
    gw_kv_array(m, "tokenizer.ggml.merges", GGUF_STRING, n_rules);
    for (size_t i = 0; i < n_rules; i++) {
        buf_reset(&merges);
        buf_addf(&merges, "%s %s", vocab.v[rules[i].left].text,
                 vocab.v[rules[i].right].text);
        gw_str(&m->kv, merges.p, merges.n);
    }
    buf_release(&merges);
}

static void bpe_plain(void)
{
    for (;;) {
        size_t best = n_row, rank = n_rules;
        for (size_t i = 0; i + 1 < n_row; i++)
            for (size_t r = 0; r < rank; r++)
                if (rules[r].left == row[i].id && rules[r].right == row[i + 1].id) {
                    best = i;
                    rank = r;
                }
        if (best == n_row)
            return;
        merge_row(best, rules[rank].made);
    }
}

static void bpe_agrees_with_the_definition(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct gguf_write m = {0};
        struct buf file = {0};
        struct err e = {0};
        struct vocab v = {0};
        bpe_random_vocab(&m);
        v.g = gm_open(&m, &file, &e);
        v.t = tok_from_gguf(v.g, &e);
        if (!v.t)
            fail_msg("%s", e.text);
        for (int k = 0; k < 20; k++) {
            struct buf text = {0};
            struct tok_ids ids = {0};
            n_row = 0;
            buf_reset(&whole);
            for (size_t i = 1 + dice(k % 4 ? 22 : 200); i > 0; i--) {
                int32_t id = (int32_t)dice(dice(2) ? 4 : 2);
                add_row(vocab.v[id].text, id);
                buf_adds(&text, vocab.v[id].text);
            }
            tok_encode(v.t, text.p, text.n, TOK_AFTER_TEXT, &ids);
            bpe_plain();
            expect_row(&ids, text.p);
            tok_ids_release(&ids);
            buf_release(&text);
        }
        vocab_close(&v);
        gw_release(&m);
        buf_release(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spm_agrees_with_the_definition),
        cmocka_unit_test(bpe_agrees_with_the_definition),
    };
    int failed = UNIT_RUN(tests);
    buf_release(&whole);
    return failed;
}
