/* post: fork */
/* fork, set up descriptors in the child, exec, read its output. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char buf[64] = "";
    int p[2], i;
    pid_t pid;

    if (argc > 1) {
        printf("%s %s\n", argv[1], getenv("VAR"));
        return 6;
    }
    for (i = 0; i < 3; i++) {
        OK(pipe(p));
        pid = OK(fork());
        if (pid == 0) {
            OK(dup2(p[1], 1));
            OK(close(p[0]));
            OK(close(p[1]));
            OK(setenv("VAR", "value", 1));
            execl("/proc/self/exe", "child", num(i), (char *)NULL);
            _exit(1);
        }
        OK(close(p[1]));
        CHECK_EQ(read(p[0], buf, sizeof buf), 8);
        CHECK(buf[0] == '0' + i && memcmp(buf + 1, " value\n", 7) == 0);
        CHECK_EQ(hear(p[0]), -1);
        OK(close(p[0]));
        CHECK_EQ(wait_exit(pid), 6);
    }
    CHECK(getenv("VAR") == NULL);
    return 0;
}
