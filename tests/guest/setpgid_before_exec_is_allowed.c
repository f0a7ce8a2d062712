/* A vfork child makes its group before exec; the group outlives its leader. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *args[] = {"child", NULL, NULL};
    volatile pid_t group = 0;
    pid_t pid, member;

    if (argc > 1) {
        CHECK_EQ(getpgrp(), atoi(argv[1]) ? atoi(argv[1]) : getpid());
        for (;;)
            pause();
    }
    args[1] = "0";
    pid = OK(vfork());
    if (pid == 0) {
        setpgid(0, 0);
        execve("/proc/self/exe", args, environ);
        _exit(1);
    }
    CHECK_EQ(getpgid(pid), pid);
    group = pid;
    args[1] = (char *)num(pid);
    member = OK(vfork());
    if (member == 0) {
        setpgid(0, group);
        execve("/proc/self/exe", args, environ);
        _exit(1);
    }
    end_child(group);
    CHECK_EQ(getpgid(member), group); /* the leader is gone, the group not */
    OK(kill(-group, SIGTERM));
    CHECK_EQ(wait_killed(member), SIGTERM);
    CHECK_ERR(kill(-group, 0), ESRCH);
    return 0;
}
