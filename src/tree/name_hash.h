/* The hash of names in directories. */
#ifndef TREE_NAME_HASH_H
#define TREE_NAME_HASH_H

#include "tree/attr.h"

#include <stdint.h>

/* Returns a hash that depends on every bit of the seed. Without the seed,
 * nobody can find names with equal hashes faster than by trying. */
uint32_t name_hash(uint64_t seed, struct name name);

#endif
