/* getpid, gettid, getppid, user and group ids fit together. */
#include "proc.h"

int
main(int argc, char **argv)
{
    uid_t r, e, s;
    gid_t gr, ge, gs;

    if (argc > 1) {
        CHECK_EQ(getppid(), atoi(argv[1]));
        CHECK(getpid() > 1 && getpid() != getppid());
        CHECK_EQ(getuid(), atoi(argv[2]));
        return 0;
    }
    CHECK(getpid() > 0);
    CHECK_EQ(gettid(), getpid());
    CHECK_EQ(syscall(SYS_getpid), getpid());
    CHECK_EQ(getpgid(0), getpgrp());
    CHECK_EQ(getpgid(getpid()), getpgrp());
    OK(getresuid(&r, &e, &s));
    CHECK(r == getuid() && e == geteuid() && s == e);
    OK(getresgid(&gr, &ge, &gs));
    CHECK(gr == getgid() && ge == getegid() && gs == ge);
    CHECK_EQ(wait_exit(SPAWN(num(getpid()), num((long)getuid()))), 0);
    return 0;
}
