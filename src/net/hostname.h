/* Names of hosts, in one canonical form: lower case, without a dot at the
 * end. */
#ifndef NET_HOSTNAME_H
#define NET_HOSTNAME_H

#include <stdbool.h>
#include <stddef.h>

enum { HOSTNAME_MAX = 253, HOSTNAME_LABEL_MAX = 63 };

/* Converts a name to its canonical form, and adds a NUL. The name consists of
 * labels of 1 to 63 letters, digits, `-` and `_`; other scripts are written as
 * xn--. A name whose last label is a number is rejected, because some programs
 * would read it as an address: 2130706433, 0x7f.1, 127.1. Returns its length,
 * or 0 for an invalid name. */
size_t hostname_parse(const char *text, size_t len, char to[HOSTNAME_MAX + 1]);

#endif
