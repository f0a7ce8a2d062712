/* The call `exit` ends a process without threads, without flushing. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int status;

    (void)argv;
    if (argc > 1) {
        printf("never seen");
        syscall(SYS_exit, 0x105);
        return 1;
    }
    pid_t pid = SPAWN("exit");
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 5);
    return 0;
}
