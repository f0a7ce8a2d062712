#include "record_map.h"

#include "../unit/test.h"

#include <stdlib.h>
#include <string.h>

static size_t
map_place(const struct map *m, const uint8_t *key, size_t len, bool *ret_is)
{
    size_t low = 0, high = m->n;

    *ret_is = false;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct pair *p = &m->v[mid];
        size_t n = len < p->key_len ? len : p->key_len;
        int c = memcmp(key, p->key, n);
        if (!c)
            c = (len > p->key_len) - (len < p->key_len);
        *ret_is = !c;
        if (!c)
            return mid;
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void
map_remove(struct map *m, size_t at)
{
    free(m->v[at].value);
    memmove(&m->v[at], &m->v[at + 1], (--m->n - at) * sizeof *m->v);
}

int
map_put(void *arg, const void *key, size_t key_len, const void *value,
        size_t len)
{
    struct map *m = arg;
    bool is;
    size_t at = map_place(m, key, key_len, &is);

    m->n_sent++;
    m->bytes_sent += key_len + len;
    CHECK_EQ(record_check(key, key_len, value, len), 0);
    if (is)
        map_remove(m, at);
    if (!value)
        return 0;
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->v = realloc(m->v, m->cap * sizeof *m->v);
    }
    memmove(&m->v[at + 1], &m->v[at], (m->n++ - at) * sizeof *m->v);
    m->v[at] =
        (struct pair){.key_len = key_len, .len = len, .value = malloc(len + 1)};
    memcpy(m->v[at].key, key, key_len);
    memcpy(m->v[at].value, value, len);
    return 0;
}

void
map_fini(struct map *m)
{
    while (m->n)
        map_remove(m, m->n - 1);
    free(m->v);
}

struct pair *
map_find(const struct map *m, const void *key, size_t len)
{
    bool is;
    size_t at = map_place(m, key, len, &is);

    return is ? &m->v[at] : NULL;
}
