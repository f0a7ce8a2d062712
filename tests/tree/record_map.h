/* Records as a map in memory: what a store does, for tests. */
#ifndef RECORD_MAP_H
#define RECORD_MAP_H

#include "record/record.h"

/* Sorted by key. */
struct pair {
    uint8_t key[RECORD_KEY_MAX];
    size_t key_len, len;
    char *value;
};

struct map {
    struct pair *v;
    size_t n, cap;
    size_t n_sent, bytes_sent; /* records, also removals */
};

void map_fini(struct map *m);
/* As the put of a sink, with a map. */
int map_put(void *arg, const void *key, size_t key_len, const void *value,
            size_t len);
void map_remove(struct map *m, size_t at);
/* NULL: there is none. */
struct pair *map_find(const struct map *m, const void *key, size_t len);

#endif
