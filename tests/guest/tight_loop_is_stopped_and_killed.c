/* Stop, continue and kill reach a process that makes no system call. */
#include "proc.h"

static volatile unsigned spin;

int
main(int argc, char **argv)
{
    int st, p[2];
    pid_t pid;

    if (argc > 1) {
        say(atoi(argv[1]), 'r');
        for (;;)
            spin++;
    }
    report_pipe(p);
    pid = SPAWN(num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(wait_stopped(pid), SIGSTOP);
    OK(kill(pid, SIGCONT));
    CHECK_EQ(OK(waitpid(pid, &st, WCONTINUED)), pid);
    CHECK(WIFCONTINUED(st));
    OK(kill(pid, SIGTERM));
    CHECK_EQ(wait_killed(pid), SIGTERM);
    return 0;
}
