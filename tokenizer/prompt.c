/* A prompt, part by part. Neighbouring text is merged as one, and a token may take the
 * white space beside it along (Phi-3's do), so text is held back until it is known what
 * comes behind it. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>

#include "base/mem.h"

void tok_prompt_init(struct tok_prompt *p, const struct tok *t, struct tok_cache *cache,
                     struct tok_ids *out)
{
    *p = (struct tok_prompt){ .t = t, .cache = cache, .out = out, .place = TOK_AT_START };
}

void tok_prompt_text(struct tok_prompt *p, const char *text, size_t len,
                     enum tok_text kind)
{
    if (p->strip) {
        size_t space = tok_space_before(text, len);
        text += space;
        len -= space;
    }
    if (!len)
        return;
    p->strip = false;
    buf_add(&p->text, text, len);
    if (p->n && p->span[p->n - 1].kind == kind) {
        p->span[p->n - 1].len += len;
        return;
    }
    MEM_GROW(p->span, p->cap, p->n + 1);
    p->span[p->n++] = (struct tok_span){ len, kind };
}

void tok_prompt_border(struct tok_prompt *p)
{
    if (!p->text.n)
        return;
    if (p->cache)
        tok_cache_encode(p->cache, p->text.p, p->span, p->n, p->place, p->out);
    else
        tok_encode_spans(p->t, p->text.p, p->span, p->n, p->place, p->out);
    buf_reset(&p->text);
    p->n = 0;
    p->place = TOK_AFTER_TEXT;
}

/* Take n bytes off the end of the text that waits. */
static void prompt_cut(struct tok_prompt *p, size_t n)
{
    buf_truncate(&p->text, p->text.n - n);
    while (n) {
        struct tok_span *last = &p->span[p->n - 1];
        size_t k = n < last->len ? n : last->len;
        last->len -= k;
        n -= k;
        if (!last->len)
            p->n--;
    }
}

void tok_prompt_token(struct tok_prompt *p, int32_t id)
{
    unsigned found = id >= 0 && (size_t)id < p->t->n ? p->t->v[id].found : 0;

    if (found & TOK_FOUND_LEFT)
        prompt_cut(p, tok_space_behind(buf_str(&p->text), p->text.n));
    tok_prompt_border(p);
    tok_ids_add(p->out, id);
    p->place = TOK_AFTER_SPECIAL;
    p->strip = (found & TOK_FOUND_RIGHT) != 0;
}

void tok_prompt_ids(struct tok_prompt *p, const int32_t *ids, size_t n)
{
    tok_prompt_border(p);
    for (size_t i = 0; i < n; i++)
        tok_ids_add(p->out, ids[i]);
    p->place = TOK_AFTER_TEXT;
    p->strip = false;
}

void tok_prompt_end(struct tok_prompt *p)
{
    tok_prompt_border(p);
    buf_release(&p->text);
    free(p->span);
    *p = (struct tok_prompt){ 0 };
}
