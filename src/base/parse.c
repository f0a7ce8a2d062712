/* Decimal numbers, without the signs and spaces that strtoull accepts. */
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No double needs more digits to be rounded correctly, and no exponent of a
 * text that fits into memory is compensated by its digits. */
enum { DIGITS_MAX = 800 };
#define EXPONENT_MAX INT64_C(1000000000000)

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

/* Reads an exponent with an optional sign. */
static int64_t
parse_exponent(const char *p, const char *end)
{
    bool is_negative = p < end && *p == '-';
    int64_t n = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++)
        n = n < EXPONENT_MAX ? n * 10 + (*p - '0') : n;
    return is_negative ? -n : n;
}

/* Problem: strtod expects the decimal point of the locale, which a program that
 * embeds the library may have set.
 *
 * Idea: digits without a point mean the same everywhere, so 12.5e3 is passed as
 * 125e2. Digits beyond DIGITS_MAX only decide whether the number is above the
 * one before them, so a single digit at the end stands for all of them. */
double
parse_double(const char *p, size_t len)
{
    char s[DIGITS_MAX + 32];
    const char *end = p + len;
    int64_t exponent = 0;
    size_t n = 0;
    bool is_negative = p < end && *p == '-', is_behind_point = false;
    char last = '0';

    for (p += is_negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            is_behind_point = true;
            continue;
        }
        exponent -= is_behind_point;
        if (n == 0 && *p == '0')
            continue;
        if (n < DIGITS_MAX) {
            s[n++] = *p;
        } else {
            exponent++;
            last = *p != '0' ? '1' : last;
        }
    }
    if (p < end)
        exponent += parse_exponent(p + 1, end);
    (void)snprintf(s + n, sizeof s - n, "%ce%lld", last,
                   (long long)exponent - 1);
    double d = strtod(s, NULL);
    return is_negative ? -d : d;
}
