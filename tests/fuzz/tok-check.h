#ifndef FUZZ_TOK_CHECK_H
#define FUZZ_TOK_CHECK_H

/* What must hold of any tokenizer that was loaded, for any text. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tokenizer/tokenizer.h"

enum fuzz_how { FUZZ_PLAIN, FUZZ_SPECIAL, FUZZ_FOREIGN, FUZZ_SPANS, FUZZ_HOWS };

static inline void fuzz_encode(const struct tok *t, const char *text, size_t len,
                               enum fuzz_how how, enum tok_place place,
                               struct tok_ids *ids)
{
    struct tok_span span[3] = { { len / 3, TOK_TEXT_FOREIGN },
                                { len / 3, TOK_TEXT_PLAIN },
                                { len - 2 * (len / 3), TOK_TEXT_FOREIGN } };

    switch (how) {
    case FUZZ_PLAIN:
        tok_encode(t, text, len, place, ids);
        break;
    case FUZZ_SPECIAL:
        tok_encode_special(t, text, len, place, ids);
        break;
    case FUZZ_FOREIGN:
        tok_encode_foreign(t, text, len, place, ids);
        break;
    default:
        tok_encode_spans(t, text, span, 3, place, ids);
        break;
    }
}

/* The same twice (the second time pieces are known), ids of the vocabulary, and no control
 * token but where names count. */
static inline void fuzz_text(const struct tok *t, const char *text, size_t len,
                             enum fuzz_how how, enum tok_place place)
{
    struct tok_ids ids = {0}, again = {0};
    struct buf out = {0};

    fuzz_encode(t, text, len, how, place, &ids);
    fuzz_encode(t, text, len, how, place, &again);
    if (ids.n != again.n)
        abort();
    for (size_t i = 0; i < ids.n; i++)
        if (ids.v[i] != again.v[i] || ids.v[i] < 0 || (size_t)ids.v[i] >= tok_count(t))
            abort();
    tok_decode(t, ids.v, ids.n, place, TOK_SPECIALS_HIDE, &out);
    tok_decode(t, ids.v, ids.n, place, TOK_SPECIALS_SHOW, &out);
    buf_release(&out);
    tok_ids_release(&ids);
    tok_ids_release(&again);
}

static inline void fuzz_texts(const struct tok *t, const char *text, size_t len)
{
    for (int how = 0; how < FUZZ_HOWS; how++) {
        fuzz_text(t, text, len, (enum fuzz_how)how, TOK_AT_START);
        fuzz_text(t, text, len, (enum fuzz_how)how, TOK_AFTER_TEXT);
        fuzz_text(t, text, len, (enum fuzz_how)how, TOK_AFTER_SPECIAL);
    }
}

/* Read every byte that is handed out; the sum keeps the compiler from leaving it. */
static inline uint64_t fuzz_tokens(const struct tok *t)
{
    uint64_t sum = 0;
    struct buf name = {0};

    for (size_t i = 0; i < tok_count(t); i++) {
        size_t len;
        const char *s = tok_bytes(t, (int32_t)i, &len);
        while (len > 0)
            sum += (unsigned char)s[--len];
        s = tok_name(t, (int32_t)i, &len);
        buf_reset(&name);
        buf_add(&name, s, len);
        if (tok_special(t, buf_str(&name)) >= (int32_t)tok_count(t))
            abort();
        sum += tok_is_end(t, (int32_t)i) + tok_is_special(t, (int32_t)i);
    }
    buf_release(&name);
    return sum;
}

/* The text behind the file: the last two bytes are its length (little-endian). Takes it off
 * *n and returns it. */
static inline const char *fuzz_text_behind(const uint8_t *p, size_t *n, size_t *len)
{
    *len = 0;
    if (*n >= 2) {
        *n -= 2;
        *len = (p[*n] | (size_t)p[*n + 1] << 8) % 8192;
        if (*len > *n)
            *len = *n;
        *n -= *len;
    }
    return (const char *)p + *n;
}

#endif
