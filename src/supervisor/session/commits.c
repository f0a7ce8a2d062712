/* Commits of a worker to the store. */
#include "supervisor/session/commits.h"

#include "base/os_time.h"
#include "record/record.h"
#include "store/thread.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    PARTS_BYTES_MAX = 4 << 20, /* of one session, before the store has them */
};

/* A part of a commit, as state_check.h cuts it. */
struct commit_part {
    struct list link;
    struct state_part state;
};

/* --- commits */

/* One job of the store: all parts that waited when it was posted. The life
 * outlives it, see life_job_done. */
struct commit_job {
    struct store_job job;
    struct life *l;
    char session[SESSION_ID_BYTES];
    struct list parts;
    uint64_t last; /* the newest commit that is complete, the worker's count */
    size_t bytes;
    int64_t begun_ns;
    bool is_stop; /* of session.stop */
};

/* Runs on the store thread, with the job as one operation: all parts are
 * committed, or none. */
static int
commits_run_commit(struct store *store, struct store_job *j)
{
    const struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);

    LIST_FOR_EACH(it, &c->parts) {
        const struct state_part *p =
            &CONTAINER_OF(it, struct commit_part, link)->state;
        struct store_batch b = {.session = c->session,
                                .frames = p->frames,
                                .len = p->len,
                                .is_first = p->is_first,
                                .is_last = p->is_last};
        int r = store_commit(store, &b);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Runs on the store thread when the disk is full. A session that is being
 * stopped may save its state. So may a commit that leaves the session with
 * fewer bytes, or with fewer files and no more bytes than the history needs for
 * the command that removed them. */
static bool
commits_makes_space(struct store *store, struct store_job *j)
{
    const struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);
    struct store_change change = {0};

    if (c->is_stop)
        return true;
    LIST_FOR_EACH(it, &c->parts) {
        const struct state_part *p =
            &CONTAINER_OF(it, struct commit_part, link)->state;
        const struct store_batch b = {
            .session = c->session, .frames = p->frames, .len = p->len};
        if (store_weigh(store, &b, &change) < 0)
            return false;
    }
    return change.bytes < 0 ||
           (change.inodes < 0 && change.bytes < RECORD_BLOCK_BYTES);
}

/* Frees parts that were committed, or will not be. */
static void
commits_parts_free(struct list *parts)
{
    LIST_FOR_EACH_SAFE(it, parts) {
        struct commit_part *p = CONTAINER_OF(it, struct commit_part, link);
        list_remove(it);
        free(p->state.frames);
        free(p);
    }
}

static void commits_done(struct store_job *j, int error);

/* Posts all waiting parts as one job. */
static void
commits_post_commit(struct life *l)
{
    struct commit_job *c = calloc(1, sizeof *c);

    if (!c) {
        life_kill(l, SESSION_paused, CAUSE_store, "out of memory");
        return;
    }
    *c = (struct commit_job){
        .job = {.kind =
                    l->s->is_interval ? STORE_JOB_INTERVAL : STORE_JOB_WRITE,
                .run = commits_run_commit,
                .done = commits_done,
                .may_use_reserve = commits_makes_space,
                .bytes = l->commits.part_bytes},
        .l = l,
        .last = l->commits.complete,
        .bytes = l->commits.part_bytes,
        .begun_ns = time_mono_ns(),
        .is_stop = life_is_leaving(l) && l->outcome.state == SESSION_stopped};
    memcpy(c->session, l->s->id, sizeof c->session);
    list_move(&l->commits.parts, &c->parts);
    l->commits.part_bytes = 0;
    l->commits.job = c;
    store_thread_post(l->s->sv->store_thread, &c->job);
}

/* The store has rejected a commit. The worker's state now differs from the
 * store's, so the worker must not continue, and no later record may be saved. A
 * violated quota or format is a fault of the worker, because an honest one
 * respects both. */
static void
commits_refuse_all(struct life *l, int error, const char *why)
{
    l->commits.state = COMMITS_REJECTED;
    commits_parts_free(&l->commits.parts);
    l->commits.part_bytes = 0;
    if (error == -EDQUOT || error == -EPROTO)
        life_fault(l, "records: %s", why);
    else
        life_kill(l, SESSION_paused, CAUSE_store, "%s", why);
}

/* The job is done. Answers that waited for it are released, and the parts that
 * arrived meanwhile become the next job. For a life without a worker, this may
 * have been the last thing that it waited for. */
static void
commits_done(struct store_job *j, int error)
{
    struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);
    struct life *l = c->l;
    struct counters *n = &l->s->sv->counters;

    l->commits.job = NULL;
    if (error < 0) {
        commits_refuse_all(l, error, j->why);
    } else {
        n->commits++;
        n->commit_bytes += c->bytes;
        metrics_add(&n->commit, time_mono_ns() - c->begun_ns);
        l->commits.committed = c->last;
        if (c->last)
            l->s->has_state = true;
        worker_link_release(l);
    }
    commits_parts_free(&c->parts);
    free(c);
    if (!list_is_empty(&l->commits.parts))
        commits_post_commit(l);
    if (life_is_reaped(l))
        life_job_done(l);
    else
        commits_watch(l);
}

/* --- from the worker */

/* Appends the complete parts of the bytes that were read. */
static int
commits_take_parts(struct life *l)
{
    struct state_part state;
    int r;

    while ((r = state_check_take(&l->commits.check, &state)) == 1) {
        struct commit_part *p = malloc(sizeof *p);
        if (!p) {
            free(state.frames);
            return -ENOMEM;
        }
        p->state = state;
        list_push_back(&l->commits.parts, &p->link);
        l->commits.part_bytes += state.len + sizeof *p;
        if (state.is_last)
            l->commits.complete = state.commit;
    }
    return r;
}

/* Flow control: while the session or the store has too much waiting, nothing is
 * read, and the worker blocks in its write. */
static bool
commits_has_room(const struct life *l)
{
    return l->commits.part_bytes < PARTS_BYTES_MAX &&
           !store_thread_is_full(l->s->sv->store_thread);
}

/* Returns 1 if there may be more to read. An end of file is not handled here,
 * because the pool reports the death of a worker. */
static int
commits_read_once(struct life *l)
{
    size_t room;
    char *to = state_check_room(&l->commits.check, &room);

    if (!to)
        return -ENOMEM;
    ssize_t n = read(l->worker->state_hfd, to, room);
    if (n <= 0) /* the pool reports its death */
        return 0;
    state_check_add(&l->commits.check, (size_t)n);
    int r = commits_take_parts(l);
    return r < 0 ? r : (size_t)n == room;
}

/* Reads until the socket is empty or flow control stops it. */
void
commits_read(struct life *l)
{
    int r = 1;

    while (r == 1 && commits_has_room(l) && l->commits.state == COMMITS_OPEN)
        r = commits_read_once(l);
    if (r == -EPROTO)
        life_fault(l, "records: %s", l->commits.check.why);
    else if (r < 0)
        life_kill(l, SESSION_paused, CAUSE_store, "out of memory");
    else if (!list_is_empty(&l->commits.parts) && !l->commits.job)
        commits_post_commit(l);
}

/* --- events */

void
commits_watch(struct life *l)
{
    uint32_t events = commits_has_room(l) ? EPOLLIN : 0;

    if (outbox_queued(&l->load.out) && !l->load.out.is_broken)
        events |= EPOLLOUT;
    reactor_change(&l->s->sv->reactor, &l->commits.source, events);
}

/* The socket for records works in both directions: records of the worker come
 * in, and the state that it loads goes out (state_load.c). */
static void
commits_on_state(struct source *source, uint32_t events)
{
    struct life *l = CONTAINER_OF(source, struct life, commits.source);

    if (events & EPOLLOUT) {
        outbox_flush(&l->load.out);
        state_load_more(l);
    }
    if (events & (EPOLLIN | EPOLLHUP))
        commits_read(l);
    /* Nothing will come any more; that the worker is dead, its pool tells. */
    if (events & (EPOLLHUP | EPOLLERR))
        reactor_remove(&l->s->sv->reactor, &l->commits.source);
    else
        commits_watch(l);
}

/* Called when the store accepts records again: all workers may be read. */
void
commits_go_on(struct supervisor *sv)
{
    LIST_FOR_EACH(it, &sv->lives)
        commits_watch(CONTAINER_OF(it, struct life, all));
}

void
commits_init(struct commit_stream *c)
{
    c->source.hfd = -1;
    list_init(&c->parts);
}

int
commits_open(struct life *l)
{
    l->commits.state = COMMITS_OPEN;
    outbox_init(&l->load.out, l->worker->state_hfd);
    l->commits.source.ready = commits_on_state;
    return reactor_add(&l->s->sv->reactor, &l->commits.source,
                       l->worker->state_hfd, EPOLLIN);
}

/* --- the end */

/* Removes the parts of a commit whose end will not arrive. */
struct discard_job {
    struct store_job job;
    char session[SESSION_ID_BYTES];
};

static int
commits_run_discard(struct store *store, struct store_job *j)
{
    int r =
        store_discard(store, CONTAINER_OF(j, struct discard_job, job)->session);
    return r == -ENOENT ? 0 : r;
}

static void
commits_discard_done(struct store_job *j, int error)
{
    (void)error; /* the next opening of the store does it too */
    free(CONTAINER_OF(j, struct discard_job, job));
}

/* Without this job, the parts would stay until the store is opened again.
 * Errors are therefore ignored. */
static void
commits_discard(struct life *l)
{
    struct discard_job *c = calloc(1, sizeof *c);

    if (!c)
        return;
    c->job = (struct store_job){.kind = STORE_JOB_INTERVAL,
                                .run = commits_run_discard,
                                .done = commits_discard_done};
    memcpy(c->session, l->s->id, sizeof c->session);
    store_thread_post(l->s->sv->store_thread, &c->job);
}

/* A rejected or unfinished commit may have left parts in the store. */
void
commits_close(struct life *l)
{
    if (l->commits.state == COMMITS_CLOSED)
        return;
    reactor_remove(&l->s->sv->reactor, &l->commits.source);
    if (l->commits.state == COMMITS_REJECTED || l->commits.check.is_amid)
        commits_discard(l);
    l->commits.state = COMMITS_CLOSED;
    state_load_close(l);
    commits_parts_free(&l->commits.parts);
    state_check_fini(&l->commits.check);
}
