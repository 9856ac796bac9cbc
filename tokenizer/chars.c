/* BPE by merges over the characters of a text, with single bytes for characters that are
 * no token: how tokenizer.json writes vocabularies that came from SentencePiece (Llama 2,
 * Mistral, Gemma), and Gemma 4's in GGUF.
 *
 * As in spm.c a space is a space here and not U+2581, and the text is merged in rows that
 * nothing merges across. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>

#include "base/utf8.h"

/* A character that is no token: its bytes, or the unknown token. */
static void chars_write(const struct tok *t, const char *text, size_t at, size_t n,
                        struct tok_work *w)
{
    size_t bytes = 0;

    while (bytes < n && t->byte_id[(unsigned char)text[at + bytes]] >= 0)
        bytes++;
    if (bytes == n)
        for (size_t i = 0; i < n; i++)
            tok_work_sym(w, at + i, 1, t->byte_id[(unsigned char)text[at + i]]);
    else if (t->unk >= 0 && t->fuses_unknown && w->n && w->sym[w->n - 1].id == t->unk)
        w->sym[w->n - 1].len += (uint32_t)n;
    else
        tok_work_sym(w, at, n, t->unk); /* -1: nothing, but nothing merges across it */
}

static void chars_row(const struct tok *t, const char *text, size_t from, size_t to,
                      struct tok_work *w, struct tok_ids *out)
{
    w->n = 0;
    for (size_t i = from; i < to;) {
        size_t n = (unsigned char)text[i] < 0x80 ? 1 : utf8_char(text + i, to - i);
        n = n ? n : 1;
        int32_t id = tok_map_get(&t->map, t->v, text + i, n);
        if (id >= 0)
            tok_work_sym(w, i, n, id);
        else
            chars_write(t, text, i, n, w);
        i += n;
    }
    tok_merge(t, text, w, merge_find_pair);
    for (size_t i = 0; i < w->n; i++)
        if (w->sym[i].id >= 0)
            tok_ids_add(out, w->sym[i].id);
}

/* A piece of line breaks that is a token need not be merged from anything. */
static void chars_piece(const struct tok *t, const char *p, size_t n, struct tok_work *w,
                        struct tok_ids *out)
{
    size_t breaks = 0;

    while (breaks < n && p[breaks] == '\n')
        breaks++;
    int32_t id = breaks == n ? tok_map_get(&t->map, t->v, p, n) : -1;
    if (id >= 0)
        tok_ids_add(out, id);
    else
        spm_rows(t, p, n, w, chars_row, out);
}

static void chars_encode(const struct tok *t, const char *text, size_t len, bool prefix,
                         struct tok_work *w, struct tok_ids *out)
{
    spm_text(text, len, prefix, &w->text);
    text = w->text.p;
    len = w->text.n;
    if (!t->presplit) {
        spm_rows(t, text, len, w, chars_row, out);
        return;
    }
    while (len) {
        size_t n = tok_valid_run(text, len), bad = tok_invalid_run(text + n, len - n);
        presplit_cut(t->presplit, text, n, w);
        for (size_t i = 0; n && i < w->cut_n; i++) {
            chars_piece(t, text, w->cut[i], w, out);
            text += w->cut[i];
        }
        chars_row(t, text, 0, bad, w, out);
        text += bad;
        len -= n + bad;
    }
}

void chars_init(struct tok *t)
{
    t->encode = chars_encode;
}
