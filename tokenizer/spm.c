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

size_t spm_unescape(char *p, const char *s, size_t n)
{
    char *at = p;

    for (const char *end = s + n; s < end;) {
        const char *hit = memchr(s, spm_space[0], (size_t)(end - s));
        size_t run = (size_t)((hit ? hit : end) - s);
        memmove(at, s, run);
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
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

int spm_byte(const struct tok_entry *v)
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
    const unsigned modes = TOK_IN_SPECIAL | TOK_IN_PLAIN | TOK_IN_FOREIGN;
    size_t spaces = 0;

    while (spaces < v->bytes_len && v->bytes[spaces] == ' ')
        spaces++;
    if (!t->aliases_spaces || spaces == 0 || spaces != v->bytes_len)
        return;
    char *p = *arena;
    if (v->name_len == v->bytes_len) {
        for (size_t i = 0; i < spaces; i++)
            memcpy(p + 3 * i, spm_space, 3);
        *arena += 3 * spaces;
        tok_names_add(&t->found, p, 3 * spaces, id, modes);
    } else {
        tok_names_add(&t->found, v->bytes, v->bytes_len, id, modes);
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
    if (v->type == TOK_USER && !(v->found & TOK_FOUND_ALSO)) {
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

bool spm_load_tokens(struct tok *t, size_t *bad)
{
    size_t room = 0;

    for (size_t i = 0; i < t->n; i++)
        room += t->v[i].name_len +
                (t->v[i].type == TOK_USER ? 3 * (size_t)t->v[i].name_len : 1);
    char *arena = t->arena = xmalloc(room);
    tok_map_init(&t->map, t->n);
    memset(t->byte_id, -1, sizeof t->byte_id);
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        if (v->type == TOK_BYTE) {
            int b = spm_byte(v);
            *bad = i;
            if (b < 0)
                return false;
            *arena = (char)b;
            v->bytes = arena++;
            v->bytes_len = 1;
            t->byte_id[b] = (int32_t)i;
        } else if (v->type != TOK_CONTROL && v->type != TOK_UNKNOWN) {
            spm_text_token(t, v, (int32_t)i, &arena);
        }
    }
    tok_map_flush(&t->map, t->v);
    tok_whole_init(t);
    return true;
}

static void spm_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                       struct tok_work *w, struct tok_ids *out);

bool spm_init(struct tok *t, const struct gguf *g, struct err *e)
{
    const struct gguf_kv *scores =
        tok_array(g, "tokenizer.ggml.scores", GGUF_F32, t->n, e);

    if (!scores)
        return false;
    for (size_t i = 0; i < t->n; i++)
        t->v[i].score = gguf_f32_at(scores, i);
    t->encode = spm_encode;
    t->aliases_spaces = true;
    return tok_spm_tokens(t, g, e);
}

/* Scores in ascending order of being merged, as unsigned numbers. */
static uint32_t spm_order(float score)
{
    uint32_t u;

    score += 0.0f; /* no negative zero */
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

static void spm_merge_row(const struct tok *t, const char *text, size_t from, size_t to,
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

/* A row that is a token, or is merged. */
static void spm_one_row(const struct tok *t, const char *s, size_t from, size_t to,
                        struct tok_work *w, spm_row *row, struct tok_ids *out)
{
    size_t before = out->n, n = to - from;
    int32_t id = n <= t->longest ? tok_map_get(&t->map, t->v, s + from, n) : -1;
    enum tok_whole known = id < 0 ? TOK_IN_PARTS : tok_whole(t, id);

    if (known == TOK_WHOLE) {
        tok_ids_add(out, id);
        return;
    }
    row(t, s, from, to, w, out);
    if (known == TOK_NOT_KNOWN)
        tok_whole_set(t, id, out->n == before + 1 && out->v[before] == id);
}

void spm_rows(const struct tok *t, const char *s, size_t len, struct tok_work *w,
              spm_row *row, struct tok_ids *out)
{
    size_t from = 0;

    for (size_t i = 1; i < len; i++) {
        if (s[i] == ' ' && (t->splits_spaces || !t->joins[(unsigned char)s[i - 1]])) {
            spm_one_row(t, s, from, i, w, row, out);
            from = i;
        }
    }
    if (from < len)
        spm_one_row(t, s, from, len, w, row, out);
}

void spm_text(const char *text, size_t len, bool prefix, struct buf *out)
{
    buf_reset(out);
    buf_reserve(out, len + 1);
    if (prefix)
        buf_addc(out, ' ');
    out->n += spm_unescape(out->p + out->n, text, len);
}

static void spm_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                       struct tok_work *w, struct tok_ids *out)
{
    spm_text(text, len, prefix, &w->text);
    spm_rows(t, w->text.p, w->text.n, w, spm_merge_row, out);
}
