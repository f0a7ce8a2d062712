/* Stopped and continued in the middle, nanosleep, poll and read go on. */
#include "proc.h"

static void
stop_and_continue(pid_t pid)
{
    int st;

    wait_state(pid, 'S');
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(wait_stopped(pid), SIGSTOP);
    OK(kill(pid, SIGCONT));
    CHECK_EQ(OK(waitpid(pid, &st, WCONTINUED)), pid);
}

int
main(int argc, char **argv)
{
    struct timespec some = ms_time(300);
    struct pollfd pf = {.events = POLLIN};
    int in[2], out[2];
    pid_t pid;

    if (argc > 1) {
        say(atoi(argv[2]), 'r');
        OK(nanosleep(&some, NULL));
        say(atoi(argv[2]), 'n');
        pf.fd = atoi(argv[1]);
        CHECK_EQ(poll(&pf, 1, 60000), 1);
        CHECK_EQ(hear(pf.fd), 'p');
        say(atoi(argv[2]), 'p');
        CHECK_EQ(hear(pf.fd), 'x');
        return 0;
    }
    OK(pipe(in));
    report_pipe(out);
    pid = SPAWN(num(in[0]), num(out[1]));
    CHECK_EQ(hear(out[0]), 'r');
    stop_and_continue(pid);
    CHECK_EQ(hear(out[0]), 'n');
    stop_and_continue(pid);
    say(in[1], 'p');
    CHECK_EQ(hear(out[0]), 'p');
    stop_and_continue(pid);
    say(in[1], 'x');
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
