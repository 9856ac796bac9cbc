#include "config.h"

#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, const void *p, size_t n)
{
    const uint8_t *s = p;

    buf_reserve(out, (n + 2) / 3 * 4);
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t v = (uint32_t)s[i] << 16 | (uint32_t)(left > 1 ? s[i + 1] : 0) << 8 |
                     (left > 2 ? s[i + 2] : 0);
        char four[4] = { base64_digits[v >> 18], base64_digits[v >> 12 & 63],
                         left > 1 ? base64_digits[v >> 6 & 63] : '=',
                         left > 2 ? base64_digits[v & 63] : '=' };
        buf_add(out, four, sizeof four);
    }
}

static int base64_value(char c)
{
    const char *at = c ? strchr(base64_digits, c) : NULL;
    return at ? (int)(at - base64_digits) : -1;
}

bool base64_decode(struct buf *out, const char *s, size_t n)
{
    size_t start = out->n;

    if (n % 4)
        return false;
    for (size_t i = 0; i < n; i += 4) {
        bool last = i + 4 == n;
        int pad = last && s[i + 3] == '=' ? (s[i + 2] == '=' ? 2 : 1) : 0;
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) {
            int digit = k >= 4 - pad ? 0 : base64_value(s[i + (size_t)k]);
            if (digit < 0)
                goto bad;
            v = v << 6 | (uint32_t)digit;
        }
        if (v & (pad == 2 ? 0xFFFFu : pad == 1 ? 0xFFu : 0))
            goto bad;
        char three[3] = { (char)(v >> 16), (char)(v >> 8), (char)v };
        buf_add(out, three, (size_t)(3 - pad));
    }
    return true;
bad:
    if (out->p)
        buf_truncate(out, start);
    return false;
}
