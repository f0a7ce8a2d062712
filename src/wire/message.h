/* One line of input as JSON: a request or a batch of requests. */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "base/json.h"
#include "base/own.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MESSAGE_ERROR_BYTES = 160, BATCH_MAX = 1000 };

/* The codes of errors. */
enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    INTERNAL_ERROR = -32603,
    SANDBOX_ERROR = 1,
};

struct message {
    atomic_int refs;
    size_t len; /* of the line */
    struct json_doc doc;
    const struct json *root;
    /* of a batch */
    bool is_batch;
    pthread_mutex_t lock;
    struct buf answers; /* guarded by lock */
    size_t n_left;      /* requests without an answer; guarded by lock */
};

/* Copies the line. -EINVAL and the reason in `error`: it is not JSON. */
int message_new(const char *line, size_t len, struct message **ret,
                char error[MESSAGE_ERROR_BYTES]);
static inline struct message *
message_get(struct message *m)
{
    m->refs++;
    return m;
}
void message_put(struct message *m); /* NULL is fine */
DEFINE_CLEANUP(struct message *, message_put)

/* The JSON text of an id, or of null, to be freed. NULL: an id of a type that
 * is not allowed, or no memory. */
OWN char *message_id(const struct json *id);

/* Do two ids, as JSON, name the same request? Numbers do if they are equal,
 * however they are written. */
bool id_equals(const char *a, const char *b);

/* One answer of a batch (len 0: none, to a notification). True: it was the
 * last, and m->answers is a line to be sent. */
bool message_add_answer(struct message *m, const char *p, size_t len);
/* Would its answers be too much with so many bytes more? */
bool message_is_full(struct message *m, size_t more);

/* Returns the error in the envelope of a request, or NULL. */
const char *request_fault(const struct json *object);
/* The answer with an error, and a newline; id: as JSON, or NULL. */
void put_error(struct buf *b, const char *id, int code, const char *text);

#endif
