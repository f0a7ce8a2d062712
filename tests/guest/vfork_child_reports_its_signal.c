/* A vfork child that a signal ends before exec reports that signal, whoever
 * sends it and wherever the child is. */
#include "proc.h"

#include <sys/resource.h>

static void
ends_by(void (*how)(void), int sig)
{
    siginfo_t info = {0};
    int status;

    pid_t pid = OK(vfork());
    if (pid == 0) {
        how();
        _exit(99);
    }
    OK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    CHECK_EQ(info.si_code, CLD_KILLED);
    CHECK_EQ(info.si_status, sig);
    CHECK_EQ(OK(waitpid(pid, &status, 0)), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), sig);
}

static void
raises(void)
{
    raise(SIGUSR1);
}

static void
aborts(void)
{
    abort();
}

static void
is_alarmed(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1000};

    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;)
        pause();
}

static void
breaks_a_pipe(void)
{
    int fds[2];

    if (pipe(fds) == 0) {
        close(fds[0]);
        write(fds[1], "x", 1);
    }
}

static void
unblocks(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
queues(void)
{
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 3});
}

static void
exceeds_file_size(void)
{
    struct rlimit none = {0, 0};
    int fd = open("file", O_WRONLY | O_CREAT, 0600);

    setrlimit(RLIMIT_FSIZE, &none);
    write(fd, "x", 1);
}

int
main(void)
{
    tmpdir();
    ends_by(raises, SIGUSR1);
    ends_by(aborts, SIGABRT);
    ends_by(is_alarmed, SIGALRM);
    ends_by(breaks_a_pipe, SIGPIPE);
    ends_by(unblocks, SIGTERM);
    ends_by(queues, SIGRTMIN + 1);
    ends_by(exceeds_file_size, SIGXFSZ);
    put("file", "still here"); /* the limit was the child's */
    return 0;
}
