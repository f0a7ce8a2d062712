/* The last bytes of a stream, each known by its number. */
#ifndef SUPERVISOR_RING_H
#define SUPERVISOR_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
    char *bytes;
    size_t size;
    uint64_t end; /* how many there were in all */
};

int ring_init(struct ring *r, size_t size); /* -ENOMEM */
void ring_fini(struct ring *r);
/* Adds what can be read from a descriptor that does not wait. Bytes; 0: nothing
 * more will come; -EAGAIN: not now; -errno. */
int64_t ring_fill(struct ring *r, int hfd);
/* Up to `size` bytes from number `at` on, or from the first that is there,
 * which is *ret_at. How many. */
size_t ring_copy(const struct ring *r, uint64_t at, char *to, size_t size,
                 uint64_t *ret_at);

#endif
