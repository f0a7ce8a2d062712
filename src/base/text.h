/* Text: bytes with a length, and UTF-8. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that belong to somebody else. */
struct text {
    const char *p;
    size_t len;
};

bool text_is(struct text t, const char *s);
/* Reads a whole number without sign, at most 18 digits. */
bool text_number(struct text t, uint64_t *ret);

/* Is the byte ASCII, and needs no escape in a JSON string? */
bool text_is_plain(unsigned char c);
/* Returns how many bytes at p are such. */
size_t text_plain_run(const char *p, size_t len);
/* Returns the length of the UTF-8 character at p; 0: there is none, and
 * *ret_bad bytes are the beginning of one (at least 1). len > 0. */
size_t text_character(const char *p, size_t len, size_t *ret_bad);
bool text_is_utf8(const char *p, size_t len);
/* Returns how many bytes at the end begin a character that is not complete. */
size_t text_cut_tail(const char *p, size_t len);
/* Writes a character as UTF-8, at most 4 bytes. Returns their number. */
size_t text_encode(uint32_t c, char *to);

#endif
