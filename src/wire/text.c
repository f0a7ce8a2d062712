/* JSON strings and UTF-8. */
#include "wire/text.h"

#include <stdio.h>
#include <string.h>

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static bool
is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* A high bit for each byte of a word that is not plain; bits above the first
 * may be wrong. */
static uint64_t
special_bytes(uint64_t w)
{
    uint64_t quote = w ^ (ONES * '"'), backslash = w ^ (ONES * '\\');

    return (w | (w - ONES * ' ') | ((quote - ONES) & ~quote) |
            ((backslash - ONES) & ~backslash)) &
           HIGHS;
}

size_t
text_plain_run(const char *p, size_t len)
{
    size_t i = 0;
    uint64_t w;

    for (; i + sizeof w <= len; i += sizeof w) {
        memcpy(&w, p + i, sizeof w);
        if (special_bytes(w))
            break;
    }
    while (i < len && is_plain((unsigned char)p[i]))
        i++;
    return i;
}

/* --- UTF-8 */

/* The length that a lead byte announces, and the range of the second byte. */
static size_t
lead(unsigned char c, unsigned char *ret_low, unsigned char *ret_high)
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
    size_t need = lead(s[0], &low, &high), have = 1;

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
        size_t n = text_plain_run(p + at, len - at);
        if (!n)
            n = text_character(p + at, len - at, &bad);
        if (!n)
            return false;
        at += n;
    }
    return true;
}

size_t
text_cut_tail(const char *p, size_t len)
{
    unsigned char low, high;
    size_t bad;

    for (size_t n = 1; n <= 3 && n <= len; n++) {
        size_t need = lead((unsigned char)p[len - n], &low, &high);
        if (need > n && !text_character(p + len - n, n, &bad) && bad == n)
            return n;
        if (need)
            return 0;
    }
    return 0;
}

/* --- JSON */

static void
put_escaped(struct buf *b, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (const char *l = letters; *l; l += 2)
        if (c == (unsigned char)*l) {
            const char pair[] = {'\\', l[1]};
            buf_add(b, pair, 2);
            return;
        }
    buf_printf(b, "\\u%04x", c);
}

/* The first character, which is not plain; returns its length. */
static size_t
put_special(struct buf *b, const char *p, size_t len)
{
    size_t bad, n = text_character(p, len, &bad);

    if (!n)
        buf_puts(b, "\xef\xbf\xbd");
    else if (n == 1 && !is_plain((unsigned char)*p))
        put_escaped(b, (unsigned char)*p);
    else
        buf_add(b, p, n);
    return n ? n : bad;
}

void
put_string(struct buf *b, const char *p, size_t len)
{
    size_t at = 0;

    buf_add(b, "\"", 1);
    while (at < len && !b->error) {
        size_t n = text_plain_run(p + at, len - at);
        buf_add(b, p + at, n);
        at += n;
        if (at < len)
            at += put_special(b, p + at, len - at);
    }
    buf_add(b, "\"", 1);
}

void
put_text(struct buf *b, const char *s)
{
    put_string(b, s, strlen(s));
}

void
put_base64(struct buf *b, const void *p, size_t len)
{
    buf_add(b, "\"", 1);
    base64_put(b, p, len);
    buf_add(b, "\"", 1);
}

void
put_name(struct buf *b, const char *name)
{
    bool is_first = !b->len || b->p[b->len - 1] == '{';
    size_t len = strlen(name);
    char *to = buf_room(b, len + 4);

    if (!to)
        return;
    if (!is_first)
        *to++ = ',';
    *to++ = '"';
    to = mempcpy(to, name, len);
    *to++ = '"';
    *to++ = ':';
    b->len = (size_t)(to - b->p);
}

void
put_number(struct buf *b, const char *name, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    put_name(b, name);
    buf_add(b, digits + at, sizeof digits - at);
}

void
put_bool(struct buf *b, const char *name, bool value)
{
    put_name(b, name);
    buf_puts(b, value ? "true" : "false");
}

void
text_log(const char *format, va_list args)
{
    char line[2048];

    (void)vsnprintf(line, sizeof line, format, args);
    for (char *s = line; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
    fprintf(stderr, "wasm-sandbox: %s\n", line);
}

void
text_logf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_log(format, args);
    va_end(args);
}
