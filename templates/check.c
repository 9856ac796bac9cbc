/* Looking at a prompt with a reader's eyes: is everything in it that was said, and does
 * every turn end? Mistakes of this kind make no noise; the model is only a little
 * worse. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

struct check {
    const struct tmpl_check *in;
    const struct tmpl_prompt *p;
    size_t at;              /* messages up to here were found */
};

static void check_say(const struct check *c, struct buf *text)
{
    c->in->say(c->in->arg, buf_str(text));
    buf_release(text);
}

static bool is_piece(const struct tmpl_prompt *p, size_t i, const char *name)
{
    return i < p->n && p->v[i].kind == TMPL_PIECE_SPECIAL &&
           p->v[i].len == strlen(name) &&
           !memcmp(p->text.p + p->v[i].at, name, p->v[i].len);
}

static void check_bos(const struct check *c, const char *bos)
{
    struct buf b = {0};

    if (!bos || !is_piece(c->p, 0, bos) || !is_piece(c->p, 1, bos))
        return;
    buf_addf(&b, "the prompt begins with %s twice", bos);
    check_say(c, &b);
}

/* The conversation's text from byte `from` on that begins with s; where it ends, or 0. */
static size_t find_text(const struct tmpl_prompt *p, size_t from, const char *s, size_t n)
{
    size_t begin = 0;

    for (size_t i = 0; i <= p->n_spans; i++) {
        size_t end = i < p->n_spans ? p->spans[i].to : p->text.n;
        bool theirs = i == p->n_spans || p->spans[i].origin == TMPL_FROM_CONVERSATION;
        size_t first = begin > from ? begin : from;
        const char *hit = theirs && first < end
                              ? memmem(p->text.p + first, end - first, s, n) : NULL;
        if (hit)
            return (size_t)(hit - p->text.p) + n;
        begin = end;
    }
    return 0;
}

/* Where the conversation's text goes on behind byte at. */
static size_t next_text(const struct tmpl_prompt *p, size_t at)
{
    size_t begin = 0;

    for (size_t i = 0; i < p->n_spans; i++) {
        if (p->spans[i].origin == TMPL_FROM_CONVERSATION && p->spans[i].to > at)
            return begin > at ? begin : at;
        begin = p->spans[i].to;
    }
    return p->text.n;
}

/* Behind an answer that ends at byte at the template ends the turn. */
static bool is_closed(const struct check *c, size_t at)
{
    size_t to = next_text(c->p, at);

    for (size_t i = 0; i < c->p->n && c->p->v[i].at < to; i++) {
        const struct tmpl_piece *piece = &c->p->v[i];
        if (piece->kind != TMPL_PIECE_SPECIAL || piece->at < at)
            continue;
        char *name = xmemdup0(c->p->text.p + piece->at, piece->len);
        bool end = !c->in->is_end || c->in->is_end(c->in->arg, name);
        free(name);
        if (end)
            return true;
    }
    return false;
}

static void check_role(const struct check *c, size_t i, const char *role)
{
    static const char *const known[] = { "system", "developer", "user", "assistant",
                                         "tool" };
    struct buf b = {0};

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(role, known[k]))
            return;
    buf_addf(&b, "message %zu has the role \"%s\", which is none of system, developer, "
                 "user, assistant and tool", i + 1, role);
    check_say(c, &b);
}

static void check_message(struct check *c, size_t i, const json_t *m)
{
    const char *role = json_string_value(json_object_get(m, "role"));
    bool answer, open = json_is_true(json_object_get(m, "_open"));
    struct buf content = {0}, b = {0};
    const char *s;
    size_t n, at;

    if (!role)
        return;
    check_role(c, i, role);
    answer = !strcmp(role, "assistant");
    if (tmpl_get_content(json_object_get(m, "content"), &content, NULL) && content.n) {
        n = content.n;
        s = tmpl_trim(content.p, &n);
        at = n ? find_text(c->p, c->at, s, n) : 0;
        if (at)
            c->at = at;
        if (n && !at && !find_text(c->p, 0, s, n))
            buf_addf(&b, "the content of message %zu (%s) is not in the prompt", i + 1,
                     role);
        else if (at && answer && !open && !is_closed(c, at))
            buf_addf(&b, "nothing ends the turn of message %zu (%s)", i + 1, role);
    }
    if (b.n)
        check_say(c, &b);
    buf_release(&content);
}

void tmpl_check(const struct tmpl_request *r, const struct tmpl_prompt *p,
                const struct tmpl_check *in)
{
    struct check c = { .in = in, .p = p };

    check_bos(&c, r->bos);
    for (size_t i = 0; i < json_array_size(r->messages); i++)
        check_message(&c, i, json_array_get(r->messages, i));
}
