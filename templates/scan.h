#ifndef TMPL_SCAN_H
#define TMPL_SCAN_H

/* JSON looked at where it stands: what a value is and where it ends, so that a part of
 * it can be cut out as the model wrote it. As strict as pyjson_load(), with the same
 * words for what is wrong. */

#include <stdbool.h>
#include <stddef.h>

#include "templates/pyjson.h"

struct scan {
    const char *s;
    size_t n, at;
    int depth;
    bool opened;                /* a bracket, and nothing behind it yet */
    bool nul;                   /* a string had a NUL character */
    struct pyjson_bad bad;      /* once something was false */
};

/* White space; at may then be n. */
void scan_space(struct scan *sc);
/* The next byte, or -1. */
int scan_peek(const struct scan *sc);
/* One value of any type, white space before it included; at is behind it then. */
bool scan_value(struct scan *sc);

/* A part of the text. */
struct scan_part {
    size_t at, n;
};
struct scan_member {
    struct scan_part key, value;        /* the key with its quotes */
};

/* Walk an object or a list: open() at its bracket, then next() until *more is false.
 * The part is the text of the value without the white space around it. False: bad says
 * why. */
bool scan_open(struct scan *sc);
bool scan_next_member(struct scan *sc, struct scan_member *m, bool *more);
bool scan_next_item(struct scan *sc, struct scan_part *item, bool *more);

/* All n bytes are one value; *part is it without white space. */
bool scan_whole(const char *s, size_t n, struct scan_part *part, struct pyjson_bad *bad);

/* The text of a JSON string, quotes included, which was scanned; NULL: it is none, or
 * has a NUL in it. Owned by the caller. */
char *scan_string(const char *s, size_t n);

#endif
