/* pause: EINTR after a handler; ignored signals and a stop do not end it. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int p[2];
    pid_t pid;

    if (argc > 1) {
        handle(SIGUSR1, note, SA_RESTART);
        handle(SIGUSR2, SIG_IGN, 0);
        say(atoi(argv[1]), 'r');
        CHECK_ERR(pause(), EINTR);
        CHECK_EQ(caught[SIGUSR1], 1);
        return 0;
    }
    report_pipe(p);
    pid = SPAWN(num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    wait_state(pid, 'S');
    OK(kill(pid, SIGUSR2));
    OK(kill(pid, SIGCHLD));
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(wait_stopped(pid), SIGSTOP);
    OK(kill(pid, SIGCONT));
    wait_state(pid, 'S');
    CHECK_EQ(waitpid(pid, NULL, WNOHANG), 0);
    OK(kill(pid, SIGUSR1));
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
