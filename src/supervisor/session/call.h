/* A request of a client, from its line to its answer. */
#ifndef SUPERVISOR_CALL_H
#define SUPERVISOR_CALL_H

#include "base/list.h"
#include "base/own.h"
#include "supervisor/session/client.h"
#include "wire/method.h"
#include "wire/param.h"

struct session;

enum {
    SESSION_ERROR = 2, /* the code for a session in another state */
    CALL_TEXT_BYTES = 1024,
};

struct call {
    struct list link; /* in client->calls */
    struct client *client;
    struct message *msg;
    const struct method *method;
    const struct json *params;
    char *id; /* as JSON; NULL: a notification */
    struct buf answer;
    /* of a call to a session (session.h) */
    struct list turn; /* in one of the session's lists */
    struct session *session;
    uint64_t number; /* its id at the worker, or a number for a handler */
    uint64_t commit; /* its answer waits for this commit; 0: for none */
    /* The worker is asked to commit, and this runs when the store has the
     * commit. NULL: the worker serves the call itself. */
    void (*follow)(struct call *q);
    int64_t begun_ns;
    bool has_failed; /* its answer is an error */
};

/* A method, followed in the table by the rows of its parameters. */
struct method {
    const char *name; /* NULL: the row is a parameter */
    void (*handle)(struct call *q);
    unsigned flags;
    const char *refusal; /* the replacement; the method is refused */
    struct param param;
};

/* Finds `X` and `session.X` for ROUTED methods. NULL: there is none. */
const struct method *method_find(struct text name);
/* Each method has an index below METHODS_MAX; the name of an index, or NULL. */
size_t method_index(const struct method *m);
const char *method_name(size_t index);
int method_check(const struct method *m, const struct json *params,
                 char error[PARAM_ERROR_BYTES]);

bool method_is(const struct method *m, const char *name);

/* Takes a reference to msg. NULL: no memory. */
struct call *call_new(struct client *c, struct message *msg,
                      const struct method *m, const struct json *params,
                      OWN char *id);
/* One of these ends every call. */
void call_error(OWN struct call *q, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A result that is written between these two: one JSON value. */
struct buf *call_begin(struct call *q);
void call_end(OWN struct call *q);
/* Like call_begin, for "result":... or "error":... as a worker wrote it;
 * call_end follows. */
void call_pass(struct call *q, struct text name, struct text value);

/* Parameters, which have been checked. NULL is an absent one. */
const struct json *call_param(const struct call *q, const char *name);
const char *call_text(const struct call *q, const char *name);
int64_t call_int(const struct call *q, const char *name, int64_t absent);
bool call_bool(const struct call *q, const char *name, bool absent);

/* Called after a call has ended, for which its client may have waited. */
void client_put(struct client *c);
/* Handles a notification that has no effect. */
void client_pass_over(struct client *c, struct message *msg);
/* Answers a line that is not a call of a method, also in a batch. id: as JSON.
 */
void client_refuse(struct client *c, struct message *msg, const char *id,
                   int code, const char *text);

#endif
