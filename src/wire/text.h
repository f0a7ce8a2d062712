/* Text on the wire: JSON strings, UTF-8, base64. */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include "base/base64.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that belong to somebody else. */
struct text {
    const char *p;
    size_t len;
};

/* How many bytes at p need no escape in a JSON string and are ASCII. */
size_t text_plain_run(const char *p, size_t len);
/* The length of the UTF-8 character at p; 0: there is none, and *ret_bad bytes
 * are the beginning of one (at least 1). len > 0. */
size_t text_character(const char *p, size_t len, size_t *ret_bad);
bool text_is_utf8(const char *p, size_t len);
/* The bytes at the end that begin a character which is not complete. */
size_t text_cut_tail(const char *p, size_t len);

/* A line of the program on standard error; control characters become '?'. */
void text_log(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));
void text_logf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A JSON string with its quotes; what is no UTF-8 becomes U+FFFD. */
void put_string(struct buf *b, const char *p, size_t len);
void put_text(struct buf *b, const char *s);
/* A JSON string with the bytes in base64. */
void put_base64(struct buf *b, const void *p, size_t len);
/* "name": with a comma before it unless it is the first in its object; the name
 * needs no escapes. */
void put_name(struct buf *b, const char *name);
void put_number(struct buf *b, const char *name, uint64_t n);
void put_bool(struct buf *b, const char *name, bool value);

#endif
