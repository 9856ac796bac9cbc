/* Finding answers in a prompt.
 *
 * A prompt is looked at as a tape: its bytes, and for each a mark that says whether it is
 * text of the template ('t'), of the conversation ('c'), or of a special token's name
 * ('S' its first byte, 's' the others).
 *
 * An answer was said behind a prompt that ended in what the template writes to open the
 * assistant's turn. If the new prompt is the same up to that, the answer stands where the
 * two differ first, or where the next text of the conversation begins: a template may
 * have left out the opening of a thought, or put an empty one. There its ids are walked
 * against the tape, a special token against the same special token, all others byte by
 * byte. A template that drops the thoughts of earlier answers still writes what came
 * behind them, so it is tried with the ids behind each special token, too.
 *
 * Ids are kept as far as text and ids agree up to a border: a special token or a change
 * of hands between template and conversation. A text that ends elsewhere would be cut
 * where the model never saw a cut.
 *
 * Nothing here can turn a user's text into a special token: only ids of the model's own
 * are placed, on text that is the same as theirs. */
#include "config.h"

#include "chat/said.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct tape {
    const char *p;
    char *marks;
    size_t n;
};

static void tape_make(const struct tmpl_prompt *p, struct tape *out)
{
    size_t from = 0;

    *out = (struct tape){ .p = buf_str(&p->text), .n = p->text.n };
    out->marks = xmalloc(out->n + 1);
    memset(out->marks, 'c', out->n);
    for (size_t i = 0; i < p->n_spans; i++) {
        if (p->spans[i].origin == TMPL_FROM_TEMPLATE)
            memset(out->marks + from, 't', p->spans[i].to - from);
        from = p->spans[i].to;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].kind != TMPL_PIECE_SPECIAL || !p->v[i].len)
            continue;
        memset(out->marks + p->v[i].at, 's', p->v[i].len);
        out->marks[p->v[i].at] = 'S';
    }
}

static bool tape_is_text(char mark)
{
    return mark == 't' || mark == 'c';
}

/* FNV-1a over bytes and over what is special. */
static uint64_t tape_hash(const struct tape *t, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)t->p[i]) * 0x100000001b3u;
        h = (h ^ (tape_is_text(t->marks[i]) ? 't' : (unsigned char)t->marks[i])) *
            0x100000001b3u;
    }
    return h;
}

static bool tape_is_border(const struct tape *t, size_t at)
{
    if (at == 0 || at == t->n || t->marks[at] == 'S')
        return true;
    return t->marks[at - 1] != t->marks[at] && t->marks[at] != 's';
}

/* ---- the base ---- */

void chat_base_release(struct chat_base *b)
{
    buf_release(&b->tail);
    buf_release(&b->marks);
    *b = (struct chat_base){0};
}

void chat_base_of(const struct tmpl_prompt *p, struct chat_base *out)
{
    struct tape t;
    size_t n;

    tape_make(p, &t);
    for (n = t.n; n && t.marks[n - 1] != 'c'; n--)
        ;
    *out = (struct chat_base){ .len = n, .hash = tape_hash(&t, n) };
    buf_add(&out->tail, t.p + n, t.n - n);
    buf_add(&out->marks, t.marks + n, t.n - n);
    free(t.marks);
}

/* Where the new prompt leaves the old one; false: before its opening of the turn. */
static bool base_fits(const struct chat_base *b, const struct tape *t, size_t *at)
{
    size_t n = 0;

    if (b->len > t->n || tape_hash(t, b->len) != b->hash)
        return false;
    while (n < b->tail.n && b->len + n < t->n && b->tail.p[n] == t->p[b->len + n] &&
           tape_is_text(b->marks.p[n]) == tape_is_text(t->marks[b->len + n]))
        n++;
    *at = b->len + n;
    return true;
}

/* ---- walking ---- */

struct walk {
    size_t first, from;     /* id and byte where it began */
    size_t ids, at;         /* behind the last border that both reached */
    bool whole;             /* that is the end of the ids */
};

/* What the token is on the tape; NULL: nothing of its kind. */
static const char *said_text(const struct tok *t, int32_t id, size_t *n)
{
    const char *text = tok_bytes(t, id, n);

    return *n || !tok_is_special(t, id) ? text : tok_name(t, id, n);
}

static bool said_is_here(const struct tok *t, int32_t id, const struct tape *tape,
                         size_t at, size_t *n)
{
    const char *text = said_text(t, id, n);
    size_t i;

    if (*n > tape->n - at || memcmp(tape->p + at, text, *n))
        return false;
    if (!*n)
        return true;
    if (tape->marks[at] == 'S')
        return tok_is_special(t, id) &&
               (at + *n == tape->n || tape->marks[at + *n] != 's') &&
               !memchr(tape->marks + at + 1, 'S', *n - 1);
    for (i = 0; i < *n && tape_is_text(tape->marks[at + i]); i++)
        ;
    return i == *n;
}

static struct walk said_walk(const struct tok *t, const struct tape *tape,
                             const struct tok_ids *ids, size_t first, size_t from)
{
    struct walk w = { .first = first, .from = from, .ids = first, .at = from };
    size_t at = from, n;

    for (size_t i = first; i < ids->n && said_is_here(t, ids->v[i], tape, at, &n); i++) {
        at += n;
        if (tape_is_border(tape, at)) {
            w.ids = i + 1;
            w.at = at;
        }
    }
    w.whole = w.ids == ids->n && w.ids > first;
    return w;
}

static bool said_is_space(const struct tok *t, int32_t id)
{
    size_t n;
    const char *p = tok_bytes(t, id, &n);

    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r\n", p[i]) || !p[i])
            return false;
    return n > 0;
}

/* With the ids behind a special token inside of the answer, maybe without the white space
 * that comes first there. */
static bool said_later_parts(const struct tok *t, const struct tape *tape,
                             const struct tok_ids *ids, size_t from, struct walk *best)
{
    for (size_t k = 0; k < ids->n; k++) {
        if (!tok_is_special(t, ids->v[k]))
            continue;
        for (size_t i = k + 1; i < ids->n; i++) {
            struct walk w = said_walk(t, tape, ids, i, from);
            if (w.whole) {
                *best = w;
                return true;
            }
            if (!said_is_space(t, ids->v[i]))
                break;
        }
    }
    return false;
}

/* The best place for the ids from byte `from` on. */
static struct walk said_find(const struct tok *t, const struct tape *tape,
                             const struct tok_ids *ids, size_t from)
{
    struct walk best = said_walk(t, tape, ids, 0, from), w;
    size_t next = from;

    while (next < tape->n && tape->marks[next] != 'c')
        next++;
    if (best.whole)
        return best;
    w = said_walk(t, tape, ids, 0, next);
    if (w.whole || w.ids > best.ids)
        best = w;
    if (!best.whole && !said_later_parts(t, tape, ids, from, &best))
        said_later_parts(t, tape, ids, next, &best);
    return best;
}

/* ---- placing ---- */

struct place {
    size_t from, to;            /* bytes */
    struct chat_part part;
};

struct placing {
    struct place *v;
    size_t n;
    struct chat_reason *why;    /* (n_why); piece is a byte here */
    size_t n_why;
};

static const char *said_why(const struct walk *w, const struct chat_answer_said *a,
                            const struct tape *tape)
{
    if (w->whole && !w->first)
        return NULL;
    if (a->think_n && (w->first || !memmem(tape->p + w->from, tape->n - w->from, a->think,
                                           a->think_n)))
        return "the template drops earlier thinking";
    return "the template writes an earlier answer differently than the model did";
}

static void placing_find(const struct tok *t, const struct tape *tape,
                         const struct chat_answer_said *answers, size_t n,
                         struct placing *p)
{
    size_t free_from = 0, at;

    for (size_t i = 0; i < n; i++) {
        const struct chat_answer_said *a = &answers[i];
        if (!base_fits(a->base, tape, &at)) {
            p->why[p->n_why++] = (struct chat_reason){
                0, "the template writes earlier messages differently now" };
            continue;
        }
        struct walk w = said_find(t, tape, a->ids, at > free_from ? at : free_from);
        const char *why = said_why(&w, a, tape);
        if (why)
            p->why[p->n_why++] = (struct chat_reason){ a->base->len, why };
        if (w.at == w.from)
            continue;
        p->v[p->n++] = (struct place){
            w.from, w.at, { a->message, w.first, w.ids - w.first } };
        free_from = w.at;
    }
}

static size_t said_add_part(struct chat_said *s, struct chat_part part)
{
    MEM_GROW(s->parts, s->cap_parts, s->n_parts + 1);
    s->parts[s->n_parts] = part;
    return s->n_parts++;
}

struct rewrite {
    struct tmpl_piece *v;
    size_t n, cap;
};

static void rewrite_add(struct rewrite *r, struct tmpl_piece piece)
{
    MEM_GROW(r->v, r->cap, r->n + 1);
    r->v[r->n++] = piece;
}

/* What of the piece no place covers, and the places that begin in it. Pieces come in
 * order and so do places; *next is the first that may matter. */
static void rewrite_piece(struct rewrite *r, struct tmpl_piece piece,
                          const struct placing *p, size_t *next, struct chat_said *out)
{
    size_t at = piece.at, end = piece.at + piece.len;

    while (at < end) {
        while (*next < p->n && p->v[*next].to <= at)
            ++*next;
        const struct place *here = *next < p->n && p->v[*next].from < end ? &p->v[*next]
                                                                          : NULL;
        size_t to = here ? here->from : end;
        if (to > at) {
            piece.at = at;
            piece.len = to - at;
            rewrite_add(r, piece);
            at = to;
        }
        if (here && here->from == at)
            rewrite_add(r, (struct tmpl_piece){
                .kind = TMPL_PIECE_SAID, .at = at, .len = here->to - at,
                .message = said_add_part(out, here->part) });
        if (here)
            at = here->to < end ? here->to : end;
    }
}

static void placing_rewrite(struct tmpl_prompt *p, const struct placing *places,
                            chat_ids_fn *ids_of, void *arg, struct chat_said *out)
{
    struct rewrite r = {0};
    size_t next = 0;

    for (size_t i = 0; i < p->n; i++) {
        struct tmpl_piece piece = p->v[i];
        if (piece.kind == TMPL_PIECE_SAID) {
            piece.message =
                said_add_part(out, (struct chat_part){ piece.message, 0,
                                                       ids_of(arg, piece.message)->n });
            rewrite_add(&r, piece);
        } else {
            rewrite_piece(&r, piece, places, &next, out);
        }
    }
    free(p->v);
    p->v = r.v;
    p->n = r.n;
    p->cap = r.cap;
}

static void placing_reasons(const struct tmpl_prompt *p, const struct placing *places,
                            struct chat_said *out)
{
    for (size_t i = 0; i < places->n_why; i++) {
        size_t piece = 0;
        while (piece + 1 < p->n && p->v[piece + 1].at <= places->why[i].piece)
            piece++;
        MEM_GROW(out->reasons, out->cap_reasons, out->n_reasons + 1);
        out->reasons[out->n_reasons++] =
            (struct chat_reason){ piece, places->why[i].why };
    }
}

void chat_said_place(const struct tok *t, struct tmpl_prompt *p,
                     const struct chat_answer_said *answers, size_t n,
                     chat_ids_fn *ids_of, void *arg, struct chat_said *out)
{
    struct placing places = {
        .v = xcalloc(n, sizeof *places.v), .why = xcalloc(n, sizeof *places.why),
    };
    struct tape tape;

    if (n) {
        tape_make(p, &tape);
        placing_find(t, &tape, answers, n, &places);
        free(tape.marks);
    }
    placing_rewrite(p, &places, ids_of, arg, out);
    placing_reasons(p, &places, out);
    free(places.v);
    free(places.why);
}

void chat_said_release(struct chat_said *s)
{
    free(s->parts);
    free(s->reasons);
    *s = (struct chat_said){0};
}
