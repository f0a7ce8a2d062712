/* A hash table with open addressing from names to numbers, and an array from
 * numbers to names. The number of a name is the distance of its address from
 * NAMES_FIRST. Names are never removed: a program may keep an address for as
 * long as it runs, and must not reach another host with it later. */
#include "net/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SLOTS = 2 * NAMES_MAX };

static const uint32_t NAMES_FIRST = 198u << 24 | 18u << 16 | 1;

void
names_init(struct names *t)
{
    *t = (struct names){0};
}

void
names_fini(struct names *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i]);
    free(t->v);
    free(t->slots);
    names_init(t);
}

/* FNV-1a. A sandbox that makes its names collide slows only itself down, within
 * NAMES_MAX steps. */
static size_t
names_hash(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return h % NAMES_SLOTS;
}

/* Returns the slot of the name, or the free one where it belongs. The table is
 * at most half full. */
static uint16_t *
names_slot(const struct names *t, const char *name)
{
    size_t i = names_hash(name);

    while (t->slots[i] && strcmp(t->v[t->slots[i] - 1], name) != 0)
        i = (i + 1) % NAMES_SLOTS;
    return &t->slots[i];
}

static int
names_reserve(struct names *t)
{
    if (!t->slots && !(t->slots = calloc(NAMES_SLOTS, sizeof *t->slots)))
        return -ENOMEM;
    if (t->n < t->cap)
        return 0;
    size_t cap = t->cap ? 2 * t->cap : 16;
    char **v = realloc(t->v, cap * sizeof *v);
    if (!v)
        return -ENOMEM;
    t->v = v;
    t->cap = cap;
    return 0;
}

static void
names_address(size_t index, uint8_t ret_v4[4])
{
    uint32_t ip = htonl(NAMES_FIRST + (uint32_t)index);

    memcpy(ret_v4, &ip, sizeof ip);
}

int
names_add(struct names *t, const char *name, uint8_t ret_v4[4])
{
    int r = names_reserve(t);

    if (r < 0)
        return r;
    uint16_t *slot = names_slot(t, name);
    if (!*slot) {
        if (t->n == NAMES_MAX)
            return -ENOSPC;
        char *copy = strdup(name);
        if (!copy)
            return -ENOMEM;
        t->v[t->n++] = copy;
        *slot = (uint16_t)t->n;
    }
    names_address(*slot - 1u, ret_v4);
    return 0;
}

const char *
names_find(const struct names *t, const uint8_t v4[4])
{
    uint32_t ip;

    memcpy(&ip, v4, sizeof ip);
    ip = ntohl(ip) - NAMES_FIRST;
    return ip < t->n ? t->v[ip] : NULL;
}

int
names_copy(struct names *to, const struct names *from)
{
    uint8_t v4[4];
    int r = 0;

    for (size_t i = 0; i < from->n && r == 0; i++)
        r = names_add(to, from->v[i], v4);
    if (r < 0)
        names_fini(to);
    return r;
}
