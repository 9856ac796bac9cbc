#ifndef BASE_UTF8_H
#define BASE_UTF8_H

/* Text as a terminal sees it: UTF-8, grapheme clusters, column widths, and bytes that must
 * be shown instead of sent. Width is answered here and nowhere else; wrapping, cutting,
 * padding and cursor placement all call utf8_next(). Built on utf8proc (Unicode 15). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct utf8_cell {
    size_t bytes;       /* of the input */
    int width;          /* columns: 0, 1 or 2 (a tab says 1; the caller expands it) */
    uint32_t cp;        /* first code point; 0xFFFD for a bad byte */
    bool valid;         /* false: one byte that is not UTF-8 */
    bool control;       /* C0, DEL, C1, line separators, bidi and other format controls:
                           must be shown with utf8_visible(), never sent */
};

/* Take the next grapheme of s and tell how many columns it needs. Returns the bytes used.
 * A bad byte is U+FFFD, one byte, one column; 0 means n is 0 or the bytes so far are the
 * start of a character: come back with more. A control is a cell of its own; its width is
 * that of its visible form (2 for ^[, 8 for <U+202E>), newline and tab excepted (0 and 1). */
size_t utf8_next(const char *s, size_t n, struct utf8_cell *out);

/* Columns of the whole text, visible forms counted. A half character at the end is one
 * column per byte. */
int utf8_width(const char *s, size_t n);

/* The length of the grapheme that ends at offset at (0 < at <= n): one step left. */
size_t utf8_prev(const char *s, size_t at);

bool utf8_valid(const char *s, size_t n);

/* Bytes of the well-formed character at s; 0 for a bad byte, half a character or n = 0. */
size_t utf8_char(const char *s, size_t n);

/* Length of the longest prefix of s that does not end inside a character. */
size_t utf8_complete(const char *s, size_t n);

/* Append one code point. */
void utf8_put(struct buf *out, uint32_t cp);

enum utf8_visible_flags {
    UTF8_LINES = 0,         /* newline and tab stay as they are */
    UTF8_ONE_LINE = 1,      /* they too are shown: ^J ^I */
};

/* Append s to out so that nothing in it acts on a terminal: controls in caret notation
 * (^[ for ESC, ^? for DEL), C1 and format controls as <U+009B>, bad bytes as U+FFFD. */
void utf8_visible(struct buf *out, const char *s, size_t n, enum utf8_visible_flags flags);

/* The same for a stream: half a character waits for its rest. A zeroed struct starts. */
struct utf8_stream {
    char tail[4];
    size_t n;
};
void utf8_stream_feed(struct utf8_stream *st, const char *s, size_t n, struct buf *out);
void utf8_stream_finish(struct utf8_stream *st, struct buf *out);

#endif
