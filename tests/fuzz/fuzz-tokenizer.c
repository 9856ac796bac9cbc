/* libFuzzer target: hostile vocabularies. The input is a GGUF file with a text behind it,
 * the last two bytes being the text's length (little-endian); the text is encoded and
 * decoded in all ways. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void fuzz_text(const struct tok *t, const char *text, size_t len, bool special,
                      enum tok_place place)
{
    struct tok_ids ids = { 0 };
    struct buf out = { 0 };

    (special ? tok_encode_special : tok_encode)(t, text, len, place, &ids);
    for (size_t i = 0; i < ids.n; i++)
        if (ids.v[i] < 0 || (size_t)ids.v[i] >= tok_count(t))
            abort();
    tok_decode(t, ids.v, ids.n, place, TOK_SPECIALS_HIDE, &out);
    tok_decode(t, ids.v, ids.n, place, TOK_SPECIALS_SHOW, &out);
    buf_release(&out);
    tok_ids_release(&ids);
}

/* Read every byte that is handed out; the sum keeps the compiler from leaving it. */
static uint64_t fuzz_tokens(const struct tok *t)
{
    uint64_t sum = 0;
    struct buf name = { 0 };

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

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct err e = { 0 };
    size_t len = 0;

    if (n >= 2) {
        n -= 2;
        len = p[n] | (size_t)p[n + 1] << 8;
        if (len > n)
            len = n;
    }
    struct gguf *g = gguf_open_memory(p, n - len, "fuzz", &e);
    if (!g)
        return 0;
    struct tok *t = tok_from_gguf(g, &e);
    if (t) {
        const char *text = (const char *)p + n - len;
        if (fuzz_tokens(t) == UINT64_MAX)
            abort();
        for (int special = 0; special < 2; special++) {
            fuzz_text(t, text, len, special, TOK_AT_START);
            fuzz_text(t, text, len, special, TOK_AFTER_TEXT);
        }
    } else if (e.kind != ERR_MODEL || !e.text[0]) {
        abort();
    }
    tok_free(t);
    gguf_free(g);
    return 0;
}
