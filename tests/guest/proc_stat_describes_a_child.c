/* /proc/<pid>/{stat,status,cmdline} of a child that sleeps, then stops. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char path[64], text[4096], comm[64], state;
    int pid, ppid, pgrp, sid;
    pid_t child;
    int p[2];

    if (argc > 1) {
        OK(prctl(PR_SET_NAME, "odd ) name"));
        say(atoi(argv[1]), 'r');
        for (;;)
            pause();
    }
    report_pipe(p);
    child = SPAWN(num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    wait_state(child, 'S');
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    get(path, text, sizeof text);
    CHECK_EQ(sscanf(text, "%d (%10c) %c %d %d %d", &pid, comm, &state, &ppid,
                    &pgrp, &sid),
             6);
    CHECK(pid == child && ppid == getpid() && state == 'S');
    CHECK(memcmp(comm, "odd ) name", 10) == 0);
    CHECK(pgrp == getpgrp() && sid == getsid(0));
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    get(path, text, sizeof text);
    CHECK(strncmp(text, "Name:\todd ) name\n", 17) == 0);
    CHECK(strstr(text, "\nState:\tS (sleeping)\n") != NULL);
    snprintf(comm, sizeof comm, "\nPPid:\t%d\n", (int)getpid());
    CHECK(strstr(text, comm) != NULL);
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)child);
    get(path, text, sizeof text);
    CHECK_STR(text, "child");
    CHECK_STR(text + 6, num(p[1]));
    OK(kill(child, SIGSTOP));
    CHECK_EQ(wait_stopped(child), SIGSTOP);
    CHECK_EQ(state_of(child), 'T');
    end_child(child);
    CHECK(access(path, F_OK) == -1 && errno == ENOENT);
    return 0;
}
