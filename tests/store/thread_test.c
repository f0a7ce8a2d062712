/* The thread of a store. */
#include "store/thread.h"

#include "../unit/test.h"
#include "disk.h"
#include "world.h"

#include <errno.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bench {
    struct world w;
    struct store_thread *k;
    int hfd;
    unsigned n_done;
    int doubts;
};

struct job {
    struct store_job job;
    struct bench *bench;
    char id[16];
    int want;      /* the error that `done` should get */
    unsigned turn; /* when it should come; 0: any time */
    sem_t *gate;   /* it waits for */
    long records;  /* a read: what it saw */
    struct job *then;
};

static void
note_doubt(void *arg, int error, const char *why)
{
    struct bench *b = arg;

    CHECK_EQ(error, -EIO);
    CHECK(*why);
    b->doubts++;
}

static void
bench_init(struct bench *b, const struct store_options *o,
           struct store_thread_config c)
{
    memset(b, 0, sizeof *b);
    disk_init(3);
    world_init(&b->w, o);
    b->hfd = eventfd(0, EFD_CLOEXEC);
    c.wake_hfd = b->hfd;
    c.doubt = note_doubt;
    c.arg = b;
    CHECK_EQ(store_thread_new(STEAL(b->w.s), &c, &b->k), 0);
}

/* Until that many jobs are done in all. */
static void
wait_done(struct bench *b, unsigned n)
{
    uint64_t count;

    while (b->n_done < n) {
        CHECK_EQ(read(b->hfd, &count, sizeof count), sizeof count);
        store_thread_drain(b->k);
    }
}

static void
bench_fini(struct bench *b)
{
    store_thread_free(b->k);
    close(b->hfd);
    world_fini(&b->w);
    disk_fini();
}

static const struct store_options on_disk = {.vfs = DISK_VFS};

static void
job_done(struct store_job *j, int error)
{
    struct job *job = (struct job *)j;
    struct bench *b = job->bench;

    CHECK_EQ(error, job->want);
    CHECK_EQ(!*j->why, !error);
    b->n_done++;
    if (job->turn)
        CHECK_EQ(b->n_done, job->turn);
    if (job->then)
        store_thread_post(b->k, &job->then->job);
}

static int
run_make(struct store *s, struct store_job *j)
{
    struct job *job = (struct job *)j;

    if (job->gate)
        sem_wait(job->gate);
    return new_session(s, job->id);
}

/* Fails in the middle. */
static int
run_make_two(struct store *s, struct store_job *j)
{
    int r = run_make(s, j);

    return r < 0 ? r : new_session(s, "taken");
}

static int
count_sessions(struct store *s, struct store_job *j)
{
    struct job *job = (struct job *)j;

    job->records = count_records(s, job->id);
    return 0;
}

static struct job
job_of(struct bench *b, enum store_job_kind kind,
       int (*run)(struct store *s, struct store_job *j), const char *id)
{
    struct job j = {.job = {.kind = kind, .run = run, .done = job_done},
                    .bench = b};

    (void)snprintf(j.id, sizeof j.id, "%s", id);
    return j;
}

TEST(jobs_are_done_in_their_order)
{
    struct bench b;
    struct job jobs[20];
    char id[16];

    bench_init(&b, &on_disk, (struct store_thread_config){0});
    for (unsigned i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof id, "s%u", i);
        jobs[i] = job_of(&b, STORE_JOB_WRITE, run_make, id);
        jobs[i].turn = i + 1;
        store_thread_post(b.k, &jobs[i].job);
    }
    wait_done(&b, 20);
    struct job read = job_of(&b, STORE_JOB_READ, count_sessions, "s19");
    store_thread_post(b.k, &read.job);
    wait_done(&b, 21);
    CHECK_EQ(read.records, 0);
    bench_fini(&b);
}

TEST(jobs_that_wait_together_are_one_commit)
{
    struct bench b;
    struct job first, jobs[50];
    char id[16];
    sem_t gate;

    sem_init(&gate, 0, 0);
    bench_init(&b, &on_disk, (struct store_thread_config){0});
    first = job_of(&b, STORE_JOB_WRITE, run_make, "first");
    first.gate = &gate;
    store_thread_post(b.k, &first.job);
    for (unsigned i = 0; i < 50; i++) {
        (void)snprintf(id, sizeof id, "s%u", i);
        jobs[i] = job_of(&b, STORE_JOB_WRITE, run_make, id);
        store_thread_post(b.k, &jobs[i].job);
    }
    long before = disk_syncs();
    sem_post(&gate);
    wait_done(&b, 51);
    CHECK(disk_syncs() - before <= 3);
    bench_fini(&b);
    sem_destroy(&gate);
}

TEST(a_job_that_fails_leaves_nothing_and_disturbs_nobody)
{
    struct bench b;
    struct job jobs[3];

    bench_init(&b, &on_disk, (struct store_thread_config){0});
    jobs[0] = job_of(&b, STORE_JOB_WRITE, run_make, "taken");
    jobs[1] = job_of(&b, STORE_JOB_WRITE, run_make_two, "half");
    jobs[1].want = -EEXIST;
    jobs[2] = job_of(&b, STORE_JOB_WRITE, run_make, "half");
    for (unsigned i = 0; i < 3; i++)
        store_thread_post(b.k, &jobs[i].job);
    wait_done(&b, 3);
    bench_fini(&b);
}

TEST(a_commit_that_fails_is_told_to_all_its_jobs)
{
    struct bench b;
    struct job first, jobs[3], later[3];
    char id[16];

    bench_init(&b, &on_disk, (struct store_thread_config){0});
    first = job_of(&b, STORE_JOB_READ, count_sessions, "none");
    store_thread_post(b.k, &first.job);
    wait_done(&b, 1);
    disk_fail_at(1, SQLITE_FULL, true, false);
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(id, sizeof id, "s%u", i);
        jobs[i] = job_of(&b, STORE_JOB_WRITE, run_make, id);
        jobs[i].want = -ENOSPC;
        later[i] = job_of(&b, STORE_JOB_WRITE, run_make, id);
        store_thread_post(b.k, &jobs[i].job);
    }
    wait_done(&b, 4);
    disk_fail_at(0, 0, false, false);
    for (unsigned i = 0; i < 3; i++)
        store_thread_post(b.k, &later[i].job);
    wait_done(&b, 7);
    bench_fini(&b);
}

TEST(interval_jobs_become_durable_in_time)
{
    struct bench b;
    struct job job, reads[1000];
    unsigned n = 0;

    bench_init(&b, &on_disk, (struct store_thread_config){.interval_ms = 1});
    job = job_of(&b, STORE_JOB_INTERVAL, run_make, "a");
    long before = disk_syncs();
    store_thread_post(b.k, &job.job);
    wait_done(&b, 1);
    while (disk_syncs() == before && n < 1000) {
        reads[n] = job_of(&b, STORE_JOB_READ, count_sessions, "a");
        store_thread_post(b.k, &reads[n].job);
        wait_done(&b, 1 + ++n);
    }
    CHECK(disk_syncs() > before);
    CHECK_EQ(b.doubts, 0);
    bench_fini(&b);
}

TEST(what_did_not_become_durable_is_told)
{
    struct bench b;
    struct job job, later;
    uint64_t count;

    bench_init(&b, &on_disk, (struct store_thread_config){.interval_ms = 1});
    disk_fail_at(1, SQLITE_IOERR_FSYNC, true, false);
    job = job_of(&b, STORE_JOB_INTERVAL, run_make, "a");
    store_thread_post(b.k, &job.job);
    wait_done(&b, 1);
    while (!b.doubts) {
        CHECK_EQ(read(b.hfd, &count, sizeof count), sizeof count);
        store_thread_drain(b.k);
    }
    disk_fail_at(0, 0, false, false);
    later = job_of(&b, STORE_JOB_WRITE, run_make, "b");
    store_thread_post(b.k, &later.job);
    wait_done(&b, 2);
    bench_fini(&b);
}

TEST(a_store_thread_is_full_until_its_jobs_are_done)
{
    struct bench b;
    struct job jobs[2];

    bench_init(&b, &on_disk, (struct store_thread_config){.bytes_max = 1000});
    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = job_of(&b, STORE_JOB_READ, count_sessions, "none");
        jobs[i].job.bytes = 600;
        CHECK(!store_thread_is_full(b.k));
        store_thread_post(b.k, &jobs[i].job);
    }
    CHECK(store_thread_is_full(b.k));
    wait_done(&b, 2);
    CHECK(!store_thread_is_full(b.k));
    bench_fini(&b);
}

TEST(the_end_of_a_store_thread_finishes_everything)
{
    struct bench b;
    struct job first, then;

    bench_init(&b, &on_disk, (struct store_thread_config){0});
    first = job_of(&b, STORE_JOB_WRITE, run_make, "a");
    then = job_of(&b, STORE_JOB_INTERVAL, run_make, "b");
    first.then = &then;
    store_thread_post(b.k, &first.job);
    store_thread_free(b.k);
    b.k = NULL;
    CHECK_EQ(b.n_done, 2);
    disk_lose_power(false);
    world_reopen(&b.w);
    CHECK_EQ(count_records(b.w.s, "a"), 0);
    CHECK_EQ(count_records(b.w.s, "b"), 0);
    bench_fini(&b);
}
