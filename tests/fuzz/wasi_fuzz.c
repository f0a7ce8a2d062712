/* Fuzzes WASI arguments: random calls, mostly with plausible arguments. The
 * input chooses the first of them; a generator goes on from there. */
#include "kernel/kernel.h"

#include "../unit/world.h"
#include "../unit/world_wasi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 200 };

struct input {
    const uint8_t *p;
    size_t left;
    uint64_t random;
};

static uint8_t
take_byte(struct input *in)
{
    if (in->left) {
        in->left--;
        in->random += *in->p;
        return *in->p++;
    }
    in->random = in->random * 6364136223846793005u + 1442695040888963407u;
    return (uint8_t)(in->random >> 56);
}

static uint64_t
take(struct input *in, size_t bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | take_byte(in);
    return v;
}

/* Where prepare() has put something useful. */
enum { PATHS = 4096, PATH_STEP = 32, IOVS = 8192, SUBS = 12288, FREE = 16384 };

/* What the arguments are: d a descriptor, s a path and its length, v iovecs
 * and their count, p a place for results, b a buffer and its length, n a small
 * number, w a large one, r rights. */
static const char *const kinds[WASI_ROWS] = {
    [ROW_args_get] = "pp",
    [ROW_args_sizes_get] = "pp",
    [ROW_environ_get] = "pp",
    [ROW_environ_sizes_get] = "pp",
    [ROW_clock_res_get] = "np",
    [ROW_clock_time_get] = "nwp",
    [ROW_fd_advise] = "dwwn",
    [ROW_fd_allocate] = "dnn",
    [ROW_fd_close] = "d",
    [ROW_fd_datasync] = "d",
    [ROW_fd_fdstat_get] = "dp",
    [ROW_fd_fdstat_set_flags] = "dn",
    [ROW_fd_fdstat_set_rights] = "drr",
    [ROW_fd_filestat_get] = "dp",
    [ROW_fd_filestat_set_size] = "dn",
    [ROW_fd_filestat_set_times] = "dwwn",
    [ROW_fd_pread] = "dvnp",
    [ROW_fd_prestat_get] = "dp",
    [ROW_fd_prestat_dir_name] = "db",
    [ROW_fd_pwrite] = "dvnp",
    [ROW_fd_read] = "dvp",
    [ROW_fd_readdir] = "dbnp",
    [ROW_fd_renumber] = "dd",
    [ROW_fd_seek] = "dwnp",
    [ROW_fd_sync] = "d",
    [ROW_fd_tell] = "dp",
    [ROW_fd_write] = "dvp",
    [ROW_path_create_directory] = "ds",
    [ROW_path_filestat_get] = "dnsp",
    [ROW_path_filestat_set_times] = "dnswwn",
    [ROW_path_link] = "dnsds",
    [ROW_path_open] = "dnsnrrnp",
    [ROW_path_readlink] = "dsbp",
    [ROW_path_remove_directory] = "ds",
    [ROW_path_rename] = "dsds",
    [ROW_path_symlink] = "sds",
    [ROW_path_unlink_file] = "ds",
    [ROW_poll_oneoff] = "upnp",
    [ROW_proc_exit] = "n",
    [ROW_proc_raise] = "n",
    [ROW_sched_yield] = "",
    [ROW_random_get] = "b",
    [ROW_sock_accept] = "dnp",
    [ROW_sock_recv] = "dvnpp",
    [ROW_sock_send] = "dvnp",
    [ROW_sock_shutdown] = "dn",
};

/* Fills one argument, or two; returns how many. */
static int
take_kind(struct input *in, struct task *t, char kind, uint64_t *a)
{
    switch (kind) {
    case 'd':
        a[0] = take(in, 1) % 16;
        return 1;
    case 's':
        a[0] = PATHS + take(in, 1) % 16 * PATH_STEP;
        a[1] = strlen(world_at(t, (uint32_t)a[0]));
        return 2;
    case 'v':
        a[0] = IOVS + take(in, 1) % 6 * 8;
        a[1] = take(in, 1) % 3;
        return 2;
    case 'u':
        a[0] = SUBS + take(in, 1) % 6 * 48;
        return 1;
    case 'b':
        a[1] = take(in, 1);
        /* fall through */
    case 'p':
        a[0] = FREE + take(in, 2);
        return kind == 'b' ? 2 : 1;
    case 'r':
        a[0] = take(in, 1) % 2 ? UINT64_MAX : take(in, 4);
        return 1;
    case 'w':
        a[0] = take(in, 8);
        return 1;
    default:
        a[0] = take(in, 1) % 4 ? take(in, 1) % 5 : take(in, 2);
        return 1;
    }
}

/* The arguments of a call; now and then one of them is anything. */
static void
take_args(struct input *in, struct task *t, unsigned row, uint64_t *a)
{
    int n = 0;

    for (const char *kind = kinds[row]; *kind; kind++)
        n += take_kind(in, t, *kind, a + n);
    if (n && take(in, 1) % 8 == 0)
        a[take(in, 1) % (unsigned)n] =
            take(in, 1) % 2 ? take(in, 8) : FAKE_MEMORY_BYTES - take(in, 1);
}

static void
put_paths(struct task *t)
{
    static const char *const paths[16] = {
        "file",    "dir",      "dir/file",        "link",        ".",    "..",
        "dir/../", "../file",  "/file",           "link/x",      "loop", "",
        "dir/..",  "dir/link", "a-rather-long-n", "dir/link/..",
    };

    for (int i = 0; i < 16; i++)
        strcpy(world_at(t, (uint32_t)(PATHS + i * PATH_STEP)), paths[i]);
}

static void
put_structures(struct task *t)
{
    const uint32_t iovs[] = {FREE,
                             16,
                             FREE + 16,
                             100,
                             FREE + 200,
                             0,
                             PATHS,
                             512,
                             FREE,
                             70000,
                             FAKE_MEMORY_BYTES - 8,
                             16};
    uint32_t *subs = world_at(t, SUBS);

    memcpy(world_at(t, IOVS), iovs, sizeof iovs);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t *s = subs + 12 * i;
        s[0] = i;
        s[2] = i % 3;
        s[4] = i % 3 ? i : 1; /* a descriptor, or the monotonic clock */
        s[6] = i * 1000;
    }
}

static struct task *
prepare(struct kernel *k)
{
    struct task *t = world_task(k);

    if (world_wasi_args(t) < 0)
        abort();
    put_paths(t);
    put_structures(t);
    (void)SYS(t, NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, FREE);
    (void)SYS(t, NR_pipe2, FREE, O_NONBLOCK);
    (void)SYS(t, NR_socketpair, AF_UNIX, SOCK_DGRAM, 0, FREE);
    return t;
}

/* Makes the call until it is over. False: the task is, or waits for good. */
static bool
call(struct task *t, unsigned row, const uint64_t *args)
{
    for (int tries = 0; tries < 64; tries++) {
        int32_t r = world_wasi(t, row, args);
        if (t->is_zombie)
            return false;
        if (r != -EWAIT)
            return true;
        if (!t->thread->is_ready && !t->thread->is_yielding)
            world_sleep_ns(t->kernel, 3600 * NS_PER_S);
        t->thread->is_yielding = false;
    }
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size, 1};
    struct kernel *k = world_new();
    struct task *t = prepare(k);

    for (int i = 0; i < CALLS; i++) {
        uint64_t args[WASI_ARGS_MAX] = {0};
        unsigned row = (unsigned)take(&in, 1) % WASI_ROWS;
        bool ends = row == ROW_proc_exit || row == ROW_proc_raise;
        take_args(&in, t, row, args);
        if (ends && take(&in, 1) != 7)
            continue;
        if (!call(t, row, args))
            break;
        put_paths(t);
        put_structures(t);
    }
    kernel_free(k);
    return 0;
}
