/* A growing buffer with a bound. A failure sticks: write all, then look at
 * `error` once. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

struct buf {
    char *p;
    size_t len, cap, max;
    int error; /* 0, -ENOMEM, or -EFBIG past max */
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);
void buf_add(struct buf *b, const void *p, size_t len);
/* Where `len` bytes can be written, which b->len does not count yet; NULL when
 * there is no room. */
char *buf_room(struct buf *b, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The bytes, which the caller frees; b is empty then. */
char *buf_steal(struct buf *b);

#endif
