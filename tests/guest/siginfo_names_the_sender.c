/* SA_SIGINFO: si_code, si_pid, si_uid and value for kill, raise, sigqueue. */
#include "proc.h"

static volatile struct {
    int code, pid, uid, value;
} last;
static volatile sig_atomic_t count;

static void
keep(int sig, siginfo_t *si, void *ctx)
{
    CHECK(ctx != NULL);
    CHECK_EQ(sig, si->si_signo);
    last.code = si->si_code;
    last.pid = si->si_pid;
    last.uid = (int)si->si_uid;
    last.value = si->si_value.sival_int;
    count++;
}

int
main(int argc, char **argv)
{
    union sigval v = {.sival_int = -7};
    pid_t pid;

    if (argc > 1) {
        OK(kill(atoi(argv[1]), SIGUSR1));
        return 0;
    }
    handle_info(SIGUSR1, keep, SA_RESTART);
    OK(kill(getpid(), SIGUSR1));
    CHECK_EQ(count, 1); /* before kill returns */
    CHECK_EQ(last.code, SI_USER);
    CHECK_EQ(last.pid, getpid());
    CHECK_EQ(last.uid, getuid());
    OK(sigqueue(getpid(), SIGUSR1, v));
    CHECK_EQ(count, 2);
    CHECK_EQ(last.code, SI_QUEUE);
    CHECK_EQ(last.value, -7);
    CHECK_EQ(last.pid, getpid());
    OK(raise(SIGUSR1));
    CHECK_EQ(count, 3);
    CHECK_EQ(last.code, SI_TKILL);
    pid = SPAWN(num(getpid()));
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(count, 4);
    CHECK_EQ(last.code, SI_USER);
    CHECK_EQ(last.pid, pid);
    return 0;
}
