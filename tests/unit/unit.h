#ifndef UNIT_H
#define UNIT_H

/* What every unit test needs: cmocka with its own includes in the order it asks for, TAP
 * output, and the shared data's folder. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* The folder ../shared beside the source tree, or NULL when it is not there: skip then. */
static inline const char *unit_shared(void)
{
    static char path[4096];
    const char *top = getenv("VT_SHARED");
    struct stat st;

    if (top)
        return stat(top, &st) == 0 ? top : NULL;
    snprintf(path, sizeof path, "%s/../shared", getenv("top_srcdir") ? getenv("top_srcdir") : ".");
    return stat(path, &st) == 0 ? path : NULL;
}

#define UNIT_NEEDS_SHARED() \
    do { \
        if (!unit_shared()) { \
            print_message("skipped: the shared test data is not beside the tree\n"); \
            skip(); \
        } \
    } while (0)

#define UNIT_RUN(tests) \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
