/* libFuzzer target: hostile tokenizer.json files. The input is the file with a text
 * behind it, the last two bytes being its length; the text is encoded in all ways. */
#include "config.h"

#include "base/err.h"
#include "tests/fuzz/tok-check.h"
#include "tokenizer/hf.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const struct hf_config none = {0};
    struct err e = {0};
    size_t len;
    const char *text = fuzz_text_behind(p, &n, &len);
    struct tok *t = tok_hf_memory((const char *)p, n, "fuzz", &none, &e);

    if (t) {
        if (fuzz_tokens(t) == UINT64_MAX)
            abort();
        fuzz_texts(t, text, len);
    } else if (e.kind != ERR_MODEL || !e.text[0]) {
        abort();
    }
    tok_free(t);
    return 0;
}
