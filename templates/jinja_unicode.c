#include "config.h"

#include <stdlib.h>

#include <utf8proc.h>

#include "templates/jinja_case.h"
#include "templates/jinja_int.h"

/* Characters as Python counts, names and maps them: code points, not graphemes.
 * Categories and simple case mappings come from utf8proc; what Python's str methods need
 * beyond them (special casing, "Other_Lowercase", digits that are no decimals) stands in
 * small tables. Unlike Python, isnumeric() is false for ideographs that mean a number.
 *
 * A byte that is not UTF-8 counts as one character and is left as it is. */

enum { BAD = 0x110000 }; /* + the byte */

struct range {
    uint32_t from, to;
};

static const struct range other_lower[] = {
    { 0xAA, 0xAA },       { 0xBA, 0xBA },       { 0x2B0, 0x2B8 },
    { 0x2C0, 0x2C1 },     { 0x2E0, 0x2E4 },     { 0x345, 0x345 },
    { 0x37A, 0x37A },     { 0x1D2C, 0x1D6A },   { 0x1D78, 0x1D78 },
    { 0x1D9B, 0x1DBF },   { 0x2071, 0x2071 },   { 0x207F, 0x207F },
    { 0x2090, 0x209C },   { 0x2170, 0x217F },   { 0x24D0, 0x24E9 },
    { 0x2C7C, 0x2C7D },   { 0xA69C, 0xA69D },   { 0xA770, 0xA770 },
    { 0xA7F8, 0xA7F9 },   { 0xAB5C, 0xAB5F },   { 0x10780, 0x10780 },
    { 0x10783, 0x10785 }, { 0x10787, 0x107B0 }, { 0x107B2, 0x107BA },
};

static const struct range other_upper[] = {
    { 0x2160, 0x216F },   { 0x24B6, 0x24CF },   { 0x1F130, 0x1F149 },
    { 0x1F150, 0x1F169 }, { 0x1F170, 0x1F189 },
};

static const struct range other_digits[] = {
    { 0xB2, 0xB3 },       { 0xB9, 0xB9 },       { 0x1369, 0x1371 },
    { 0x19DA, 0x19DA },   { 0x2070, 0x2070 },   { 0x2074, 0x2079 },
    { 0x2080, 0x2089 },   { 0x2460, 0x2468 },   { 0x2474, 0x247C },
    { 0x2488, 0x2490 },   { 0x24EA, 0x24EA },   { 0x24F5, 0x24FD },
    { 0x24FF, 0x24FF },   { 0x2776, 0x277E },   { 0x2780, 0x2788 },
    { 0x278A, 0x2792 },   { 0x10A40, 0x10A43 }, { 0x10E60, 0x10E68 },
    { 0x11052, 0x1105A }, { 0x1F100, 0x1F10A },
};

static const struct range spaces[] = {
    { 0x9, 0xD },       { 0x1C, 0x20 },     { 0x85, 0x85 },     { 0xA0, 0xA0 },
    { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 }, { 0x202F, 0x202F },
    { 0x205F, 0x205F }, { 0x3000, 0x3000 },
};

/* Punctuation that may stand inside a word when a final sigma is looked for. */
static const struct range mid_word[] = {
    { 0x27, 0x27 },     { 0x2E, 0x2E },     { 0x3A, 0x3A },     { 0xB7, 0xB7 },
    { 0x387, 0x387 },   { 0x55F, 0x55F },   { 0x5F4, 0x5F4 },   { 0x2018, 0x2019 },
    { 0x2024, 0x2024 }, { 0x2027, 0x2027 }, { 0xFE13, 0xFE13 }, { 0xFE52, 0xFE52 },
    { 0xFE55, 0xFE55 }, { 0xFF07, 0xFF07 }, { 0xFF0E, 0xFF0E }, { 0xFF1A, 0xFF1A },
};

static bool in_ranges(uint32_t cp, const struct range *v, size_t n)
{
    for (size_t i = 0; i < n && v[i].from <= cp; i++)
        if (cp <= v[i].to)
            return true;
    return false;
}
#define IN(cp, table) in_ranges((cp), (table), sizeof(table) / sizeof *(table))

size_t jj_char(const char *p, size_t n, uint32_t *cp)
{
    utf8proc_int32_t c = -1;

    if ((unsigned char)*p < 0x80) {
        *cp = (unsigned char)*p;
        return 1;
    }
    utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)p,
                                             n < 4 ? (utf8proc_ssize_t)n : 4, &c);
    if (used <= 0) {
        *cp = BAD + (unsigned char)*p;
        return 1;
    }
    *cp = (uint32_t)c;
    return (size_t)used;
}

/* The character that ends at p + n. */
size_t jj_char_before(const char *p, size_t n, uint32_t *cp)
{
    for (size_t k = 2; k <= 4 && k <= n; k++)
        if (((unsigned char)p[n - k] & 0xC0) != 0x80) {
            if (jj_char(p + n - k, k, cp) == k)
                return k;
            break;
        }
    *cp = (unsigned char)p[n - 1] < 0x80 ? (unsigned char)p[n - 1]
                                         : BAD + (unsigned char)p[n - 1];
    return 1;
}

size_t jj_chars(const struct jj_str *s)
{
    size_t n = 0;
    uint32_t cp;

    for (size_t i = 0; i < s->n; n++)
        i += jj_char(s->p + i, s->n - i, &cp);
    return n;
}

size_t jj_char_at(const struct jj_str *s, size_t from, size_t k)
{
    uint32_t cp;

    while (k-- > 0 && from < s->n)
        from += jj_char(s->p + from, s->n - from, &cp);
    return from;
}

void jj_put(char out[4], size_t *n, uint32_t cp)
{
    if (cp >= BAD) {
        out[0] = (char)(cp - BAD);
        *n = 1;
        return;
    }
    *n = (size_t)utf8proc_encode_char((utf8proc_int32_t)cp, (utf8proc_uint8_t *)out);
}

static utf8proc_category_t category(uint32_t cp)
{
    return cp >= BAD ? UTF8PROC_CATEGORY_CN : utf8proc_category((utf8proc_int32_t)cp);
}

bool jj_is_space(uint32_t cp)
{
    return IN(cp, spaces);
}

bool jj_is_linebreak(uint32_t cp)
{
    return (cp >= 0xA && cp <= 0xD) || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 ||
           cp == 0x2028 || cp == 0x2029;
}

static bool is_letter(utf8proc_category_t c)
{
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

static bool is_number(utf8proc_category_t c)
{
    return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

bool jj_is_word(uint32_t cp)
{
    return cp == '_' || is_letter(category(cp)) || is_number(category(cp));
}

bool jj_is_printable(uint32_t cp)
{
    switch (category(cp)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_ZS:
        return cp == ' ';
    default:
        return true;
    }
}

bool jj_is(uint32_t cp, enum jj_class what)
{
    utf8proc_category_t c = category(cp);

    switch (what) {
    case JJ_IS_ALPHA:
        return is_letter(c);
    case JJ_IS_DECIMAL:
        return c == UTF8PROC_CATEGORY_ND;
    case JJ_IS_DIGIT:
        return c == UTF8PROC_CATEGORY_ND || IN(cp, other_digits);
    case JJ_IS_NUMERIC:
        return is_number(c);
    case JJ_IS_UPPER:
        return c == UTF8PROC_CATEGORY_LU || IN(cp, other_upper);
    case JJ_IS_LOWER:
        return c == UTF8PROC_CATEGORY_LL || IN(cp, other_lower);
    case JJ_IS_TITLE:
        return c == UTF8PROC_CATEGORY_LT;
    case JJ_IS_CASED:
        return jj_is(cp, JJ_IS_UPPER) || jj_is(cp, JJ_IS_LOWER) ||
               c == UTF8PROC_CATEGORY_LT;
    }
    return false;
}

/* ---- case mapping ---- */

static const struct jj_special_case *special_case(uint32_t cp)
{
    size_t from = 0, to = jj_n_special_cases;

    while (from < to) {
        size_t mid = (from + to) / 2;
        if (jj_special_cases[mid].cp == cp)
            return &jj_special_cases[mid];
        if (jj_special_cases[mid].cp < cp)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

static bool case_ignorable(uint32_t cp)
{
    utf8proc_category_t c = category(cp);

    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME ||
           c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_LM ||
           c == UTF8PROC_CATEGORY_SK || IN(cp, mid_word);
}

/* A capital sigma at the end of a word becomes another letter than elsewhere. */
static bool final_sigma(const struct jj_str *s, size_t at, size_t len)
{
    uint32_t cp = 0;
    size_t i = at;

    while (i > 0) {
        i -= jj_char_before(s->p, i, &cp);
        if (!case_ignorable(cp))
            break;
        cp = 0;
    }
    if (!jj_is(cp, JJ_IS_CASED))
        return false;
    for (i = at + len; i < s->n;) {
        i += jj_char(s->p + i, s->n - i, &cp);
        if (!case_ignorable(cp))
            return !jj_is(cp, JJ_IS_CASED);
    }
    return true;
}

static void out_cp(struct jj_out *o, uint32_t cp, uint8_t origin)
{
    char p[4];
    size_t n;

    jj_put(p, &n, cp);
    jj_out_add(o, p, n, origin);
}

static void out_fold(struct jj_out *o, uint32_t cp, uint8_t origin)
{
    utf8proc_int32_t to[16];
    int boundary = 0;
    utf8proc_ssize_t n = cp >= BAD
                             ? 0
                             : utf8proc_decompose_char((utf8proc_int32_t)cp, to, 16,
                                                       UTF8PROC_CASEFOLD, &boundary);

    if (n <= 0 || n > 16)
        out_cp(o, cp, origin);
    for (utf8proc_ssize_t i = 0; n <= 16 && i < n; i++)
        out_cp(o, (uint32_t)to[i], origin);
}

static void out_mapped(struct jj_out *o, uint32_t cp, enum jj_case how, uint8_t origin)
{
    const struct jj_special_case *special = how == JJ_LOWER ? NULL : special_case(cp);
    utf8proc_int32_t c = (utf8proc_int32_t)cp;

    if (cp >= BAD) {
        out_cp(o, cp, origin);
    } else if (special) {
        jj_out_text(o,
                    how == JJ_TITLE && special->title ? special->title : special->upper,
                    origin);
    } else if (how == JJ_LOWER && cp == 0x130) {
        jj_out_text(o, "i\u0307", origin);
    } else {
        c = how == JJ_LOWER   ? utf8proc_tolower(c)
            : how == JJ_UPPER ? utf8proc_toupper(c)
                              : utf8proc_totitle(c);
        out_cp(o, (uint32_t)c, origin);
    }
}

/* Bytes [from, to) of s; what stands around them still counts for a final sigma. */
void jj_out_case(struct jj_out *o, const struct jj_str *s, size_t from, size_t to,
                 enum jj_case how)
{
    for (size_t i = from; i < to;) {
        uint32_t cp;
        uint8_t origin = jj_str_origin_at(s, i);
        size_t len = jj_char(s->p + i, s->n - i, &cp);

        if (how == JJ_FOLD)
            out_fold(o, cp, origin);
        else if (how == JJ_LOWER && cp == 0x3A3)
            out_cp(o, final_sigma(s, i, len) ? 0x3C2 : 0x3C3, origin);
        else
            out_mapped(o, cp, how, origin);
        i += len;
    }
}

struct jj_str *jj_str_case(struct jj *jj, const struct jj_str *s, enum jj_case how)
{
    struct jj_out o;

    jj_out_init(&o, jj);
    jj_charge_chars(jj, s->n);
    jj_out_case(&o, s, 0, s->n, how);

    struct jj_str *t = jj_out_finish(&o);
    t->safe = s->safe;
    return t;
}
