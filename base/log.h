#ifndef BASE_LOG_H
#define BASE_LOG_H

/* The trace of --trace FILE: keys, events, renders and timings, one line each, with
 * unprintable bytes escaped. One sink for the process, off until log_open(); any thread may
 * write. A line is "seconds.micros what: text". */

#include <stdbool.h>

struct err;

bool log_open(const char *path, struct err *e);
void log_close(void);
bool log_on(void);      /* ask before building an expensive text */
void log_line(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Microseconds of the monotonic clock. */
long long log_now_us(void);

#endif
