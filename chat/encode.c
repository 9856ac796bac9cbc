/* Pieces to ids, one after the other. What a piece becomes depends on its bytes, on whose
 * they are, and on whether text or a special token came before it; so as long as the
 * pieces are those of the prompt before, their ids are, too. Text that stands elsewhere
 * in the new prompt, as after an edit further up, is found in a cache.
 *
 * Some special tokens take white space of the text beside them along; that is no part of
 * the text then, whoever wrote it. */
#include "config.h"

#include "chat/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* Bytes for texts that were encoded before. */
static const size_t encode_cache_limit = (size_t)32 << 20;

struct chat_encoder {
    const struct tok *tok;
    struct tok_cache *cache;
    struct tok_ids ids;             /* of the last prompt, BOS included */
    size_t *ends;                   /* (n) */
    size_t cap_ends;
    bool bos_added;                 /* ids begin with one that is not the template's */

    struct buf text;                /* the pieces of the last prompt, for comparing */
    struct tmpl_piece *v;           /* (n) */
    size_t n, cap;
    struct tmpl_span *spans;        /* (n_spans) */
    size_t n_spans, cap_spans;

    struct tok_span *work;          /* the spans of one piece */
    size_t cap_work;
};

struct chat_encoder *chat_encoder_new(const struct tok *t)
{
    struct chat_encoder *enc = xcalloc(1, sizeof *enc);

    enc->tok = t;
    enc->cache = tok_cache_new(t, encode_cache_limit);
    return enc;
}

void chat_encoder_free(struct chat_encoder *enc)
{
    if (!enc)
        return;
    tok_cache_free(enc->cache);
    tok_ids_release(&enc->ids);
    free(enc->ends);
    buf_release(&enc->text);
    free(enc->v);
    free(enc->spans);
    free(enc->work);
    free(enc);
}

/* ---- what is the same as before ---- */

/* Whose the byte at is, and up to where that holds. */
static enum tmpl_origin origin_at(const struct tmpl_span *spans, size_t n, size_t *span,
                                  size_t at, size_t *to)
{
    while (*span < n && spans[*span].to <= at)
        ++*span;
    *to = *span < n ? spans[*span].to : SIZE_MAX;
    return *span < n ? spans[*span].origin : TMPL_FROM_CONVERSATION;
}

struct run {
    const int32_t *v;
    size_t n;
};

static struct run said_run(const struct tmpl_piece *piece, const struct chat_said *said,
                           chat_ids_fn *ids_of, void *arg)
{
    const struct chat_part *part = &said->parts[piece->message];

    return (struct run){ ids_of(arg, part->message)->v + part->from, part->n };
}

static bool same_text(const struct chat_encoder *enc, const struct tmpl_prompt *p,
                      const struct tmpl_piece *piece, size_t *old_span, size_t *new_span)
{
    size_t at = piece->at, end = piece->at + piece->len, a, b;

    if (memcmp(buf_str(&enc->text) + at, buf_str(&p->text) + at, piece->len))
        return false;
    while (at < end) {
        if (origin_at(enc->spans, enc->n_spans, old_span, at, &a) !=
            origin_at(p->spans, p->n_spans, new_span, at, &b))
            return false;
        at = a < b ? a : b;
    }
    return true;
}

/* How many of the first pieces are as in the last prompt. Bytes of a SAID piece are not
 * in the text of every template, so all pieces before are at the same places. */
static size_t count_same(const struct chat_encoder *enc, const struct tmpl_prompt *p,
                         const struct chat_said *said, chat_ids_fn *ids_of, void *arg)
{
    size_t i, old_span = 0, new_span = 0;

    for (i = 0; i < enc->n && i < p->n; i++) {
        const struct tmpl_piece *a = &enc->v[i], *b = &p->v[i];
        if (a->kind != b->kind || a->at != b->at || a->len != b->len)
            break;
        if (a->kind == TMPL_PIECE_SAID) {
            size_t from = i ? enc->ends[i - 1] : enc->bos_added;
            struct run run = said_run(b, said, ids_of, arg);
            if (run.n != enc->ends[i] - from ||
                (run.n && memcmp(run.v, enc->ids.v + from, run.n * sizeof *run.v)))
                break;
        } else if (!same_text(enc, p, b, &old_span, &new_span)) {
            break;
        }
    }
    /* The token behind a text may take some of it along. */
    if (i && i < p->n && tok_has_takers(enc->tok, TOK_BEFORE) &&
        p->v[i - 1].kind == TMPL_PIECE_TEXT)
        i--;
    return i;
}

/* From piece `from` on, in comparison with what is there. */
static void remember(struct chat_encoder *enc, const struct tmpl_prompt *p)
{
    buf_reset(&enc->text);
    buf_add(&enc->text, buf_str(&p->text), p->text.n);
    MEM_GROW(enc->v, enc->cap, p->n);
    if (p->n)
        memcpy(enc->v, p->v, p->n * sizeof *p->v);
    enc->n = p->n;
    MEM_GROW(enc->spans, enc->cap_spans, p->n_spans);
    if (p->n_spans)
        memcpy(enc->spans, p->spans, p->n_spans * sizeof *p->spans);
    enc->n_spans = p->n_spans;
}

/* ---- encoding ---- */

/* The id of the special token that piece i is; -1: it is none. */
static int32_t special_id(const struct chat_encoder *enc, const struct tmpl_prompt *p,
                          size_t i)
{
    if (i >= p->n || p->v[i].kind != TMPL_PIECE_SPECIAL)
        return -1;
    char *name = xmemdup0(buf_str(&p->text) + p->v[i].at, p->v[i].len);
    int32_t id = tok_special(enc->tok, name);
    free(name);
    return id;
}

/* Of text piece i, what is not white space that a token beside it takes along. */
static void own_part(const struct chat_encoder *enc, const struct tmpl_prompt *p,
                     size_t i, size_t *at, size_t *end)
{
    const char *text = buf_str(&p->text);
    size_t before = i;

    *at = p->v[i].at;
    *end = *at + p->v[i].len;
    /* Text that is all white space lets the next one lose its own, too. */
    while (before && p->v[before - 1].kind == TMPL_PIECE_TEXT &&
           tok_space_at_front(text + p->v[before - 1].at, p->v[before - 1].len) ==
               p->v[before - 1].len)
        before--;
    if (tok_has_takers(enc->tok, TOK_BEHIND) && before &&
        (tok_takes_space(enc->tok, special_id(enc, p, before - 1)) & TOK_BEHIND))
        *at += tok_space_at_front(text + *at, *end - *at);
    if (tok_has_takers(enc->tok, TOK_BEFORE) &&
        (tok_takes_space(enc->tok, special_id(enc, p, i + 1)) & TOK_BEFORE))
        *end -= tok_space_at_end(text + *at, *end - *at);
}

static void encode_text(struct chat_encoder *enc, const struct tmpl_prompt *p, size_t i,
                        size_t *span, enum tok_place place)
{
    size_t from, at, end, to, n = 0;

    own_part(enc, p, i, &from, &end);
    for (at = from; at < end; at = to) {
        enum tmpl_origin origin = origin_at(p->spans, p->n_spans, span, at, &to);
        to = to < end ? to : end;
        MEM_GROW(enc->work, enc->cap_work, n + 1);
        enc->work[n++] = (struct tok_span){
            to - at, origin == TMPL_FROM_TEMPLATE ? TOK_TEXT_PLAIN : TOK_TEXT_FOREIGN };
    }
    if (n)
        tok_cache_encode(enc->cache, buf_str(&p->text) + from, enc->work, n, place,
                         &enc->ids);
}

static bool encode_special(struct chat_encoder *enc, const struct tmpl_prompt *p,
                           size_t i, struct err *e)
{
    int32_t id = special_id(enc, p, i);

    if (id >= 0) {
        tok_ids_add(&enc->ids, id);
        return true;
    }
    return err_set_kind(e, ERR_MODEL,
                        "the chat template needs the special token %.*s but the model's "
                        "vocabulary has none; choose another with --template",
                        (int)p->v[i].len, buf_str(&p->text) + p->v[i].at);
}

/* What the next text stands behind. */
static enum tok_place place_behind(const struct chat_encoder *enc)
{
    if (enc->ids.n == (size_t)enc->bos_added)
        return TOK_AT_START;
    return tok_is_special(enc->tok, enc->ids.v[enc->ids.n - 1]) ? TOK_AFTER_SPECIAL
                                                               : TOK_AFTER_TEXT;
}

static bool encode_from(struct chat_encoder *enc, size_t from,
                        const struct tmpl_prompt *p, const struct chat_said *said,
                        chat_ids_fn *ids_of, void *arg, struct err *e)
{
    size_t span = 0;

    for (size_t i = from; i < p->n; i++) {
        const struct tmpl_piece *piece = &p->v[i];
        if (piece->kind == TMPL_PIECE_TEXT) {
            encode_text(enc, p, i, &span, place_behind(enc));
        } else if (piece->kind == TMPL_PIECE_SAID) {
            struct run run = said_run(piece, said, ids_of, arg);
            for (size_t k = 0; k < run.n; k++)
                tok_ids_add(&enc->ids, run.v[k]);
        } else if (!encode_special(enc, p, i, e)) {
            return false;
        }
        enc->ends[i] = enc->ids.n;
    }
    return true;
}

/* The prompt's own first id is BOS. */
static bool begins_with_bos(const struct tok *t, const struct tmpl_prompt *p)
{
    size_t n;
    const char *name = tok_name(t, tok_bos(t), &n);

    return p->n && p->v[0].kind == TMPL_PIECE_SPECIAL && p->v[0].len == n &&
           !memcmp(buf_str(&p->text) + p->v[0].at, name, n);
}

bool chat_encode(struct chat_encoder *enc, const struct tmpl_prompt *p,
                 const struct chat_said *said, chat_ids_fn *ids_of, void *arg,
                 struct chat_encoded *out, struct err *e)
{
    bool bos = tok_adds_bos(enc->tok) && tok_bos(enc->tok) >= 0 &&
               !begins_with_bos(enc->tok, p);
    size_t same = bos == enc->bos_added ? count_same(enc, p, said, ids_of, arg) : 0;

    enc->bos_added = bos;
    enc->ids.n = same ? enc->ends[same - 1] : 0;
    if (!same && bos)
        tok_ids_add(&enc->ids, tok_bos(enc->tok));
    MEM_GROW(enc->ends, enc->cap_ends, p->n);
    if (!encode_from(enc, same, p, said, ids_of, arg, e)) {
        enc->n = 0;
        enc->ids.n = 0;
        return false;
    }
    remember(enc, p);
    *out = (struct chat_encoded){ &enc->ids, enc->ends, bos };
    return true;
}
