/* Growing buffers. The capacity doubles, so that n bytes in small pieces cost
 * O(n) copies in total. buf_room may allocate more than `max`, but `len` never
 * exceeds it. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 512, LINE_MAX_BYTES = 512 };

void
buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void
buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

static int
buf_reserve(struct buf *b, size_t more)
{
    size_t cap = b->cap ? b->cap : FIRST_BYTES;

    if (more > b->max - b->len)
        return -EFBIG;
    while (cap < b->len + more)
        cap *= 2;
    if (cap == b->cap)
        return 0;
    char *p = realloc(b->p, cap);
    if (!p)
        return -ENOMEM;
    b->p = p;
    b->cap = cap;
    return 0;
}

char *
buf_room(struct buf *b, size_t len)
{
    if (!b->error)
        b->error = buf_reserve(b, len);
    return b->error ? NULL : b->p + b->len;
}

void
buf_add(struct buf *b, const void *p, size_t len)
{
    char *to = buf_room(b, len);

    if (!to || !len)
        return;
    memcpy(to, p, len);
    b->len += len;
}

void
buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof line)
        b->error = b->error ? b->error : -EFBIG;
    else
        buf_add(b, line, (size_t)n);
}

char *
buf_steal(struct buf *b)
{
    char *p = b->p;

    *b = (struct buf){.max = b->max};
    return p;
}
