/* Decoding follows the Unicode table of well-formed sequences (3-7): no overlong forms, no
 * surrogates, nothing above U+10FFFF. A bad sequence is reported one byte at a time, so that
 * a reader finds its way back at the next good byte.
 *
 * A cluster is as wide as its widest code point; an emoji variation selector or a pair of
 * regional indicators makes it two columns. That is what terminals with cluster support
 * (mode 2027) do, and what tmux does for joined emoji. */
#include "config.h"

#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

#include "base/buf.h"

/* Decode one code point. Returns bytes used; 0 when n bytes are a good but unfinished
 * start; -1 for a bad byte. */
static int utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned lo = 0x80, hi = 0xBF;
    int len;

    if (n == 0)
        return 0;
    if (u[0] < 0x80) {
        *cp = u[0];
        return 1;
    }
    if (u[0] >= 0xC2 && u[0] <= 0xDF) {
        len = 2;
        *cp = u[0] & 0x1F;
    } else if (u[0] >= 0xE0 && u[0] <= 0xEF) {
        len = 3;
        *cp = u[0] & 0x0F;
        if (u[0] == 0xE0)
            lo = 0xA0;
        if (u[0] == 0xED)
            hi = 0x9F;
    } else if (u[0] >= 0xF0 && u[0] <= 0xF4) {
        len = 4;
        *cp = u[0] & 0x07;
        if (u[0] == 0xF0)
            lo = 0x90;
        if (u[0] == 0xF4)
            hi = 0x8F;
    } else {
        return -1;
    }
    for (int i = 1; i < len; i++) {
        if ((size_t)i >= n)
            return 0;
        if (u[i] < lo || u[i] > hi)
            return -1;
        *cp = *cp << 6 | (u[i] & 0x3F);
        lo = 0x80;
        hi = 0xBF;
    }
    return len;
}

/* Code points that act on a terminal or reorder what a reader sees. */
static bool utf8_is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7F && cp <= 0x9F) || cp == 0x2028 || cp == 0x2029 ||
           cp == 0x061C || cp == 0x200E || cp == 0x200F || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2060 && cp <= 0x206F) || cp == 0xFEFF || (cp >= 0xFFF9 && cp <= 0xFFFB) ||
           (cp >= 0xE0000 && cp <= 0xE0FFF && !(cp >= 0xE0100 && cp <= 0xE01EF) &&
            !(cp >= 0xE0020 && cp <= 0xE007F));
}

static int utf8_control_width(uint32_t cp)
{
    if (cp == '\n')
        return 0;
    if (cp == '\t')
        return 1;
    if (cp < 0x80)
        return 2;                               /* ^[ */
    return cp > 0xFFFF ? 9 : 8;                 /* <U+E0001>, <U+202E> */
}

/* The width of one code point inside a cluster. Private-use and unassigned ones take a
 * column in every terminal. */
static int utf8_point_width(uint32_t cp)
{
    if (cp == 0x00AD)
        return 1;                               /* soft hyphen: terminals draw it */
    int w = utf8proc_charwidth((utf8proc_int32_t)cp);
    if (w == 0) {
        utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
        if (c == UTF8PROC_CATEGORY_CO || c == UTF8PROC_CATEGORY_CN)
            w = 1;
    }
    return w;
}

size_t utf8_next(const char *s, size_t n, struct utf8_cell *out)
{
    uint32_t cp;
    int used = utf8_decode(s, n, &cp);

    *out = (struct utf8_cell){ .valid = true };
    if (used == 0)
        return 0;
    if (used < 0) {
        *out = (struct utf8_cell){ .bytes = 1, .width = 1, .cp = 0xFFFD };
        return 1;
    }
    out->cp = cp;
    out->bytes = (size_t)used;
    if (utf8_is_control(cp)) {
        out->control = true;
        out->width = utf8_control_width(cp);
        return out->bytes;
    }
    out->width = utf8_point_width(cp);
    if (n > out->bytes && cp < 0x80 && (unsigned char)s[out->bytes] < 0x80)
        return out->bytes;                      /* plain ASCII: no cluster to look for */

    utf8proc_int32_t state = 0;
    uint32_t last = cp;
    bool regional = cp >= 0x1F1E6 && cp <= 0x1F1FF;
    while (out->bytes < n) {
        uint32_t next;
        int more = utf8_decode(s + out->bytes, n - out->bytes, &next);
        if (more <= 0 || utf8_is_control(next) ||
            utf8proc_grapheme_break_stateful((utf8proc_int32_t)last, (utf8proc_int32_t)next,
                                             &state))
            break;
        int w = utf8_point_width(next);
        if (next == 0xFE0F || (regional && next >= 0x1F1E6 && next <= 0x1F1FF))
            w = 2;
        if (w > out->width)
            out->width = w;
        out->bytes += (size_t)more;
        last = next;
    }
    return out->bytes;
}

int utf8_width(const char *s, size_t n)
{
    int width = 0;
    struct utf8_cell c;

    for (size_t at = 0; at < n;) {
        size_t used = utf8_next(s + at, n - at, &c);
        if (used == 0)
            return width + (int)(n - at);
        width += c.width;
        at += used;
    }
    return width;
}

size_t utf8_prev(const char *s, size_t at)
{
    /* A cluster cannot be found backwards with certainty; begin at a safe place before it.
     * After an ASCII byte a cluster always starts anew or that byte is its base. */
    size_t from = at;
    while (from > 0 && at - from < 256) {
        from--;
        if ((unsigned char)s[from] < 0x80 && from + 1 < at)
            break;
    }
    size_t last = from;
    struct utf8_cell c;
    for (size_t p = from; p < at;) {
        size_t used = utf8_next(s + p, at - p, &c);
        if (used == 0)
            used = 1;
        last = p;
        p += used;
    }
    return at - last;
}

size_t utf8_char(const char *s, size_t n)
{
    uint32_t cp;
    int used = utf8_decode(s, n, &cp);

    return used > 0 ? (size_t)used : 0;
}

bool utf8_valid(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        int used = utf8_decode(s + at, n - at, &cp);
        if (used <= 0)
            return false;
        at += (size_t)used;
    }
    return true;
}

size_t utf8_complete(const char *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)s[n - back];
        if (c < 0x80)
            return n;
        if (c >= 0xC0) {
            uint32_t cp;
            return utf8_decode(s + n - back, back, &cp) == 0 ? n - back : n;
        }
    }
    return n;
}

void utf8_put(struct buf *out, uint32_t cp)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)cp, bytes);
    buf_add(out, bytes, (size_t)n);
}

void utf8_visible(struct buf *out, const char *s, size_t n, enum utf8_visible_flags flags)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        int used = utf8_decode(s + at, n - at, &cp);
        if (used <= 0) {
            buf_adds(out, "\xEF\xBF\xBD");
            at++;
            continue;
        }
        if ((cp == '\n' || cp == '\t') && flags == UTF8_LINES)
            buf_addc(out, (char)cp);
        else if (!utf8_is_control(cp))
            buf_add(out, s + at, (size_t)used);
        else if (cp < 0x80)
            buf_addf(out, "^%c", (char)(cp ^ 0x40));
        else
            buf_addf(out, "<U+%04X>", (unsigned)cp);
        at += (size_t)used;
    }
}

void utf8_stream_feed(struct utf8_stream *st, const char *s, size_t n, struct buf *out)
{
    struct buf all = {0};

    buf_add(&all, st->tail, st->n);
    buf_add(&all, s, n);
    size_t whole = utf8_complete(all.p, all.n);
    utf8_visible(out, all.p, whole, UTF8_LINES);
    st->n = all.n - whole;
    memcpy(st->tail, all.p + whole, st->n);
    buf_release(&all);
}

void utf8_stream_finish(struct utf8_stream *st, struct buf *out)
{
    utf8_visible(out, st->tail, st->n, UTF8_LINES);
    st->n = 0;
}
