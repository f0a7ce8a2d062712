/* post: fork */
/* A handler may fork: both processes return from it and go on. */
#include "proc.h"

static volatile pid_t pid = -1;

static void
split(int sig)
{
    caught[sig]++;
    pid = OK(fork());
}

int
main(int argc, char **argv)
{
    if (argc > 1) {
        wait_state(getppid(), 'S'); /* in its read */
        OK(kill(getppid(), SIGALRM));
        return 0;
    }

    volatile int local = 5;
    pid_t parent = getpid();
    int p[2];
    char c;

    OK(pipe(p));
    handle(SIGALRM, split, 0);
    pid_t waker = SPAWN("wake");
    CHECK_ERR(read(p[0], &c, 1), EINTR); /* in both */
    CHECK_EQ(local, 5);
    CHECK_EQ(caught[SIGALRM], 1);
    CHECK(!is_blocked(SIGALRM));
    if (pid == 0) {
        CHECK_EQ(getppid(), parent);
        say(p[1], 'c');
        _exit(7);
    }
    CHECK_EQ(hear(p[0]), 'c');
    CHECK_EQ(wait_exit(pid), 7);
    CHECK_EQ(wait_exit(waker), 0);
    return 0;
}
