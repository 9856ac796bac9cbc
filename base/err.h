#ifndef BASE_ERR_H
#define BASE_ERR_H

/* One error idiom. A function that can fail takes a struct err * last, fills it and
 * returns false (or NULL); success leaves it untouched. The text is one sentence that
 * says what was tried, on what, and what to do next, and it can be printed as it is:
 * control bytes that came in through a %s are already made visible. */

#include <stdbool.h>

/* Also the exit status of the program (DESIGN.md section 3). */
enum err_kind {
    ERR_NONE = 0,
    ERR_FAILED = 1,     /* failed while running */
    ERR_USAGE = 2,      /* the command line or a command is wrong */
    ERR_MODEL = 3,      /* a model cannot be loaded */
    ERR_CONTEXT = 4,    /* the prompt does not fit the context */
    ERR_TOOL = 5,       /* a tool was refused or failed */
    ERR_REPLAY = 6,     /* a replay differs */
};

struct err {
    enum err_kind kind;
    char text[1024];
};

/* Fill e (kind ERR_FAILED, or the kind given) and return false. e may be NULL. */
bool err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool err_set_kind(struct err *e, enum err_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "context: " before the text and return false; the kind stays. */
bool err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
