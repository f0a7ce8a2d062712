/* Fuzzes WASI arguments: the input is a list of calls, with arguments that are
 * mostly plausible descriptors, addresses and lengths. */
#include "kernel/kernel.h"

#include "../unit/world.h"
#include "../unit/world_wasi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *p;
    size_t left;
};

static uint64_t
take(struct input *in, size_t bytes)
{
    uint64_t v = 0;
    size_t n = bytes < in->left ? bytes : in->left;

    memcpy(&v, in->p, n);
    in->p += n;
    in->left -= n;
    return v;
}

/* Where prepare() has put something useful. */
enum { PATHS = 4096, PATH_STEP = 32, IOVS = 8192, SUBS = 12288, FREE = 16384 };

static uint64_t
take_arg(struct input *in)
{
    enum { FD, LENGTH, PATH, STRUCTURE, PLACE, EDGE, WORD, LONG };

    switch (take(in, 1) % 8) {
    case FD:
        return take(in, 1) % 16;
    case LENGTH:
        return take(in, 1) % 64;
    case PATH:
        return PATHS + take(in, 1) % 16 * PATH_STEP;
    case STRUCTURE:
        return take(in, 1) & 1 ? IOVS : SUBS;
    case PLACE:
        return FREE + take(in, 2);
    case EDGE:
        return WORLD_MEMORY_BYTES - take(in, 1) % 64;
    case WORD:
        return take(in, 4);
    default:
        return take(in, 8);
    }
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
                             WORLD_MEMORY_BYTES - 8,
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
    (void)SYS(t, NR_SOCKETPAIR, AF_UNIX, SOCK_STREAM, 0, FREE);
    (void)SYS(t, NR_PIPE2, FREE, 0);
    (void)SYS(t, NR_SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, FREE);
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
    struct input in = {data, size};
    struct kernel *k = world_new();
    struct task *t = prepare(k);
    bool goes_on = true;

    while (in.left && goes_on) {
        uint64_t args[WASI_ARGS_MAX];
        unsigned row = (unsigned)(take(&in, 1) % WASI_ROWS);
        bool is_rare = row == ROW_proc_exit || row == ROW_proc_raise;
        for (int i = 0; i < WASI_ARGS_MAX; i++)
            args[i] = take_arg(&in);
        if (!is_rare || take(&in, 1) == 7)
            goes_on = call(t, row, args);
    }
    kernel_free(k);
    return 0;
}
