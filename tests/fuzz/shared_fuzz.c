/* Fuzzes what processes share: pipes, FIFOs, sockets and files in messages,
 * terminals and sessions, locks, sets of files, timers. Processes on fake
 * machines make calls that fit these things. A call that waits is made again,
 * or with another argument, or never; it may be one of a vfork child; some come
 * after the end of the process. Afterwards all limits are given back and no
 * memory is left. */
#include "processes.h"

#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MEMORY_BYTES = 64 << 10,
    SLOT_BYTES = 64,
    FDS = 18,         /* descriptors that a program begins with, and some */
    PLANTED = 0x1000, /* one page of values for each kind of argument: */
    PLANTED_BYTES = 0x3000,
    STRINGS = 0x1000,
    NUMBERS = 0x1400, /* masks, times, words */
    FLOCKS = 0x1800,
    NAMES = 0x1c00, /* of sockets */
    MESSAGES = 0x2000,
    CONTROLS = 0x2400,
    SETTINGS = 0x2800, /* struct termios; struct sigaction */
    TEXTS = 0x2c00,
    POLLFDS = 0x3000,
    IOVECS = 0x3400,
    BUFFER = 0x6000,
    CALLS_PER_SLICE = 24,
    MORE_BYTES = 2048,
};

static uint8_t planted[PLANTED_BYTES];

/* --- what is in a program's memory before each call */

static void
plant(uint32_t page, uint32_t slot, const void *p, size_t len)
{
    memcpy(planted + (page - PLANTED + slot * SLOT_BYTES), p, len);
}

static void
plant_words(uint32_t page, uint32_t slot, const uint32_t (*w)[8], size_t n)
{
    for (size_t i = 0; i < n; i++)
        plant(page, slot + (uint32_t)i, w[i], sizeof w[i]);
}

static void
plant_strings(void)
{
    static const char *const strings[] = {
        "/fifo",      "/fifo2",     "/a",        "/sock",
        "/prog",      "/dev/tty",   "/dev/ptmx", "/dev/pts/0",
        "/dev/pts/1", "/proc/self", "/dev/fd/3", "/dev/fd/4",
    };
    static const char *const texts[] = {"x",      "line\n", "\003more\n",
                                        "\032",   "\034x",  "\004",
                                        "\021ab", "\023",   "\026\003\177\027"};

    for (uint32_t i = 0; i < 12; i++)
        plant(STRINGS, i, strings[i], strlen(strings[i]) + 1);
    for (uint32_t i = 0; i < 9; i++)
        plant(TEXTS, i, texts[i], strlen(texts[i]) + 1);
}

static void
plant_numbers(void)
{
    static const uint32_t words[][8] = {
        {0},
        {1},
        {UINT32_MAX, UINT32_MAX},
        {0, 0, 1000000}, /* times of a millisecond, a second, for ever, ... */
        {1, 0, 0, 0, 1, 0, 0, 0},
        {UINT32_MAX, 0x7fffffff, 999999999},
        {0, 0x80000000, 0, 0},
        {5, 0, 5, 0},
        {POLLIN, 0, 7}, /* events of a set */
        {POLLIN | POLLOUT | 1u << 31, 0, 8},
        {POLLOUT | 1u << 30, 0, 9},
        {0, SIGUSR1, 0}, /* struct sigevent */
        {2},
        {3},
        {4},
        {0x18000},
    };
    static const uint32_t flocks[][8] = {
        {F_RDLCK, 0, 0, 0, 10},       {F_WRLCK, 0, 0, 0, 10},
        {F_WRLCK, 0, 5, 0, 1},        {F_UNLCK, 0, 5, 0, 1},
        {F_WRLCK, 0, 20, 0, 0},       {F_RDLCK | 1 << 16, 0, 0, 0, 2},
        {F_WRLCK | 2 << 16, 0, 0, 0}, {F_UNLCK, 0, 0, 0, 0},
    };

    plant_words(NUMBERS, 0, words, 16);
    plant_words(FLOCKS, 0, flocks, 8);
}

static void
plant_names(void)
{
    for (uint32_t i = 0; i < 8; i++) {
        struct sockaddr_in in = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)(2000 + i)),
                                 .sin_addr = {htonl(INADDR_LOOPBACK)}};
        plant(NAMES, i, &in, sizeof in);
    }
    plant(NAMES, 8, "\1\0/sock", 8);
    plant(NAMES, 9, "\1\0\0abc", 8);
    plant(NAMES, 10, "\1\0\0abd", 8);
    plant(NAMES, 11, "\1\0", 2);
}

/* Message i carries descriptors i and i + 1. */
static void
plant_messages(void)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t control[] = {20, SOL_SOCKET, SCM_RIGHTS, i, i + 1};
        uint32_t header[] = {
            0, 0, IOVECS, 2, CONTROLS + i * SLOT_BYTES, sizeof control, 0};
        uint32_t iov[] = {BUFFER, 3, BUFFER + 100, i < 8 ? 5 : 9000};
        plant(CONTROLS, i, control, sizeof control);
        plant(MESSAGES, i, header, sizeof header);
        plant(IOVECS, i, iov, sizeof iov);
        struct pollfd fds[2] = {{(int)i, POLLIN, 0}, {(int)i + 1, POLLOUT, 0}};
        plant(POLLFDS, i, fds, sizeof fds);
    }
}

/* Canonical and raw terminals; handlers. */
static void
plant_settings(void)
{
    static const uint32_t modes[][8] = {
        {0402, 5, 0277, 0105073, 0x7f1c0300, 0x01000415, 0x001a1311},
        {0, 0, 0277, 1, 0x7f1c0300, 0x01000415, 0x001a1311},
        {02000, 5, 0277, 0400, 0x7f1c0300, 0x00050415, 0x001a1311},
        {0},               /* SIG_DFL */
        {1},               /* SIG_IGN */
        {100, 0x10000000}, /* a handler, SA_RESTART */
        {100},
        {0, 3},
    };

    plant_words(SETTINGS, 0, modes, 8);
}

static void
plant_all(void)
{
    plant_strings();
    plant_numbers();
    plant_names();
    plant_messages();
    plant_settings();
}

/* --- calls: what fits them, by letters */

struct shape {
    uint32_t nr;
    const char *args;
};

static const struct shape shapes[] = {
    {NR_openat, "dso"},
    {NR_openat, "dso"},
    {NR_read, "fBk"},
    {NR_read, "fBk"},
    {NR_write, "fXk"},
    {NR_write, "fXk"},
    {NR_readv, "fV2"},
    {NR_writev, "fV2"},
    {NR_close, "f"},
    {NR_dup, "f"},
    {NR_dup3, "ffn"},
    {NR_close_range, "ffn"},
    {NR_fcntl64, "fcL"},
    {NR_fcntl64, "fcL"},
    {NR_fcntl64, "f4o"},
    {NR_flock, "fn"},
    {NR_ioctl, "fiN"},
    {NR_ioctl, "fiN"},
    {NR_ioctl, "fTM"},
    {NR_sendfile64, "ff0k"},
    {NR_splice, "f0f0kn"},
    {NR_pipe2, "Bo"},
    {NR_eventfd2, "nn"},
    {NR_epoll_create1, "0"},
    {NR_epoll_ctl, "fnfN"},
    {NR_epoll_ctl, "fnfN"},
    {NR_epoll_pwait, "fBnnN8"},
    {NR_ppoll, "PnNN8"},
    {NR_pselect6, "fNNNN0"},
    {NR_timerfd_settime, "fnNB"},
    {NR_signalfd4, "fN8n"},
    {NR_socket, "nn0"},
    {NR_socketpair, "nn0B"},
    {NR_bind, "fAa"},
    {NR_listen, "fn"},
    {NR_accept, "f00"},
    {NR_accept4, "f00o"},
    {NR_connect, "fAa"},
    {NR_connect, "fAa"},
    {NR_sendto, "fXknAa"},
    {NR_recvfrom, "fBkn00"},
    {NR_setsockopt, "f1gN9"},
    {NR_shutdown, "fn"},
    {NR_sendmsg, "fHn"},
    {NR_sendmsg, "fHn"},
    {NR_recvmsg, "fHn"},
    {NR_recvmsg, "fHn"},
    {NR_sendmmsg, "fHnn"},
    {NR_exit_group, "n"},
    {NR_vfork, ""},
    {NR_vfork, ""},
    {NR_execve, "s00"},
    {NR_wait4, "pBn0"},
    {NR_waitid, "npBk0"},
    {NR_setpgid, "pp"},
    {NR_setsid, ""},
    {NR_prctl, "1g"},
    {NR_kill, "pg"},
    {NR_kill, "pg"},
    {NR_rt_sigqueueinfo, "pgN"},
    {NR_rt_sigsuspend, "N8"},
    {NR_rt_sigaction, "gS08"},
    {NR_rt_sigprocmask, "nNB8"},
    {NR_rt_sigtimedwait, "NBN8"},
    {NR_setitimer, "nNB"},
    {NR_timer_create, "nNB"},
    {NR_timer_settime, "nnNB"},
    {NR_timer_delete, "n"},
    {NR_clock_nanosleep, "nnNB"},
    {NR_clock_gettime, "nB"},
    {NR_sched_yield, ""},
    {NR_futex, "Nn0N"},
    {NR_unlinkat, "ds0"},
    {NR_mknodat, "dsm0"},
    {NR_chdir, "s"},
    {NR_prlimit64, "0gNB"},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

#define PICK(table, b) (table)[(b) % (sizeof(table) / sizeof *(table))]

static uint32_t
argument_of_kind(char kind, uint32_t b)
{
    static const uint32_t lengths[] = {0, 1, 2, 5, 8, 128, 4096, 5000, 20000};
    static const uint32_t opens[] = {O_RDONLY,
                                     O_WRONLY,
                                     O_RDWR,
                                     O_RDONLY | O_NONBLOCK,
                                     O_WRONLY | O_NONBLOCK,
                                     O_RDWR | O_CREAT | O_CLOEXEC,
                                     O_RDWR | O_NOCTTY,
                                     O_PATH};
    static const uint32_t locks[] = {5, 6, 7, 12, 13, 14, 14, 36, 37, 38, 1031};
    static const uint32_t ioctls[] = {
        TIOCSCTTY,  TIOCNOTTY,  TIOCSPGRP, TIOCGPGRP, TIOCGSID,
        TIOCSWINSZ, TIOCSPTLCK, TIOCPKT,   FIONREAD,  TIOCGPTPEER,
        TCFLSH,     TCXONC,     TIOCGPTN,  FIONBIO};
    static const uint32_t signals[] = {
        SIGHUP,  SIGINT,  SIGKILL, SIGUSR1, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD,
        SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, 34,      1,       4};

    switch (kind) {
    case 'c':
        return PICK(locks, b);
    case 'g':
        return PICK(signals, b);
    case 'i':
        return PICK(ioctls, b);
    case 'k':
        return PICK(lengths, b);
    case 'o':
        return PICK(opens, b);
    case 'T':
        return TCGETS + 1 + b % 3;
    case 'p':
        return b % 2 ? b / 2 % 8 : 0 - b / 2 % 8;
    case 'm':
        return S_IFIFO | 0666;
    case 'd':
        return (uint32_t)AT_FDCWD;
    case 'f':
        return b % FDS;
    case 'n':
        return b % 8;
    default:
        return (uint32_t)(kind - '0');
    }
}

static uint32_t
argument(char kind, uint32_t b)
{
    static const char pages[] = "sNLAHSXPVM";
    static const uint32_t at[] = {STRINGS,  NUMBERS, FLOCKS,  NAMES,  MESSAGES,
                                  SETTINGS, TEXTS,   POLLFDS, IOVECS, SETTINGS};
    const char *page = strchr(pages, kind);

    if (kind == 'B')
        return BUFFER + b * 16;
    if (kind == 'a')
        return b % 8 ? 8 : 16;
    if (!page)
        return argument_of_kind(kind, b);
    if (kind == 'N' && b >= 224)
        return 0;
    return at[page - pages] + b % 16 * SLOT_BYTES;
}

/* --- what a machine does. Its words: did it wait, the shape, the call. */

static int32_t
make_call(struct fake_machine *m)
{
    struct thread *th = m->machine.thread;

    memcpy(m->machine.base + PLANTED, planted, sizeof planted);
    int32_t r = thread_syscall(th, shapes[m->words[1]].nr, m->words + 2);
    m->words[0] = r == -EWAIT || r == -ERESTARTSYS;
    return r;
}

static void
change_argument(struct fake_machine *m, struct input *in, size_t i)
{
    const char *args = shapes[m->words[1]].args;

    if (i < strlen(args))
        m->words[2 + i] = argument(args[i], take(in));
}

/* A waiting call again, with another argument, or another call. */
static int32_t
next_call(struct fake_machine *m, struct input *in)
{
    uint32_t b = m->words[0] ? take(in) : 255;

    if (b < 160)
        return make_call(m);
    if (b < 208) {
        change_argument(m, in, take(in) % 6);
        return make_call(m);
    }
    memset(m->words, 0, sizeof m->words);
    m->words[1] = take(in) % N_SHAPES;
    for (size_t i = 0; i < 6; i++)
        change_argument(m, in, i);
    return make_call(m);
}

static void
begin(struct thread *th)
{
    static const uint32_t calls[][7] = {
        {NR_pipe2, BUFFER, 0},
        {NR_socketpair, AF_UNIX, SOCK_STREAM, 0, BUFFER},
        {NR_socketpair, AF_UNIX, SOCK_DGRAM, 0, BUFFER},
        {NR_eventfd2, 0, 0},
        {NR_epoll_create1, 0},
        {NR_epoll_create1, 0},
        {NR_timerfd_create, CLOCK_MONOTONIC, 0},
        {NR_openat, (uint32_t)AT_FDCWD, STRINGS + 2 * SLOT_BYTES, O_RDWR},
        {NR_openat, (uint32_t)AT_FDCWD, STRINGS + 6 * SLOT_BYTES, O_RDWR},
        {NR_socket, AF_INET, SOCK_STREAM, 0},
        {NR_socket, AF_UNIX, SOCK_STREAM, 0},
    };

    memcpy(th->machine->base + PLANTED, planted, sizeof planted);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        (void)thread_syscall(th, calls[i][0], calls[i] + 1);
}

/* Anything but a call; MACHINE_LEFT: go on. */
static enum machine_event
other_step(struct thread *th, struct input *in, struct machine_trap *trap)
{
    switch (take(in) % 8) {
    case 0:
    case 1:
        return thread_may_fork(th) < 0 ? MACHINE_LEFT : MACHINE_FORKS;
    case 2:
        if (take(in) < 200)
            return MACHINE_LEFT;
        *trap = (struct machine_trap){SIGSEGV, SEGV_MAPERR, "fuzz", 0};
        return MACHINE_TRAPPED;
    case 3:
        (void)thread_may_grow(th, 0, UINT32_MAX);
        return MACHINE_LEFT;
    case 4:
        thread_sigword(th, BUFFER);
        return MACHINE_LEFT;
    case 5:
        kernel_kill(th->kernel, 0, (int)argument('g', take(in)));
        return MACHINE_LEFT;
    default:
        return MACHINE_YIELDED;
    }
}

/* After -EWAIT a machine waits, or is bold enough not to. */
static bool
obeys(struct input *in)
{
    return take(in) < 200;
}

static enum machine_event
run(struct fake_machine *m, struct machine_trap *trap)
{
    struct thread *th = m->machine.thread;
    struct input *in = m->arg;

    if (m->slices == 1)
        begin(th);
    for (int i = 0; i < CALLS_PER_SLICE && in->left; i++) {
        enum machine_event e = MACHINE_LEFT;
        int32_t r = 0;
        if (take(in) < 24)
            e = other_step(th, in, trap);
        else
            r = next_call(m, in);
        if (e != MACHINE_LEFT)
            return e;
        if (r == -ERESTARTSYS || r == -EINTR)
            (void)thread_signext(th, BUFFER);
        if (r == -EWAIT && thread_must_wait(th) && obeys(in))
            return MACHINE_WAITS;
        if (th->leaving && take(in) < 64)
            (void)next_call(m, in);
        if (th->leaving)
            return MACHINE_LEFT;
    }
    return in->left ? MACHINE_YIELDED : MACHINE_ENDED;
}

/* --- the world */

static struct kernel *
make_world(struct engine *e)
{
    struct kernel *k = world_new_on(e);

    if (!k || world_mount_system(k) < 0 ||
        world_make(k, NULL, "/fifo", S_IFIFO | 0666) < 0 ||
        world_file(k, "/a", "some text\n") < 0 ||
        world_file(k, "/prog", FAKE_PROGRAM) < 0)
        abort();
    k->limits.max[LIMIT_processes] = 8;
    k->limits.max[LIMIT_open_files] = 96;
    k->limits.max[LIMIT_memory] = 3 << 20;
    k->limits.max[LIMIT_sigqueue] = 16;
    k->limits.max[LIMIT_locks] = 8;
    return k;
}

/* False: an earlier process has broken the file system for it. */
static bool
spawn(struct kernel *k)
{
    static const char *const argv[] = {"/prog", NULL};
    static const char *const envp[] = {NULL};
    struct spawn s = {.path = "/prog", .argv = argv, .envp = envp, .cwd = "/"};

    for (int i = 0; i < 3; i++)
        s.stdio[i] = world_open(k, NULL, "/dev/null", O_RDWR, NULL);
    return kernel_spawn(k, &s, NULL, 0) >= 0;
}

/* Nothing can run, and no timer changes that. */
static bool
is_stuck(void *arg)
{
    struct kernel *k = arg;
    struct input *in = k->engine->arg;
    bool is_idle =
        list_is_empty(&k->run_queue) && list_is_empty(&k->background);

    in->idle_slices = is_idle ? in->idle_slices + 1 : 0;
    return in->idle_slices > 100 ||
           (is_idle && clock_next_ns(&k->clock) == NS_NEVER);
}

/* All that wait look again, or get a signal, or are of an earlier run. */
static void
stir(struct kernel *k, struct input *in)
{
    uint32_t b = take(in);

    if (b >= 232) {
        kernel_end_run(k);
        kernel_begin_run(k);
    } else if (b >= 160) {
        kernel_kill(k, 0, (int)argument('g', b));
    }
    if (b < 160)
        wake_all(k);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {.p = data, .size = size, .left = size + MORE_BYTES};
    struct engine e = {.run = run, .arg = &in, .memory_bytes = MEMORY_BYTES};
    struct kernel *k = make_world(&e);

    plant_all();
    kernel_begin_run(k);
    while (in.left) {
        if (is_alone(k) && !(spawn(k) && spawn(k)))
            break;
        in.idle_slices = 0;
        (void)kernel_run(k, is_stuck, k, NS_NEVER);
        stir(k, &in);
    }
    in.left = 0;
    kernel_kill(k, 0, SIGKILL);
    (void)kernel_run(k, is_alone, k, NS_NEVER);
    check_given_back(k, LIMIT_files);
    kernel_free(k);
    return 0;
}
