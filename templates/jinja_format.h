#ifndef TMPL_JINJA_FORMAT_H
#define TMPL_JINJA_FORMAT_H

/* One field of a format, for jinja_format.c ('%5d' % x) and jinja_fstring.c
 * ('{:5d}'.format(x)): how to write a value, and the writing of it. */

#include "templates/jinja_int.h"

struct jj_spec {
    const struct jj_str *fill; /* one character */
    char align;                /* < > ^ =, 0: the default of the type */
    char sign;                 /* + - or space; 0: - */
    bool alt, zero;
    int width;
    char group;    /* , or _; 0: none */
    int precision; /* -1: none */
    char type;     /* 0: none */
};

/* A number with sign and digits, padded. The type is one for numbers, or 0. */
void jj_format_number(struct jj_out *o, struct jj_value v, const struct jj_spec *sp);
/* A text, cut to the precision and padded. */
void jj_format_text(struct jj_out *o, const struct jj_str *s, const struct jj_spec *sp,
                    char align);
/* repr() of a value, with all but ASCII escaped if ascii. */
struct jj_str *jj_format_repr(struct jj *jj, struct jj_value v, bool ascii);
/* A decimal number at s[*at], moved over; -1 if there is none. */
int jj_format_int(struct jj *jj, const struct jj_str *s, size_t *at);

#endif
