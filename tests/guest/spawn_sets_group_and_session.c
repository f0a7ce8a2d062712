/* SETPGROUP joins or makes a group before the child runs; SETSID a session. */
#include "proc.h"

static pid_t
spawn_with(short flags, pid_t group, const char *what, pid_t leader)
{
    char *args[] = {"child", (char *)what, (char *)num(leader), NULL};
    posix_spawnattr_t at;
    pid_t pid;

    CHECK_EQ(posix_spawnattr_init(&at), 0);
    CHECK_EQ(posix_spawnattr_setflags(&at, flags), 0);
    CHECK_EQ(posix_spawnattr_setpgroup(&at, group), 0);
    errno = posix_spawn(&pid, "/proc/self/exe", NULL, &at, args, environ);
    CHECK(errno == 0);
    return pid;
}

int
main(int argc, char **argv)
{
    pid_t leader, member, other;

    if (argc > 1 && strcmp(argv[1], "leader") == 0) {
        CHECK_EQ(getpgrp(), getpid());
        for (;;)
            pause();
    }
    if (argc > 1 && strcmp(argv[1], "member") == 0)
        return getpgrp() != atoi(argv[2]);
    if (argc > 1) {
        CHECK_EQ(getsid(0), getpid());
        CHECK_EQ(getpgrp(), getpid());
        return 0;
    }
    leader = spawn_with(POSIX_SPAWN_SETPGROUP, 0, "leader", 0);
    CHECK_EQ(getpgid(leader), leader); /* no race: spawn waits for exec */
    member = spawn_with(POSIX_SPAWN_SETPGROUP, leader, "member", leader);
    CHECK_EQ(wait_exit(member), 0);
    end_child(leader);
    other = spawn_with(POSIX_SPAWN_SETSID, 0, "session", 0);
    CHECK_EQ(wait_exit(other), 0);
    return 0;
}
