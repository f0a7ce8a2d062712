/* Base64 (RFC 4648, with padding, no line breaks). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

#include <stddef.h>

/* The maximum number of bytes that `len` characters decode to. */
#define BASE64_BYTES(len) ((len) / 4 * 3)

/* Appends the characters for `len` bytes at p. */
void base64_put(struct buf *b, const void *p, size_t len);
/* Returns 0 and writes *ret_len bytes to `to`, which has space for
 * BASE64_BYTES(len); -EINVAL if the text is not padded base64. */
int base64_decode(const char *text, size_t len, void *to, size_t *ret_len);

#endif
