/* One line of input as JSON.
 *
 * Long strings are not given to the parser, which is slow on them: they are cut
 * out, stay where they are in the line, and message_text finds them again.
 * Numbers that are ids keep their text in the same way. */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "base/own.h"
#include "wire/text.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MESSAGE_ERROR_BYTES = JSON_ERROR_TEXT_LENGTH, BATCH_MAX = 1000 };

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
/* A value of the message as JSON text. Nested more than 64 deep: b->error. */
void put_json(struct buf *b, const struct message *m, const json_t *value);
/* The JSON text of an id, or of null, to be freed. NULL: an id of a type that
 * is not allowed, or no memory. */
char *message_id(const struct message *m, const json_t *id);

/* Do two ids, as JSON, name the same request? Numbers do if they are equal,
 * however they are written. */
bool id_equals(const char *a, const char *b);

/* One answer of a batch (len 0: none, to a notification). True: it was the
 * last, and m->answers is a line to be sent. */
bool message_add_answer(struct message *m, const char *p, size_t len);
/* Would its answers be too much with so many bytes more? */
bool message_is_full(struct message *m, size_t more);

/* Who gets the requests of a line. */
struct taker {
    void (*object)(void *to, struct message *m, const json_t *object);
    void (*refuse)(void *to, int code, const char *text); /* the whole line */
};
/* Gives the requests of a line, one or a batch, to the taker. */
void message_take(const char *line, size_t len, const struct taker *t,
                  void *to);

/* What is wrong with the envelope of a request, or NULL. */
const char *request_fault(const json_t *object);
/* The answer with an error, and a newline; id: as JSON, or NULL. */
void put_error(struct buf *b, const char *id, int code, const char *text);

#endif
