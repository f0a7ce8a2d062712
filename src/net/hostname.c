/* Characters are compared without ctype.h, which depends on the locale. */
#include "net/hostname.h"

#include <string.h>

static bool
hostname_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char
hostname_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
hostname_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || hostname_is_digit(c) || c == '-' ||
           c == '_';
}

/* Returns true if inet_aton would read the label as a number: decimal, octal,
 * or hexadecimal with 0x. */
static bool
hostname_is_number(const char *label, size_t len)
{
    bool is_hex = len >= 2 && label[0] == '0' && label[1] == 'x';

    for (size_t i = is_hex ? 2 : 0; i < len; i++)
        if (!hostname_is_digit(label[i]) &&
            !(is_hex && label[i] >= 'a' && label[i] <= 'f'))
            return false;
    return true;
}

size_t
hostname_parse(const char *text, size_t len, char to[HOSTNAME_MAX + 1])
{
    size_t label = 0; /* where the current one begins */

    if (len && text[len - 1] == '.')
        len--;
    if (!len || len > HOSTNAME_MAX)
        return 0;
    for (size_t i = 0; i < len; i++) {
        to[i] = hostname_lower(text[i]);
        if (to[i] == '.') {
            if (i == label)
                return 0;
            label = i + 1;
        } else if (!hostname_is_plain(to[i]) ||
                   i - label >= HOSTNAME_LABEL_MAX) {
            return 0;
        }
    }
    to[len] = 0;
    return hostname_is_number(to + label, len - label) ? 0 : len;
}
