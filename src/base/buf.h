/* A growing buffer with a maximum size. A failure is remembered: append
 * everything, then check `error` once. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

struct buf {
    char *p;
    size_t len, cap, max;
    int error; /* 0, -ENOMEM, or -EFBIG beyond max */
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);
void buf_add(struct buf *b, const void *p, size_t len);
/* Returns space for `len` bytes at the end, which b->len does not include yet,
 * or NULL on failure. */
char *buf_room(struct buf *b, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the bytes, which the caller frees, and leaves b empty. */
char *buf_steal(struct buf *b);

#endif
