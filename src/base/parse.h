/* Numbers in text that comes from users and files.
 *
 * Unlike strtoull, these functions accept no sign, no space, no base prefix and
 * no trailing characters, and they report an overflow as a failure. */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `len` decimal digits, at least one and nothing else. Returns false if
 * the text is not such a number or is above `max`. */
bool parse_u64(const char *p, size_t len, uint64_t max, uint64_t *ret);
/* Reads a whole string in the same way. */
bool parse_u64_text(const char *s, uint64_t max, uint64_t *ret);
/* Returns the double that is nearest to a number of JSON, whose grammar the
 * caller has checked, in every locale. Too large a number becomes infinite. */
double parse_double(const char *p, size_t len);

#endif
