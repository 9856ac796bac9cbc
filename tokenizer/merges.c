/* Reading a list of merges: pairs of token names, the earliest being merged first. They
 * become a table from two ids to the one they make.
 *
 * Merges of parts that are no tokens have no effect on any text; they are counted and
 * left out. The tables are larger than the caches, so that look-ups are done in batches,
 * whose memory is fetched ahead. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>

void tok_merges_start(struct tok_merges *m, struct tok *t, size_t n)
{
    *m =
        (struct tok_merges){ .t = t, .chars = (t->presplit_flags & PRESPLIT_CHARS) != 0 };
    bpe_alphabet_init(&m->alphabet);
    tok_pairs_init(&t->pairs, n);
}

/* The bytes of a token's name. */
static bool merges_bytes(const struct tok_merges *m, const char *s, size_t n, char *p,
                         size_t *len)
{
    if (!m->chars)
        return bpe_unmap(&m->alphabet, s, n, p, len);
    *len = spm_unescape(p, s, n);
    return true;
}

/* What a merge makes. Vocabularies stand in the order in which their tokens were made, so
 * it is nearly always the token of the merge before, or the next one; no need to look it
 * up. */
static int32_t merges_made(const struct tok *t, const char *p, size_t len, int32_t guess)
{
    for (int32_t id = guess; id <= guess + 1; id++)
        if (id >= 0 && (size_t)id < t->n && t->v[id].type == TOK_NORMAL &&
            t->v[id].bytes_len == len && memcmp(t->v[id].bytes, p, len) == 0)
            return id;
    return tok_map_get(&t->map, t->v, p, len);
}

static void merges_put(struct tok_merges *m)
{
    struct tok *t = m->t;

    for (size_t i = 0; i < m->n; i++) {
        struct tok_merge_item *x = &m->v[i];
        const char *p = m->text.p + x->at;
        x->left = tok_map_get(&t->map, t->v, p, x->left_len);
        x->right = tok_map_get(&t->map, t->v, p + x->left_len, x->right_len);
        x->made = merges_made(t, p, x->left_len + x->right_len, m->last);
        if (x->made >= 0)
            m->last = x->made;
        tok_pairs_soon(&t->pairs, x->left, x->right);
    }
    for (size_t i = 0; i < m->n; i++) {
        const struct tok_merge_item *x = &m->v[i];
        if (x->left >= 0 && x->right >= 0 && x->made >= 0)
            tok_pairs_put(&t->pairs, x->left, x->right, x->rank, x->made);
        else
            m->useless++;
    }
    m->n = 0;
    buf_reset(&m->text);
}

void tok_merges_add(struct tok_merges *m, const char *left, size_t left_len,
                    const char *right, size_t right_len)
{
    struct tok_merge_item x = { .at = m->text.n, .rank = m->rank++ };

    buf_reserve(&m->text, left_len + right_len);
    char *p = m->text.p + m->text.n;
    if (!merges_bytes(m, left, left_len, p, &x.left_len) ||
        !merges_bytes(m, right, right_len, p + x.left_len, &x.right_len)) {
        m->useless++;
        return;
    }
    m->text.n += x.left_len + x.right_len;
    tok_map_soon(&m->t->map, p, x.left_len);
    tok_map_soon(&m->t->map, p + x.left_len, x.right_len);
    m->v[m->n++] = x;
    if (m->n == TOK_BATCH)
        merges_put(m);
}

bool tok_merges_add_line(struct tok_merges *m, const char *line, size_t len)
{
    const char *space = len > 1 ? memchr(line + 1, ' ', len - 1) : NULL;

    if (!space || space + 1 == line + len)
        return false;
    tok_merges_add(m, line, (size_t)(space - line), space + 1,
                   (size_t)(line + len - space - 1));
    return true;
}

void tok_merges_end(struct tok_merges *m)
{
    if (m->n)
        merges_put(m);
    buf_release(&m->text);
}
