/* libFuzzer target: hostile tiktoken.model files and their tokenizer_config.json. The
 * input is the configuration, a NUL, the ranks, and a text, the last two bytes being its
 * length. So that a file of few bytes can be one, the 256 bytes stand before it as ranks. */
#include "config.h"

#include "base/base64.h"
#include "base/err.h"
#include "tests/fuzz/tok-check.h"
#include "tokenizer/hf.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct hf_config config = {0};
    struct err e = {0};
    struct buf ranks = {0};
    size_t len;
    const char *text = fuzz_text_behind(p, &n, &len);
    const uint8_t *nul = n ? memchr(p, 0, n) : NULL;

    if (nul)
        config.tokenizer =
            json_loadb((const char *)p, (size_t)(nul - p), JSON_ALLOW_NUL, NULL);
    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        base64_encode(&ranks, &c, 1);
        buf_addf(&ranks, " %d\n", b);
    }
    nul = nul ? nul + 1 : p;
    buf_add(&ranks, nul, n - (size_t)(nul - p));
    struct tok *t = tok_tiktoken_memory(ranks.p, ranks.n, "fuzz", &config,
                                        len % 2 ? "kimi-k2" : "gpt-4o", &e);
    if (t) {
        if (fuzz_tokens(t) == UINT64_MAX)
            abort();
        fuzz_texts(t, text, len);
    } else if (e.kind != ERR_MODEL || !e.text[0]) {
        abort();
    }
    tok_free(t);
    buf_release(&ranks);
    hf_config_release(&config);
    return 0;
}
