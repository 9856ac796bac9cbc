#ifndef BASE_FILE_H
#define BASE_FILE_H

/* Whole reads and writes on a descriptor, interrupted calls taken up again. */

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* False leaves errno; a part may have been written. */
bool file_write_all(int fd, const char *p, size_t n);
/* Append everything up to the end. False leaves errno and what was read. */
bool file_read_all(int fd, struct buf *out);

#endif
