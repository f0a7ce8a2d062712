/* JSON: one reader, which makes a tree of values or checks and walks the text.
 *
 * The reader is strict. It accepts UTF-8 only, no lone surrogates, no key twice
 * in an object, and a bounded number of levels.
 *
 * A tree is one array in the order of the text, so it needs no pointers. The
 * parts of a container follow it directly, and `size` says how many values to
 * skip. In an object, each key is followed by its value.
 *
 * Strings are decoded in place. The reader therefore changes the text, which
 * must live as long as the tree. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum depth of a tree, and of text that is only checked. */
enum { JSON_LEVELS_MAX = 2048, JSON_SCAN_LEVELS_MAX = 64 };

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER,
    JSON_REAL,
    JSON_HUGE, /* a number that neither an int64_t nor a double can hold */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_type type;
    uint32_t size; /* in values: 1, and all values within a container */
    /* A string's bytes, with a NUL behind them; a number as it is written. */
    struct text text;
    union {
        int64_t integer;
        double real;
        size_t n; /* elements or members */
    };
};

/* A tree. json_fini frees it; all values point into it. */
struct json_doc {
    struct json *v; /* v[0] is the root */
    size_t n;
    bool has_huge; /* a JSON_HUGE is in it */
    char *copy;    /* of the text, or NULL */
};

struct json_fault {
    const char *text; /* what is wrong */
    size_t offset;    /* and where, in bytes */
};

/* Reads one value from `len` bytes, which must be followed by a NUL. Changes
 * the text, also on failure. Returns 0, -EINVAL with the reason in *ret_fault,
 * or -ENOMEM. */
int json_read(struct json_doc *ret, char *text, size_t len,
              struct json_fault *ret_fault);
/* Reads a copy of the text, which is freed with the tree. */
int json_read_copy(struct json_doc *ret, const char *text, size_t len,
                   struct json_fault *ret_fault);
void json_fini(struct json_doc *d);

/* --- values; NULL is an absent one */

/* Returns the value of a member, borrowed. Returns NULL if there is no such
 * member, or if `object` is not an object. Takes time proportional to the
 * number of members: requests have few. */
const struct json *json_get(const struct json *object, const char *name);
const struct json *json_get_n(const struct json *object, const char *name,
                              size_t len);
/* Returns the bytes of a string or key; {NULL, 0} for any other value. */
struct text json_text(const struct json *v);
/* Reads a number that is an integer, however it is written: 1, 1.0 and 1e3 are.
 * Returns false, and leaves *ret, for any other value. */
bool json_whole(const struct json *v, int64_t *ret);

static inline bool
json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}

static inline bool
json_is_bool(const struct json *v)
{
    return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE);
}

static inline bool
json_is_number(const struct json *v)
{
    return v && v->type >= JSON_INTEGER && v->type <= JSON_HUGE;
}

static inline bool
json_has_parts(const struct json *v)
{
    return v && v->type >= JSON_ARRAY;
}

/* The number of elements or members; 0 for anything else. */
static inline size_t
json_count(const struct json *v)
{
    return json_has_parts(v) ? v->n : 0;
}

/* Walk a container: the first element or key, and the one after `last`. In an
 * object, `last` is the value of the member before. NULL at the end. */
static inline const struct json *
json_first(const struct json *in)
{
    return json_count(in) ? in + 1 : NULL;
}

static inline const struct json *
json_next(const struct json *in, const struct json *last)
{
    const struct json *next = last + last->size;

    return next < in + in->size ? next : NULL;
}

#define JSON_EACH(it, array)                              \
    for (const struct json *it = json_first(array); (it); \
         (it) = json_next(array, it))
/* The value of a member is json_value(key). */
#define JSON_EACH_KEY(key, object)                           \
    for (const struct json *key = json_first(object); (key); \
         (key) = json_next(object, json_value(key)))

static inline const struct json *
json_value(const struct json *key)
{
    return key + 1;
}

/* An integer; 0 for anything else. */
static inline int64_t
json_integer(const struct json *v)
{
    return json_is(v, JSON_INTEGER) ? v->integer : 0;
}

/* --- text that is passed on as it is */

/* Returns true if the text is exactly one value, at most JSON_SCAN_LEVELS_MAX
 * deep. Duplicate keys are not searched for. */
bool json_is_valid(struct text t);

/* Walks the members of an object without a tree. Each member is checked when
 * the walk reaches it, so a caller may have used the first ones before an error
 * shows. */
struct json_member {
    struct text name;  /* as it is written, without the quotes */
    struct text value; /* as it is written */
};
struct json_scan {
    const char *at, *end;
    bool has_more; /* a member must follow, after a comma */
};
/* Begins a walk. Returns false if the text does not begin like an object. */
bool json_scan_begin(struct text t, struct json_scan *ret);
/* Returns true and the next member; false after the last one or at an error,
 * which json_scan_is_over tells apart. */
bool json_scan_next(struct json_scan *s, struct json_member *ret);
/* Returns true if the walk has passed a complete object and nothing follows
 * it. */
bool json_scan_is_over(const struct json_scan *s);

/* --- writing; each of these appends to b */

/* Appends a JSON string with its quotes. Bytes that are not UTF-8 become
 * U+FFFD. */
void put_string(struct buf *b, const char *p, size_t len);
void put_text(struct buf *b, const char *s);
/* Appends a JSON string that contains the bytes in base64. */
void put_base64(struct buf *b, const void *p, size_t len);
/* Appends `"name":`, and a comma before it unless it is the first one in its
 * object. The name must need no escapes. */
void put_name(struct buf *b, const char *name);
/* Appends a member with its name: a string, an integer, a boolean. */
void put_member(struct buf *b, const char *name, const char *text);
void put_number(struct buf *b, const char *name, uint64_t n);
void put_bool(struct buf *b, const char *name, bool value);
/* Appends a value of a tree; numbers keep their spelling. Sets b->error to
 * -ELOOP if the value is nested more than 64 levels deep. */
void json_put(struct buf *b, const struct json *v);

#endif
