/* Classes of characters that are looked at one by one, as Oniguruma's \s, \w and \d. */
#include "config.h"

#include "tokenizer/internal.h"

#include <utf8proc.h>

bool tok_char_is_space(int32_t cp)
{
    utf8proc_category_t c = utf8proc_category(cp);

    return (cp >= 0x09 && cp <= 0x0D) || cp == 0x85 || c == UTF8PROC_CATEGORY_ZS ||
           c == UTF8PROC_CATEGORY_ZL || c == UTF8PROC_CATEGORY_ZP;
}

/* Letters with circles and squares around them are Alphabetic, though they are symbols.
 */
static bool class_is_circled(int32_t cp)
{
    return (cp >= 0x24B6 && cp <= 0x24E9) || (cp >= 0x1F130 && cp <= 0x1F149) ||
           (cp >= 0x1F150 && cp <= 0x1F169) || (cp >= 0x1F170 && cp <= 0x1F189);
}

bool tok_char_is_word(int32_t cp)
{
    if (cp < 0x100 &&
        (cp == 0xB2 || cp == 0xB3 || cp == 0xB9 || (cp >= 0xBC && cp <= 0xBE)))
        return true; /* of Latin-1 all numbers */
    switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return class_is_circled(cp);
    }
}

bool tok_char_is_decimal(int32_t cp)
{
    return utf8proc_category(cp) == UTF8PROC_CATEGORY_ND;
}

bool tok_char_is_number(int32_t cp)
{
    utf8proc_category_t c = utf8proc_category(cp);

    return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL ||
           c == UTF8PROC_CATEGORY_NO;
}
