/* si_code, si_value and the sender in each way that a signal takes. */
#include "proc.h"
#include "thread.h"

#include <sys/resource.h>
#include <sys/time.h>

static siginfo_t got;
static volatile int count;

static void
handler(int sig, siginfo_t *info, void *context)
{
    got = *info;
    count++;
}

static void catch (int sig)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    OK(sigaction(sig, &sa, NULL));
    got = (siginfo_t){0};
    count = 0;
}

static void
check(int sig, int code)
{
    CHECK_EQ(got.si_signo, sig);
    CHECK_EQ(got.si_code, code);
    CHECK_EQ(got.si_errno, 0);
}

static void
check_sender(void)
{
    CHECK_EQ(got.si_pid, getpid());
    CHECK_EQ(got.si_uid, getuid());
}

static void
sent_by_calls(void)
{
    catch (SIGUSR1);
    OK(kill(getpid(), SIGUSR1));
    check(SIGUSR1, SI_USER);
    check_sender();

    catch (SIGUSR1);
    OK(kill(0 - getpgrp(), 0));
    OK(raise(SIGUSR1));
    check(SIGUSR1, SI_TKILL);
    check_sender();

    catch (SIGUSR2);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR2), 0);
    check(SIGUSR2, SI_TKILL);

    catch (SIGRTMIN);
    OK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 99}));
    check(SIGRTMIN, SI_QUEUE);
    check_sender();
    CHECK_EQ(got.si_value.sival_int, 99);
}

/* To one thread, with a value. */
static void
queued_to_a_thread(void)
{
    siginfo_t info = {.si_signo = SIGRTMIN,
                      .si_code = SI_QUEUE,
                      .si_pid = getpid(),
                      .si_uid = getuid(),
                      .si_value.sival_int = 12};

    catch (SIGRTMIN);
    OK(syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_id(), SIGRTMIN, &info));
    check(SIGRTMIN, SI_QUEUE);
    CHECK_EQ(got.si_value.sival_int, 12);
    CHECK_ERR(
        syscall(SYS_rt_tgsigqueueinfo, getpid(), 1 << 22, SIGRTMIN, &info),
        ESRCH);
    CHECK_ERR(syscall(SYS_rt_tgsigqueueinfo, getpid(), -1, SIGRTMIN, &info),
              EINVAL);
}

static void
sent_by_the_kernel(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1000};
    struct rlimit limit;
    int fds[2];

    catch (SIGALRM);
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    while (!count)
        (void)getppid();
    check(SIGALRM, SI_KERNEL);

    catch (SIGPIPE);
    OK(pipe(fds));
    OK(close(fds[0]));
    CHECK_ERR(write(fds[1], "x", 1), EPIPE);
    check(SIGPIPE, SI_USER);
    check_sender();

    catch (SIGXFSZ);
    OK(getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = 0;
    OK(setrlimit(RLIMIT_FSIZE, &limit));
    int fd = OK(open("file", O_WRONLY | O_CREAT, 0600));
    CHECK_ERR(write(fd, "x", 1), EFBIG);
    check(SIGXFSZ, SI_USER);
    check_sender();
}

static void
sent_by_children(void)
{
    catch (SIGCHLD);
    pid_t pid = spawn_self("exit");
    CHECK_EQ(wait_exit(pid), 7);
    check(SIGCHLD, CLD_EXITED);
    CHECK_EQ(got.si_pid, pid);
    CHECK_EQ(got.si_uid, getuid());
    CHECK_EQ(got.si_status, 7);

    catch (SIGCHLD);
    pid = spawn_self("die");
    CHECK_EQ(wait_killed(pid), SIGKILL);
    check(SIGCHLD, CLD_KILLED);
    CHECK_EQ(got.si_status, SIGKILL);
}

/* sigwaitinfo and sigtimedwait report the same. */
static void
waited_for(void)
{
    sigset_t set;
    siginfo_t info;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    OK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 5}));
    OK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 6}));
    OK(kill(getpid(), SIGUSR1));
    CHECK_EQ(sigwaitinfo(&set, &info), SIGUSR1);
    CHECK_EQ(info.si_code, SI_USER);
    CHECK_EQ(info.si_pid, getpid());
    for (int value = 5; value <= 6; value++) {
        CHECK_EQ(sigwaitinfo(&set, &info), SIGRTMIN + 1);
        CHECK_EQ(info.si_code, SI_QUEUE);
        CHECK_EQ(info.si_value.sival_int, value);
    }
    OK(sigprocmask(SIG_UNBLOCK, &set, NULL));
}

/* Queued signals are limited; a plain signal is sent all the same. */
static void
limited(void)
{
    struct rlimit old, few;
    struct timespec none = {0};
    sigset_t set;
    int sent = 0;

    OK(getrlimit(RLIMIT_SIGPENDING, &old));
    few = (struct rlimit){8, old.rlim_max};
    OK(setrlimit(RLIMIT_SIGPENDING, &few));
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    sigaddset(&set, SIGUSR2);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    while (sigqueue(getpid(), SIGRTMIN + 2, (union sigval){0}) == 0)
        CHECK(++sent <= 8);
    CHECK_EQ(errno, EAGAIN);
    OK(kill(getpid(), SIGUSR2));
    OK(sigpending(&set));
    CHECK(sigismember(&set, SIGUSR2));
    CHECK_EQ(sigtimedwait(&set, NULL, &none), SIGUSR2);
    for (; sent > 0; sent--)
        CHECK_EQ(sigtimedwait(&set, NULL, &none), SIGRTMIN + 2);
    CHECK_ERR(sigtimedwait(&set, NULL, &none), EAGAIN);
    OK(setrlimit(RLIMIT_SIGPENDING, &old));
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "exit"))
        return 7;
    if (argc > 1)
        return kill(getpid(), SIGKILL);
    as_user();
    tmpdir();
    sent_by_calls();
    queued_to_a_thread();
    sent_by_children();
    waited_for();
    limited();
    sent_by_the_kernel();
    return 0;
}
