/* Helpers for tests of processes, signals and events. A child is this program
 * started again, with a sub-command in argv[1] and descriptors as numbers. */
#ifndef PROC_H
#define PROC_H

#include "guest.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

extern char **environ;

/* Starts this program with argv = {"child", ...}. */
#define SPAWN(...) spawn_argv((const char *[]){"child", __VA_ARGS__, NULL})

static UNUSED pid_t
spawn_argv(const char *const *argv)
{
    pid_t pid;

    errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)argv,
                        environ);
    CHECK(errno == 0);
    return pid;
}

/* A number as an argument; eight of them live at a time. */
static UNUSED const char *
num(long n)
{
    static char text[8][24];
    static unsigned next;
    char *s = text[next++ % 8];

    snprintf(s, sizeof text[0], "%ld", n);
    return s;
}

/* The path of this program. */
static UNUSED const char *
self_path(void)
{
    static char path[4096];
    ssize_t n = OK(readlink("/proc/self/exe", path, sizeof path - 1));

    path[n] = 0;
    return path;
}

/* An executable script whose first line is #! interpreter args. */
static UNUSED void
put_script(const char *path, const char *interpreter, const char *args)
{
    char line[4200];

    snprintf(line, sizeof line, "#!%s%s\n", interpreter, args);
    put(path, line);
    OK(chmod(path, 0755));
}

/* Starts the program at path with argv; its exit status. */
static UNUSED int
run(const char *path, const char *const *argv)
{
    pid_t pid;

    errno = posix_spawn(&pid, path, NULL, NULL, (char *const *)argv, environ);
    CHECK(errno == 0);
    return wait_exit(pid);
}

static UNUSED int
wait_status(pid_t pid)
{
    int status;

    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    return status;
}

/* The signal that killed a child. */
static UNUSED int
wait_killed(pid_t pid)
{
    int status = wait_status(pid);

    if (!WIFSIGNALED(status))
        guest_fail(__FILE__, __LINE__, "child", "status %#x", (unsigned)status);
    return WTERMSIG(status);
}

/* The signal that stopped a child. */
static UNUSED int
wait_stopped(pid_t pid)
{
    int status;

    CHECK_EQ(OK(waitpid(pid, &status, WUNTRACED)), pid);
    if (!WIFSTOPPED(status))
        guest_fail(__FILE__, __LINE__, "child", "status %#x", (unsigned)status);
    return WSTOPSIG(status);
}

static UNUSED void
end_child(pid_t pid)
{
    OK(kill(pid, SIGKILL));
    CHECK_EQ(wait_killed(pid), SIGKILL);
}

/* One byte through a pipe or socket: the event that tests wait for. */
static UNUSED void
say(int fd, char c)
{
    CHECK_EQ(write(fd, &c, 1), 1);
}

/* The next byte, or -1 at the end. */
static UNUSED int
hear(int fd)
{
    unsigned char c;

    return OK(read(fd, &c, 1)) == 1 ? c : -1;
}

/* Keeps a descriptor of ours from children. */
static UNUSED void
keep_private(int fd)
{
    OK(fcntl(fd, F_SETFD, FD_CLOEXEC));
}

/* A pipe whose read end children do not inherit. */
static UNUSED void
report_pipe(int p[2])
{
    OK(pipe(p));
    keep_private(p[0]);
}

static volatile sig_atomic_t caught[72];

/* A handler that counts. */
static UNUSED void
note(int sig)
{
    caught[sig]++;
}

static UNUSED void
handle(int sig, void (*fn)(int), int flags)
{
    struct sigaction sa;

    memset(&sa, 0, sizeof sa);
    sa.sa_handler = fn;
    sa.sa_flags = flags;
    OK(sigaction(sig, &sa, NULL));
}

static UNUSED void
handle_info(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
    struct sigaction sa;

    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = fn;
    sa.sa_flags = flags | SA_SIGINFO;
    OK(sigaction(sig, &sa, NULL));
}

static UNUSED sigset_t
set_of(int sig)
{
    sigset_t set;

    sigemptyset(&set);
    if (sig)
        sigaddset(&set, sig);
    return set;
}

static UNUSED void
mask(int how, int sig)
{
    sigset_t set = set_of(sig);

    OK(sigprocmask(how, &set, NULL));
}

static UNUSED int
is_blocked(int sig)
{
    sigset_t set;

    OK(sigprocmask(SIG_BLOCK, NULL, &set));
    return sigismember(&set, sig);
}

static UNUSED int
is_pending(int sig)
{
    sigset_t set;

    OK(sigpending(&set));
    return sigismember(&set, sig);
}

/* SIGALRM every ms milliseconds; 0 stops it. */
static UNUSED void
tick(int ms)
{
    struct itimerval it = {{0, ms * 1000}, {0, ms * 1000}};

    OK(setitimer(ITIMER_REAL, &it, NULL));
}

static UNUSED struct timespec
ms_time(long ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static UNUSED void
sleep_ms(long ms)
{
    struct timespec ts = ms_time(ms);

    (void)nanosleep(&ts, NULL);
}

/* The state letter of a process in /proc, 0 when it has none. */
static UNUSED int
state_of(pid_t pid)
{
    char path[64], text[512];
    char *end;
    int fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    end = strrchr(text, ')');
    CHECK(end != NULL);
    return end[2];
}

/* Waits until a process is in a state for which Linux has no event. */
static UNUSED void
wait_state(pid_t pid, int state)
{
    double end = now_s() + 60;

    while (state_of(pid) != state) {
        CHECK(now_s() < end);
        sleep_ms(1);
    }
}

#endif
