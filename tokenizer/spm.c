/* SentencePiece BPE: of all neighbours whose joined text is a token, the token with the
 * highest score is made first, the leftmost of equals; what is no token in the end is
 * written byte by byte.
 *
 * SentencePiece writes a space as U+2581. Here both the tokens and the text have the
 * space itself: the same symbols, fewer bytes, and a decoded token needs no second look.
 *
 * The model merges a whole text at once. But a token with a space inside, behind
 * something else than a space, is rare (in Llama's, Mistral's and Phi's vocabularies
 * there is none, in Gemma's one). Where the byte before a space stands before a space in
 * no token, nothing ever merges across, and the text is cut there into short rows; the
 * ids are the same. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char spm_space[] = "\xE2\x96\x81";

/* Copy s to p with U+2581 as a space; returns the length. */
static size_t spm_unescape(char *p, const char *s, size_t n)
{
    char *at = p;

    for (const char *end = s + n; s < end;) {
        const char *hit = memchr(s, spm_space[0], (size_t)(end - s));
        size_t run = (size_t)((hit ? hit : end) - s);
        memcpy(at, s, run);
        at += run;
        s += run;
        if (!hit)
            break;
        bool space = end - s >= 3 && memcmp(s, spm_space, 3) == 0;
        *at++ = space ? ' ' : *s;
        s += space ? 3 : 1;
    }
    return (size_t)(at - p);
}

static int spm_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' :
           c >= 'A' && c <= 'F' ? c - 'A' + 10 :
           c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a name like <0x0A>, or -1. */
static int spm_byte(const struct tok_entry *v)
{
    const char *s = v->name;

    if (v->name_len != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>' ||
        spm_hex(s[3]) < 0 || spm_hex(s[4]) < 0)
        return -1;
    return spm_hex(s[3]) << 4 | spm_hex(s[4]);
}

/* A run of spaces that is user-defined: converters store it with spaces, older ones as
 * the model has it. In text it is found in either form. */
static void spm_alias(struct tok *t, const struct tok_entry *v, int32_t id, char **arena)
{
    size_t spaces = 0;

    while (spaces < v->bytes_len && v->bytes[spaces] == ' ')
        spaces++;
    if (spaces == 0 || spaces != v->bytes_len)
        return;
    char *p = *arena;
    if (v->name_len == v->bytes_len) {
        for (size_t i = 0; i < spaces; i++)
            memcpy(p + 3 * i, spm_space, 3);
        *arena += 3 * spaces;
        tok_names_add(&t->user, p, 3 * spaces, id);
        tok_names_add(&t->specials, p, 3 * spaces, id);
    } else {
        tok_names_add(&t->user, v->bytes, v->bytes_len, id);
        tok_names_add(&t->specials, v->bytes, v->bytes_len, id);
    }
}

static void spm_text_token(struct tok *t, struct tok_entry *v, int32_t id, char **arena)
{
    v->bytes = v->name;
    v->bytes_len = v->name_len;
    if (v->name_len && memchr(v->name, spm_space[0], v->name_len)) {
        v->bytes = *arena;
        v->bytes_len = (uint32_t)spm_unescape(*arena, v->name, v->name_len);
        *arena += v->bytes_len;
    }
    if (v->type == TOK_USER) {
        spm_alias(t, v, id, arena);
        return;
    }
    if (v->bytes_len == 0)
        return;
    for (uint32_t i = 1; i < v->bytes_len; i++)
        if (v->bytes[i] == ' ')
            t->joins[(unsigned char)v->bytes[i - 1]] = true;
    if (v->bytes_len > t->longest)
        t->longest = v->bytes_len;
    tok_map_put(&t->map, t->v, id);
}

static void spm_encode(const struct tok *t, const char *text, size_t len, bool start,
                       struct tok_work *w, struct tok_ids *out);

bool spm_init(struct tok *t, const struct gguf *g, struct err *e)
{
    const struct gguf_kv *scores =
        tok_array(g, "tokenizer.ggml.scores", GGUF_F32, t->n, e);
    size_t room = 0;

    if (!scores)
        return false;
    for (size_t i = 0; i < t->n; i++)
        room += t->v[i].name_len +
                (t->v[i].type == TOK_USER ? 3 * (size_t)t->v[i].name_len : 1);
    char *arena = t->arena = xmalloc(room);
    tok_map_init(&t->map, t->n);
    memset(t->byte_id, -1, sizeof t->byte_id);
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        v->score = gguf_f32_at(scores, i);
        if (v->type == TOK_BYTE) {
            int b = spm_byte(v);
            if (b < 0)
                return tok_bad(e, g, "tokenizer.ggml.tokens",
                               "names token %zu \"%.*s\", which "
                               "its type says is a byte; a byte is named like <0x0A>",
                               i, (int)(v->name_len < 40 ? v->name_len : 40), v->name);
            *arena = (char)b;
            v->bytes = arena++;
            v->bytes_len = 1;
            t->byte_id[b] = (int32_t)i;
        } else if (v->type != TOK_CONTROL && v->type != TOK_UNKNOWN) {
            spm_text_token(t, v, (int32_t)i, &arena);
        }
    }
    tok_map_flush(&t->map, t->v);
    t->encode = spm_encode;
    return true;
}

/* Scores in ascending order of being merged, as unsigned numbers. */
static uint32_t spm_order(float score)
{
    uint32_t u;

    score += 0.0f;                      /* no negative zero */
    memcpy(&u, &score, sizeof u);
    return ~(u & 0x80000000u ? ~u : u | 0x80000000u);
}

static struct merge_pair spm_find(const struct tok *t, const char *text,
                                  const struct merge_sym *l, const struct merge_sym *r)
{
    struct merge_pair p = { .id = -1 };

    if (l->len + r->len <= t->longest)
        p.id = tok_map_get(&t->map, t->v, text + l->at, l->len + r->len);
    if (p.id >= 0)
        p.order = spm_order(t->v[p.id].score);
    return p;
}

static void spm_write(const struct tok *t, const char *p, size_t len, struct tok_ids *out)
{
    int32_t id = tok_map_get(&t->map, t->v, p, len);

    if (id >= 0) {
        tok_ids_add(out, id);
        return;
    }
    size_t bytes = 0;
    while (bytes < len && t->byte_id[(unsigned char)p[bytes]] >= 0)
        bytes++;
    if (bytes == len)
        for (size_t i = 0; i < len; i++)
            tok_ids_add(out, t->byte_id[(unsigned char)p[i]]);
    else if (t->unk >= 0)
        tok_ids_add(out, t->unk);
}

/* text[from .. to): a row on its own. */
static void spm_row(const struct tok *t, const char *text, size_t from, size_t to,
                    struct tok_work *w, struct tok_ids *out)
{
    w->n = 0;
    for (size_t i = from; i < to;) {
        size_t n = (unsigned char)text[i] < 0x80 ? 1 : utf8_char(text + i, to - i);
        tok_work_sym(w, i, n ? n : 1, -1);
        i += n ? n : 1;
    }
    tok_merge(t, text, w, spm_find);
    for (size_t i = 0; i < w->n; i++) {
        if (w->sym[i].id >= 0)
            tok_ids_add(out, w->sym[i].id);
        else
            spm_write(t, text + w->sym[i].at, w->sym[i].len, out);
    }
}

static void spm_encode(const struct tok *t, const char *text, size_t len, bool start,
                       struct tok_work *w, struct tok_ids *out)
{
    bool prefix = start && t->space_prefix;

    buf_reset(&w->text);
    buf_reserve(&w->text, len + 1);
    if (prefix)
        buf_addc(&w->text, ' ');
    w->text.n += spm_unescape(w->text.p + w->text.n, text, len);
    const char *s = w->text.p;
    size_t from = 0;
    for (size_t i = 1; i < w->text.n; i++) {
        if (s[i] == ' ' && !t->joins[(unsigned char)s[i - 1]]) {
            spm_row(t, s, from, i, w, out);
            from = i;
        }
    }
    spm_row(t, s, from, w->text.n, w, out);
}
