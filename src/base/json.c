/* The tokenizer of JSON.
 *
 * Problem: the text comes from clients and guests, and may be nested as deeply
 * as it is long. A recursive reader would let them choose the depth of our
 * stack.
 *
 * Idea: one loop reads a value, then all brackets that close behind it, then a
 * comma and possibly a key, which leads to the next value. The only state
 * between two values is the level and one bit for each open container. */
#include "base/json_impl.h"

#include <limits.h>
#include <string.h>

static bool
json_fail(struct json_reader *r, const char *error)
{
    r->error = error;
    return false;
}

void
json_skip_space(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' ||
                              *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

bool
json_take_char(struct json_reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* --- strings */

static int
json_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Passes the four digits of a \u escape. Returns their value, or -1. */
static int
json_take_hex(struct json_reader *r)
{
    int n = 0;

    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = json_hex_digit(*r->at++);
        if (d < 0)
            return -1;
        n = n * 16 + d;
    }
    return n;
}

/* Passes a character after \u. Characters above U+FFFF are two escapes, a high
 * and a low surrogate; either of them alone is an error. Returns the character
 * or -1. */
static int
json_take_unicode(struct json_reader *r)
{
    int n = json_take_hex(r);

    if (n < 0xd800 || n > 0xdfff)
        return n;
    if (n > 0xdbff || !json_take_char(r, '\\') || !json_take_char(r, 'u'))
        return -1;
    int low = json_take_hex(r);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    return 0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00);
}

/* Passes the rest of an escape after its backslash. Returns the character or
 * -1. */
static int
json_take_escape(struct json_reader *r)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";

    if (r->at == r->end)
        return -1;
    char c = *r->at++;
    if (c == 'u')
        return json_take_unicode(r);
    for (const char *l = letters; *l; l += 2)
        if (c == *l)
            return l[1];
    return -1;
}

/* Passes text up to a quote, a backslash or a control character. */
static bool
json_take_plain(struct json_reader *r)
{
    size_t bad;

    for (;;) {
        r->at += text_plain_length(r->at, (size_t)(r->end - r->at));
        if (r->at == r->end)
            return json_fail(r, "a string has no end");
        if (!(*r->at & 0x80))
            return true;
        size_t n = text_character(r->at, (size_t)(r->end - r->at), &bad);
        if (!n)
            return json_fail(r, "a string is not UTF-8");
        r->at += n;
    }
}

/* Decodes a string in place: the characters move towards its beginning. This is
 * right because an escape is never shorter than the UTF-8 that it stands for,
 * so `to` never passes the character that is read. The closing quote leaves
 * space for a NUL. */
bool
json_take_string(struct json_reader *r, struct text *ret)
{
    const char *begin = r->at;
    char *to = (char *)begin;

    for (;;) {
        const char *from = r->at;
        if (!json_take_plain(r))
            return false;
        size_t n = (size_t)(r->at - from);
        if (r->doc && to != from)
            memmove(to, from, n);
        to += n;
        char c = *r->at++;
        if (c == '"')
            break;
        if (c != '\\')
            return json_fail(r, "a string has a control character");
        int character = json_take_escape(r);
        if (character < 0)
            return json_fail(r, "a string has an invalid escape");
        if (r->doc)
            to += text_encode((uint32_t)character, to);
    }
    const char *end = r->doc ? to : r->at - 1;
    if (r->doc)
        *to = 0;
    *ret = (struct text){begin, (size_t)(end - begin)};
    return true;
}

/* --- the other values without parts */

static bool
json_take_digits(struct json_reader *r)
{
    const char *begin = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > begin;
}

static bool
json_take_exponent(struct json_reader *r)
{
    if (!json_take_char(r, '+'))
        (void)json_take_char(r, '-');
    return json_take_digits(r);
}

/* The grammar is checked here, character by character: strtod would also accept
 * hexadecimal numbers, "inf" and leading zeros. */
static bool
json_take_number(struct json_reader *r)
{
    const char *begin = r->at;
    bool is_integer = true;

    (void)json_take_char(r, '-');
    if (!json_take_char(r, '0') && !json_take_digits(r))
        return json_fail(r, "invalid number");
    if (json_take_char(r, '.')) {
        is_integer = false;
        if (!json_take_digits(r))
            return json_fail(r, "invalid number");
    }
    if (json_take_char(r, 'e') || json_take_char(r, 'E')) {
        is_integer = false;
        if (!json_take_exponent(r))
            return json_fail(r, "invalid number");
    }
    struct text t = {begin, (size_t)(r->at - begin)};
    return !r->doc || json_tree_add_number(r, t, is_integer);
}

static bool
json_take_word(struct json_reader *r)
{
    static const struct {
        const char *word;
        enum json_type type;
    } words[] = {
        {"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < n ||
            memcmp(r->at, words[i].word, n) != 0)
            continue;
        struct text t = {r->at, n};
        r->at += n;
        return !r->doc || json_tree_add(r, words[i].type, t);
    }
    return json_fail(r, r->at == r->end ? "the text ends early"
                                        : "a value is expected");
}

static bool
json_take_scalar(struct json_reader *r)
{
    struct text t;

    if (json_take_char(r, '"'))
        return json_take_string(r, &t) &&
               (!r->doc || json_tree_add(r, JSON_STRING, t));
    if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
        return json_take_number(r);
    return json_take_word(r);
}

/* --- containers */

static bool
json_take_key(struct json_reader *r)
{
    struct text t;

    json_skip_space(r);
    if (!json_take_char(r, '"'))
        return json_fail(r, "a key is expected");
    if (!json_take_string(r, &t))
        return false;
    if (r->doc && memchr(t.p, 0, t.len))
        return json_fail(r, "a key has a NUL");
    json_skip_space(r);
    if (!json_take_char(r, ':'))
        return json_fail(r, "a colon is expected");
    return !r->doc || json_tree_add(r, JSON_STRING, t);
}

static bool
json_is_in_object(const struct json_reader *r)
{
    size_t i = r->level - 1;

    return r->objects[i / 64] >> i % 64 & 1;
}

/* Passes an opening bracket and, in an object, the first key. *ret_has_value
 * says whether a value follows; if not, the closing bracket is still to be
 * passed. */
static bool
json_take_open(struct json_reader *r, bool *ret_has_value)
{
    bool is_object = *r->at == '{';
    struct text t = {r->at++, 1};
    size_t i = r->level++;

    r->objects[i / 64] &= ~(UINT64_C(1) << i % 64);
    r->objects[i / 64] |= (uint64_t)is_object << i % 64;
    if (r->doc) {
        if (!json_tree_add(r, is_object ? JSON_OBJECT : JSON_ARRAY, t))
            return false;
        json_tree_open(r);
    }
    json_skip_space(r);
    *ret_has_value = r->at == r->end || *r->at != (is_object ? '}' : ']');
    return !*ret_has_value || !is_object || json_take_key(r);
}

/* Passes all brackets that close here, and a comma if one follows.
 * *ret_has_value says whether another value is expected. */
static bool
json_take_close(struct json_reader *r, bool *ret_has_value)
{
    *ret_has_value = false;
    while (r->level) {
        bool is_object = json_is_in_object(r);
        json_skip_space(r);
        if (json_take_char(r, ',')) {
            *ret_has_value = true;
            return !is_object || json_take_key(r);
        }
        if (!json_take_char(r, is_object ? '}' : ']'))
            return json_fail(r, r->at == r->end ? "the text ends early"
                                                : "a comma is expected");
        if (r->doc && !json_tree_close(r))
            return false;
        r->level--;
    }
    return true;
}

/* The main loop. In a tree, a scalar counts as a level too, so that values are
 * at most JSON_LEVELS_MAX levels deep. */
bool
json_take_value(struct json_reader *r)
{
    bool has_value = true, is_fine = true;

    while (has_value && is_fine) {
        json_skip_space(r);
        bool is_open = r->at < r->end && (*r->at == '{' || *r->at == '[');
        if (r->level + (is_open || r->doc) > r->level_max)
            return json_fail(r, "too many levels");
        is_fine = is_open ? json_take_open(r, &has_value) : json_take_scalar(r);
        if (is_fine && (!is_open || !has_value))
            is_fine = json_take_close(r, &has_value);
    }
    return is_fine;
}
