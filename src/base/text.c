/* UTF-8, and text that needs no escape in JSON. */
#include "base/text.h"

#include "base/parse.h"

#include <string.h>

enum { NAME_BYTES_MAX = 64 };

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

bool
text_is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* Tests the eight bytes of a word at once. Returns a word with the high bit set
 * in bytes that are not plain.
 *
 * A byte below 0x20 borrows in w - 0x20…, which sets its high bit. A byte equal
 * to '"' is zero in `quote`, and the classic test for a zero byte finds it. A
 * borrow may carry into the next byte, so only "none" and the lowest set bit
 * are exact. The caller needs no more. */
static uint64_t
text_special_bytes(uint64_t w)
{
    uint64_t quote = w ^ (ONES * '"'), backslash = w ^ (ONES * '\\');

    return (w | (w - ONES * ' ') | ((quote - ONES) & ~quote) |
            ((backslash - ONES) & ~backslash)) &
           HIGHS;
}

size_t
text_plain_length(const char *p, size_t len)
{
    enum { WORDS = 4 }; /* in one step, which the compiler makes a vector */
    size_t i = 0;
    uint64_t w[WORDS];

    for (; i + sizeof w <= len; i += sizeof w) {
        uint64_t special = 0;
        memcpy(w, p + i, sizeof w);
        for (int k = 0; k < WORDS; k++)
            special |= text_special_bytes(w[k]);
        if (special)
            break;
    }
    while (i < len && text_is_plain((unsigned char)p[i]))
        i++;
    return i;
}

/* --- UTF-8 */

/* Returns the length that the first byte of a character announces, or 0. The
 * range of the second byte excludes overlong forms (after E0, F0), surrogates
 * (after ED) and characters above U+10FFFF (after F4). */
static size_t
text_lead(unsigned char c, unsigned char *ret_low, unsigned char *ret_high)
{
    *ret_low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    *ret_high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

size_t
text_character(const char *p, size_t len, size_t *ret_bad)
{
    const unsigned char *s = (const unsigned char *)p;
    unsigned char low, high;
    size_t need = text_lead(s[0], &low, &high), have = 1;

    while (have < need && have < len && s[have] >= low && s[have] <= high) {
        low = 0x80;
        high = 0xbf;
        have++;
    }
    *ret_bad = have;
    return have == need ? need : 0;
}

bool
text_is_utf8(const char *p, size_t len)
{
    size_t at = 0, bad;

    while (at < len) {
        size_t n = text_plain_length(p + at, len - at);
        if (!n)
            n = text_character(p + at, len - at, &bad);
        if (!n)
            return false;
        at += n;
    }
    return true;
}

/* The lead byte of an incomplete character is one of the last three bytes. The
 * first byte from the end that can be a lead decides. */
size_t
text_cut_tail(const char *p, size_t len)
{
    unsigned char low, high;
    size_t bad;

    for (size_t n = 1; n <= 3 && n <= len; n++) {
        size_t need = text_lead((unsigned char)p[len - n], &low, &high);
        if (need > n && !text_character(p + len - n, n, &bad) && bad == n)
            return n;
        if (need)
            return 0;
    }
    return 0;
}

size_t
text_encode(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(0xf00 >> n | c); /* n leading ones */
    return n;
}

bool
text_is(struct text t, const char *s)
{
    return strlen(s) == t.len && !memcmp(t.p, s, t.len);
}

/* The characters are compared as ASCII, in every locale. */
static bool
text_is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

bool
text_is_name(struct text t)
{
    if (!t.len || t.len > NAME_BYTES_MAX || !text_is_letter_or_digit(*t.p))
        return false;
    for (size_t i = 0; i < t.len; i++)
        if (!text_is_letter_or_digit(t.p[i]) && t.p[i] != '.' &&
            t.p[i] != '_' && t.p[i] != '-')
            return false;
    return true;
}

bool
text_number(struct text t, uint64_t *ret)
{
    return t.len <= 18 && parse_u64(t.p, t.len, UINT64_MAX, ret);
}
