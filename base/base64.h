#ifndef BASE_BASE64_H
#define BASE_BASE64_H

/* Base64 (RFC 4648 section 4) for bytes that JSON cannot hold. */

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Append the text of n bytes, padded. */
void base64_encode(struct buf *out, const void *p, size_t n);

/* Append the bytes of a text. False when it is not exactly what base64_encode() writes:
 * other characters, wrong padding or stray bits; out then keeps what it had. */
bool base64_decode(struct buf *out, const char *s, size_t n);

#endif
