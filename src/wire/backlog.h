/* Lines that wait until their requests can be served. They are kept unparsed,
 * so that they cost only their bytes. */
#ifndef WIRE_BACKLOG_H
#define WIRE_BACKLOG_H

#include "base/list.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stddef.h>

enum { BACKLOG_BYTES_MAX = 64 << 20 };

struct backlog {
    struct list chunks;    /* of lines, the oldest first */
    struct list cancelled; /* requests in them */
    size_t n_lines, bytes;
    bool is_full; /* the last line did not fit, and none was removed since */
};

void backlog_init(struct backlog *b);
void backlog_fini(struct backlog *b);

static inline bool
backlog_is_empty(const struct backlog *b)
{
    return !b->n_lines;
}

/* Returns true if there are neither lines nor cancelled requests. */
static inline bool
backlog_is_idle(const struct backlog *b)
{
    return list_is_empty(&b->chunks) && list_is_empty(&b->cancelled);
}

/* Keeps a copy of the line. -ENOBUFS: more than BACKLOG_BYTES_MAX would wait;
 * -ENOMEM. */
int backlog_put(struct backlog *b, const char *line, size_t len);
/* Takes the oldest line, which is valid until the next call; false: none. */
bool backlog_take(struct backlog *b, const char **ret_line, size_t *ret_len);

/* Which request is meant: is_wanted(arg), and of the id, given as JSON; NULL:
 * the oldest. */
struct wanted {
    const char *id;
    bool (*is_wanted)(const void *arg, const struct json *object);
    const void *arg;
};
/* Notes that a request, alone in its line or in a batch, was cancelled while it
 * waits. `scope` names its sandbox or session. False: none such waits. */
bool backlog_cancel(struct backlog *b, const struct wanted *w,
                    const char *scope);
/* Was it? True once. id: as JSON, or NULL. Notes are dropped when backlog_take
 * finds no more lines. */
bool backlog_was_cancelled(struct backlog *b, const char *scope,
                           const char *id);

/* The members by which a line shows that it is not to wait, found without
 * parsing it: strings without their quotes, and empty where there are none.
 * False: the line is not one object. */
struct envelope {
    struct text method, type, id;
    struct text raw_id; /* as it is written */
};
bool envelope_read(const char *line, size_t len, struct envelope *ret);

#endif
