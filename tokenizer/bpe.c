/* Byte-level BPE, GPT-2's and its heirs'. The vocabulary is written in an alphabet of 256
 * printable characters, one for each byte; here every token is taken back to its bytes
 * when the file is read, and text is never written in that alphabet at all.
 *
 * A merge is a pair of ids with a rank. The text is cut into pieces (presplit.c), a piece
 * into bytes, and the pair of lowest rank is merged until none is left.
 *
 * Regular expressions want UTF-8. Bytes that are not are pieces of their own, one for
 * each run, so every text can be written and decodes to the same bytes. */
#include "config.h"

#include "tokenizer/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Byte-level alphabet: printable Latin-1 stands for itself, the other 68 bytes are the
 * code points from U+0100 on, in order. */
enum { BPE_ALPHABET = 0x144 };

static void bpe_alphabet(int16_t byte_of[BPE_ALPHABET])
{
    int next = 0x100;

    for (int i = 0; i < BPE_ALPHABET; i++)
        byte_of[i] = -1;
    for (int b = 0; b < 256; b++) {
        bool self = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
        byte_of[self ? b : next++] = (int16_t)b;
    }
}

/* Take n bytes at s back to what they stand for; false if a character is not of the
 * alphabet. p has room for n bytes. */
static bool bpe_unmap(const int16_t byte_of[BPE_ALPHABET], const char *s, size_t n,
                      char *p, size_t *len)
{
    const unsigned char *u = (const unsigned char *)s;
    char *at = p;

    for (size_t i = 0; i < n;) {
        unsigned cp = u[i];
        if (cp < 0x80) {
            i++;
        } else if (cp >= 0xC2 && cp <= 0xC5 && i + 1 < n && (u[i + 1] & 0xC0) == 0x80) {
            cp = (cp & 0x1F) << 6 | (u[i + 1] & 0x3F);
            i += 2;
        } else {
            return false;
        }
        if (cp >= BPE_ALPHABET || byte_of[cp] < 0)
            return false;
        *at++ = (char)byte_of[cp];
    }
    *len = (size_t)(at - p);
    return true;
}

static void bpe_tokens(struct tok *t, const int16_t byte_of[BPE_ALPHABET])
{
    size_t room = 0;

    for (size_t i = 0; i < t->n; i++)
        room += t->v[i].name_len;
    char *arena = t->arena = xmalloc(room);
    tok_map_init(&t->map, t->n);
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        size_t n;
        if (v->type == TOK_CONTROL || v->type == TOK_UNKNOWN)
            continue;
        v->bytes = v->name;
        v->bytes_len = v->name_len;
        if (v->type == TOK_USER || v->name_len == 0 ||
            !bpe_unmap(byte_of, v->name, v->name_len, arena, &n))
            continue;                   /* text of its own, no merge leads to it */
        v->bytes = arena;
        v->bytes_len = (uint32_t)n;
        arena += n;
        tok_map_put(&t->map, t->v, (int32_t)i);
    }
    tok_map_flush(&t->map, t->v);
    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        t->byte_id[b] = tok_map_get(&t->map, t->v, &c, 1);
    }
}

struct bpe_merge {
    size_t at, left_len, right_len;     /* bytes of the two in the batch's text */
    int32_t left, right, made;          /* -1: no token */
    uint32_t rank;
};

struct bpe_batch {
    struct bpe_merge v[TOK_BATCH];
    size_t n;
    struct buf text;
    int32_t last;                       /* what the merge before made */
    size_t useless;
};

/* Add a merge as the file has it, "left right"; false if it is not of that form. */
static bool bpe_batch_add(const struct tok *t, const int16_t byte_of[BPE_ALPHABET],
                          struct gguf_str s, uint32_t rank, struct bpe_batch *b)
{
    const char *space = s.n > 1 ? memchr(s.p + 1, ' ', s.n - 1) : NULL;
    struct bpe_merge m = { .at = b->text.n, .rank = rank };

    if (!space || space + 1 == s.p + s.n)
        return false;
    buf_reserve(&b->text, s.n);
    char *p = b->text.p + b->text.n;
    if (bpe_unmap(byte_of, s.p, (size_t)(space - s.p), p, &m.left_len) &&
        bpe_unmap(byte_of, space + 1, (size_t)(s.p + s.n - space - 1), p + m.left_len,
                  &m.right_len)) {
        b->text.n += m.left_len + m.right_len;
        tok_map_soon(&t->map, p, m.left_len);
        tok_map_soon(&t->map, p + m.left_len, m.right_len);
        b->v[b->n++] = m;
    } else {
        b->useless++;
    }
    return true;
}

/* What a merge makes. Vocabularies stand in the order in which their tokens were made, so
 * it is nearly always the token of the merge before, or the next one; no need to look it
 * up. */
static int32_t bpe_result(const struct tok *t, const char *p, size_t len, int32_t guess)
{
    for (int32_t id = guess; id <= guess + 1; id++)
        if (id >= 0 && (size_t)id < t->n && t->v[id].type == TOK_NORMAL &&
            t->v[id].bytes_len == len && memcmp(t->v[id].bytes, p, len) == 0)
            return id;
    return tok_map_get(&t->map, t->v, p, len);
}

static void bpe_batch_put(struct tok *t, struct bpe_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct bpe_merge *m = &b->v[i];
        const char *p = b->text.p + m->at;
        m->left = tok_map_get(&t->map, t->v, p, m->left_len);
        m->right = tok_map_get(&t->map, t->v, p + m->left_len, m->right_len);
        m->made = bpe_result(t, p, m->left_len + m->right_len, b->last);
        if (m->made >= 0)
            b->last = m->made;
        tok_pairs_soon(&t->pairs, m->left, m->right);
    }
    for (size_t i = 0; i < b->n; i++) {
        struct bpe_merge *m = &b->v[i];
        if (m->left >= 0 && m->right >= 0 && m->made >= 0)
            tok_pairs_put(&t->pairs, m->left, m->right, m->rank, m->made);
        else
            b->useless++;
    }
    b->n = 0;
    buf_reset(&b->text);
}

/* Merges of parts that are no tokens have no effect on any text; they are counted in the
 * trace and left out. */
static bool bpe_merges(struct tok *t, const int16_t byte_of[BPE_ALPHABET],
                       const struct gguf *g, struct err *e)
{
    const char *key = "tokenizer.ggml.merges";
    const struct gguf_kv *kv = tok_array(g, key, GGUF_STRING, UINT64_MAX, e);
    struct bpe_batch b = { .n = 0 };
    size_t at = 0;
    bool ok = true;

    if (!kv)
        return false;
    tok_pairs_init(&t->pairs, kv->n);
    for (uint64_t i = 0; i < kv->n && ok; i++) {
        struct gguf_str s = gguf_next_str(kv, &at);
        ok = bpe_batch_add(t, byte_of, s, (uint32_t)i, &b) ||
             tok_bad(e, g, key,
                     "has an entry %llu that is not two tokens with a space between: "
                     "\"%.*s\"",
                     (unsigned long long)i, (int)(s.n < 40 ? s.n : 40), s.p);
        if (b.n == TOK_BATCH)
            bpe_batch_put(t, &b);
    }
    bpe_batch_put(t, &b);
    if (ok && b.useless && log_on())
        log_line("tokenizer", "%zu merges of parts that are no tokens", b.useless);
    buf_release(&b.text);
    return ok;
}

static void bpe_encode(const struct tok *t, const char *text, size_t len, bool start,
                       struct tok_work *w, struct tok_ids *out);

bool bpe_init(struct tok *t, const struct gguf *g, struct err *e)
{
    int16_t byte_of[BPE_ALPHABET];

    bpe_alphabet(byte_of);
    bpe_tokens(t, byte_of);
    t->encode = bpe_encode;
    return bpe_merges(t, byte_of, g, e);
}

static struct merge_pair bpe_find(const struct tok *t, const char *text,
                                  const struct merge_sym *l, const struct merge_sym *r)
{
    const struct tok_pair_slot *p = tok_pairs_get(&t->pairs, l->id, r->id);

    (void)text;
    return p ? (struct merge_pair){ .order = p->rank, .id = p->id }
             : (struct merge_pair){ .id = -1 };
}

/* One symbol for the byte. Vocabularies made from valid text only have no token for bytes
 * like FF: U+FFFD stands for them, as it does where text is decoded before. */
static void bpe_byte(const struct tok *t, struct tok_work *w, unsigned char c)
{
    static const unsigned char bad[3] = { 0xEF, 0xBF, 0xBD };

    if (t->byte_id[c] >= 0)
        tok_work_sym(w, w->n, 1, t->byte_id[c]);
    else if (t->byte_id[bad[0]] >= 0 && t->byte_id[bad[1]] >= 0 &&
             t->byte_id[bad[2]] >= 0)
        for (int i = 0; i < 3; i++)
            tok_work_sym(w, w->n, 1, t->byte_id[bad[i]]);
    else if (t->unk >= 0)
        tok_work_sym(w, w->n, 1, t->unk);
}

static void bpe_piece(const struct tok *t, const char *p, size_t len, struct tok_work *w,
                      struct tok_ids *out)
{
    if (t->presplit_flags & PRESPLIT_WHOLE) {
        int32_t id = tok_map_get(&t->map, t->v, p, len);
        if (id >= 0) {
            tok_ids_add(out, id);
            return;
        }
    }
    w->n = 0;
    for (size_t i = 0; i < len; i++)
        bpe_byte(t, w, (unsigned char)p[i]);
    tok_merge(t, p, w, bpe_find);
    for (size_t i = 0; i < w->n; i++)
        tok_ids_add(out, w->sym[i].id);
}

/* Length of the run of characters at s that are (or are not) below U+0300, the first byte
 * of which is below 0xCC. */
static size_t bpe_nfc_run(const char *s, size_t n, bool below)
{
    size_t i = 0;

    while (i < n && (((unsigned char)s[i] < 0xCC) == below || (s[i] & 0xC0) == 0x80))
        i++;
    return i;
}

/* Append s in normal form C. cp is memory to work in, *cap its size. */
static void bpe_nfc_span(const char *s, size_t n, utf8proc_int32_t **cp, size_t *cap,
                         struct buf *out)
{
    const utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_ssize_t got = (utf8proc_ssize_t)n;

    do {
        size_t room = (size_t)got;
        MEM_GROW(*cp, *cap, room + 1);                      /* reencode writes a NUL */
        got = utf8proc_decompose((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, *cp,
                                 (utf8proc_ssize_t)*cap - 1, how);
    } while (got >= (utf8proc_ssize_t)*cap);
    got = utf8proc_reencode(*cp, got, how);
    assert(got > 0);
    buf_add(out, *cp, (size_t)got);
}

/* Append text in normal form C. Nothing below U+0300 changes, unless a mark follows it:
 * the last character of such a run goes with what comes behind. */
static void bpe_nfc(const char *text, size_t len, struct buf *out)
{
    utf8proc_int32_t *cp = NULL;
    size_t cap = 0;

    for (size_t i = 0; i < len;) {
        size_t plain = bpe_nfc_run(text + i, len - i, true);
        if (i + plain < len)
            while (plain > 0 && (text[i + --plain] & 0xC0) == 0x80)
                ;
        buf_add(out, text + i, plain);
        i += plain;
        if (i == len)
            break;
        size_t base = utf8_char(text + i, len - i);
        base = (unsigned char)text[i] < 0xCC ? base : 0;
        size_t n = base + bpe_nfc_run(text + i + base, len - i - base, false);
        bpe_nfc_span(text + i, n, &cp, &cap, out);
        i += n;
    }
    free(cp);
}

static void bpe_valid(const struct tok *t, const char *text, size_t len,
                      struct tok_work *w, struct tok_ids *out)
{
    if ((t->presplit_flags & PRESPLIT_NFC) && bpe_nfc_run(text, len, true) < len) {
        buf_reset(&w->text);
        bpe_nfc(text, len, &w->text);
        text = w->text.p;
        len = w->text.n;
    }
    presplit_cut(t->presplit, text, len, w);
    for (size_t i = 0; i < w->cut_n; i++) {
        bpe_piece(t, text, w->cut[i], w, out);
        text += w->cut[i];
    }
}

static void bpe_encode(const struct tok *t, const char *text, size_t len, bool start,
                       struct tok_work *w, struct tok_ids *out)
{
    (void)start;
    for (size_t from = 0; from < len;) {
        size_t to = from, n = 0;
        while (to < len && ((unsigned char)text[to] < 0x80 ||
                            (n = utf8_char(text + to, len - to)) > 0))
            to += (unsigned char)text[to] < 0x80 ? 1 : n;
        if (to > from)
            bpe_valid(t, text + from, to - from, w, out);
        from = to;
        while (to < len && utf8_char(text + to, len - to) == 0)
            to++;
        if (to > from)
            bpe_piece(t, text + from, to - from, w, out);
        from = to;
    }
}
