#ifndef TMPL_JINJA_CASE_H
#define TMPL_JINJA_CASE_H

/* The table of jinja_case.c, for jinja_unicode.c. */

#include <stddef.h>
#include <stdint.h>

struct jj_special_case {
    uint32_t cp;
    const char *upper, *title;
};

extern const struct jj_special_case jj_special_cases[];
extern const size_t jj_n_special_cases;

#endif
