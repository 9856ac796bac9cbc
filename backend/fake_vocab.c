/* The vocabulary of a fake script: ids 0..255 are the single bytes, then the special
 * tokens in the header's order, then every distinct token text in order of appearance. */
#include "config.h"

#include "backend/fake_vocab.h"

#include <stdlib.h>
#include <string.h>

#include "backend/ops.h"
#include "base/mem.h"

static int32_t fake_add(struct fake_script *s, const char *p, size_t n, bool special)
{
    MEM_GROW(s->text, s->text_cap, s->n_vocab + 1);
    MEM_GROW(s->len, s->len_cap, s->n_vocab + 1);
    MEM_GROW(s->special, s->special_cap, s->n_vocab + 1);
    s->text[s->n_vocab] = xmemdup0(p, n);
    s->len[s->n_vocab] = n;
    s->special[s->n_vocab] = special;
    return (int32_t)s->n_vocab++;
}

void fake_vocab_bytes(struct fake_script *s)
{
    for (int i = 0; i < 256; i++)
        fake_add(s, &(char){(char)i}, 1, false);
}

void fake_vocab_add_special(struct fake_script *s, const char *name, size_t n)
{
    fake_add(s, name, n, true);
    s->n_special++;
}

int32_t fake_vocab_special(const struct fake_script *s, const char *name, size_t n)
{
    for (size_t i = 256; i < 256 + s->n_special; i++)
        if (s->len[i] == n && !memcmp(s->text[i], name, n))
            return (int32_t)i;
    return -1;
}

/* The slot where the text is or would be. The table is never full. */
static size_t fake_slot(const struct fake_script *s, const char *p, size_t n)
{
    size_t at = be_hash(BE_HASH_START, p, n) & (s->n_slots - 1);

    for (; s->slots[at] >= 0; at = (at + 1) & (s->n_slots - 1)) {
        size_t id = (size_t)s->slots[at];
        if (s->len[id] == n && !memcmp(s->text[id], p, n))
            break;
    }
    return at;
}

static void fake_grow_slots(struct fake_script *s)
{
    s->n_slots = s->n_slots ? s->n_slots * 2 : 256;
    s->slots = xreallocarray(s->slots, s->n_slots, sizeof *s->slots);
    for (size_t i = 0; i < s->n_slots; i++)
        s->slots[i] = -1;
    for (size_t i = 256 + s->n_special; i < s->n_vocab; i++)
        s->slots[fake_slot(s, s->text[i], s->len[i])] = (int32_t)i;
}

int32_t fake_vocab_text(struct fake_script *s, const char *p, size_t n)
{
    if (n == 1)
        return (unsigned char)*p;
    if ((s->n_vocab - 256 - s->n_special + 1) * 2 > s->n_slots)
        fake_grow_slots(s);

    size_t at = fake_slot(s, p, n);
    if (s->slots[at] < 0)
        s->slots[at] = fake_add(s, p, n, false);
    return s->slots[at];
}

void fake_vocab_finish(struct fake_script *s)
{
    s->vocab.n = s->n_vocab;
    s->vocab.text = (const char *const *)s->text;
    s->vocab.len = s->len;
    s->vocab.special = s->special;
    s->vocab.template_name = s->template_name;
}

void fake_vocab_release(struct fake_script *s)
{
    for (size_t i = 0; i < s->n_vocab; i++)
        free(s->text[i]);
    free(s->text);
    free(s->len);
    free(s->special);
    free(s->slots);
}
