/* The last bytes of a stream, each identified by its number. */
#ifndef SUPERVISOR_RING_H
#define SUPERVISOR_RING_H

#include <stddef.h>
#include <stdint.h>

/* `bytes` contains the numbers from end - size (or 0) to end - 1. */
struct ring {
    char *bytes;
    size_t size;
    uint64_t end; /* total number of bytes so far */
};

int ring_init(struct ring *r, size_t size); /* -ENOMEM */
void ring_fini(struct ring *r);
/* Reads all available bytes from a non-blocking descriptor. Returns their
 * number; 0: the end; -EAGAIN: none now; -errno. */
int64_t ring_fill(struct ring *r, int hfd);
/* Copies up to `size` bytes from number `at`, or from the first one still
 * there, which is *ret_at. Returns their number. */
size_t ring_copy(const struct ring *r, uint64_t at, char *to, size_t size,
                 uint64_t *ret_at);

#endif
