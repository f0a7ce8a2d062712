/* Input as lines: one buffer, from which lines are consumed at the front.
 *
 * A line that is longer than the limit is skipped to its end without being
 * stored. Only its beginning is kept, for the supervisor, which can find the
 * id of the answer in it. The buffer grows to the length of the longest line,
 * and shrinks again when it is empty. With a single client it shrinks only
 * after that has been idle for a while: each long line of a series would have
 * to grow it again. */
#include "wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void
frame_init(struct frame *f, size_t max)
{
    *f = (struct frame){.max = max};
}

void
frame_fini(struct frame *f)
{
    free(f->p);
    *f = (struct frame){0};
}

/* The beginning of an incomplete line moves to the front, once for each read.
 * Complete lines were consumed before, so this moves less than a line. */
static void
frame_move_to_front(struct frame *f)
{
    if (!f->begin)
        return;
    memmove(f->p, f->p + f->begin, f->end - f->begin);
    f->scanned -= f->begin;
    f->end -= f->begin;
    f->begin = 0;
}

/* Makes space for one read and for a newline that frame_end may add. */
static int
frame_make_room(struct frame *f)
{
    size_t cap = f->cap ? f->cap : 2 * (size_t)FRAME_READ_BYTES;

    frame_move_to_front(f);
    while (cap - f->end <= FRAME_READ_BYTES)
        cap *= 2;
    if (cap == f->cap)
        return 0;
    char *p = realloc(f->p, cap);
    if (!p)
        return -ENOMEM;
    f->p = p;
    f->cap = cap;
    return 0;
}

/* RWF_NOWAIT reads without waiting from a descriptor that others share: its
 * O_NONBLOCK flag would be visible to them. */
int
frame_read(struct frame *f, int hfd, bool may_wait)
{
    int r = frame_make_room(f);
    if (r < 0)
        return r;
    struct iovec v = {f->p + f->end, FRAME_READ_BYTES};
    ssize_t n = may_wait ? read(hfd, v.iov_base, v.iov_len)
                         : preadv2(hfd, &v, 1, -1, RWF_NOWAIT);
    if (n < 0)
        return -errno;
    f->end += (size_t)n;
    return (int)n;
}

void
frame_end(struct frame *f)
{
    if ((f->end > f->begin || f->is_skipping) && frame_make_room(f) == 0)
        f->p[f->end++] = '\n';
}

static void
frame_keep_head(struct frame *f, const char *line, size_t len)
{
    size_t n = len < sizeof f->head ? len : sizeof f->head - 1;

    memcpy(f->head, line, n);
    f->head[n] = 0;
}

void
frame_shrink(struct frame *f)
{
    if (!frame_is_empty(f) || f->cap <= 4 * (size_t)FRAME_READ_BYTES)
        return;
    free(f->p);
    f->p = NULL;
    f->begin = f->end = f->scanned = f->cap = 0;
}

/* Everything was consumed. */
static void
frame_empty(struct frame *f)
{
    f->begin = f->end = f->scanned = 0;
    if (!f->keeps_space)
        frame_shrink(f);
}

/* There is no newline in what was read. */
static void
frame_skip_if_long(struct frame *f)
{
    f->scanned = f->end;
    if (!f->is_skipping && f->end - f->begin <= f->max)
        return;
    if (!f->is_skipping)
        frame_keep_head(f, f->p + f->begin, f->end - f->begin);
    f->is_skipping = true;
    frame_empty(f);
}

/* `scanned` avoids searching the beginning of a long line for its newline
 * again after each read. */
enum frame_event
frame_next(struct frame *f, char **ret_line, size_t *ret_len)
{
    if (f->end == f->begin) {
        frame_empty(f);
        return FRAME_MORE;
    }
    char *newline = memchr(f->p + f->scanned, '\n', f->end - f->scanned);
    if (!newline) {
        frame_skip_if_long(f);
        return FRAME_MORE;
    }
    char *line = f->p + f->begin;
    size_t len = (size_t)(newline - line);
    f->begin = f->scanned = (size_t)(newline - f->p) + 1;
    if (f->is_skipping || len > f->max) {
        if (!f->is_skipping)
            frame_keep_head(f, line, len);
        f->is_skipping = false;
        return FRAME_TOO_LARGE;
    }
    *ret_line = line;
    *ret_len = len;
    return FRAME_LINE;
}
