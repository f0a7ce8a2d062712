/* Text: bytes with a length, and UTF-8. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that the holder of this value does not own, without a NUL at their
 * end. */
struct text {
    const char *p;
    size_t len;
};

bool text_is(struct text t, const char *s);
/* Returns true for a name that is safe in paths and lists: 1 to 64 ASCII
 * letters, digits, '.', '_' and '-', of which the first is a letter or a
 * digit. */
bool text_is_name(struct text t);
/* Reads a whole number without sign, at most 18 digits. */
bool text_number(struct text t, uint64_t *ret);

/* Returns true for an ASCII character that needs no escape in a JSON string. */
bool text_is_plain(unsigned char c);
/* Returns the number of bytes at p that are plain in this sense. */
size_t text_plain_length(const char *p, size_t len);
/* Returns the length of the UTF-8 character at p; len > 0. Returns 0 if there
 * is none; then *ret_bad is the length of the invalid beginning, at least 1,
 * which one U+FFFD replaces. Overlong forms, surrogates and characters above
 * U+10FFFF are invalid. */
size_t text_character(const char *p, size_t len, size_t *ret_bad);
/* Returns true if all of the bytes are complete, valid characters. */
bool text_is_utf8(const char *p, size_t len);
/* Returns the number of bytes at the end that begin a character but do not
 * complete it. Output that is sent in pieces is cut before them. */
size_t text_cut_tail(const char *p, size_t len);
/* Writes a character as UTF-8, at most 4 bytes. Returns their number. */
size_t text_encode(uint32_t c, char *to);

#endif
