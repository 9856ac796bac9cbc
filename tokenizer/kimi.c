/* Kimi's tokenizer encodes a long text in parts, and the ids depend on where they are
 * cut: after every 400,000 code points, and inside of that wherever a run of white space,
 * or of anything else, would be longer than 25,000. White space is what Python's
 * str.isspace() says, which is not quite \s. */
#include "config.h"

#include "tokenizer/internal.h"

#include <utf8proc.h>

enum { KIMI_PART = 400000, KIMI_RUN = 25000 };

static bool kimi_is_space(int32_t cp)
{
    return (cp >= 0x09 && cp <= 0x0D) || (cp >= 0x1C && cp <= 0x20) || cp == 0x85 ||
           cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

size_t tok_kimi_part(const char *text, size_t len, size_t *done)
{
    size_t run = 0;
    bool spaces = false;

    if (len <= KIMI_RUN && *done + len <= KIMI_PART) /* the usual text */
        return len;
    for (size_t i = 0; i < len; ++*done) {
        int32_t cp = (unsigned char)text[i];
        utf8proc_ssize_t n = 1;
        if (cp >= 0x80)
            n = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                 (utf8proc_ssize_t)(len - i), &cp);
        if (*done == KIMI_PART) {
            *done = 0;
            return i;
        }
        bool space = kimi_is_space(cp);
        run = i > 0 && space == spaces ? run + 1 : 1;
        spaces = space;
        if (run > KIMI_RUN)
            return i;
        i += n > 0 ? (size_t)n : 1;
    }
    return len;
}
