/* Fuzzes system calls: processes on fake machines make random calls with
 * random and edge arguments, start threads, fork, take signals and trap, on a
 * kernel with /dev, /proc and a virtual clock; allocations fail now and then.
 * Processes map the same files, segments and memory, and threads wait for one
 * another in them. Afterwards all limits are given back and no memory is
 * left. */
#include "processes.h"

#include "kernel/syscall.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MEMORY_BYTES = 64 << 10,
    STRINGS_AT = 0x1000, /* planted strings, STRING_BYTES each */
    STRING_BYTES = 64,
    WORDS_AT = 0x4000, /* structs are read from and written to here */
    MAPS_AT = 0x8000,  /* shared pages, if any */
    MAP_PAGES = 8,
    PAGE_BYTES = 4096,
    CALLS_PER_SLICE = 32,
    MORE_BYTES = 4096,
    ROWS = 256,
};

static const char *const strings[] = {
    "/",
    ".",
    "..",
    "",
    "a",
    "b",
    "/a",
    "/d",
    "/d/a",
    "/d/b",
    "d/..",
    "d/",
    "../../d/./a",
    "/link",
    "/link/a",
    "/loop",
    "/fifo",
    "/sock",
    "/ro/f",
    "/dev",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts/0",
    "/dev/fd/0",
    "/dev/stdin",
    "/proc",
    "/proc/self/fd/0",
    "/proc/self/fd/1",
    "/proc/self/fd",
    "/proc/self/cwd",
    "/proc/self/exe",
    "/proc/self/root/a",
    "/proc/self/stat",
    "/proc/self/status",
    "/proc/self/maps",
    "/proc/self/mounts",
    "/proc/1/cmdline",
    "/proc/2/environ",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/hostname",
    "/prog",
    "/script",
    "/script2",
};
enum { N_STRINGS = sizeof strings / sizeof *strings };
_Static_assert(STRINGS_AT + N_STRINGS * STRING_BYTES <= WORDS_AT, "overlap");

static bool gives_up; /* waiting calls are not made again */
static uint32_t rows[ROWS];
static uint32_t n_rows;

static uint64_t n_calls, n_inputs;

__attribute__((destructor)) static void
report(void)
{
    fprintf(stderr, "%llu calls in %llu inputs\n", (unsigned long long)n_calls,
            (unsigned long long)n_inputs);
}

/* --- allocations that fail: the linker puts these around the kernel's */

static unsigned fails_in; /* 0: none fails */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

static bool
fails_now(void)
{
    return fails_in && --fails_in == 0;
}

void *
__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t m)
{
    return fails_now() ? NULL : __real_calloc(n, m);
}

void *
__wrap_realloc(void *p, size_t n)
{
    return fails_now() ? NULL : __real_realloc(p, n);
}

char *
__wrap_strdup(const char *s)
{
    return fails_now() ? NULL : __real_strdup(s);
}

static uint32_t
take2(struct input *in)
{
    uint32_t low = take(in);

    return low | take(in) << 8;
}

static uint32_t
take4(struct input *in)
{
    uint32_t low = take2(in);

    return low | take2(in) << 16;
}

/* --- arguments */

static uint32_t
number(struct input *in)
{
    static const uint32_t edges[] = {
        0,          1,
        2,          3,
        8,          16,
        255,        4095,
        4096,       65535,
        65536,      1 << 20,
        0x7fffffff, 1u << 31,
        0xffffffff, 0xfffffffe,
        0xffff0000, 1u << 30,
        128,        112,
        1000,       1000000,
        999999999,  1000000000,
        12345,      (1u << 31) + 1,
        1u << 19,   0x541b,
    };
    uint32_t b = take(in);

    if (b < 128)
        return b;
    if (b < 156)
        return edges[b - 128];
    if (b < 196)
        return (uint32_t) - (int32_t)(b - 156);
    if (b < 226)
        return 1u << (b - 196);
    return take4(in);
}

static uint32_t
descriptor(struct input *in)
{
    uint32_t b = take(in);

    if (b < 240)
        return b % 16;
    return b < 248 ? (uint32_t)AT_FDCWD : number(in);
}

static uint32_t
address(struct input *in)
{
    uint32_t b = take(in);

    if (b < 176)
        return WORDS_AT + 16 * b;
    if (b < 192)
        return 0;
    if (b < 224)
        return MEMORY_BYTES - (b - 192);
    if (b < 240)
        return 0u - (b - 224);
    return take4(in);
}

static uint32_t
string(struct input *in)
{
    uint32_t b = take(in);

    if (b < 224)
        return STRINGS_AT + b % N_STRINGS * STRING_BYTES;
    return address(in);
}

/* Six words by the letters of a row. */
static void
fill_args(struct input *in, const char *letters, uint32_t a[6])
{
    int n = 0;

    memset(a, 0, 6 * sizeof *a);
    for (; *letters && n < 6; letters++) {
        if (*letters == 'f')
            a[n++] = descriptor(in);
        else if (*letters == 'p')
            a[n++] = address(in);
        else if (*letters == 's')
            a[n++] = string(in);
        else if (*letters == 'o' && n < 5)
            a[n++] = number(in), a[n++] = take(in) < 240 ? 0 : number(in);
        else
            a[n++] = number(in);
    }
}

/* --- what a machine does */

static void
plant(struct fake_machine *m)
{
    uint32_t *w = (uint32_t *)(void *)(m->machine.base + WORDS_AT);

    for (int i = 0; i < N_STRINGS; i++)
        strcpy((char *)m->machine.base + STRINGS_AT + i * STRING_BYTES,
               strings[i]);
    for (uint32_t i = 0; i < 704; i++)
        w[i] = i % 4 == 0   ? WORDS_AT + 64 * (i / 4)
               : i % 4 == 1 ? i
               : i % 4 == 2 ? STRINGS_AT + i % N_STRINGS * STRING_BYTES
                            : 0;
}

/* A program begins with handlers and with open files of all kinds. */
static void
begin(struct thread *th)
{
    static const uint32_t calls[][7] = {
        {NR_pipe2, WORDS_AT, O_NONBLOCK},
        {NR_socketpair, AF_UNIX, SOCK_STREAM, 0, WORDS_AT},
        {NR_socketpair, AF_UNIX, SOCK_DGRAM, 0, WORDS_AT},
        {NR_eventfd2, 1, 0},
        {NR_epoll_create1, 0},
        {NR_timerfd_create, CLOCK_MONOTONIC, 0},
        {NR_openat, (uint32_t)AT_FDCWD, STRINGS_AT + 6 * STRING_BYTES, O_RDWR},
        {NR_openat, (uint32_t)AT_FDCWD, STRINGS_AT + 7 * STRING_BYTES, 0},
        {NR_openat, (uint32_t)AT_FDCWD, STRINGS_AT + 25 * STRING_BYTES, O_RDWR},
        {NR_socket, AF_INET, SOCK_STREAM, 0},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        (void)thread_syscall(th, calls[i][0], calls[i] + 1);
    for (uint32_t sig = 1; sig <= NSIG_MAX; sig++) {
        struct sigaction_k act = {.handler = 100, .mask = sig};
        act.flags = sig % 2 ? GSA_RESTART : sig % 5 ? 0 : GSA_RESETHAND;
        if (sig % 3 && sig != SIGKILL && sig != SIGSTOP)
            th->task->sig.action[sig] = act;
    }
    plant((struct fake_machine *)th->machine);
}

static int32_t
make_call(struct fake_machine *m)
{
    struct thread *th = m->machine.thread;

    n_calls++;
    int32_t r = thread_syscall(th, m->words[1], m->words + 2);
    m->words[0] = r == -EWAIT || r == -ERESTARTSYS;
    if (r == -ERESTARTSYS)
        (void)thread_signext(th, WORDS_AT);
    return r;
}

/* Returns the address of a word that others change, in shared memory or not. */
static uint32_t
futex_address(struct input *in)
{
    uint32_t b = take(in);

    return b < 128 ? WORDS_AT + 16 * (b % 8)
                   : MAPS_AT + b % MAP_PAGES * PAGE_BYTES;
}

/* Waits for a word that other threads change, or wakes those that wait. */
static void
use_futex(struct fake_machine *m, struct input *in)
{
    static const uint8_t operations[] = {
        FUTEX_WAIT,    FUTEX_WAKE,        FUTEX_REQUEUE,     FUTEX_CMP_REQUEUE,
        FUTEX_WAKE_OP, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET, FUTEX_LOCK_PI,
    };
    uint32_t at = futex_address(in), value;

    memcpy(&value, m->machine.base + at, sizeof value);
    m->words[1] = NR_futex;
    m->words[2] = at;
    m->words[3] = operations[take(in) % sizeof operations];
    m->words[4] = take(in) < 200 ? value : number(in);
    m->words[5] = take(in) < 128 ? 0 : address(in);
    m->words[6] = futex_address(in);
    m->words[7] = take(in) < 128 ? UINT32_MAX : number(in);
}

/* Maps, moves and unmaps ranges of a few pages, which overlap others. */
static void
use_mapping(struct fake_machine *m, struct input *in)
{
    uint32_t page = take(in) % MAP_PAGES, other = take(in) % MAP_PAGES;
    uint32_t at = MAPS_AT + page * PAGE_BYTES;
    uint32_t len = (1 + take(in) % (MAP_PAGES - page)) * PAGE_BYTES;
    uint32_t fd = take(in) % 24, key = take(in) % 4;
    const uint32_t calls[][7] = {
        {NR_mmap2, at, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, key},
        {NR_mmap2, at, len, PROT_READ, MAP_SHARED, fd, key},
        {NR_mmap2, at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS},
        {NR_munmap, at, len},
        {NR_mremap, at, PAGE_BYTES, PAGE_BYTES, 0,
         MAPS_AT + other * PAGE_BYTES},
        {NR_msync, at, len, MS_SYNC},
        {NR_memfd_create, STRINGS_AT, 0},
        {NR_ftruncate64, fd, len - key, 0},
        {NR_shmget, key, len, IPC_CREAT | 0666},
        {NR_shmat, other, at, 0},
        {NR_shmdt, at},
        {NR_shmctl, other, IPC_RMID, 0},
    };

    memcpy(m->words + 1, calls[take(in) % (sizeof calls / sizeof *calls)],
           sizeof *calls);
}

/* A call that waited is made again, or with some luck another, or the same
 * with other arguments. */
static int32_t
next_call(struct fake_machine *m, struct input *in)
{
    uint32_t luck = m->words[0] && !gives_up ? take(in) : 255;

    if (luck < 208)
        return make_call(m);
    gives_up = false;
    uint32_t kind = take(in);
    if (kind < 32) {
        (kind < 16 ? use_futex : use_mapping)(m, in);
        return make_call(m);
    }
    uint32_t nr = luck < 232 ? m->words[1] : rows[take(in) % n_rows];
    if ((nr == NR_exit || nr == NR_exit_group || nr == NR_kill) &&
        take(in) < 200)
        nr = NR_openat;
    const struct syscall_row *row = syscall_row(nr);
    m->words[1] = nr;
    fill_args(in, row ? row->args : "xxxxxx", m->words + 2);
    return make_call(m);
}

static void
poke(struct fake_machine *m, struct input *in)
{
    uint32_t at = WORDS_AT + 4 * (take2(in) % 704), v = number(in);

    if (take(in) < 64)
        at = futex_address(in);
    memcpy(m->machine.base + at, &v, sizeof v);
}

/* Starts a thread, or is refused: at a limit, or for bad addresses. */
static void
start_thread(struct thread *th, struct input *in)
{
    const uint32_t flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD |
                           CLONE_SETTLS | CLONE_PARENT_SETTID |
                           CLONE_CHILD_CLEARTID;
    const uint32_t a[6] = {flags,      address(in), address(in),
                           number(in), address(in), address(in)};

    (void)thread_syscall(th, NR_clone, a);
}

/* Anything but a call; MACHINE_LEFT: go on. */
static enum machine_event
other_step(struct fake_machine *m, struct input *in, uint32_t what,
           struct machine_trap *trap)
{
    struct thread *th = m->machine.thread;

    switch (what) {
    case 0:
        return thread_may_fork(th) < 0 ? MACHINE_LEFT : MACHINE_FORKS;
    case 1:
        return MACHINE_YIELDED;
    case 2:
        if (take(in) < 200)
            return MACHINE_LEFT;
        *trap = (struct machine_trap){SIGSEGV, SEGV_MAPERR, "fuzz", 0};
        return MACHINE_TRAPPED;
    case 3:
        return take(in) < 200 ? MACHINE_LEFT : MACHINE_ENDED;
    case 4:
        thread_sigword(th, address(in));
        return MACHINE_LEFT;
    case 5:
        fails_in = take(in) % 16;
        return MACHINE_LEFT;
    case 6:
        (void)thread_signext(th, address(in));
        return MACHINE_LEFT;
    case 7:
    case 8:
        start_thread(th, in);
        return MACHINE_LEFT;
    default:
        poke(m, in);
        return MACHINE_LEFT;
    }
}

static enum machine_event
run(struct fake_machine *m, struct machine_trap *trap)
{
    struct thread *th = m->machine.thread;
    struct input *in = m->arg;

    if (m->slices == 1) {
        plant(m);
        begin(th);
    }
    for (int i = 0; i < CALLS_PER_SLICE && in->left; i++) {
        uint32_t what = m->words[0] ? 255 : take(in);
        enum machine_event e =
            what < 48 ? other_step(m, in, what, trap) : MACHINE_LEFT;
        if (e != MACHINE_LEFT)
            return e;
        if (what >= 48 && next_call(m, in) == -EWAIT && thread_must_wait(th))
            return MACHINE_WAITS;
        if (!th->leaving)
            continue;
        if (take(in) < 16) /* a machine may be slow to notice */
            (void)next_call(m, in);
        return MACHINE_LEFT;
    }
    return in->left ? MACHINE_YIELDED : MACHINE_ENDED;
}

/* --- the world */

static void
link_to(struct kernel *k, const char *path, const char *target)
{
    struct vnode root = world_root(k);
    struct at at = {.vfs = &k->vfs, .base = &root, .path = path};

    if (vfs_symlink(&at, target) < 0)
        abort();
}

static struct kernel *
make_world(struct engine *e)
{
    struct kernel *k = world_new_on(e);
    struct fs *ro;

    if (!k || world_mount_system(k) < 0 ||
        world_make(k, NULL, "/d", S_IFDIR | 0777) < 0 ||
        world_make(k, NULL, "/fifo", S_IFIFO | 0666) < 0 ||
        world_file(k, "/a", "some text\n") < 0 ||
        world_file(k, "/prog", FAKE_PROGRAM) < 0 ||
        world_file(k, "/script", "#! /prog -x\n") < 0 ||
        world_file(k, "/script2", "#!/script\n") < 0 ||
        tmpfs_new(&k->vfs, NULL, 4096, 10, &ro) < 0 ||
        mount_add(&k->vfs, "/ro", "ro", ro, true) < 0)
        abort();
    link_to(k, "/link", "d");
    link_to(k, "/loop", "loop");
    k->limits.max[LIMIT_processes] = 8;
    k->limits.max[LIMIT_open_files] = 48;
    k->limits.max[LIMIT_memory] = 1 << 20;
    k->limits.max[LIMIT_sigqueue] = 16;
    k->limits.max[LIMIT_locks] = 8;
    k->limits.max[LIMIT_mappings] = 16;
    return k;
}

/* False: an earlier process has broken the file system for it. */
static bool
spawn(struct kernel *k)
{
    static const char *const argv[] = {"/prog", "x", NULL};
    static const char *const envp[] = {"A=b", NULL};
    struct spawn s = {.path = "/prog", .argv = argv, .envp = envp, .cwd = "/"};

    fails_in = 0;
    for (int i = 0; i < 3; i++)
        s.stdio[i] = world_open(k, NULL, "/dev/null", O_RDWR, NULL);
    return kernel_spawn(k, &s, NULL, 0) >= 0;
}

/* Nothing can run, and no timer changes that; one that nobody waits for may
 * fire for ever. */
static bool
is_stuck(void *arg)
{
    struct kernel *k = arg;
    struct input *in = k->engine->arg;

    in->idle_slices = list_is_empty(&k->run_queue) ? in->idle_slices + 1 : 0;
    return in->idle_slices > 100 ||
           (in->idle_slices && clock_next_ns(&k->clock) == NS_NEVER);
}

/* Something happens when nothing else would: all waits end, or a signal. */
static void
stir(struct kernel *k, struct input *in)
{
    uint32_t b = take(in);

    if (b >= 192) {
        kernel_kill(k, 0, (int)(1 + b % NSIG_MAX));
        return;
    }
    gives_up = true;
    wake_all(k);
}

static void
find_rows(void)
{
    n_rows = 0;
    for (uint32_t nr = 0; nr < SYSCALL_MAX; nr++)
        if (syscall_row(nr) && n_rows < ROWS - 1)
            rows[n_rows++] = nr;
    rows[n_rows++] = 1000; /* no such call */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {.p = data, .size = size, .left = size + MORE_BYTES};
    struct engine e = {.run = run, .arg = &in, .memory_bytes = MEMORY_BYTES};
    struct kernel *k = make_world(&e);

    find_rows();
    gives_up = false;
    n_inputs++;
    while (in.left) {
        if (is_alone(k) && !spawn(k))
            break;
        in.idle_slices = 0;
        (void)kernel_run(k, is_stuck, k, NS_NEVER);
        stir(k, &in);
    }
    fails_in = 0;
    kernel_kill(k, 0, SIGKILL);
    (void)kernel_run(k, is_alone, k, NS_NEVER);
    check_given_back(k, LIMIT_COUNT);
    kernel_free(k);
    return 0;
}
