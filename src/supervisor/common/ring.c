/* The last bytes of a stream. A position is the number of a byte since the
 * start, so a reader notices bytes that were overwritten. */
#include "supervisor/common/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
ring_init(struct ring *r, size_t size)
{
    *r = (struct ring){.bytes = malloc(size), .size = size};
    return r->bytes ? 0 : -ENOMEM;
}

void
ring_fini(struct ring *r)
{
    free(r->bytes);
    r->bytes = NULL;
}

/* Reads into the space up to the end of the buffer; the next call continues at
 * its start. */
int64_t
ring_fill(struct ring *r, int hfd)
{
    size_t at = (size_t)(r->end % r->size);
    ssize_t n;

    do
        n = read(hfd, r->bytes + at, r->size - at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    r->end += (uint64_t)n;
    return n;
}

/* The bytes may wrap around the end of the buffer: at most two pieces are
 * copied. */
size_t
ring_copy(const struct ring *r, uint64_t at, char *to, size_t size,
          uint64_t *ret_at)
{
    uint64_t first = r->end > r->size ? r->end - r->size : 0;

    if (at < first)
        at = first;
    if (at > r->end)
        at = r->end;
    *ret_at = at;
    size_t n = r->end - at < size ? (size_t)(r->end - at) : size;
    size_t from = (size_t)(at % r->size);
    size_t head = n < r->size - from ? n : r->size - from;
    memcpy(to, r->bytes + from, head);
    memcpy(to + head, r->bytes, n - head);
    return n;
}
