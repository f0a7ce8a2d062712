/* Decimal numbers, without the signs and spaces that strtoull accepts. */
#include "base/parse.h"

#include <string.h>

bool
parse_u64(const char *p, size_t len, uint64_t max, uint64_t *ret)
{
    uint64_t n = 0;

    if (!len)
        return false;
    for (size_t i = 0; i < len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)p[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, digit, &n))
            return false;
    }
    if (n > max)
        return false;
    *ret = n;
    return true;
}

bool
parse_u64_text(const char *s, uint64_t max, uint64_t *ret)
{
    return parse_u64(s, strlen(s), max, ret);
}
