/* Any text as JSON: a tree that is read, written and read again is the same,
 * and the walk over the text agrees with the tree. */
#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void
fuzz_check(bool is_true)
{
    if (!is_true)
        abort();
}

static bool
fuzz_is_same(const struct json_doc *a, const struct json_doc *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].type != b->v[i].type || a->v[i].size != b->v[i].size ||
            (!json_has_parts(&a->v[i]) &&
             (a->v[i].text.len != b->v[i].text.len ||
              memcmp(a->v[i].text.p, b->v[i].text.p, a->v[i].text.len) != 0)))
            return false;
    return true;
}

static void
fuzz_write_and_read(const struct json_doc *d)
{
    struct json_doc again = {0};
    struct json_fault fault;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    json_put(&b, d->v);
    if (!b.error) {
        fuzz_check(json_read_copy(&again, b.p, b.len, &fault) == 0);
        fuzz_check(fuzz_is_same(d, &again));
        fuzz_check(json_is_valid((struct text){b.p, b.len}));
    }
    json_fini(&again);
    buf_fini(&b);
}

/* The members of an object, by both ways. */
static void
fuzz_walk(const struct json *object, struct text text)
{
    struct json_member m;
    struct json_scan s;
    size_t n = 0;

    if (!json_is(object, JSON_OBJECT) || !json_is_valid(text))
        return;
    fuzz_check(json_scan_begin(text, &s));
    for (; json_scan_next(&s, &m); n++)
        fuzz_check(json_is_valid(m.value));
    fuzz_check(json_scan_is_over(&s) && n == json_count(object));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = {(const char *)data, size};
    struct json_doc d = {0};
    struct json_fault fault;

    if (json_read_copy(&d, text.p, text.len, &fault) == 0) {
        fuzz_write_and_read(&d);
        fuzz_walk(d.v, text);
    } else {
        fuzz_check(fault.offset <= size && fault.text);
    }
    json_fini(&d);
    return 0;
}
