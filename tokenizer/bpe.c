/* Byte-level BPE, GPT-2's and its heirs'. The vocabulary is written in an alphabet of 256
 * printable characters, one for each byte; here every token is taken back to its bytes
 * when the file is read, and text is never written in that alphabet at all.
 *
 * A merge is a pair of ids with a rank (merges.c); where a file has no merges, every
 * token is one and its id is the rank. The text is cut into pieces (presplit.c), a piece
 * into bytes, and the pair of lowest rank is merged until none is left.
 *
 * Regular expressions want UTF-8. Bytes that are not are pieces of their own, one for
 * each run, so every text can be written and decodes to the same bytes. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void bpe_alphabet_init(struct bpe_alphabet *a)
{
    int next = 0x100;

    for (int i = 0; i < BPE_ALPHABET; i++)
        a->byte_of[i] = -1;
    for (int b = 0; b < 256; b++) {
        bool self = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
        a->byte_of[self ? b : next++] = (int16_t)b;
    }
}

bool bpe_unmap(const struct bpe_alphabet *a, const char *s, size_t n, char *p,
               size_t *len)
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
        if (cp >= BPE_ALPHABET || a->byte_of[cp] < 0)
            return false;
        *at++ = (char)a->byte_of[cp];
    }
    *len = (size_t)(at - p);
    return true;
}

static void bpe_finish(struct tok *t)
{
    tok_map_flush(&t->map, t->v);
    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        t->byte_id[b] = tok_map_get(&t->map, t->v, &c, 1);
    }
    if (!(t->presplit_flags & PRESPLIT_WHOLE))
        tok_whole_init(t);
    t->encode = bpe_encode;
}

void bpe_init(struct tok *t)
{
    struct bpe_alphabet alphabet;
    size_t room = 0;

    bpe_alphabet_init(&alphabet);
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
        if ((v->type == TOK_USER && !(v->found & TOK_FOUND_ALSO)) || v->name_len == 0 ||
            !bpe_unmap(&alphabet, v->name, v->name_len, arena, &n))
            continue; /* text of its own, no merge leads to it */
        if (v->type == TOK_USER && (n != v->name_len || memcmp(arena, v->name, n) != 0))
            continue; /* an added token is text, what merging makes is bytes */
        v->bytes = arena;
        v->bytes_len = (uint32_t)n;
        arena += n;
        if (n > t->longest)
            t->longest = (uint32_t)n;
        tok_map_put(&t->map, t->v, (int32_t)i);
    }
    bpe_finish(t);
}

void bpe_init_raw(struct tok *t)
{
    tok_map_init(&t->map, t->n);
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        if (v->type != TOK_NORMAL)
            continue;
        v->bytes = v->name;
        v->bytes_len = v->name_len;
        if (v->name_len > t->longest)
            t->longest = v->name_len;
        tok_map_put(&t->map, t->v, (int32_t)i);
    }
    bpe_finish(t);
}

enum bpe_text { BPE_VALID, BPE_INVALID };

/* Two symbols merge if together they are a token. */
static struct merge_pair bpe_find_rank(const struct tok *t, const char *text,
                                       const struct merge_sym *l,
                                       const struct merge_sym *r)
{
    struct merge_pair p = { .id = -1 };

    if (l->id >= 0 && r->id >= 0 && l->len + r->len <= t->longest &&
        l->at + l->len == r->at)
        p.id = tok_map_get(&t->map, t->v, text + l->at, l->len + r->len);
    p.order = (uint32_t)p.id;
    return p;
}

/* One symbol for the byte at i. Vocabularies that were made from valid text only have no
 * token for some bytes. In a text that is UTF-8 they are nothing (but nothing merges
 * across them), or unknown if the model says so; in one that is not, U+FFFD stands for
 * them, as it does for a tokenizer that is given text and no bytes. */
static void bpe_byte(const struct tok *t, struct tok_work *w, size_t i, unsigned char c,
                     enum bpe_text kind)
{
    static const unsigned char bad[3] = { 0xEF, 0xBF, 0xBD };

    if (t->byte_id[c] >= 0)
        tok_work_sym(w, i, 1, t->byte_id[c]);
    else if (kind == BPE_INVALID && t->byte_id[bad[0]] >= 0 && t->byte_id[bad[1]] >= 0 &&
             t->byte_id[bad[2]] >= 0)
        for (int k = 0; k < 3; k++)
            tok_work_sym(w, i, 1, t->byte_id[bad[k]]);
    else
        tok_work_sym(w, i, 1, t->writes_unknown ? t->unk : -1);
}

static void bpe_merge(const struct tok *t, const char *p, size_t len, enum bpe_text kind,
                      struct tok_work *w)
{
    w->n = 0;
    for (size_t i = 0; i < len; i++)
        bpe_byte(t, w, i, (unsigned char)p[i], kind);
    tok_merge(t, p, w, t->pairs.slot ? merge_find_pair : bpe_find_rank);
}

static void bpe_piece(const struct tok *t, const char *p, size_t len, enum bpe_text kind,
                      struct tok_work *w, struct tok_ids *out)
{
    int32_t id = len <= t->longest ? tok_map_get(&t->map, t->v, p, len) : -1;

    enum tok_whole known = id < 0 ? TOK_IN_PARTS : tok_whole(t, id);
    if (known == TOK_WHOLE) {
        tok_ids_add(out, id);
        return;
    }
    bpe_merge(t, p, len, kind, w);
    if (known == TOK_NOT_KNOWN)
        tok_whole_set(t, id, w->n == 1 && w->sym[0].id == id);
    for (size_t i = 0; i < w->n; i++)
        if (w->sym[i].id >= 0)
            tok_ids_add(out, w->sym[i].id);
}

static void bpe_valid(const struct tok *t, const char *text, size_t len,
                      struct tok_work *w, struct tok_ids *out)
{
    if (!t->presplit) {
        bpe_piece(t, text, len, BPE_VALID, w, out);
        return;
    }
    presplit_cut(t->presplit, text, len, w);
    for (size_t i = 0; i < w->cut_n; i++) {
        size_t n = w->cut[i] & ~PRESPLIT_DROPPED;
        if (n == w->cut[i])
            bpe_piece(t, text, n, BPE_VALID, w, out);
        text += n;
    }
}

static void bpe_part(const struct tok *t, const char *text, size_t len,
                     struct tok_work *w, struct tok_ids *out)
{
    while (len) {
        size_t n = tok_valid_run(text, len), bad = tok_invalid_run(text + n, len - n);
        if (n)
            bpe_valid(t, text, n, w, out);
        if (bad)
            bpe_piece(t, text + n, bad, BPE_INVALID, w, out);
        text += n + bad;
        len -= n + bad;
    }
}

void bpe_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                struct tok_work *w, struct tok_ids *out)
{
    size_t done = 0;

    if (prefix) {
        buf_reset(&w->text);
        buf_addc(&w->text, ' ');
        buf_add(&w->text, text, len);
        text = w->text.p;
        len = w->text.n;
    }
    while (len) {
        size_t n =
            t->presplit_flags & PRESPLIT_RANKS ? tok_kimi_part(text, len, &done) : len;
        bpe_part(t, text, n, w, out);
        text += n;
        len -= n;
    }
}
