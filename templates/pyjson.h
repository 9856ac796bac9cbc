#ifndef TMPL_PYJSON_H
#define TMPL_PYJSON_H

/* JSON as Python's json module reads and prints it, which is what models were trained on.
 *
 * Values are jansson's, with one addition: a number that jansson cannot hold (an integer
 * beyond 64 bits, NaN) or whose spelling is to be kept is a string that begins with the
 * byte 0xFF. No text can be mistaken for one, as that byte never occurs in UTF-8. Whoever
 * looks at the type of a value asks pyjson_is_number() and pyjson_is_string(). */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

enum pyjson_read {
    PYJSON_STRICT = 0,
    PYJSON_NAN = 1,             /* NaN, Infinity, -Infinity are numbers, as in Python */
    PYJSON_NUMBER_TEXT = 2,     /* keep the spelling of every number: 1.0, 1e2, -0 */
};

/* What is wrong with a text, and at which byte. */
struct pyjson_bad {
    const char *what;
    size_t at;
};

/* One value of any type and nothing behind it; of a key that comes twice the last value
 * counts, at the first one's place. NULL: bad (may be NULL) says why. */
json_t *pyjson_load(const char *text, size_t len, unsigned flags, struct pyjson_bad *bad);

bool pyjson_is_number(const json_t *v);
bool pyjson_is_string(const json_t *v);

enum pyjson_print {
    PYJSON_COMPACT = 0,         /* {"a":1,"b":[2,3]} */
    PYJSON_SPACES = 1,          /* {"a": 1, "b": [2, 3]} */
    PYJSON_SORT = 2,            /* keys by code point, at all depths */
};

/* Append v as json.dumps(v, ensure_ascii=False) prints it. */
void pyjson_add(struct buf *out, const json_t *v, unsigned flags);

/* Append n bytes as a JSON string; what is not UTF-8 becomes U+FFFD. */
void pyjson_add_string(struct buf *out, const char *s, size_t n);

/* Append v as repr(float) gives it: the shortest digits that read back as v. */
void pyjson_add_real(struct buf *out, double v);

#endif
