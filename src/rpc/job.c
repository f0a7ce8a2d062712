/* The server as a front end of the core: its delivery table, and the jobs that
 * do the work of calls.
 *
 * A job is a call with the sandbox that it is for. Its handler runs on one of
 * four threads. The loop's thread runs AT_ONCE calls, and a call that is alone
 * (leader.h). A thread of the library's pool runs others in the order of their
 * sandbox, or beside that order (BESIDE). The thread that runs the sandbox
 * handles `concurrent` calls, between time slices of its processes. */
#include "rpc/job.h"

#include "rpc/callback.h"
#include "rpc/dispatch.h"
#include "rpc/methods.h"
#include "rpc/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct call *
job_alloc(struct peer *p)
{
    struct job *j = calloc(1, sizeof *j);

    (void)p;
    if (!j)
        return NULL;
    list_init(&j->run_link);
    return &j->call;
}

static void
job_free(OWN struct call *q)
{
    free(job_of(q));
}

/* The answer of a worker names the changes of the job, which were sent before
 * it: the supervisor waits until these are on the disk. */
static void
job_finish(OWN struct call *q)
{
    struct job *j = job_of(q);
    struct server *srv = server_of(q);
    struct buf *b = &q->answer;

    if (j->has_lease && srv->worker && !j->commit)
        j->commit = worker_commit(srv->worker, j->sb, false);
    if (j->is_held)
        return;
    if (j->commit && b->len) {
        b->len -= strlen("}\n");
        buf_printf(b, ",\"commit\":%" PRIu64 "}\n", j->commit);
    }
    answer_send(q);
}

/* The loop never waits for the client, because it is the one that sends queued
 * output. Other threads wait while the client is far behind. */
static void
job_send(struct peer *p, const char *line, size_t len, bool may_wait)
{
    struct server *srv = CONTAINER_OF(p, struct server, peer);

    writer_put(&srv->out, line, len, may_wait && !leader_is_here(&srv->leader));
}

/* At the end of the server nobody waits for the client any more: lines that
 * were read are served or rejected, whether their answers are read or not. */
static bool
job_is_behind(struct peer *p)
{
    struct server *srv = CONTAINER_OF(p, struct server, peer);

    return writer_is_behind(&srv->out) && !srv->is_cancelling;
}

/* The loop asks to be woken only while lines wait or the server ends. An event
 * for each answer would cost more than a short call. */
static void
job_answered(struct peer *p)
{
    struct server *srv = CONTAINER_OF(p, struct server, peer);

    if (srv->wants_fewer)
        loop_wake(srv);
}

static bool
job_reply(struct peer *p, const struct json *object)
{
    return callback_reply(CONTAINER_OF(p, struct server, peer), object);
}

/* Lines wait while more than 4,096 calls, or more than 64 MiB of their lines,
 * are in progress. */
void
job_init_peer(struct server *srv)
{
    static const struct peer_ops ops = {.calls_max = 4096 + 1,
                                        .bytes_max = (64 << 20) + 1,
                                        .urgent_max = 4096,
                                        .alloc = job_alloc,
                                        .serve = dispatch_call,
                                        .finish = job_finish,
                                        .free = job_free,
                                        .answered = job_answered,
                                        .send = job_send,
                                        .is_behind = job_is_behind,
                                        .other = dispatch_other,
                                        .reply = job_reply,
                                        .reply_prefix = CALLBACK_PREFIX};

    peer_init(&srv->peer, &ops,
              srv->options->worker ? &worker_methods : &server_methods);
}

/* --- the work */

/* A sandbox of a server that ends is used only by calls that had begun. */
void
job_run(struct wsand_sandbox *sb, void *arg)
{
    struct job *j = job_of(arg);

    j->sb = sb;
    if (server_of(arg)->rejects_calls) {
        run_forget(arg);
        answer_error(arg, SANDBOX_ERROR, "ECANCELED: the server is ending");
        return;
    }
    j->has_lease = !(j->call.method->flags & BESIDE);
    j->call.method->handle(arg);
}

static void
job_handle(struct wsand_sandbox *sb, void *arg)
{
    struct job *j = job_of(arg);

    j->sb = sb;
    j->call.method->handle(arg);
}

/* Beside a command, on the thread that runs it: the answer is sent by this one,
 * so that the command does not wait for a client that does not read. */
static void
job_visit(struct wsand_sandbox *sb, void *arg)
{
    struct job *j = job_of(arg);
    struct wsand_error err = {0};

    j->has_lease = !(j->call.method->flags & READS);
    j->is_held = true;
    int r = wsand_beside(sb, job_handle, arg, &err);
    j->is_held = false;
    j->has_lease = false;
    if (r < 0)
        answer_failure(arg, &err);
    else
        job_finish(arg);
}

/* A call that cannot be posted was registered as a run, and must be forgotten
 * before it is answered. */
void
job_post(OWN struct call *q)
{
    struct wsand_sandbox *sb = slot_of(q)->sb;
    struct wsand_error err = {0};
    int r;

    if (q->method->flags & VISIT ||
        (!call_is_line(q) && param_bool(q, "concurrent", false)))
        r = wsand_post_beside(sb, job_visit, q, &err);
    else if (q->method->flags & BESIDE)
        r = wsand_post_beside(sb, job_run, q, &err);
    else
        r = wsand_post(sb, job_run, q, &err);
    if (r == 0)
        return;
    run_forget(q);
    answer_error(q, INTERNAL_ERROR, "Internal error: %s", err.message);
}

/* --- answers */

/* The message of the library begins with the name of the error, as the
 * protocol demands. */
void
answer_failure(OWN struct call *q, const struct wsand_error *err)
{
    answer_error_text(q, SANDBOX_ERROR, err->message);
}

void
answer_status(OWN struct call *q, int r, const struct wsand_error *err)
{
    if (r == 0)
        answer_ok(q);
    else
        answer_failure(q, err);
}
