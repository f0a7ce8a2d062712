/* A JSON reader that keeps nothing but the kinds of the open containers. */
#include "wire/scan.h"

#include "base/parse.h"

#include <limits.h>
#include <string.h>

struct reader {
    const char *at, *end;
    size_t depth;
    char open[SCAN_DEPTH_MAX]; /* '{' or '[' */
};

static void
skip_space(const char **at, const char *end)
{
    while (*at < end &&
           (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n'))
        (*at)++;
}

static bool
take(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* --- strings */

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of a \u; -1: they are not there. */
static int
take_hex(struct reader *r)
{
    int n = 0;

    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = hex_digit(*r->at++);
        if (d < 0)
            return -1;
        n = n * 16 + d;
    }
    return n;
}

/* A surrogate must be one of a pair. */
static bool
take_unicode(struct reader *r)
{
    int n = take_hex(r);

    if (n < 0xd800 || n > 0xdfff)
        return n >= 0;
    if (n > 0xdbff || !take(r, '\\') || !take(r, 'u'))
        return false;
    n = take_hex(r);
    return n >= 0xdc00 && n <= 0xdfff;
}

static bool
take_escape(struct reader *r)
{
    static const bool is_escape[UCHAR_MAX + 1] = {
        ['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
        ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true};

    if (r->at == r->end)
        return false;
    unsigned char c = (unsigned char)*r->at++;
    return c == 'u' ? take_unicode(r) : is_escape[c];
}

/* After the quote. */
static bool
take_string(struct reader *r)
{
    size_t bad;

    for (;;) {
        r->at += text_plain_run(r->at, (size_t)(r->end - r->at));
        if (r->at == r->end || (unsigned char)*r->at < ' ')
            return false;
        if (take(r, '"'))
            return true;
        if (take(r, '\\')) {
            if (!take_escape(r))
                return false;
            continue;
        }
        size_t n = text_character(r->at, (size_t)(r->end - r->at), &bad);
        if (!n)
            return false;
        r->at += n;
    }
}

/* --- the other values without parts */

static bool
take_digits(struct reader *r)
{
    const char *begin = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > begin;
}

static bool
take_number(struct reader *r)
{
    (void)take(r, '-');
    if (!take(r, '0') && !take_digits(r))
        return false;
    if (take(r, '.') && !take_digits(r))
        return false;
    if (!take(r, 'e') && !take(r, 'E'))
        return true;
    if (!take(r, '+'))
        (void)take(r, '-');
    return take_digits(r);
}

static bool
take_word(struct reader *r)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= n && !memcmp(r->at, words[i], n)) {
            r->at += n;
            return true;
        }
    }
    return false;
}

static bool
take_scalar(struct reader *r)
{
    if (take(r, '"'))
        return take_string(r);
    if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
        return take_number(r);
    return take_word(r);
}

/* --- containers */

static bool
take_name(struct reader *r)
{
    skip_space(&r->at, r->end);
    if (!take(r, '"') || !take_string(r))
        return false;
    skip_space(&r->at, r->end);
    return take(r, ':');
}

/* Up to the place of the next value; *ret_has_value: there is one. */
static bool
open_container(struct reader *r, char kind, bool *ret_has_value)
{
    if (r->depth == SCAN_DEPTH_MAX)
        return false;
    skip_space(&r->at, r->end);
    *ret_has_value = !take(r, kind == '{' ? '}' : ']');
    if (!*ret_has_value)
        return true;
    r->open[r->depth++] = kind;
    return kind == '[' || take_name(r);
}

/* After a value: closes what ends here, up to the place of the next value. */
static bool
close_containers(struct reader *r, bool *ret_has_value)
{
    *ret_has_value = false;
    while (r->depth && !*ret_has_value) {
        char kind = r->open[r->depth - 1];
        skip_space(&r->at, r->end);
        if (take(r, ','))
            *ret_has_value = true;
        else if (take(r, kind == '{' ? '}' : ']'))
            r->depth--;
        else
            return false;
        if (*ret_has_value && kind == '{' && !take_name(r))
            return false;
    }
    return true;
}

/* One value, and what encloses it, as far as possible. */
static bool
take_value(struct reader *r)
{
    bool has_value = true, is_fine = true;

    while (has_value && is_fine) {
        skip_space(&r->at, r->end);
        char kind = r->at < r->end ? *r->at : 0;
        if (take(r, '{') || take(r, '[')) {
            is_fine = open_container(r, kind, &has_value);
            if (!is_fine || has_value)
                continue;
        } else if (!take_scalar(r)) {
            return false;
        }
        is_fine = close_containers(r, &has_value);
    }
    return is_fine;
}

bool
scan_is_json(struct text t)
{
    struct reader r = {.at = t.p, .end = t.p + t.len};

    if (!take_value(&r))
        return false;
    skip_space(&r.at, r.end);
    return r.at == r.end;
}

/* --- members */

bool
scan_object(struct text t, struct scan *ret)
{
    const char *at = t.p, *end = t.p + t.len;

    skip_space(&at, end);
    if (at == end || *at != '{')
        return false;
    at++;
    skip_space(&at, end);
    *ret = (struct scan){at, end, at < end && *at != '}'};
    return true;
}

bool
scan_next(struct scan *s, struct member *ret)
{
    struct reader r = {.at = s->at, .end = s->end};

    const char *name = r.at + 1;
    if (!s->has_more || !take(&r, '"') || !take_string(&r))
        return false;
    ret->name = (struct text){name, (size_t)(r.at - 1 - name)};
    skip_space(&r.at, r.end);
    if (!take(&r, ':'))
        return false;
    skip_space(&r.at, r.end);
    const char *value = r.at;
    if (!take_value(&r))
        return false;
    ret->value = (struct text){value, (size_t)(r.at - value)};
    skip_space(&r.at, r.end);
    s->has_more = take(&r, ',');
    skip_space(&r.at, r.end);
    s->at = r.at;
    return true;
}

bool
scan_is_over(const struct scan *s)
{
    struct reader r = {.at = s->at, .end = s->end};

    if (s->has_more || !take(&r, '}'))
        return false;
    skip_space(&r.at, r.end);
    return r.at == r.end;
}

bool
text_is(struct text t, const char *s)
{
    return strlen(s) == t.len && !memcmp(t.p, s, t.len);
}

bool
text_number(struct text t, uint64_t *ret)
{
    return t.len <= 18 && parse_u64(t.p, t.len, UINT64_MAX, ret);
}
