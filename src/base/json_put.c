/* Writing JSON: names, strings and numbers by hand, and values of a tree.
 *
 * There is no writer object. A comma is needed unless the buffer ends with an
 * opening brace, which can only be that of the current object: the text of
 * every value ends with another character. Values of a tree are written by
 * recursion, with a limit of its own for the depth. */
#include "base/json.h"

#include "base/base64.h"

#include <errno.h>
#include <string.h>

enum { LEVELS_MAX = 64 };

/* --- strings, names and numbers */

static void
json_put_escaped(struct buf *b, unsigned char c)
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

/* Appends the first character of p, which needs more than a copy. Returns its
 * length in bytes, or the length of the invalid bytes that U+FFFD replaces. */
static size_t
json_put_special(struct buf *b, const char *p, size_t len)
{
    size_t bad, n = text_character(p, len, &bad);

    if (!n)
        buf_puts(b, "\xef\xbf\xbd");
    else if (n == 1 && !text_is_plain((unsigned char)*p))
        json_put_escaped(b, (unsigned char)*p);
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
        size_t n = text_plain_length(p + at, len - at);
        buf_add(b, p + at, n);
        at += n;
        if (at < len)
            at += json_put_special(b, p + at, len - at);
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
put_member(struct buf *b, const char *name, const char *text)
{
    put_name(b, name);
    put_text(b, text);
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

/* --- values of a tree */

static void json_put_value(struct buf *b, const struct json *v, int level);

static void
json_put_array(struct buf *b, const struct json *v, int level)
{
    const char *comma = "[";

    JSON_EACH(element, v) {
        buf_puts(b, comma);
        comma = ",";
        json_put_value(b, element, level);
    }
    buf_puts(b, v->n ? "]" : "[]");
}

static void
json_put_object(struct buf *b, const struct json *v, int level)
{
    const char *comma = "{";

    JSON_EACH_KEY(key, v) {
        buf_puts(b, comma);
        comma = ",";
        put_string(b, key->text.p, key->text.len);
        buf_puts(b, ":");
        json_put_value(b, json_value(key), level);
    }
    buf_puts(b, v->n ? "}" : "{}");
}

static void
json_put_value(struct buf *b, const struct json *v, int level)
{
    if (level > LEVELS_MAX)
        b->error = -ELOOP;
    if (b->error)
        return;
    if (v->type == JSON_ARRAY)
        json_put_array(b, v, level + 1);
    else if (v->type == JSON_OBJECT)
        json_put_object(b, v, level + 1);
    else if (v->type == JSON_STRING)
        put_string(b, v->text.p, v->text.len);
    else
        buf_add(b, v->text.p, v->text.len); /* as it was written */
}

void
json_put(struct buf *b, const struct json *v)
{
    json_put_value(b, v, 0);
}
