#ifndef CHAT_SHA256_H
#define CHAT_SHA256_H

/* SHA-256 of model files, for the session's record. Hashing gigabytes must not delay a
 * chat: a file up to 64 MiB is hashed when it is loaded, a larger one only when somebody
 * asks (`vitrine info`); the result is remembered in the cache directory by path, size and
 * time of change. Without nettle every function says "not known". */

#include <stdbool.h>

struct err;

/* hex gets 64 digits and a NUL, or "" when the hash is not known without long work. */
void chat_sha256_known(const char *path, char hex[65]);
/* Hash the whole file and remember the result. */
bool chat_sha256_file(const char *path, char hex[65], struct err *e);

#endif
