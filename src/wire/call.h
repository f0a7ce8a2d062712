/* A call: one request of a client, from its line to its answer.
 *
 * A front end (the server, the supervisor) puts a struct call into an object of
 * its own, and finds that object again with CONTAINER_OF. */
#ifndef WIRE_CALL_H
#define WIRE_CALL_H

#include "base/list.h"
#include "base/own.h"
#include "wire/message.h"
#include "wire/method.h"

struct peer;

enum { ANSWER_TEXT_BYTES = 1024 }; /* of a formatted error */

struct call {
    struct list link; /* in a list of the front end */
    struct peer *peer;
    struct message *msg;
    const struct method *method;
    const struct json *params; /* an object that was checked, or NULL */
    char *id;                  /* as JSON; NULL: a notification */
    struct buf answer;
    bool has_failed; /* the answer is an error of ours */
};

static inline bool
call_is_line(const struct call *q)
{
    return q->method->flags & LINE;
}

/* --- answers (answer.c); one of these ends every call */

void answer_ok(OWN struct call *q);
void answer_error(OWN struct call *q, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like answer_error, for a text of any length. */
void answer_error_text(OWN struct call *q, int code, const char *text);
/* A result is written between these two into q->answer: one JSON value, or for
 * the line protocol, members that follow others. */
struct buf *answer_begin(struct call *q);
void answer_end(OWN struct call *q);
/* Like answer_begin, for a member "result":... or "error":... that another
 * process wrote; answer_end follows. */
void answer_pass(struct call *q, struct text name, struct text value);
/* Sends the answer, which is complete, and frees the call. A front end calls
 * this from its `finish`, at once or later. */
void answer_send(OWN struct call *q);
/* Results that several front ends give (call.c): {"data":BASE64}, and that of
 * `cancel`. */
void answer_data(OWN struct call *q, const void *p, size_t len);
void answer_cancelled(OWN struct call *q, bool was_running);
/* Writes a time since 1970 as in JavaScript: a string, in UTC, with
 * milliseconds. */
void put_time(struct buf *b, int64_t ms);

/* --- parameters
 *
 * They were checked against the rows of the method (method_check), so these
 * functions need no errors: a parameter that is there has the type of its row.
 * A parameter that is null counts as absent. */

static inline const struct json *
param(const struct call *q, const char *name)
{
    const struct json *v = json_get(q->params, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

static inline struct text
param_string(const struct call *q, const char *name)
{
    return json_text(param(q, name));
}

static inline const char *
param_text(const struct call *q, const char *name)
{
    return param_string(q, name).p;
}

static inline int64_t
param_int(const struct call *q, const char *name, int64_t absent)
{
    int64_t n = absent;

    (void)json_whole(param(q, name), &n);
    return n;
}

static inline bool
param_bool(const struct call *q, const char *name, bool absent)
{
    const struct json *v = param(q, name);

    return v ? json_is(v, JSON_TRUE) : absent;
}

/* Two checks beyond the rows (call.c). If they fail, they answer the call and
 * return false. */

/* The parameter `path` is absolute, as the line protocol demands. */
bool call_has_absolute_path(OWN struct call *q);
/* The parameter `requestId` in the form of an id; NULL if it is absent. The
 * caller frees *ret. */
bool call_get_request_id(OWN struct call *q, OWN char **ret);

#endif
