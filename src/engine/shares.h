/* The arena of memory that processes share.
 *
 * An engine reserves one range of address space, as shared memory of this
 * process. A block of it can be mapped a second time, into the memory of an
 * instance, by duplicating its mapping. So no descriptor exists, and nothing
 * has to be created after a worker has sealed itself. Blocks are zero when they
 * are allocated. Untouched pages cost no memory. */
#ifndef ENGINE_SHARES_H
#define ENGINE_SHARES_H

#include "base/own.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SHARE_PAGE_BYTES 4096u
#define SHARE_CLASSES    21 /* blocks of 2^0 to 2^20 pages: 4 KiB to 4 GiB */

/* Free blocks of one size, by their first page. */
struct share_class {
    OWN uint32_t *v; /* VEC_ROOM */
    size_t n;
    size_t warm; /* the last ones of v have their pages, cleared */
};

struct shares {
    pthread_mutex_t lock;
    uint8_t *base; /* NULL: not reserved yet */
    uint64_t next; /* page: all before it were allocated once */
    struct share_class free[SHARE_CLASSES];
    _Atomic size_t mapped; /* ranges in instances, see instance_share */
};

void shares_init(struct shares *s);
void shares_fini(struct shares *s);
/* Reserves the address space, unless that was done. -ENOMEM. */
int shares_reserve(struct shares *s);
/* Returns zeroed memory of at least len bytes. -ENOMEM. */
int shares_alloc(struct shares *s, uint64_t len, uint8_t **ret);
/* Frees a block that no instance has mapped any more. */
void shares_free(struct shares *s, uint8_t *bytes, uint64_t len);
/* Maps `len` bytes of a block at `to`, over whatever is there. -errno. */
int shares_map(uint8_t *bytes, uint64_t len, uint8_t *to);

#endif
