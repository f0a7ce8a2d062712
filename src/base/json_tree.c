/* Trees of JSON values: one array, filled in the order in which the tokenizer
 * reports them.
 *
 * Nothing in the array is a pointer to another value. It may therefore move
 * when it grows, and a container finds its parts by their distance. */
#include "base/json_impl.h"

#include "base/parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 9e15 /* a double has all integers up to here */

enum { FEW_KEYS = 16, FIRST_VALUES = 32 };

/* --- making a tree */

/* Doubles the array. Usual requests fit into the first allocation. */
static bool
json_tree_grow(struct json_reader *r)
{
    size_t cap = r->cap ? 2 * r->cap : FIRST_VALUES;
    struct json *v = realloc(r->doc->v, cap * sizeof *v);

    if (!v) {
        r->is_out_of_memory = true;
        return false;
    }
    r->doc->v = v;
    r->cap = cap;
    return true;
}

bool
json_tree_add(struct json_reader *r, enum json_type type, struct text text)
{
    struct json_doc *d = r->doc;

    if (d->n == r->cap && !json_tree_grow(r))
        return false;
    d->v[d->n++] = (struct json){.type = type, .size = 1, .text = text};
    return true;
}

static bool
json_read_integer(struct text t, int64_t *ret)
{
    bool is_negative = *t.p == '-';
    uint64_t n, max = (uint64_t)INT64_MAX + is_negative;

    if (!parse_u64(t.p + is_negative, t.len - is_negative, max, &n))
        return false;
    *ret = (int64_t)(is_negative ? -n : n);
    return true;
}

bool
json_tree_add_number(struct json_reader *r, struct text text, bool is_integer)
{
    if (!json_tree_add(r, JSON_INTEGER, text))
        return false;
    struct json *v = &r->doc->v[r->doc->n - 1];
    if (is_integer && json_read_integer(text, &v->integer))
        return true;
    v->type = JSON_HUGE;
    if (!is_integer) {
        v->real = parse_double(text.p, text.len);
        v->type = isfinite(v->real) ? JSON_REAL : JSON_HUGE;
    }
    r->doc->has_huge |= v->type == JSON_HUGE;
    return true;
}

/* An open container does not know its size yet. Until it is closed, `size`
 * holds the index of the container around it: a stack inside the array. */
void
json_tree_open(struct json_reader *r)
{
    size_t at = r->doc->n - 1;

    r->doc->v[at].size = (uint32_t)r->open;
    r->open = at;
}

/* --- keys */

static int
json_compare_keys(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a;
    const struct json *y = *(const struct json *const *)b;

    if (x->text.len != y->text.len)
        return x->text.len < y->text.len ? -1 : 1;
    return memcmp(x->text.p, y->text.p, x->text.len);
}

/* Finds two equal keys in a sorted list. Returns the later one of them in the
 * text, or NULL. */
static const struct json *
json_twin_in_order(const struct json **keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!json_compare_keys(&keys[i - 1], &keys[i]))
            return keys[i] > keys[i - 1] ? keys[i] : keys[i - 1];
    return NULL;
}

static bool
json_is_among(const struct json **keys, size_t n, const struct json *key)
{
    for (size_t i = 0; i < n; i++)
        if (!json_compare_keys(&keys[i], &key))
            return true;
    return false;
}

/* Rejects an object with a key that occurs twice; readers disagree about what
 * such an object means. Few keys are compared with each other. Many are sorted
 * first: a hostile object of a million keys must not cost the square of their
 * number. */
static bool
json_check_keys(struct json_reader *r, const struct json *object)
{
    const struct json *few[FEW_KEYS], *twin = NULL;
    const struct json **keys = few;
    bool is_few = object->n <= FEW_KEYS;
    size_t n = 0;

    if (!is_few)
        keys = malloc(object->n * sizeof *keys);
    if (!keys) {
        r->is_out_of_memory = true;
        return false;
    }
    JSON_EACH_KEY(key, object) {
        if (is_few && json_is_among(keys, n, key))
            twin = key;
        keys[n++] = key;
    }
    if (!is_few) {
        qsort(keys, n, sizeof *keys, json_compare_keys);
        twin = json_twin_in_order(keys, n);
        free(keys);
    }
    if (twin) {
        r->error = "a key comes twice";
        r->at = twin->text.p;
    }
    return !twin;
}

bool
json_tree_close(struct json_reader *r)
{
    struct json_doc *d = r->doc;
    struct json *v = &d->v[r->open];
    size_t around = v->size;

    v->size = (uint32_t)(d->n - r->open);
    for (size_t i = r->open + 1; i < d->n; i += d->v[i].size)
        v->n++;
    if (v->type == JSON_OBJECT)
        v->n /= 2;
    r->open = around;
    return v->type != JSON_OBJECT || json_check_keys(r, v);
}

/* An error is reported with its place: r.at is where the tokenizer stopped, or
 * the second of two equal keys. */
int
json_read(struct json_doc *ret, char *text, size_t len,
          struct json_fault *ret_fault)
{
    struct json_doc d = {0};
    struct json_reader r = {.begin = text,
                            .at = text,
                            .end = text + len,
                            .level_max = JSON_LEVELS_MAX,
                            .doc = &d};

    bool is_fine = json_take_value(&r);
    json_skip_space(&r);
    if (is_fine && r.at == r.end) {
        *ret = d;
        return 0;
    }
    if (is_fine)
        r.error = "more than one value";
    json_fini(&d);
    if (r.is_out_of_memory)
        return -ENOMEM;
    *ret_fault = (struct json_fault){r.error, (size_t)(r.at - text)};
    return -EINVAL;
}

int
json_read_copy(struct json_doc *ret, const char *text, size_t len,
               struct json_fault *ret_fault)
{
    char *copy = malloc(len + 1);

    if (!copy)
        return -ENOMEM;
    *(char *)mempcpy(copy, text, len) = 0;
    int r = json_read(ret, copy, len, ret_fault);
    if (r == 0)
        ret->copy = copy;
    else
        free(copy);
    return r;
}

void
json_fini(struct json_doc *d)
{
    free(d->v);
    free(d->copy);
    *d = (struct json_doc){0};
}

/* --- values */

const struct json *
json_get_n(const struct json *object, const char *name, size_t len)
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    JSON_EACH_KEY(key, object)
        if (key->text.len == len && !memcmp(key->text.p, name, len))
            return json_value(key);
    return NULL;
}

const struct json *
json_get(const struct json *object, const char *name)
{
    return json_get_n(object, name, strlen(name));
}

struct text
json_text(const struct json *v)
{
    return json_is(v, JSON_STRING) ? v->text : (struct text){NULL, 0};
}

bool
json_whole(const struct json *v, int64_t *ret)
{
    double d = json_is(v, JSON_REAL) ? v->real : WHOLE_MAX;
    bool is_whole = d > -WHOLE_MAX && d < WHOLE_MAX && (double)(int64_t)d == d;

    if (json_is(v, JSON_INTEGER))
        *ret = v->integer;
    else if (is_whole)
        *ret = (int64_t)d;
    return json_is(v, JSON_INTEGER) || is_whole;
}
