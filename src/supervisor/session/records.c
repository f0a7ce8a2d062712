/* The records of a session between its worker and the store.
 *
 * From the worker: checked, cut into parts, and committed by one job at a
 * time for each session. So no commit can follow one that failed. What comes
 * in the meantime is one job again: many requests, one transaction.
 *
 * To the worker: read from the store in pieces, each when the worker has taken
 * most of the last one. */
#include "supervisor/session/not_copied.h"
#include "supervisor/session/session.h"

#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    PARTS_BYTES_MAX = 4 << 20, /* of one session, before the store has them */
    PIECE_BYTES = 256 << 10,
};

struct part {
    struct list link;
    struct state_part state;
};

/* --- commits */

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

static int
run_commit(struct store *store, struct store_job *j)
{
    const struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);

    LIST_FOR_EACH(it, &c->parts) {
        const struct state_part *p =
            &CONTAINER_OF(it, struct part, link)->state;
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

/* A session that is stopped may save its state on a full disk; so may a commit
 * that leaves it with fewer bytes; or with fewer files and no more bytes than
 * the history has for the command that removed them. */
static bool
makes_space(struct store *store, struct store_job *j)
{
    const struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);
    struct store_change change = {0};

    if (c->is_stop)
        return true;
    LIST_FOR_EACH(it, &c->parts) {
        const struct state_part *p =
            &CONTAINER_OF(it, struct part, link)->state;
        const struct store_batch b = {
            .session = c->session, .frames = p->frames, .len = p->len};
        if (store_weigh(store, &b, &change) < 0)
            return false;
    }
    return change.bytes < 0 ||
           (change.inodes < 0 && change.bytes < RECORD_BLOCK_BYTES);
}

static void
part_free(struct part *p)
{
    list_remove(&p->link);
    free(p->state.frames);
    free(p);
}

static void
parts_free(struct list *parts)
{
    LIST_FOR_EACH_SAFE(it, parts)
        part_free(CONTAINER_OF(it, struct part, link));
}

static void commit_done(struct store_job *j, int error);

static void
post_commit(struct life *l)
{
    struct commit_job *c = calloc(1, sizeof *c);

    if (!c) {
        life_end(l, SESSION_paused, CAUSE_store, "out of memory");
        return;
    }
    *c = (struct commit_job){.job = {.kind = l->s->is_interval
                                                 ? STORE_JOB_INTERVAL
                                                 : STORE_JOB_WRITE,
                                     .run = run_commit,
                                     .done = commit_done,
                                     .may_use_reserve = makes_space,
                                     .bytes = l->part_bytes},
                             .l = l,
                             .last = l->complete,
                             .bytes = l->part_bytes,
                             .begun_ns = time_mono_ns(),
                             .is_stop = l->phase == LIFE_LEAVING &&
                                        l->outcome.state == SESSION_stopped};
    memcpy(c->session, l->s->id, sizeof c->session);
    list_move(&l->parts, &c->parts);
    l->part_bytes = 0;
    l->committing = c;
    store_thread_post(l->s->sv->store_thread, &c->job);
}

/* What the worker has is not what the store has: it must not go on. */
static void
refuse_all(struct life *l, int error, const char *why)
{
    l->is_refused = true;
    parts_free(&l->parts);
    l->part_bytes = 0;
    if (error == -EDQUOT || error == -EPROTO)
        life_fault(l, "records: %s", why);
    else
        life_end(l, SESSION_paused, CAUSE_store, "%s", why);
}

static void
commit_done(struct store_job *j, int error)
{
    struct commit_job *c = CONTAINER_OF(j, struct commit_job, job);
    struct life *l = c->l;
    struct counters *n = &l->s->sv->counters;

    l->committing = NULL;
    if (error < 0) {
        refuse_all(l, error, j->why);
    } else {
        n->commits++;
        n->commit_bytes += c->bytes;
        histogram_add(&n->commit, time_mono_ns() - c->begun_ns);
        l->committed = c->last;
        if (c->last)
            l->s->has_state = true;
        route_release(l);
    }
    parts_free(&c->parts);
    free(c);
    if (!list_is_empty(&l->parts))
        post_commit(l);
    if (l->phase == LIFE_DEAD)
        life_finish(l);
    else
        records_watch(l);
}

/* --- from the worker */

static int
take_parts(struct life *l)
{
    struct state_part state;
    int r;

    while ((r = state_check_take(&l->check, &state)) == 1) {
        struct part *p = malloc(sizeof *p);
        if (!p) {
            free(state.frames);
            return -ENOMEM;
        }
        p->state = state;
        list_push_back(&l->parts, &p->link);
        l->part_bytes += state.len + sizeof *p;
        if (state.is_last)
            l->complete = state.commit;
    }
    return r;
}

static bool
has_room(const struct life *l)
{
    return l->part_bytes < PARTS_BYTES_MAX &&
           !store_thread_is_full(l->s->sv->store_thread);
}

/* 1: there may be more. */
static int
read_once(struct life *l)
{
    size_t room;
    char *to = state_check_room(&l->check, &room);

    if (!to)
        return -ENOMEM;
    ssize_t n = read(l->worker->state_hfd, to, room);
    if (n <= 0) /* its death is told by its pool */
        return 0;
    state_check_add(&l->check, (size_t)n);
    int r = take_parts(l);
    return r < 0 ? r : (size_t)n == room;
}

void
records_read(struct life *l)
{
    int r = 1;

    while (r == 1 && has_room(l) && !l->is_refused)
        r = read_once(l);
    if (r == -EPROTO)
        life_fault(l, "records: %s", l->check.why);
    else if (r < 0)
        life_end(l, SESSION_paused, CAUSE_store, "out of memory");
    else if (!list_is_empty(&l->parts) && !l->committing)
        post_commit(l);
}

/* --- to the worker */

struct load_job {
    struct store_job job;
    struct life *l;
    char session[SESSION_ID_BYTES];
    struct store_place place;
    struct buf frames;
    bool is_begun; /* its first piece was read */
};

static int
run_load(struct store *store, struct store_job *j)
{
    struct load_job *c = CONTAINER_OF(j, struct load_job, job);

    return store_read(store, c->session, PIECE_BYTES, &c->place, &c->frames);
}

static void
load_free(struct load_job *c)
{
    buf_fini(&c->frames);
    free(c);
}

static void
load_more(struct life *l)
{
    if (!l->loading || l->is_reading ||
        outbox_queued(&l->records) > PIECE_BYTES)
        return;
    l->is_reading = true;
    store_thread_post(l->s->sv->store_thread, &l->loading->job);
}

static void
load_done(struct store_job *j, int error)
{
    struct load_job *c = CONTAINER_OF(j, struct load_job, job);
    struct life *l = c->l;

    l->is_reading = false;
    if (l->phase == LIFE_DEAD) {
        load_free(STEAL(l->loading));
        life_finish(l);
        return;
    }
    if (error < 0 && (error != -EBADMSG || repair_begin(l) != 0))
        life_end(l, SESSION_error, CAUSE_failed, "its state: %s", j->why);
    else if (error == 0)
        outbox_put(&l->records, c->frames.p, c->frames.len);
    if (error == 0 && !c->is_begun)
        session_note_not_copied(l->s, c->frames.p, c->frames.len);
    c->is_begun = true;
    c->frames.len = 0;
    if (error < 0 || c->place.is_done)
        load_free(STEAL(l->loading));
    load_more(l);
    records_watch(l);
}

void
records_load(struct life *l)
{
    struct load_job *c = calloc(1, sizeof *c);

    if (!c) {
        life_end(l, SESSION_error, CAUSE_failed, "out of memory");
        return;
    }
    *c = (struct load_job){
        .job = {.kind = STORE_JOB_READ, .run = run_load, .done = load_done},
        .l = l};
    memcpy(c->session, l->s->id, sizeof c->session);
    buf_init(&c->frames, SIZE_MAX);
    l->loading = c;
    load_more(l);
}

void
records_break_off(struct life *l)
{
    const struct record_head h = {RECORD_END, 0, RECORD_END_BYTES};
    uint8_t frame[RECORD_HEAD_BYTES + RECORD_END_BYTES];

    record_head_put(&h, frame);
    record_end_put(RECORD_BROKEN_OFF, frame + RECORD_HEAD_BYTES);
    outbox_put(&l->records, frame, sizeof frame);
}

/* --- events */

void
records_watch(struct life *l)
{
    uint32_t events = has_room(l) ? EPOLLIN : 0;

    if (outbox_queued(&l->records) && !l->records.is_broken)
        events |= EPOLLOUT;
    reactor_change(&l->s->sv->reactor, &l->state, events);
}

static void
on_state(struct source *source, uint32_t events)
{
    struct life *l = CONTAINER_OF(source, struct life, state);

    if (events & EPOLLOUT) {
        outbox_flush(&l->records);
        load_more(l);
    }
    if (events & (EPOLLIN | EPOLLHUP))
        records_read(l);
    /* Nothing will come any more; that the worker is dead, its pool tells. */
    if (events & (EPOLLHUP | EPOLLERR))
        reactor_remove(&l->s->sv->reactor, &l->state);
    else
        records_watch(l);
}

void
records_go_on(struct supervisor *sv)
{
    LIST_FOR_EACH(it, &sv->lives)
        records_watch(CONTAINER_OF(it, struct life, link));
}

int
records_begin(struct life *l)
{
    outbox_init(&l->records, l->worker->state_hfd);
    list_init(&l->parts);
    l->state.ready = on_state;
    return reactor_add(&l->s->sv->reactor, &l->state, l->worker->state_hfd,
                       EPOLLIN);
}

/* --- the end */

struct discard_job {
    struct store_job job;
    char session[SESSION_ID_BYTES];
};

static int
run_discard(struct store *store, struct store_job *j)
{
    int r =
        store_discard(store, CONTAINER_OF(j, struct discard_job, job)->session);
    return r == -ENOENT ? 0 : r;
}

static void
discard_done(struct store_job *j, int error)
{
    (void)error; /* the next opening of the store does it too */
    free(CONTAINER_OF(j, struct discard_job, job));
}

/* Parts of a commit whose end will not come. */
static void
discard(struct life *l)
{
    struct discard_job *c = calloc(1, sizeof *c);

    if (!c)
        return;
    c->job = (struct store_job){
        .kind = STORE_JOB_INTERVAL, .run = run_discard, .done = discard_done};
    memcpy(c->session, l->s->id, sizeof c->session);
    store_thread_post(l->s->sv->store_thread, &c->job);
}

bool
records_are_busy(const struct life *l)
{
    return l->committing || l->is_reading || l->repair;
}

void
records_end(struct life *l)
{
    reactor_remove(&l->s->sv->reactor, &l->state);
    if (l->is_refused || l->check.is_amid)
        discard(l);
    if (l->loading)
        load_free(l->loading);
    parts_free(&l->parts);
    outbox_fini(&l->records);
    state_check_fini(&l->check);
}
