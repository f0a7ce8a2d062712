/* post: fork */
/* Attacks on the limits: each takes all it can get of something. */
#include "attack.h"

/* --- processes */

static void
fork_bomb(void)
{
    for (;;)
        if (fork() < 0) {
            CHECK(errno == EAGAIN || errno == ENOMEM);
            reached();
        }
}

static void
vfork_bomb(void)
{
    char *const argv[] = {"limits", "alone", "vfork_bomb", NULL};

    for (;;) {
        pid_t pid = vfork();
        if (!pid) {
            execve(SELF, argv, environ);
            _exit(1);
        }
        if (pid < 0) {
            CHECK(errno == EAGAIN || errno == ENOMEM);
            reached();
            pause();
        }
    }
}

static void
exec_loop(void)
{
    const char *rounds = getenv("ROUNDS");
    char next[32];
    int n = rounds ? atoi(rounds) : 0;

    if (n == 2000)
        reached();
    snprintf(next, sizeof next, "ROUNDS=%d", n + 1);
    char *const argv[] = {"limits", "alone", "exec_loop", NULL};
    char *const envp[] = {next, NULL};
    execve(SELF, argv, envp);
    CHECK(false);
}

static void
zombie_farm(void)
{
    int n = 0;

    for (;; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (!pid)
            _exit(0);
    }
    CHECK(errno == EAGAIN);
    CHECK(n > 10);
    reached();
    pause();
}

/* Each generation ends at once, so that init inherits all of them. */
static void
orphan_farm(void)
{
    for (int i = 0; i < 3000; i++) {
        pid_t pid = fork();
        if (!pid) {
            if (!fork())
                _exit(0);
            _exit(0);
        }
        CHECK(pid > 0 || errno == EAGAIN);
        if (pid > 0)
            CHECK(waitpid(pid, NULL, 0) == pid);
    }
}

static void
daemons(void)
{
    for (int i = 0; i < 20; i++)
        if (!fork()) {
            setsid();
            if (fork())
                _exit(0);
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            for (volatile int j = 0;; j++)
                if (i % 2)
                    pause();
        }
    while (wait(NULL) > 0)
        ;
    reached();
}

/* --- memory */

static void
grow_until_refused(void)
{
    while (__builtin_wasm_memory_grow(0, 64) != (size_t)-1)
        ;
    while (__builtin_wasm_memory_grow(0, 1) != (size_t)-1)
        ;
    FAILS(__builtin_wasm_memory_grow(0, 65535), 0);
    FAILS(__builtin_wasm_memory_grow(0, 0x80000000u), 0);
    FAILS(__builtin_wasm_memory_grow(0, 0xffffffffu), 0);
    memset((void *)(__builtin_wasm_memory_size(0) * 65536 - 4096), 1, 4096);
}

static void
malloc_until_refused(void)
{
    size_t total = 0;
    char *volatile p;

    while ((p = malloc(1 << 20))) {
        memset(p, 1, 1 << 20);
        total += 1 << 20;
    }
    CHECK(errno == ENOMEM);
    CHECK(total > 1 << 20);
}

static void
mmap_until_refused(void)
{
    size_t total = 0;
    char *p;

    while ((p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED) {
        memset(p, 1, 1 << 22);
        total += 1 << 22;
    }
    CHECK(errno == ENOMEM);
    FAILS(
        mmap(NULL, 0xfffff000u, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        ENOMEM);
}

/* Many processes, each growing as far as it can. */
static void
memory_herd(void)
{
    for (int i = 0; i < 30; i++)
        if (!fork()) {
            for (;;) {
                size_t at = __builtin_wasm_memory_grow(0, 16);
                if (at == (size_t)-1)
                    break;
                memset((void *)(at * 65536), 1, 16 * 65536);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* Grows, forks, and so on: every child would double what is used. */
static void
memory_forks(void)
{
    for (int i = 0; i < 40; i++) {
        size_t at = __builtin_wasm_memory_grow(0, 256);
        if (at != (size_t)-1)
            memset((void *)(at * 65536), i, 256 * 65536);
        pid_t pid = fork();
        CHECK(pid >= 0 || errno == ENOMEM || errno == EAGAIN);
        if (pid > 0)
            pause();
        if (pid < 0)
            break;
    }
    reached();
}

/* --- descriptors and what they stand for */

static void
take_fds(int (*open_one)(void), int wanted)
{
    long n = 0;

    for (int i = 0; i < 60; i++) {
        while (open_one() >= 0)
            n++;
        CHECK(errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
              errno == wanted);
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid > 0)
            pause();
        for (int fd = 3; fd < 1024; fd++)
            if (fd != REPORT_FD)
                close(fd);
    }
    CHECK(n > 0);
    reached();
    pause();
}

static int
open_null(void)
{
    return open("/dev/null", O_RDWR);
}

static void
fd_bomb(void)
{
    take_fds(open_null, EMFILE);
}

static int
open_full_pipe(void)
{
    static char buf[65536];
    int p[2];

    if (pipe2(p, O_NONBLOCK) < 0)
        return -1;
    (void)fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
    for (;;) {
        ssize_t n = write(p[1], buf, sizeof buf);
        if (n < 0 && errno == ENOMEM)
            return -1;
        if (n < 0)
            return p[0];
    }
}

static void
pipe_bomb(void)
{
    take_fds(open_full_pipe, ENOMEM);
}

static int
open_full_socket(void)
{
    static char buf[65536];
    int s[2], size = INT_MAX;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) < 0)
        return -1;
    setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(s[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    for (;;) {
        ssize_t n = send(s[0], buf, sizeof buf, MSG_NOSIGNAL);
        if (n < 0 && (errno == ENOMEM || errno == ENOBUFS)) {
            errno = ENOMEM;
            return -1;
        }
        if (n < 0)
            return s[0];
    }
}

static void
socket_bomb(void)
{
    take_fds(open_full_socket, ENOBUFS);
}

static int
open_datagrams(void)
{
    int s[2], size = INT_MAX;

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s) < 0)
        return -1;
    setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(s[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    while (send(s[0], "", 1, MSG_NOSIGNAL) == 1)
        ;
    return s[0];
}

static void
datagram_bomb(void)
{
    take_fds(open_datagrams, ENOBUFS);
}

static int
open_listener(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0);

    if (l < 0)
        return -1;
    if (bind(l, (void *)&a, sizeof a) < 0)
        return -1;
    CHECK(listen(l, INT_MAX) == 0);
    CHECK(getsockname(l, (void *)&a, &len) == 0);
    int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c >= 0)
        (void)connect(c, (void *)&a, sizeof a);
    return c;
}

static void
listener_bomb(void)
{
    take_fds(open_listener, EADDRINUSE);
}

/* Sockets that hold one another, and that nobody can reach. */
static void
passing_bomb(void)
{
    char data = 0;

    for (int i = 0; i < 200000; i++) {
        int s[2];
        if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s) < 0) {
            CHECK(errno == ENFILE || errno == ENOMEM);
            break;
        }
        union {
            char bytes[CMSG_SPACE(2 * sizeof(int))];
            struct cmsghdr h;
        } c = {.h = {CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
        struct iovec v = {&data, 1};
        struct msghdr m = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = &c,
                           .msg_controllen = sizeof c.bytes};
        memcpy(CMSG_DATA(&c.h), s, sizeof s);
        (void)sendmsg(s[0], &m, 0);
        close(s[0]);
        close(s[1]);
    }
}

static int
open_eventfd(void)
{
    return eventfd(0, 0);
}

static void
eventfd_bomb(void)
{
    take_fds(open_eventfd, ENFILE);
}

static int
open_timerfd(void)
{
    struct itimerspec its = {{0, 1}, {0, 1}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

    if (fd >= 0)
        CHECK(timerfd_settime(fd, 0, &its, NULL) == 0);
    return fd;
}

static void
timerfd_bomb(void)
{
    take_fds(open_timerfd, ENFILE);
}

/* Each watches what came before it. */
static int
open_epoll(void)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int ep = epoll_create1(0);

    for (int fd = 0; ep >= 0 && fd < ep && fd < 64; fd++)
        if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) < 0 && errno == ENOMEM) {
            close(ep);
            errno = ENOMEM;
            return -1;
        }
    return ep;
}

static void
epoll_bomb(void)
{
    take_fds(open_epoll, ENOMEM);
}

static int
open_pty(void)
{
    int master, slave;

    return openpty(&master, &slave, NULL, NULL, NULL) < 0 ? -1 : master;
}

static void
pty_bomb(void)
{
    take_fds(open_pty, ENOSPC);
}

static void
posix_timer_bomb(void)
{
    struct sigevent se = {.sigev_notify = SIGEV_NONE};
    timer_t t;
    int n = 0;

    while (timer_create(CLOCK_MONOTONIC, &se, &t) == 0)
        CHECK(++n < 1000000);
    CHECK(errno == EAGAIN || errno == ENOMEM);
}

static void
lock_bomb(void)
{
    struct flock l = {.l_type = F_WRLCK, .l_len = 1};
    int fd = open("/tmp/bomb", O_RDWR | O_CREAT, 0600), n = 0;

    CHECK(fd >= 0);
    for (; fcntl(fd, F_SETLK, &l) == 0; l.l_start += 2)
        CHECK(++n < 1000000);
    CHECK(errno == ENOLCK);
}

/* --- files */

static void
inode_bomb(void)
{
    char name[64];
    long n = 0;

    CHECK(mkdir(BOMB, 0700) == 0);
    for (;; n++) {
        snprintf(name, sizeof name, BOMB "/%ld", n);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            break;
        close(fd);
    }
    CHECK(errno == ENOSPC);
    CHECK(n > 1000);
    FAILS(mkdir(BOMB "/d", 0700), ENOSPC);
    FAILS(symlink("x", BOMB "/s"), ENOSPC);
    FAILS(mkfifo(BOMB "/f", 0600), ENOSPC);
    FAILS(open("/tmp", O_TMPFILE | O_RDWR, 0600), ENOSPC);
}

/* Files without names count as well. */
static void
nameless_bomb(void)
{
    for (;;) {
        int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
        if (fd < 0)
            break;
    }
    CHECK(errno == EMFILE || errno == ENOSPC);
}

static void
big_file(void)
{
    static char buf[1 << 16];
    int fd = open(BOMB, O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0);
    while (write(fd, buf, sizeof buf) > 0)
        ;
    CHECK(errno == ENOSPC);
    FAILS(fallocate(fd, 0, 0, 1LL << 40), ENOSPC);
}

/* Holes cost nothing, data in them does. */
static void
sparse_file(void)
{
    int fd = open(BOMB, O_CREAT | O_RDWR, 0600);
    long long at = 0;

    CHECK(fd >= 0);
    CHECK(ftruncate(fd, 1LL << 40) == 0 || errno == EFBIG);
    for (int i = 0; i < 1 << 20; i++, at += 1 << 20)
        if (pwrite(fd, "x", 1, at) < 0)
            break;
    CHECK(errno == ENOSPC || errno == EFBIG);
    FAILS(pwrite(fd, "x", 1, LLONG_MAX), EFBIG);
    FAILS(ftruncate(fd, -1), EINVAL);
    (void)ftruncate(fd, LLONG_MAX);
    (void)fallocate(fd, 0, LLONG_MAX - 1, LLONG_MAX);
    (void)lseek(fd, LLONG_MAX, SEEK_SET);
    (void)!write(fd, "x", 1);
    (void)!read(fd, &at, 8);
    (void)lseek(fd, LLONG_MAX, SEEK_DATA);
    (void)lseek(fd, LLONG_MAX, SEEK_HOLE);
    FAILS(lseek(fd, LLONG_MIN, SEEK_CUR), EINVAL);
}

static void
deep_directory(void)
{
    enum { DEPTH = 100000 };
    char *path = malloc(2 * DEPTH + 100), *end;
    struct stat st;

    CHECK(path && mkdir(BOMB, 0700) == 0 && chdir(BOMB) == 0);
    for (int i = 0; i < DEPTH; i++)
        CHECK(mkdir("d", 0700) == 0 && chdir("d") == 0);
    CHECK(getcwd(path, 2 * DEPTH + 100) == NULL);
    end = stpcpy(path, BOMB);
    for (int i = 0; i < DEPTH; i++)
        end = stpcpy(end, "/d");
    FAILS(stat(path, &st), ENAMETOOLONG);
    FAILS(rename(BOMB "/d", "e"), EINVAL);
    /* The way rm -r goes, but for the half that the sandbox ends with. */
    for (int i = 0; i < DEPTH; i++) {
        CHECK(chdir("..") == 0);
        if (i < DEPTH / 2)
            CHECK(rmdir("d") == 0);
    }
    CHECK(stat("../bomb", &st) == 0);
    CHECK(rename("d", "e") == 0);
    CHECK(rename("e", "../bomb/d") == 0);
    FAILS(rename("d", "d/d/d/d"), EINVAL);
}

static void
symlink_farm(void)
{
    char name[64], target[4096];
    struct stat st;
    int n = 0;

    CHECK(mkdir(BOMB, 0700) == 0 && chdir(BOMB) == 0);
    CHECK(symlink("0", "0") == 0);
    FAILS(stat("0", &st), ELOOP);
    for (int i = 1; i < 200; i++) {
        snprintf(name, sizeof name, "%d", i);
        snprintf(target, sizeof target, "%d", i - 1);
        CHECK(symlink(target, name) == 0);
    }
    FAILS(open("199", O_RDONLY), ELOOP);
    FAILS(open("199", O_CREAT | O_WRONLY, 0600), ELOOP);
    /* Each step asks for the whole path again: 2^39 steps, if not counted. */
    CHECK(mkdir("dir", 0700) == 0);
    CHECK(symlink("dir", "l0") == 0);
    for (int i = 1; i < 40; i++) {
        snprintf(name, sizeof name, "l%d", i);
        snprintf(target, sizeof target, "l%d/../l%d", i - 1, i - 1);
        CHECK(symlink(target, name) == 0);
    }
    FAILS(stat("l39", &st), ELOOP);
    memset(target, 'x', sizeof target - 1);
    target[sizeof target - 1] = 0;
    for (;; n++) {
        snprintf(name, sizeof name, "long%d", n);
        if (symlink(target, name) < 0)
            break;
    }
    CHECK(errno == ENOSPC || errno == ENAMETOOLONG);
}

static void
wide_directory(void)
{
    char name[64], to[64];
    int n = 0;

    CHECK(mkdir(BOMB, 0700) == 0 && chdir(BOMB) == 0);
    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "entry-%d", i);
        CHECK(i ? link("entry-0", name) == 0
                : mknod(name, S_IFREG | 0600, 0) == 0);
    }
    DIR *d = opendir(".");
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    CHECK(n == 100002);
    for (int i = 0; i < 100000; i += 10) {
        snprintf(name, sizeof name, "entry-%d", i);
        snprintf(to, sizeof to, "moved-%d", i);
        CHECK(rename(name, to) == 0);
    }
    FAILS(rmdir(BOMB), ENOTEMPTY);
    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, i % 10 ? "entry-%d" : "moved-%d", i);
        CHECK(unlink(name) == 0);
    }
}

/* --- signals */

static int n_caught;

static void
count(int sig)
{
    (void)sig;
    n_caught++;
}

/* Two processes that signal each other for ever. */
static void
signal_storm(void)
{
    struct sigaction sa = {.sa_handler = count};
    pid_t peer = getpid();

    sigaction(SIGUSR1, &sa, NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid)
        peer = pid;
    for (;;) {
        if (kill(peer, SIGUSR1) < 0)
            break;
        if (n_caught > 200)
            reached();
    }
}

static void
timer_storm(void)
{
    struct itimerval it = {{0, 1}, {0, 1}};
    struct sigaction sa = {.sa_handler = count, .sa_flags = SA_NODEFER};

    sigaction(SIGALRM, &sa, NULL);
    CHECK(setitimer(ITIMER_REAL, &it, NULL) == 0);
    while (n_caught < 200)
        (void)getppid();
    reached();
    for (;;)
        pause();
}

static void
queue_flood(void)
{
    union sigval v = {.sival_int = 1};
    sigset_t all;
    int n = 0;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    while (sigqueue(getpid(), SIGRTMIN + n % 10, v) == 0)
        CHECK(++n < 1000000);
    CHECK(errno == EAGAIN);
    CHECK(n > 100);
    /* What is not queued still arrives. */
    CHECK(kill(getpid(), SIGUSR1) == 0);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGUSR1));
}

/* A handler that signals itself, until the stack ends it. */
static void
again(int sig)
{
    raise(sig);
}

static void
handler_recursion(void)
{
    struct sigaction sa = {.sa_handler = again, .sa_flags = SA_NODEFER};

    sigaction(SIGUSR1, &sa, NULL);
    raise(SIGUSR1);
}

static void
stop_storm(void)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (!pid)
        for (volatile int i = 0;; i++)
            ;
    for (int i = 0; i < 5000; i++) {
        CHECK(kill(pid, SIGSTOP) == 0);
        CHECK(kill(pid, SIGCONT) == 0);
    }
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, NULL, 0) == pid);
}

/* --- time */

static void
spin(void)
{
    reached();
    for (volatile int i = 0;; i++)
        ;
}

__attribute__((target("bulk-memory"))) static void
spin_in_fill(void)
{
    static char buf[1 << 20];

    reached();
    for (;;)
        __asm__ volatile("local.get %0\ni32.const 1\nlocal.get %1\n"
                         "memory.fill 0\n" ::"r"(buf),
                         "r"(sizeof buf));
}

__attribute__((target("bulk-memory"))) static void
spin_in_copy(void)
{
    static char buf[1 << 20];

    reached();
    for (;;)
        __asm__ volatile("local.get %0\nlocal.get %0\ni32.const 1\ni32.add\n"
                         "local.get %1\nmemory.copy 0, 0\n" ::"r"(buf + 1),
                         "r"(sizeof buf - 2));
}

static void
spin_in_calls(void)
{
    reached();
    for (;;)
        (void)getppid();
}

static void
spin_in_transfer(void)
{
    char *buf = malloc(64 << 20);
    int fd = open("/dev/zero", O_RDWR);

    CHECK(buf && fd >= 0);
    reached();
    for (;;)
        (void)!read(fd, buf, 64 << 20);
}

__attribute__((noinline)) static int
recurse(volatile int *p)
{
    volatile int frame[16];

    frame[0] = *p + 1;
    return recurse(frame) + frame[0];
}

/* Until its stack in memory is used up. */
static void
deep_recursion(void)
{
    volatile int start = 0;

    recurse(&start);
}

__attribute__((noinline)) static unsigned
recurse_flat(unsigned n)
{
    return n ? recurse_flat(n - 1) * 3 + n : 0;
}

/* Uses no memory for its frames, only the native stack. */
static void
native_recursion(void)
{
    volatile unsigned n = UINT_MAX;

    printf("%u\n", recurse_flat(n));
}

__attribute__((noinline)) static unsigned
recurse_and_stop(unsigned n)
{
    if (!n)
        raise(SIGSTOP);
    return n ? recurse_and_stop(n - 1) * 3 + n : 0;
}

static void
hold_stack(unsigned depth, bool goes_back)
{
    close(REPORT_FD);
    if (goes_back)
        depth = recurse_flat(depth);
    _exit((int)recurse_and_stop(goes_back ? depth & 1 : depth));
}

/* Many stacks that are or were deep, while memory is small. */
static void
stack_herd(void)
{
    volatile unsigned depth = 600000; /* 28 MB */
    int held = 0, refused = 0, status;

    for (int i = 0; i < 60; i++) {
        pid_t pid = fork();
        if (!pid)
            hold_stack(depth, i % 2);
        CHECK(pid > 0 || errno == ENOMEM);
        if (pid > 0)
            CHECK(waitpid(pid, &status, WUNTRACED) == pid);
        if (pid > 0 && WIFSTOPPED(status)) {
            held++;
            continue;
        }
        CHECK(pid < 0 || WTERMSIG(status) == SIGSEGV);
        refused++;
    }
    CHECK(held > 0 && refused > 1);
}

static const struct attack attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(fork_bomb),          ATTACK(vfork_bomb),
    ATTACK(exec_loop),          ATTACK(zombie_farm),
    ATTACK(orphan_farm),        ATTACK(daemons),
    ATTACK(grow_until_refused), ATTACK(malloc_until_refused),
    ATTACK(mmap_until_refused), ATTACK(memory_herd),
    ATTACK(memory_forks),       ATTACK(fd_bomb),
    ATTACK(pipe_bomb),          ATTACK(socket_bomb),
    ATTACK(datagram_bomb),      ATTACK(listener_bomb),
    ATTACK(passing_bomb),       ATTACK(eventfd_bomb),
    ATTACK(timerfd_bomb),       ATTACK(epoll_bomb),
    ATTACK(pty_bomb),           ATTACK(posix_timer_bomb),
    ATTACK(lock_bomb),          ATTACK(inode_bomb),
    ATTACK(nameless_bomb),      ATTACK(big_file),
    ATTACK(sparse_file),        ATTACK(deep_directory),
    ATTACK(symlink_farm),       ATTACK(wide_directory),
    ATTACK(signal_storm),       ATTACK(timer_storm),
    ATTACK(queue_flood),        ATTACK(handler_recursion),
    ATTACK(stop_storm),         ATTACK(spin),
    ATTACK(spin_in_fill),       ATTACK(spin_in_copy),
    ATTACK(spin_in_calls),      ATTACK(spin_in_transfer),
    ATTACK(deep_recursion),     ATTACK(native_recursion),
    ATTACK(stack_herd),         {NULL, NULL},
};
