/* The store of sessions: a commit until it is acknowledged, beside one
 * fdatasync on the same disk; the state of a session with 10,000 files.
 *
 * usage: store DIR     (a folder on the disk; what is made there is removed) */
#include "../bench.h"

#include "base/buf.h"
#include "record/record.h"
#include "store/thread.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 10000, COMMITS = 400, READS = 30, FORKS = 200 };

struct commit {
    struct store_job job;
    struct store_batch batch;
    bool is_done;
};

static struct store_thread *store_thread;
static int wake_hfd;

static void
add(struct buf *b, const struct record_key *k, const void *value, size_t len)
{
    uint8_t head[RECORD_HEAD_BYTES], key[RECORD_KEY_MAX];
    size_t key_len = record_key_put(k, key);
    struct record_head h = {RECORD_PUT, (uint16_t)key_len, (uint32_t)len};

    record_head_put(&h, head);
    buf_add(b, head, sizeof head);
    buf_add(b, key, key_len);
    buf_add(b, value, len);
}

/* A file of 100 bytes in the directory 1. */
static void
add_file(struct buf *b, uint64_t inode, uint32_t seed)
{
    struct record_inode i = {.mode = S_IFREG | 0644, .size = 100};
    struct record_name n = {.inode = inode, .seq = inode};
    char name[32], bytes[100];
    uint8_t value[RECORD_FIXED_MAX];

    memset(bytes, (int)seed, sizeof bytes);
    i.mtime_ns = seed;
    add(b, &(struct record_key){.type = RECORD_INODE, .inode = inode}, value,
        record_inode_put(&i, value));
    int len =
        snprintf(name, sizeof name, "file%llu.txt", (unsigned long long)inode);
    add(b,
        &(struct record_key){.type = RECORD_NAME,
                             .inode = 1,
                             .name = name,
                             .name_len = (size_t)len},
        value, record_name_put(&n, value));
    add(b, &(struct record_key){.type = RECORD_BLOCK, .inode = inode}, bytes,
        sizeof bytes);
}

static int
run_commit(struct store *s, struct store_job *j)
{
    return store_commit(s, &((struct commit *)j)->batch);
}

static void
commit_done(struct store_job *j, int error)
{
    NEED(!error);
    ((struct commit *)j)->is_done = true;
}

static double
commit_us(struct buf *b, enum store_job_kind kind)
{
    struct commit c = {
        .job = {.kind = kind, .run = run_commit, .done = commit_done},
        .batch = {"bench", b->p, b->len, true, true}};
    uint64_t count;
    int64_t start = now_ns();

    store_thread_post(store_thread, &c.job);
    while (!c.is_done) {
        NEED(read(wake_hfd, &count, sizeof count) == sizeof count);
        store_thread_drain(store_thread);
    }
    return (double)(now_ns() - start) / 1e3;
}

static double
sync_us(int hfd)
{
    static const char page[4096] = {1};
    int64_t start = now_ns();

    NEED(pwrite(hfd, page, sizeof page, 0) == sizeof page && !fdatasync(hfd));
    return (double)(now_ns() - start) / 1e3;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* In turn, so that other work on the disk hits them alike. */
static void
measure_commits(const char *dir)
{
    static double sync[COMMITS], commit[COMMITS], interval[COMMITS];
    char path[256];
    struct buf b;

    (void)snprintf(path, sizeof path, "%s/sync", dir);
    int hfd = open(path, O_RDWR | O_CREAT, 0600);
    NEED(hfd >= 0);
    buf_init(&b, SIZE_MAX / 4);
    for (uint32_t i = 0; i < COMMITS; i++) {
        b.len = 0;
        add_file(&b, 2 + i % 50 * 199, i);
        sync[i] = sync_us(hfd);
        commit[i] = commit_us(&b, STORE_JOB_WRITE);
    }
    for (uint32_t i = 0; i < COMMITS; i++) {
        b.len = 0;
        add_file(&b, 2 + i % 50 * 199, i + COMMITS);
        interval[i] = commit_us(&b, STORE_JOB_INTERVAL);
    }
    double one = median(sync, COMMITS), all = median(commit, COMMITS);
    report("store fdatasync", one, "us");
    report("store commit", all, "us");
    report("store commit x", all / one, "x");
    report("store commit, interval", median(interval, COMMITS), "us");
    buf_fini(&b);
    close(hfd);
}

/* --- without the thread */

static void
measure_read(struct store *s)
{
    double best = 0;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    for (int i = 0; i < READS; i++) {
        struct store_cursor cursor = {.len = 0};
        int64_t start = now_ns();
        b.len = 0;
        while (!cursor.is_done)
            NEED(!store_read(s, "bench", 1 << 20, &cursor, &b));
        double ms = (double)(now_ns() - start) / 1e6;
        best = i && best < ms ? best : ms;
    }
    report("store read 10,000 files", best, "ms");
    buf_fini(&b);
}

static void
measure_forks(struct store *s)
{
    static double us[FORKS];
    char id[16];

    for (int i = 0; i < FORKS; i++) {
        (void)snprintf(id, sizeof id, "fork%d", i);
        NEED(!store_begin(s, false));
        int64_t start = now_ns();
        NEED(!store_fork(s, "bench", &(struct store_session){.id = id}));
        us[i] = (double)(now_ns() - start) / 1e3;
        NEED(!store_end(s));
    }
    report("store fork", median(us, FORKS), "us");
}

static void
fill(struct store *s)
{
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    NEED(!store_session_create(s, &(struct store_session){.id = "bench"}));
    for (uint64_t i = 0; i < FILES; i++)
        add_file(&b, 2 + i, (uint32_t)i);
    NEED(!store_commit(s,
                       &(struct store_batch){"bench", b.p, b.len, true, true}));
    NEED(!store_checkpoint(s));
    buf_fini(&b);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    (void)f;
    return remove(path);
}

int
main(int argc, char **argv)
{
    char dir[200], why[STORE_WHY_BYTES];
    struct store *s;

    (void)snprintf(dir, sizeof dir, "%s/bench-store-XXXXXX",
                   argc > 1 ? argv[1] : ".");
    NEED(mkdtemp(dir));
    NEED(!store_open(dir, NULL, why, &s));
    fill(s);
    measure_read(s);
    wake_hfd = eventfd(0, EFD_CLOEXEC);
    NEED(wake_hfd >= 0);
    NEED(!store_thread_new(
        s, &(struct store_thread_config){.wake_hfd = wake_hfd}, &store_thread));
    measure_commits(dir);
    store_thread_free(store_thread);
    NEED(!store_open(dir, NULL, why, &s));
    measure_read(s);
    measure_forks(s);
    store_free(s);
    return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
