/* Records as a map in memory: a simple store, for tests of the records of a
 * tree. */
#ifndef RECORD_MAP_H
#define RECORD_MAP_H

#include "record/record.h"

/* One record. The array of a map is sorted by key. */
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
/* As record_sink.put, with a map as its argument. */
int map_put(void *arg, const void *key, size_t key_len, const void *value,
            size_t len);
void map_remove(struct map *m, size_t at);
/* Returns the record of a key, or NULL. */
struct pair *map_find(const struct map *m, const void *key, size_t len);

#endif
