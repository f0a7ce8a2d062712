/* A child that writes without end dies when the last reader closes. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char buf[65536];
    int p[2];
    pid_t pid;

    memset(buf, 'y', sizeof buf);
    if (argc > 1)
        for (;;)
            OK(write(atoi(argv[1]), buf, sizeof buf));
    report_pipe(p);
    pid = SPAWN(num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(hear(p[0]), 'y');
    wait_state(pid, 'S'); /* it waits for room */
    OK(close(p[0]));
    CHECK_EQ(wait_killed(pid), SIGPIPE);
    return 0;
}
