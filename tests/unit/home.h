#ifndef UNIT_HOME_H
#define UNIT_HOME_H

/* A home of its own for tests that write files: cmocka group set-up and tear-down. */

#include "tests/unit/unit.h"

static char home[] = "/tmp/vitrine-test-XXXXXX";

static inline int make_home(void **state)
{
    (void)state;
    if (!mkdtemp(home))
        return -1;
    setenv("XDG_DATA_HOME", home, 1);
    setenv("XDG_CACHE_HOME", home, 1);
    return 0;
}

static inline int drop_home(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

#endif
