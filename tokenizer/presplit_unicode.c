/* Characters that are newer than PCRE2.
 *
 * PCRE2 10.42 knows Unicode 14; for it a character that came later is neither letter nor
 * symbol, and the expressions would cut elsewhere than those of the model's own
 * tokenizer. utf8proc knows Unicode 15. A text that has such characters is shown to the
 * expressions with an old character in the place of each: one of the same category that
 * takes as many bytes, so that the pieces have the same lengths. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>
#include <utf8proc.h>

/* Assigned in Unicode 15.0; the blocks of Han also in 15.1. In ascending order. */
static const struct unicode_range {
    int32_t from, to;
} unicode_new[] = {
    { 0x00CF3, 0x00CF3 }, { 0x00ECE, 0x00ECE }, { 0x10EFD, 0x10EFF },
    { 0x1123F, 0x11241 }, { 0x11B00, 0x11B09 }, { 0x11F00, 0x11F10 },
    { 0x11F12, 0x11F3A }, { 0x11F3E, 0x11F59 }, { 0x1342F, 0x1342F },
    { 0x13439, 0x13455 }, { 0x1B132, 0x1B132 }, { 0x1B155, 0x1B155 },
    { 0x1D2C0, 0x1D2D3 }, { 0x1DF25, 0x1DF2A }, { 0x1E030, 0x1E06D },
    { 0x1E08F, 0x1E08F }, { 0x1E4D0, 0x1E4F9 }, { 0x1F6DC, 0x1F6DC },
    { 0x1F774, 0x1F776 }, { 0x1F77B, 0x1F77F }, { 0x1F7D9, 0x1F7D9 },
    { 0x1FA75, 0x1FA77 }, { 0x1FA87, 0x1FA88 }, { 0x1FAAD, 0x1FAAF },
    { 0x1FABB, 0x1FABD }, { 0x1FABF, 0x1FABF }, { 0x1FACE, 0x1FACF },
    { 0x1FADA, 0x1FADB }, { 0x1FAE8, 0x1FAE8 }, { 0x1FAF7, 0x1FAF8 },
    { 0x2B739, 0x2B739 }, { 0x2EBF0, 0x2EE5D }, { 0x31350, 0x323AF },
};

static bool unicode_is_new(int32_t cp)
{
    size_t lo = 0, hi = sizeof unicode_new / sizeof *unicode_new;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp > unicode_new[mid].to)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < sizeof unicode_new / sizeof *unicode_new && cp >= unicode_new[lo].from;
}

/* An old character for cp, which is new. */
static int32_t unicode_old(int32_t cp)
{
    if (cp == 0xCF3)
        return 0xC82;
    if (cp == 0xECE)
        return 0xEC8;
    if (cp >= 0x20000)
        return 0x20000; /* Han */
    switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_MN:
        return 0x1E944;
    case UTF8PROC_CATEGORY_MC:
        return 0x11145;
    case UTF8PROC_CATEGORY_LL:
        return 0x1D41A;
    case UTF8PROC_CATEGORY_LM:
        return 0x16B40;
    case UTF8PROC_CATEGORY_LO:
        return 0x10280;
    case UTF8PROC_CATEGORY_ND:
        return 0x104A0;
    case UTF8PROC_CATEGORY_NO:
        return 0x10107;
    case UTF8PROC_CATEGORY_PO:
        return 0x10100;
    case UTF8PROC_CATEGORY_SO:
        return 0x1F600;
    case UTF8PROC_CATEGORY_CF:
        return 0xE0001;
    default:
        return cp;
    }
}

/* The next new character at or behind s; NULL if there is none. Only few bytes begin one,
 * and those of the two short ones are looked for as a whole. */
static const char *unicode_next(const char *s, const char *end)
{
    const char *found = NULL;
    int32_t cp;

    if (memchr(s, 0xE0, (size_t)(end - s))) {
        found = memmem(s, (size_t)(end - s), "\xE0\xB3\xB3", 3);
        const char *lao = memmem(s, (size_t)(end - s), "\xE0\xBB\x8E", 3);
        if (!found || (lao && lao < found))
            found = lao;
    }
    for (const char *p = s; (p = memchr(p, 0xF0, (size_t)(end - p))) != NULL; p++) {
        if (found && p > found)
            break;
        if (utf8proc_iterate((const utf8proc_uint8_t *)p, end - p, &cp) == 4 &&
            unicode_is_new(cp))
            return p;
    }
    return found;
}

const char *presplit_known(const char *text, size_t len, struct buf *tmp)
{
    const char *end = text + len, *p = unicode_next(text, end);

    if (!p)
        return text;
    buf_reset(tmp);
    buf_add(tmp, text, len);
    while (p) {
        int32_t cp;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)p, end - p, &cp);
        utf8proc_encode_char(unicode_old(cp), (utf8proc_uint8_t *)tmp->p + (p - text));
        p = unicode_next(p + n, end);
    }
    return tmp->p;
}
