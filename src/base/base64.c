/* Base64 by tables, three bytes at a time.
 *
 * Decoding is strict: the text has a length that is a multiple of four, padding
 * stands at the end only, and the bits that padding leaves unused are zero.
 * Each sequence of bytes therefore has exactly one text, and two texts that
 * differ never decode to the same bytes. */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* --- encoding */

static void
base64_encode_three(const unsigned char *p, char *to)
{
    uint32_t w = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];

    to[0] = letters[w >> 18];
    to[1] = letters[w >> 12 & 63];
    to[2] = letters[w >> 6 & 63];
    to[3] = letters[w & 63];
}

static void
base64_encode(const unsigned char *p, size_t len, char *to)
{
    unsigned char last[3] = {0};

    for (; len >= 3; len -= 3, p += 3, to += 4)
        base64_encode_three(p, to);
    if (!len)
        return;
    memcpy(last, p, len);
    base64_encode_three(last, to);
    to[3] = '=';
    if (len == 1)
        to[2] = '=';
}

void
base64_put(struct buf *b, const void *p, size_t len)
{
    size_t n = (len + 2) / 3 * 4;
    char *to = buf_room(b, n);

    if (!to)
        return;
    base64_encode(p, len, to);
    b->len += n;
}

/* --- decoding */

/* The value of a character that is no letter. All values of letters are
 * below 64, so the two high bits tell them apart, also in the union of four
 * values. */
#define NONE 0xff
#define N16                                                                 \
    NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, \
        NONE, NONE, NONE, NONE

static const uint8_t values[256] = {
    N16,  N16,  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
    NONE, 62,   NONE, NONE, NONE, 63,   52,   53,   54,   55,   56,   57,
    58,   59,   60,   61,   NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0,
    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,
    13,   14,   15,   16,   17,   18,   19,   20,   21,   22,   23,   24,
    25,   NONE, NONE, NONE, NONE, NONE, NONE, 26,   27,   28,   29,   30,
    31,   32,   33,   34,   35,   36,   37,   38,   39,   40,   41,   42,
    43,   44,   45,   46,   47,   48,   49,   50,   51,   NONE, NONE, NONE,
    NONE, NONE, N16,  N16,  N16,  N16,  N16,  N16,  N16,  N16};

/* Returns four letters as 24 bits, or UINT32_MAX if one is not a letter. */
static uint32_t
base64_decode_four(const unsigned char *p)
{
    uint32_t a = values[p[0]], b = values[p[1]];
    uint32_t c = values[p[2]], d = values[p[3]];

    if ((a | b | c | d) & 0xc0)
        return UINT32_MAX;
    return a << 18 | b << 12 | c << 6 | d;
}

static void
base64_store_three(uint32_t w, unsigned char *to)
{
    to[0] = (unsigned char)(w >> 16);
    to[1] = (unsigned char)(w >> 8);
    to[2] = (unsigned char)w;
}

/* Decodes the last four letters, in which padding is allowed. Returns the
 * number of bytes, or -EINVAL. Padding is read as the letter of value zero; the
 * bytes that it stands for must then be zero too. */
static int
base64_decode_last(const unsigned char *p, unsigned char *to)
{
    unsigned char last[4], bytes[3];
    int n_padding = (p[3] == '=') + (p[3] == '=' && p[2] == '=');

    memcpy(last, p, sizeof last);
    for (int i = 0; i < n_padding; i++)
        last[3 - i] = 'A';
    uint32_t w = base64_decode_four(last);
    if (w == UINT32_MAX || (w & ((1U << 8 * n_padding) - 1)))
        return -EINVAL;
    base64_store_three(w, bytes);
    memcpy(to, bytes, (size_t)(3 - n_padding));
    return 3 - n_padding;
}

int
base64_decode(const char *text, size_t len, void *to, size_t *ret_len)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned char *at = to;

    if (len % 4)
        return -EINVAL;
    for (; len > 4; len -= 4, p += 4, at += 3) {
        uint32_t w = base64_decode_four(p);
        if (w == UINT32_MAX)
            return -EINVAL;
        base64_store_three(w, at);
    }
    int n = len ? base64_decode_last(p, at) : 0;
    if (n < 0)
        return n;
    *ret_len = (size_t)(at - (unsigned char *)to) + (size_t)n;
    return 0;
}
