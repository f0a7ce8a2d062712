/* Requests of ours to the client, and its answers.
 *
 * A host command in a sandbox, or offload and rehydrate, asks the client for
 * something and waits for the answer. The answer may come late or never: each
 * request has a deadline, which the loop keeps, and all end when the client is
 * gone. `done` is called exactly once, by the thread that removed the request
 * from the list. */
#include "rpc/callback.h"

#include "base/os_time.h"
#include "rpc/loop.h"
#include "rpc/report.h"
#include "rpc/server_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct callback {
    struct list link;
    uint64_t number;
    int64_t deadline_ns; /* 0: none */
    bool is_timer;       /* the client has no request of this number */
    callback_done *done;
    void *arg;
};

static void
callback_send_line(struct server *srv, uint64_t number, const char *method,
                   const struct buf *params)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":\"cb_%" PRIu64 "\",\"method\":",
               number);
    put_text(&b, method);
    buf_puts(&b, ",\"params\":");
    buf_add(&b, params->p, params->len);
    buf_puts(&b, "}\n");
    if (!b.error)
        writer_put(&srv->out, b.p, b.len, false);
    buf_fini(&b);
}

/* Adds an entry to the list, which may be answered and freed from then on.
 * Returns its number, or 0. */
static uint64_t
callback_add(struct server *srv, bool is_timer, int64_t deadline_ns,
             callback_done *done, void *arg)
{
    struct callback *cb = malloc(sizeof *cb);

    if (!cb)
        return 0;
    *cb = (struct callback){.deadline_ns = deadline_ns,
                            .is_timer = is_timer,
                            .done = done,
                            .arg = arg};
    pthread_mutex_lock(&srv->lock);
    uint64_t number = cb->number = ++srv->last_callback;
    list_push_back(&srv->callbacks, &cb->link);
    srv->n_callbacks++;
    pthread_mutex_unlock(&srv->lock);
    return number;
}

/* The request is in the list before it is sent, because the answer may arrive
 * on the loop before this thread continues. The loop wakes to keep the
 * deadline. */
void
callback_send(struct server *srv, const char *method, const struct buf *params,
              int64_t deadline_ns, callback_done *done, void *arg)
{
    uint64_t number =
        params->error ? 0 : callback_add(srv, false, deadline_ns, done, arg);

    if (!number) {
        done(arg, NULL, "out of memory");
        return;
    }
    callback_send_line(srv, number, method, params);
    if (deadline_ns)
        loop_wake(srv);
}

uint64_t
callback_after(struct server *srv, int64_t deadline_ns, callback_done *done,
               void *arg)
{
    uint64_t number = callback_add(srv, true, deadline_ns, done, arg);

    loop_wake(srv);
    return number;
}

/* --- answers */

/* Ids are compared as text: a number that is written in another way is not
 * ours. */
static struct callback *
callback_take(struct server *srv, struct text id)
{
    struct callback *found = NULL;
    char name[32];

    pthread_mutex_lock(&srv->lock);
    LIST_FOR_EACH(it, &srv->callbacks) {
        struct callback *cb = CONTAINER_OF(it, struct callback, link);
        (void)snprintf(name, sizeof name, "cb_%" PRIu64, cb->number);
        if (!cb->is_timer && text_is(id, name)) {
            list_remove(it);
            srv->n_callbacks--;
            found = cb;
            break;
        }
    }
    pthread_mutex_unlock(&srv->lock);
    return found;
}

bool
callback_forget(struct server *srv, uint64_t number)
{
    struct callback *found = NULL;

    pthread_mutex_lock(&srv->lock);
    LIST_FOR_EACH(it, &srv->callbacks) {
        struct callback *cb = CONTAINER_OF(it, struct callback, link);
        if (cb->number == number)
            found = cb;
    }
    bool is_there = found;
    if (is_there) {
        list_remove(&found->link);
        srv->n_callbacks--;
    }
    pthread_mutex_unlock(&srv->lock);
    free(found);
    return is_there;
}

static void
callback_finish(struct callback *cb, const struct json *result,
                const char *error)
{
    cb->done(cb->arg, result, error);
    free(cb);
}

/* The text of an error reply. */
static const char *
callback_error_text(const struct json *object)
{
    const struct json *text = json_get(json_get(object, "error"), "message");

    return json_is(text, JSON_STRING) ? json_text(text).p
                                      : "the client sent no result";
}

/* An answer to a request that has ended is ignored, and only logged: it came
 * too late. */
bool
callback_reply(struct server *srv, const struct json *object)
{
    const struct json *id = json_get(object, "id");
    const struct json *result = json_get(object, "result");

    if (json_get(object, "method") || !json_is(id, JSON_STRING))
        return false;
    struct text name = json_text(id);
    if (name.len < 4 || memcmp(name.p, "cb_", 3) != 0)
        return false;
    struct callback *cb = callback_take(srv, name);
    if (!cb)
        report_line(srv, LOG_INFO,
                    "ignored an answer to %.32s: no such request is pending",
                    name.p);
    else if (json_is(result, JSON_OBJECT))
        callback_finish(cb, result, NULL);
    else
        callback_finish(cb, NULL, callback_error_text(object));
    return true;
}

/* --- no answers */

static struct callback *
callback_take_expired(struct server *srv, bool all, int64_t *ret_next)
{
    struct callback *found = NULL;
    int64_t now = time_mono_ns();

    *ret_next = 0;
    pthread_mutex_lock(&srv->lock);
    LIST_FOR_EACH(it, &srv->callbacks) {
        struct callback *cb = CONTAINER_OF(it, struct callback, link);
        if (all || (cb->deadline_ns && cb->deadline_ns <= now)) {
            list_remove(it);
            srv->n_callbacks--;
            found = cb;
            break;
        }
        if (cb->deadline_ns && (!*ret_next || cb->deadline_ns < *ret_next))
            *ret_next = cb->deadline_ns;
    }
    pthread_mutex_unlock(&srv->lock);
    return found;
}

/* One request at a time is removed under the lock and ended without it,
 * because `done` may send the next one. */
int64_t
callback_expire(struct server *srv, bool all)
{
    struct callback *cb;
    int64_t next;

    while ((cb = callback_take_expired(srv, all, &next)))
        callback_finish(
            cb, NULL,
            all ? "the client is gone"
                : "no answer from the client within the time limit");
    return next;
}
