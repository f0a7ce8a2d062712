/* Calls of several threads, and jobs of the crew. */
#include "event.h"
#include "lib_test.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 8, CALLS = 300, JOBS = 1000 };

static int
append(struct wsand_sandbox *sb, const char *text, struct wsand_error *err)
{
    struct wsand_write w = {.size = sizeof w,
                            .path = "/tmp/f",
                            .data = text,
                            .len = strlen(text),
                            .append = true};

    return wsand_file_write(sb, &w, err);
}

static uint64_t
size_of_file(struct wsand_sandbox *sb)
{
    struct wsand_stat st = {0};

    return wsand_file_stat(sb, "/tmp/f", true, &st, NULL) == 0 ? st.bytes : 0;
}

static void *
append_often(void *arg)
{
    struct wsand_sandbox *sb = arg;
    long failed = 0;

    for (int i = 0; i < CALLS; i++)
        failed += append(sb, "12345678", NULL) != 0;
    return (void *)failed;
}

TEST(lease_calls_of_threads_are_served_one_after_the_other)
{
    LIB_SANDBOX(l, .files = 0);
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        t[i] = start(append_often, l.sb);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(t[i], &failed);
        CHECK(!failed);
    }
    CHECK_EQ(size_of_file(l.sb), 8 * THREADS * CALLS);
    lib_free(&l);
}

/* --- jobs */

struct sequence {
    int next;
    long out_of_order;
};

struct numbered {
    struct sequence *s;
    int number;
};

static void
job_count(struct wsand_sandbox *sb, void *arg)
{
    const struct numbered *n = arg;

    n->s->out_of_order += n->s->next++ != n->number;
    if (append(sb, "x", NULL) != 0)
        n->s->out_of_order++;
}

TEST(lease_jobs_and_calls_are_served_in_the_order_of_asking)
{
    LIB_SANDBOX(l, .files = 0);
    static struct numbered n[JOBS];
    struct sequence s = {0};

    for (int i = 0; i < JOBS; i++) {
        n[i] = (struct numbered){&s, i};
        CHECK_EQ(wsand_post(l.sb, job_count, &n[i], NULL), 0);
        if (i % 100 == 0)
            CHECK_EQ(size_of_file(l.sb), i + 1);
    }
    CHECK_EQ(size_of_file(l.sb), JOBS);
    CHECK_EQ(s.next, JOBS);
    CHECK_EQ(s.out_of_order, 0);
    lib_free(&l);
}

struct posting {
    int result_within;
    pthread_t thread;
};

static void
job_never(struct wsand_sandbox *sb, void *arg)
{
    (void)sb;
    (void)arg;
    CHECK(false);
}

static void
job_here(struct wsand_sandbox *sb, void *arg)
{
    struct posting *p = arg;

    p->thread = pthread_self();
    p->result_within = wsand_post_here(sb, job_never, NULL);
    CHECK_EQ(append(sb, "x", NULL), 0);
}

TEST(lease_a_job_here_is_done_when_the_call_returns_or_refused)
{
    LIB_SANDBOX(l, .files = 0);
    struct sequence s = {0};
    struct numbered after = {&s, 0};
    struct posting p = {0};

    CHECK_EQ(wsand_post_here(l.sb, job_here, &p), 0);
    CHECK(pthread_equal(p.thread, pthread_self()));
    CHECK_EQ(p.result_within, -EBUSY);
    CHECK_EQ(size_of_file(l.sb), 1);
    CHECK_EQ(wsand_post(l.sb, job_count, &after, NULL), 0);
    CHECK_EQ(size_of_file(l.sb), 2);
    lib_free(&l);
}

static void
job_leave_one(struct wsand_sandbox *sb, void *arg)
{
    CHECK_EQ(wsand_post(sb, job_count, arg, NULL), 0);
}

TEST(lease_a_job_behind_one_here_gets_a_thread)
{
    LIB_SANDBOX(l, .files = 0);
    struct sequence s = {0};
    struct numbered n = {&s, 0};

    CHECK_EQ(wsand_post_here(l.sb, job_leave_one, &n), 0);
    CHECK_EQ(size_of_file(l.sb), 1);
    CHECK_EQ(s.next, 1);
    lib_free(&l);
}

struct meeting {
    struct event *mine, *other;
    bool was_there;
};

static void
job_meet(struct wsand_sandbox *sb, void *arg)
{
    struct meeting *m = arg;

    (void)sb;
    event_happen(m->mine);
    m->was_there = event_wait(m->other, 1);
}

TEST(lease_jobs_of_two_sandboxes_run_side_by_side)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o = {.size = sizeof o};
    struct wsand_sandbox *two = NULL;
    struct event a = EVENT_INIT, b = EVENT_INIT;
    struct meeting ma = {&a, &b, false}, mb = {&b, &a, false};

    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &two, NULL), 0);
    CHECK_EQ(wsand_post(l.sb, job_meet, &ma, NULL), 0);
    CHECK_EQ(wsand_post(two, job_meet, &mb, NULL), 0);
    wsand_sandbox_free(two);
    (void)size_of_file(l.sb);
    CHECK(ma.was_there && mb.was_there);
    lib_free(&l);
}

/* --- freeing */

struct busy {
    struct wsand_sandbox *sb;
    struct event begun, may_end;
    _Atomic int refused, called;
};

static void
job_hold(struct wsand_sandbox *sb, void *arg)
{
    struct busy *b = arg;
    struct wsand_error err = {0};

    event_happen(&b->begun);
    (void)event_wait(&b->may_end, 1);
    if (append(sb, "x", &err) == -ECANCELED &&
        err.error_class == WSAND_CANCELLED)
        b->refused++;
    b->called++;
}

/* Is every function refused? */
static bool
all_refuse(struct wsand_sandbox *sb)
{
    struct wsand_mount m = {.guest_path = "/m"};
    struct wsand_sandbox *copy;
    char **list, *text;
    uint64_t id, *ids;
    size_t n;
    void *p;

    const int r[] = {append(sb, "x", NULL),
                     wsand_mount(sb, &m, NULL),
                     wsand_fork(sb, &copy, NULL),
                     wsand_checkpoint(sb, NULL),
                     wsand_env_get(sb, "A", &text, NULL),
                     wsand_history_list(sb, &list, NULL),
                     wsand_snapshot_create(sb, &id, NULL),
                     wsand_snapshot_list(sb, &ids, &n, NULL),
                     wsand_snapshot_save(sb, 1, &p, &n, NULL),
                     wsand_snapshot_load(sb, "x", 1, &id, NULL),
                     wsand_export(sb, &p, &n, NULL),
                     wsand_import(sb, "x", 1, NULL),
                     wsand_reset(sb, NULL)};
    for (size_t i = 0; i < sizeof r / sizeof *r; i++)
        if (r[i] != -ECANCELED)
            return false;
    return true;
}

static void
job_late(struct wsand_sandbox *sb, void *arg)
{
    struct busy *b = arg;

    b->refused += all_refuse(sb);
    b->called++;
}

static void *
call_late(void *arg)
{
    struct busy *b = arg;
    struct wsand_error err = {0};

    event_happen(&b->begun);
    if (append(b->sb, "x", &err) == -ECANCELED &&
        err.error_class == WSAND_CANCELLED)
        b->refused++;
    return NULL;
}

static void *
free_it(void *arg)
{
    wsand_sandbox_free(arg);
    return NULL;
}

TEST(lease_free_refuses_calls_and_has_all_jobs_called)
{
    LIB_SANDBOX(l, .files = 0);
    struct busy b = {l.sb, EVENT_INIT, EVENT_INIT, 0, 0};
    pthread_t callers[THREADS];

    CHECK_EQ(wsand_post(l.sb, job_hold, &b, NULL), 0);
    CHECK(event_wait(&b.begun, 1));
    for (int i = 0; i < 10; i++)
        CHECK_EQ(wsand_post(l.sb, job_late, &b, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        callers[i] = start(call_late, &b);
    pthread_t freer = start(free_it, l.sb);
    for (int i = 0; i < THREADS; i++)
        pthread_join(callers[i], NULL);
    CHECK_EQ(b.refused, THREADS);
    CHECK_EQ(b.called, 0);
    event_happen(&b.may_end);
    pthread_join(freer, NULL);
    CHECK_EQ(b.refused, THREADS + 11);
    CHECK_EQ(b.called, 11);
    wsand_runtime_free(l.rt);
}

static void
job_free(void *arg)
{
    struct busy *b = arg;

    for (int i = 0; i < 5; i++)
        CHECK_EQ(wsand_post(b->sb, job_late, b, NULL), 0);
    wsand_sandbox_free(b->sb);
    CHECK_EQ(b->called, 5);
    event_happen(&b->begun);
}

TEST(lease_free_needs_no_other_thread_of_the_pool)
{
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .max_processes = 10, .threads = 1};
    struct wsand_options o = {.size = sizeof o};
    struct wsand_runtime *rt = NULL;
    struct busy b = {.begun = EVENT_INIT, .may_end = EVENT_INIT};

    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    CHECK_EQ(wsand_sandbox_new(rt, &o, &b.sb, NULL), 0);
    CHECK_EQ(wsand_runtime_post(rt, job_free, &b, NULL), 0);
    CHECK(event_wait(&b.begun, 1));
    wsand_runtime_free(rt);
}

static void *
hold_here(void *arg)
{
    struct busy *b = arg;

    CHECK_EQ(wsand_post_here(b->sb, job_hold, b), 0);
    return NULL;
}

struct freeing {
    struct busy *busy;
    struct event done;
};

static void
job_free_busy(void *arg)
{
    struct freeing *f = arg;

    wsand_sandbox_free(f->busy->sb);
    event_happen(&f->done);
}

static void
check_free_while_busy(struct wsand_runtime *rt)
{
    struct wsand_options o = {.size = sizeof o};
    struct busy b = {.begun = EVENT_INIT, .may_end = EVENT_INIT};
    struct freeing f = {&b, EVENT_INIT};

    CHECK_EQ(wsand_sandbox_new(rt, &o, &b.sb, NULL), 0);
    pthread_t holder = start(hold_here, &b);
    CHECK(event_wait(&b.begun, 1));
    CHECK_EQ(wsand_post(b.sb, job_late, &b, NULL), 0);
    pthread_t late = start(call_late, &b);
    CHECK_EQ(wsand_runtime_post(rt, job_free_busy, &f, NULL), 0);
    pthread_join(late, NULL); /* it was refused: the sandbox is being freed */
    event_happen(&b.may_end);
    pthread_join(holder, NULL);
    CHECK(event_wait(&f.done, 1));
    CHECK_EQ(b.called, 2);
    CHECK_EQ(b.refused, 3);
}

TEST(lease_free_does_the_job_that_is_left_behind_a_call)
{
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .max_processes = 10, .threads = 1};
    struct wsand_runtime *rt = NULL;

    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    for (int i = 0; i < 20; i++)
        check_free_while_busy(rt);
    wsand_runtime_free(rt);
}

/* --- work on no sandbox */

struct crowd {
    struct event done;
    struct event may_end;
    _Atomic int n, most;
};

static void
job_crowd(void *arg)
{
    struct crowd *c = arg;
    int n = ++c->n;

    if (n > c->most)
        c->most = n;
    (void)event_wait(&c->may_end, 1);
    c->n--;
    event_happen(&c->done);
}

TEST(lease_pool_has_as_many_threads_as_it_may)
{
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .max_processes = 10, .threads = 4};
    struct crowd c = {EVENT_INIT, EVENT_INIT, 0, 0};
    struct wsand_runtime *rt = NULL;
    time_t began = 0;

    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(wsand_runtime_post(rt, job_crowd, &c, NULL), 0);
    while (c.n < 4 && !is_too_late(&began))
        sched_yield();
    event_happen(&c.may_end);
    CHECK(event_wait(&c.done, 20));
    CHECK_EQ(c.most, 4);
    wsand_runtime_free(rt);
}

static void
job_note(void *arg)
{
    (*(_Atomic int *)arg)++;
}

TEST(lease_work_that_waits_is_done_before_the_runtime_is_gone)
{
    struct wsand_runtime_options ro = {
        .size = sizeof ro, .max_processes = 10, .threads = 2};
    struct wsand_runtime *rt = NULL;
    _Atomic int n = 0;

    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(wsand_runtime_post(rt, job_note, (void *)&n, NULL), 0);
    wsand_runtime_free(rt);
    CHECK_EQ(n, 100);
}
