/* A growing buffer with a maximum size.
 *
 * A failure is remembered: after the first one, all further calls do nothing.
 * Code that writes a text can therefore append everything, and check `error`
 * once at the end. The bytes are not terminated by a NUL. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

struct buf {
    char *p;
    /* Bytes used, bytes allocated, and the limit of `len`. */
    size_t len, cap, max;
    int error; /* 0, -ENOMEM, or -EFBIG beyond max */
};

/* Makes an empty buffer without memory. `max` is the maximum length in
 * bytes. */
void buf_init(struct buf *b, size_t max);
/* Frees the bytes and clears the error; the buffer can be used again. */
void buf_fini(struct buf *b);
/* Appends `len` bytes; p may be NULL if there are none. */
void buf_add(struct buf *b, const void *p, size_t len);
/* Returns space for `len` bytes at the end, which b->len does not include yet,
 * or NULL on failure. */
char *buf_room(struct buf *b, size_t len);
void buf_puts(struct buf *b, const char *s);
/* Appends formatted text of at most 511 bytes; a longer one is -EFBIG. */
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the bytes, which the caller frees, and leaves b empty. */
char *buf_steal(struct buf *b);

#endif
