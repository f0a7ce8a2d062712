/* One line of input as JSON.
 *
 * Long strings are not given to the parser, which is slow on them: they are cut
 * out, stay where they are in the line, and message_text finds them again.
 * Numbers that are ids keep their text in the same way. */
#ifndef RPC_MESSAGE_H
#define RPC_MESSAGE_H

#include "base/own.h"
#include "rpc/text.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MESSAGE_ERROR_BYTES = JSON_ERROR_TEXT_LENGTH };

struct message {
    atomic_int refs;
    char *line;
    size_t len;
    json_t *root;
    struct cut *cuts;
    size_t n_cuts;
    /* of a batch */
    bool is_batch;
    pthread_mutex_t lock;
    struct buf answers; /* guarded by lock */
    size_t n_left;      /* requests without an answer; guarded by lock */
};

/* Copies the line. -EINVAL and the reason in `error`: it is not JSON. */
int message_new(const char *line, size_t len, struct message **ret,
                char error[MESSAGE_ERROR_BYTES]);
struct message *message_get(struct message *m);
void message_put(struct message *m); /* NULL is fine */
DEFINE_CLEANUP(struct message *, message_put)

/* The bytes of a JSON string, valid as long as the message; NUL follows. */
struct text message_text(const struct message *m, const json_t *string);
/* The JSON text of an id, or of null, to be freed. NULL: an id of a type that
 * is not allowed, or no memory. */
char *message_id(const struct message *m, const json_t *id);

#endif
