/* BPE merges inside pieces that the model's expressions cut first. presplit_table.c has
 * those of the known families, a tokenizer.json brings its own.
 *
 * A step cuts every piece that the step before left: where its expression matches, and
 * between the matches. What becomes of the two is the step's behaviour, as Hugging Face
 * calls it. Lengths of the pieces stand in w->cut; those that are dropped are marked
 * there, so that the lengths always add up to the text.
 *
 * Two expressions look at all digits behind for every three of them, which takes the
 * square of the number's length; they are done by hand.
 *
 * Compiled expressions are shared by threads; match data are not and live in tok_work. */
#include "config.h"

#include "tokenizer/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

/* Digits in groups of three, counted from the right. */
struct presplit_digits {
    const char *re;         /* what it stands for */
    bool any_number;        /* \p{N}, not only \d */
    bool to_boundary;       /* numbers that end at a word boundary only */
    bool between;           /* only the places count, the first group has no piece */
};

static const struct presplit_digits presplit_digits[] = {
    { "\\d{1,3}(?=(?:\\d{3})*\\b)", false, true, false },
    { "\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))", true, false, false },
    { "(?=(\\d{3})+(?!\\d))", false, false, true },
};

struct presplit_step {
    pcre2_code *code;       /* or: */
    const struct presplit_digits *digits;
    enum presplit_behavior behavior;
    bool invert;            /* what does not match is the match */
};

struct presplit {
    struct presplit_step *step;
    size_t n, cap;
    pcre2_match_context *context;
};

/* An expression from a file may be made to run for ever; at this many steps it is told
 * that there is no match, and after a few times it is not asked any more. Ours cannot run
 * away, and a long text must not meet a limit. */
enum { PRESPLIT_FOREIGN_LIMIT = 20 * 1000 * 1000, PRESPLIT_GIVE_UP = 4 };

struct presplit *presplit_new(enum presplit_origin origin)
{
    struct presplit *p = xcalloc(1, sizeof *p);
    uint32_t limit = origin == PRESPLIT_OURS ? UINT32_MAX : PRESPLIT_FOREIGN_LIMIT;

    p->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(p->context, limit);
    pcre2_set_depth_limit(p->context, limit);
    pcre2_set_heap_limit(p->context,
                         origin == PRESPLIT_OURS ? UINT32_MAX : (uint32_t)1 << 16);
    return p;
}

static const struct presplit_digits *presplit_by_hand(const char *re, size_t len)
{
    for (size_t i = 0; i < sizeof presplit_digits / sizeof *presplit_digits; i++)
        if (strlen(presplit_digits[i].re) == len &&
            memcmp(presplit_digits[i].re, re, len) == 0)
            return &presplit_digits[i];
    return NULL;
}

static pcre2_code *presplit_compile(const char *re, size_t len, struct err *e)
{
    pcre2_compile_context *c = pcre2_compile_context_create(NULL);
    struct buf b = {0};
    pcre2_code *code = NULL;
    int why;
    size_t at;

    pcre2_set_newline(c, PCRE2_NEWLINE_LF);
    if (presplit_spell(&b, re, len, e)) {
        code = pcre2_compile((PCRE2_SPTR)buf_str(&b), b.n,
                             PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                 PCRE2_NEVER_BACKSLASH_C,
                             &why, &at, c);
        if (code) {
            pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* or it is interpreted */
        } else {
            char text[200];
            pcre2_get_error_message(why, (PCRE2_UCHAR *)text, sizeof text);
            err_set_kind(e, ERR_MODEL, "an expression of the pre-tokenizer is wrong: %s",
                         text);
        }
    }
    buf_release(&b);
    pcre2_compile_context_free(c);
    return code;
}

bool presplit_add(struct presplit *p, const char *re, size_t len,
                  enum presplit_behavior behavior, bool invert, struct err *e)
{
    struct presplit_step s = { .behavior = behavior, .invert = invert };

    s.digits = presplit_by_hand(re, len);
    if (!s.digits && !(s.code = presplit_compile(re, len, e)))
        return false;
    MEM_GROW(p->step, p->cap, p->n + 1);
    p->step[p->n++] = s;
    return true;
}

struct presplit *presplit_family_new(const char *name)
{
    const struct presplit_family *f = presplit_family(name);
    struct presplit *p = presplit_new(PRESPLIT_OURS);
    struct err e = {0};

    assert(f); /* the table of names has known families only */
    for (int i = 0; i < PRESPLIT_STEPS && f->step[i]; i++) {
        bool ok =
            presplit_add(p, f->step[i], strlen(f->step[i]), PRESPLIT_ISOLATED, false, &e);
        assert(ok); /* and its expressions are right */
        (void)ok;
    }
    return p;
}

void presplit_free(struct presplit *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        pcre2_code_free(p->step[i].code);
    pcre2_match_context_free(p->context);
    free(p->step);
    free(p);
}

void presplit_work_release(struct tok_work *w)
{
    pcre2_match_data_free(w->match);
    w->match = NULL;
}

/* ---- what becomes of matches and of what is between them ---- */

struct presplit_out {
    struct tok_work *w;
    const struct presplit_step *step;
    size_t first;           /* of this piece in w->cut */
    bool last_match;        /* what the last entry was */
    size_t held;            /* PRESPLIT_WITH_NEXT: a match that waits for the next */
};

static void presplit_put(struct tok_work *w, size_t len)
{
    MEM_GROW(w->cut, w->cut_cap, w->cut_n + 1);
    w->cut[w->cut_n++] = len;
}

static void presplit_emit(struct presplit_out *o, size_t len, bool match)
{
    struct tok_work *w = o->w;
    bool more = w->cut_n > o->first;

    match = match != o->step->invert;
    switch (o->step->behavior) {
    case PRESPLIT_ISOLATED:
        presplit_put(w, len);
        break;
    case PRESPLIT_REMOVED:
        presplit_put(w, match ? len | PRESPLIT_DROPPED : len);
        break;
    case PRESPLIT_CONTIGUOUS:
        if (more && o->last_match == match)
            w->cut[w->cut_n - 1] += len;
        else
            presplit_put(w, len);
        break;
    case PRESPLIT_WITH_PREVIOUS:
        if (more && match && !o->last_match)
            w->cut[w->cut_n - 1] += len;
        else
            presplit_put(w, len);
        break;
    case PRESPLIT_WITH_NEXT:
        if (match) {
            if (o->held)
                presplit_put(w, o->held);
            o->held = len;
        } else {
            presplit_put(w, o->held + len);
            o->held = 0;
        }
        break;
    }
    o->last_match = match;
}

/* ---- digits by hand ---- */

/* Bytes of the character at s if it is a digit, else 0. */
static size_t presplit_digit(const struct presplit_digits *d, const char *s, size_t n)
{
    int32_t cp;

    if (n == 0)
        return 0;
    if ((unsigned char)*s < 0x80)
        return *s >= '0' && *s <= '9';
    ssize_t k = utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &cp);
    return k > 0 && (d->any_number ? tok_char_is_number : tok_char_is_decimal)(cp)
               ? (size_t)k
               : 0;
}

static bool presplit_number_ends(const struct presplit_digits *d, const char *s, size_t n)
{
    int32_t cp;

    return !d->to_boundary || n == 0 ||
           utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &cp) <= 0 ||
           !tok_char_is_word(cp);
}

static void presplit_cut_digits(const struct presplit_digits *d, const char *text,
                                size_t len, struct presplit_out *o)
{
    size_t done = 0;

    for (size_t i = 0; i < len;) {
        size_t digits = 0, to = i, n;
        for (; (n = presplit_digit(d, text + to, len - to)) > 0; to += n)
            digits++;
        if (digits == 0) {
            i++;
            continue;
        }
        if (!presplit_number_ends(d, text + to, len - to)) {
            i = to;
            continue;
        }
        for (; i < to; digits -= digits % 3 ? digits % 3 : 3) {
            size_t group = digits % 3 ? digits % 3 : 3, from = i;
            bool alone = !d->between || digits % 3 == 0;
            while (group--)
                i += presplit_digit(d, text + i, len - i);
            if (alone && from > done)
                presplit_emit(o, from - done, false);
            if (alone && !d->between)
                presplit_emit(o, i - from, true);
            if (alone)
                done = d->between ? from : i;
        }
    }
    if (done < len)
        presplit_emit(o, len - done, false);
}

/* ---- expressions ---- */

static void presplit_cut_regex(const struct presplit *p, const struct presplit_step *s,
                               const char *text, size_t len, struct presplit_out *o)
{
    pcre2_match_data *md = o->w->match;
    const size_t *m = pcre2_get_ovector_pointer(md);
    uint32_t how = PCRE2_NO_UTF_CHECK;
    size_t done = 0; /* emitted up to here */

    for (size_t at = 0; at < len && o->w->gave_up < PRESPLIT_GIVE_UP;) {
        int rc = pcre2_match(s->code, (PCRE2_SPTR)text, len, at, how, md, p->context);
        if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
            rc = pcre2_match(s->code, (PCRE2_SPTR)text, len, at, how | PCRE2_NO_JIT, md,
                             p->context);
        if (rc < 0 && rc != PCRE2_ERROR_NOMATCH) {
            o->w->gave_up++;
            if (log_on())
                log_line("tokenizer", "an expression gave up at byte %zu of %zu (%d)", at,
                         len, rc);
        }
        if (rc < 0)
            break;
        if (m[0] > done)
            presplit_emit(o, m[0] - done, false);
        if (m[1] > m[0])
            presplit_emit(o, m[1] - m[0], true);
        done = at = m[1];
        how = PCRE2_NO_UTF_CHECK | (m[1] > m[0] ? 0 : PCRE2_NOTEMPTY_ATSTART);
    }
    if (done < len)
        presplit_emit(o, len - done, false);
}

static void presplit_one(const struct presplit *p, const struct presplit_step *s,
                         const char *text, size_t len, struct tok_work *w)
{
    struct presplit_out o = { .w = w, .step = s, .first = w->cut_n };

    if (s->digits)
        presplit_cut_digits(s->digits, text, len, &o);
    else
        presplit_cut_regex(p, s, text, len, &o);
    if (o.held)
        presplit_put(w, o.held);
}

void presplit_cut(const struct presplit *p, const char *text, size_t len,
                  struct tok_work *w)
{
    if (!w->match)
        w->match = pcre2_match_data_create(1, NULL);
    text = presplit_known(text, len, &w->known);
    w->cut_n = 0;
    presplit_put(w, len);
    for (size_t k = 0; k < p->n; k++) {
        size_t *old = w->cut, n = w->cut_n, cap = w->cut_cap, at = 0;
        w->cut = w->cut2;
        w->cut_cap = w->cut2_cap;
        w->cut2 = old;
        w->cut2_cap = cap;
        w->cut_n = 0;
        for (size_t i = 0; i < n; i++) {
            size_t size = old[i] & ~PRESPLIT_DROPPED;
            if (old[i] & PRESPLIT_DROPPED)
                presplit_put(w, old[i]);
            else
                presplit_one(p, &p->step[k], text + at, size, w);
            at += size;
        }
    }
}
