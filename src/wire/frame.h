/* Input as lines of a bounded length. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>

enum { FRAME_READ_BYTES = 65536 }; /* at most, by one frame_read */

struct frame {
    char *p;
    size_t begin, end, cap; /* read but not yet consumed */
    size_t scanned;         /* no newline before this */
    size_t max;             /* bytes of a line */
    bool is_skipping;       /* the rest of a line that is too long */
    bool keeps_space;       /* a large buffer stays until frame_shrink */
    char head[48];          /* how that line began, as a string */
};

enum frame_event {
    FRAME_MORE,      /* no whole line yet */
    FRAME_LINE,      /* *ret_line, without its newline */
    FRAME_TOO_LARGE, /* a line that was skipped has ended */
};

void frame_init(struct frame *f, size_t max);
void frame_fini(struct frame *f);
/* Reads once from hfd: the number of bytes, 0 at the end, or -errno. Without
 * may_wait, -EAGAIN where nothing can be read, and -EOPNOTSUPP where hfd is of
 * a kind that would make it wait. */
int frame_read(struct frame *f, int hfd, bool may_wait);
/* At the end of input, what is left counts as a line. */
void frame_end(struct frame *f);
/* Frees a large buffer, if it is empty. */
void frame_shrink(struct frame *f);
/* The next event; the line is valid until the next call. */
enum frame_event frame_next(struct frame *f, char **ret_line, size_t *ret_len);

static inline bool
frame_is_empty(const struct frame *f)
{
    return f->begin == f->end;
}

#endif
