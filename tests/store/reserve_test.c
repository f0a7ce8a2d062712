/* A store on a disk that is full: jobs that make space use its reserve. */
#include "store/thread.h"

#include "../unit/test.h"
#include "disk.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* The reserve is twice as large as the log, as that of a real store. */
enum {
    DISK_BYTES = 6 << 20,
    RESERVE_BYTES = 1 << 20,
    LOG_PAGES = 125,
    FILE_BLOCKS = 64, /* of a large file */
};

struct full {
    struct world w;
    struct store_thread *k;
    int hfd;
    char reserve[96];
    unsigned n_large, n_files; /* of the session "a" */
};

struct job {
    struct store_job job;
    struct full *full;
    int (*write)(struct store *s, struct full *f);
    bool may_use;
    bool is_done;
    int error;
};

static int
job_run(struct store *s, struct store_job *j)
{
    struct job *job = (struct job *)j;

    return job->write(s, job->full);
}

static void
job_done(struct store_job *j, int error)
{
    struct job *job = (struct job *)j;

    job->error = error;
    job->is_done = true;
}

static bool
job_may_use(struct store *s, struct store_job *j)
{
    (void)s;
    return ((struct job *)j)->may_use;
}

/* Does a write, as a job of its own. */
static struct job
full_do(struct full *f, int (*write)(struct store *s, struct full *f),
        bool may_use)
{
    struct job job = {.job = {.kind = STORE_JOB_WRITE,
                              .run = job_run,
                              .done = job_done,
                              .may_use_reserve = job_may_use},
                      .full = f,
                      .write = write,
                      .may_use = may_use};
    uint64_t count;

    store_thread_post(f->k, &job.job);
    while (!job.is_done) {
        CHECK_EQ(read(f->hfd, &count, sizeof count), sizeof count);
        store_thread_drain(f->k);
    }
    return job;
}

/* --- writes */

static int
make_sessions(struct store *s, struct full *f)
{
    (void)f;
    int r = new_session(s, "a");
    return r < 0 ? r : new_session(s, "b");
}

static int
make_file(struct store *s, const char *session, unsigned n, unsigned blocks)
{
    char name[16];
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    (void)snprintf(name, sizeof name, "f%u", n);
    add_inode(&b, n + 2, S_IFREG | 0644, blocks * RECORD_BLOCK_BYTES);
    add_name(&b, 1, name, n + 2);
    for (unsigned i = 0; i < blocks; i++)
        add_block(&b, n + 2, i, n * FILE_BLOCKS + i, RECORD_BLOCK_BYTES);
    return commit_frames(s, session, &b);
}

static int
grow(struct store *s, struct full *f)
{
    return make_file(s, "a", f->n_files, FILE_BLOCKS);
}

static int
grow_a_little(struct store *s, struct full *f)
{
    return make_file(s, "a", f->n_files, 1);
}

static int
grow_other(struct store *s, struct full *f)
{
    return make_file(s, "b", 1000 + f->n_files, FILE_BLOCKS);
}

/* Removes all large files of "a" but the first. */
static int
shrink(struct store *s, struct full *f)
{
    char name[16];
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    for (unsigned n = 1; n < f->n_large; n++) {
        (void)snprintf(name, sizeof name, "f%u", n);
        struct record_key inode = inode_key(n + 2), at = name_key(1, name);
        add_delete(&b, &inode);
        add_delete(&b, &at);
        for (unsigned i = 0; i < FILE_BLOCKS; i++) {
            struct record_key block = block_key(n + 2, i);
            add_delete(&b, &block);
        }
    }
    return commit_frames(s, "a", &b);
}

/* The last commit of a session has all that it has not yet written. */
static int
stop(struct store *s, struct full *f)
{
    int r = make_file(s, "a", f->n_files, 8);

    if (r < 0)
        return r;
    return store_session_update(
        s, &(struct store_session){.id = "a", .state = "stopped"});
}

static int
end(struct store *s, struct full *f)
{
    (void)f;
    return end_session(s, "a");
}

/* --- the disk */

static off_t
reserve_size(const struct full *f)
{
    struct stat st = {0};

    CHECK_EQ(stat(f->reserve, &st), 0);
    return st.st_size;
}

static void
full_start(struct full *f)
{
    const struct store_thread_config c = {.wake_hfd = f->hfd};

    CHECK_EQ(store_thread_new(STEAL(f->w.s), &c, &f->k), 0);
}

/* Another thread goes on with what is there. */
static void
full_reopen(struct full *f)
{
    store_thread_free(f->k);
    world_reopen(&f->w);
    full_start(f);
}

/* A store with the sessions "a", which has all files that its disk has space
 * for, and "b". */
static void
full_init(struct full *f)
{
    const struct store_options o = {.vfs = DISK_VFS,
                                    .log_pages = LOG_PAGES,
                                    .reserve_bytes = RESERVE_BYTES};

    *f = (struct full){.hfd = eventfd(0, EFD_CLOEXEC)};
    disk_init(3);
    world_init(&f->w, &o);
    (void)snprintf(f->reserve, sizeof f->reserve, "%s/reserve", f->w.dir);
    CHECK(store_has_reserve(f->w.s));
    disk_set_size(DISK_BYTES, f->reserve);
    full_start(f);
    CHECK_EQ(full_do(f, make_sessions, false).error, 0);
    while (full_do(f, grow, false).error == 0)
        f->n_large = ++f->n_files;
    while (full_do(f, grow_a_little, false).error == 0)
        f->n_files++;
    CHECK(f->n_large > 5);
}

static void
full_fini(struct full *f)
{
    store_thread_free(f->k);
    close(f->hfd);
    world_fini(&f->w);
    disk_fini();
}

TEST(a_full_disk_takes_a_commit_that_makes_a_session_smaller)
{
    struct full f;

    full_init(&f);
    CHECK_EQ(full_do(&f, shrink, false).error, -ENOSPC);
    CHECK_EQ(full_do(&f, grow_other, false).error, -ENOSPC);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES); /* it was for neither */
    CHECK_EQ(full_do(&f, shrink, true).error, 0);
    CHECK_EQ(full_do(&f, grow_other, false).error, 0);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES);
    full_fini(&f);
}

TEST(the_reserve_is_filled_before_other_commits_are_accepted)
{
    struct full f;

    full_init(&f);
    CHECK_EQ(full_do(&f, stop, false).error, -ENOSPC);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES);
    CHECK_EQ(full_do(&f, stop, true).error, 0);
    struct job refused = full_do(&f, grow_other, false);
    CHECK_EQ(refused.error, -ENOSPC);
    CHECK(strstr(refused.job.why, "the store's reserve is in use"));
    CHECK_EQ(reserve_size(&f), 0);
    CHECK_EQ(full_do(&f, end, false).error, -ENOSPC);
    CHECK_EQ(full_do(&f, end, true).error, 0);
    CHECK_EQ(full_do(&f, grow_other, false).error, 0);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES);
    full_fini(&f);
}

TEST(a_store_is_opened_on_a_full_disk)
{
    struct full f;

    full_init(&f);
    full_reopen(&f);
    CHECK_EQ(full_do(&f, grow_other, false).error, -ENOSPC);
    CHECK_EQ(full_do(&f, end, true).error, 0);
    CHECK_EQ(full_do(&f, grow_other, false).error, 0);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES);
    full_fini(&f);
}

TEST(a_reserve_in_use_is_noticed_when_the_store_is_opened)
{
    struct full f;

    full_init(&f);
    CHECK_EQ(full_do(&f, stop, true).error, 0);
    full_reopen(&f);
    struct job refused = full_do(&f, grow_other, false);
    CHECK_EQ(refused.error, -ENOSPC);
    CHECK(strstr(refused.job.why, "the store's reserve is in use"));
    CHECK_EQ(full_do(&f, end, true).error, 0);
    CHECK_EQ(full_do(&f, grow_other, false).error, 0);
    CHECK_EQ(reserve_size(&f), RESERVE_BYTES);
    full_fini(&f);
}
