/* Which marker stands at a place of the queue, and whether it counts there. */
#include "config.h"

#include <string.h>

#include "templates/stream_int.h"

/* Special tokens that end a turn whatever the syntax. As text they are text: "</s>" is
 * HTML, too. */
static const struct syn_mark any_ends[] = {
    { .text = "<|im_end|>", .act = SYN_DO_END },
    { .text = "<|endoftext|>", .act = SYN_DO_END },
    { .text = "<|end_of_text|>", .act = SYN_DO_END },
    { .text = "<|eot_id|>", .act = SYN_DO_END },
    { .text = "<|eom_id|>", .act = SYN_DO_END },
    { .text = "<|end|>", .act = SYN_DO_END },
    { .text = "<end_of_turn>", .act = SYN_DO_END },
    { .text = "</s>", .act = SYN_DO_END },
    { .text = "<eos>", .act = SYN_DO_END },
    { .text = "[EOS]", .act = SYN_DO_END },
    { .text = "[EOT]", .act = SYN_DO_END },
};

static const unsigned act_in[] = {
    [SYN_DO_THINK] = SYN_IN(SYN_START) | SYN_IN(SYN_IDLE) | SYN_IN(SYN_THINK_START),
    [SYN_DO_THINK_END] = SYN_IN_THOUGHT | SYN_IN(SYN_START),
    [SYN_DO_ANSWER] = SYN_IN_OPEN,
    [SYN_DO_ANSWER_END] = SYN_IN(SYN_ANSWER) | SYN_IN(SYN_THINK_END),
    [SYN_DO_SECTION] = SYN_IN_SAID,
    [SYN_DO_SECTION_END] = SYN_IN(SYN_SECTION) | SYN_IN(SYN_CALL),
    [SYN_DO_CALL] = SYN_IN_SAID | SYN_IN(SYN_SECTION) | SYN_IN(SYN_CALL),
    [SYN_DO_CALL_END] = SYN_IN(SYN_CALL) | SYN_IN(SYN_CALL_END),
    [SYN_DO_INSIDE] = SYN_IN(SYN_CALL),
    [SYN_DO_CLOSE] = SYN_IN_SAID | SYN_IN_THOUGHT | SYN_IN(SYN_CALL),
    [SYN_DO_HEAD] = SYN_IN_OPEN,
    [SYN_DO_NOTHING] = SYN_IN(SYN_IDLE),
    [SYN_DO_END] = ~0u & ~SYN_IN(SYN_DOUBT),
};

/* What counts in an answer, but not where it is quoted. */
static const unsigned act_may_be_quoted = 1u << SYN_DO_CALL | 1u << SYN_DO_SECTION |
                                          1u << SYN_DO_HEAD | 1u << SYN_DO_END;

void stream_prepare_marks(struct tmpl_stream *st, const struct tmpl_vocab *vocab)
{
    const struct tmpl_syntax *s = st->syn;

    for (size_t i = 0; i < s->n_marks; i++) {
        const struct syn_mark *m = &s->marks[i];
        if (vocab && vocab->is_control && vocab->is_control(vocab->arg, m->text))
            st->by_name |= 1u << i;
        if (m->act != SYN_DO_END)
            st->live |= (m->in ? m->in : act_in[m->act]) | m->named_in;
    }
}

/* The end [at, end) of a marker does not divide a special token. */
static bool mark_is_cut(const struct tmpl_stream *st, size_t end)
{
    for (size_t i = 0; i < st->n_names; i++)
        if (st->names[i].at < end && end < st->names[i].at + st->names[i].n)
            return true;
    return false;
}

static bool mark_is_quoted(const struct tmpl_stream *st, size_t at)
{
    struct syn_quote q = st->quote;

    syn_quote_feed(&q, stream_front(st), at);
    return syn_quote_inside(&q);
}

/* In a call, by the call that is open. */
static bool mark_counts_in_call(const struct tmpl_stream *st, const struct syn_mark *m,
                                bool named)
{
    const struct syn_mark *open = st->call.open;
    bool guarded = !named && stream_call_guarded(st);

    switch (m->act) {
    case SYN_DO_CALL_END:
        return open && open->group == m->group && (!guarded || stream_call_may_close(st));
    case SYN_DO_CALL:
        return open && open->group == m->group && !guarded;
    case SYN_DO_INSIDE:
        return named || (!guarded && !st->call.depth);
    default:
        return !guarded;
    }
}

static bool mark_counts(const struct tmpl_stream *st, const struct syn_mark *m, size_t i,
                        const struct stream_name *name, size_t at)
{
    bool named = name && name->n == strlen(m->text);
    unsigned in = (m->in ? m->in : act_in[m->act]) | (named ? m->named_in : 0);

    if (i < 32 && st->by_name >> i & 1 && !named)
        return false;
    if (st->mode == SYN_DOUBT) {
        if (m->act == SYN_DO_CALL_END)
            return m->group == st->doubtful->group;
        return m->act == SYN_DO_CALL ||
               (m->act == SYN_DO_END && (named || st->text_only));
    }
    if (!(in & SYN_IN(st->mode)))
        return false;
    switch (m->act) {
    case SYN_DO_END:
        if (!named && !st->text_only)
            return false;
        break;
    case SYN_DO_ANSWER_END:
        if (!st->in_tagged)
            return false;
        break;
    default:
        break;
    }
    if (st->mode == SYN_CALL)
        return mark_counts_in_call(st, m, named);
    return named || !(act_may_be_quoted >> m->act & 1) ||
           !(SYN_IN(st->mode) & SYN_IN_SAID) || !mark_is_quoted(st, at);
}

/* Does the text of m stand at byte at? *half: the beginning of it, and nothing else. */
static bool mark_stands(const struct tmpl_stream *st, const struct syn_mark *m, size_t at,
                        bool *half)
{
    const char *s = stream_front(st) + at;
    size_t n = stream_len(st) - at, len = strlen(m->text);

    *half = false;
    if (*s != *m->text || memcmp(s, m->text, n < len ? n : len) ||
        mark_is_cut(st, at + len))
        return false;
    *half = n < len;
    return true;
}

/* The end of a turn that is no marker of this syntax. */
static const struct syn_mark *match_end(const struct tmpl_stream *st,
                                        const struct stream_name *name, size_t at,
                                        bool *half)
{
    bool in_text = st->text_only && st->syn->n_marks && st->mode != SYN_CALL_MORE;

    for (size_t i = 0; i < sizeof any_ends / sizeof *any_ends; i++) {
        const struct syn_mark *m = &any_ends[i];
        bool named = name && name->n == strlen(m->text), part;
        if (!named && !(in_text && !strncmp(m->text, "<|", 2)))
            continue;
        if (!mark_stands(st, m, at, &part) ||
            stream_is_mark(st, m->text, strlen(m->text)))
            continue;
        if (!mark_counts(st, m, 32, name, at))
            continue;
        if (!part)
            return m;
        *half = true;
    }
    return NULL;
}

const struct syn_mark *stream_match(const struct tmpl_stream *st, size_t at, bool *half)
{
    const struct tmpl_syntax *syn = st->syn;
    const struct stream_name *name = stream_name_at(st, at);
    const struct syn_mark *best = NULL;

    *half = false;
    for (size_t i = 0; i < syn->n_marks; i++) {
        const struct syn_mark *m = &syn->marks[i];
        bool part;
        if (!mark_stands(st, m, at, &part) || !mark_counts(st, m, i, name, at))
            continue;
        if (part)
            *half = true;
        else if (!best || strlen(m->text) > strlen(best->text))
            best = m;
    }
    return best ? best : match_end(st, name, at, half);
}

bool stream_is_mark(const struct tmpl_stream *st, const char *name, size_t n)
{
    for (size_t i = 0; i < st->syn->n_marks; i++) {
        const struct syn_mark *m = &st->syn->marks[i];
        if (m->act != SYN_DO_END && strlen(m->text) == n && !memcmp(m->text, name, n))
            return true;
    }
    return false;
}

bool stream_is_inside(const struct tmpl_stream *st, const char *name, size_t n)
{
    for (const char *const *s = st->syn->inside; s && *s; s++)
        if (strlen(*s) == n && !memcmp(*s, name, n))
            return true;
    return false;
}
