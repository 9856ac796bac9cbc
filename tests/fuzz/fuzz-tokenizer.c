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
#include "tests/fuzz/tok-check.h"
#include "tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct err e = {0};
    size_t len;
    const char *text = fuzz_text_behind(p, &n, &len);
    struct gguf *g = gguf_open_memory(p, n, "fuzz", &e);

    if (!g)
        return 0;
    struct tok *t = tok_from_gguf(g, &e);
    if (t) {
        if (fuzz_tokens(t) == UINT64_MAX)
            abort();
        fuzz_texts(t, text, len);
    } else if (e.kind != ERR_MODEL || !e.text[0]) {
        abort();
    }
    tok_free(t);
    gguf_free(g);
    return 0;
}
