/* pid, group, session, umask, cwd, limits, alarm and children survive exec. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char dir[256], cwd[256];
    struct rlimit rl;
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 9;
    if (argc > 1) {
        CHECK_EQ(getpid(), atoi(argv[2]));
        CHECK_EQ(getpgrp(), getpid());
        CHECK_EQ(umask(0), 031);
        CHECK_STR(getcwd(cwd, sizeof cwd), argv[4]);
        OK(rmdir(cwd));
        OK(getrlimit(RLIMIT_NOFILE, &rl));
        CHECK_EQ(rl.rlim_cur, 77);
        CHECK(alarm(0) > 900);
        CHECK_EQ(wait_exit(atoi(argv[3])), 9);
        return 0;
    }
    CHECK(getcwd(cwd, sizeof cwd) != NULL);
    OK(chdir("/tmp"));
    CHECK(mkdtemp(strcpy(dir, "keep.XXXXXX")) != NULL);
    OK(chdir(dir));
    CHECK(getcwd(dir, sizeof dir) != NULL);
    umask(031);
    OK(getrlimit(RLIMIT_NOFILE, &rl));
    rl.rlim_cur = 77;
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    if (getpgrp() != getpid())
        OK(setpgid(0, 0));
    alarm(1000);
    pid = SPAWN("exit");
    OK(execl("/proc/self/exe", "x", "again", num(getpid()), num(pid), dir,
             NULL));
    return 1;
}
