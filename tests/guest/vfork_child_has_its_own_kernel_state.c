/* Memory is shared with a vfork child; fds, cwd, umask and mask are not. */
#include "proc.h"

int
main(void)
{
    char before[4096], after[4096];
    volatile int made = -1;
    struct sigaction sa;
    int fd = OK(open("/dev/null", O_RDONLY));
    pid_t pid;

    umask(022);
    CHECK(getcwd(before, sizeof before) != NULL);
    pid = OK(vfork());
    if (pid == 0) {
        made = dup(fd);
        close(fd);
        umask(077);
        mask(SIG_BLOCK, SIGUSR1);
        signal(SIGUSR2, SIG_IGN);
        _exit(chdir("/") == 0 && made >= 0 ? 0 : 1);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK(fcntl(fd, F_GETFD) >= 0);
    CHECK_ERR(fcntl(made, F_GETFD), EBADF);
    CHECK_EQ(umask(022), 022);
    CHECK(!is_blocked(SIGUSR1));
    OK(sigaction(SIGUSR2, NULL, &sa));
    CHECK(sa.sa_handler == SIG_DFL);
    CHECK(getcwd(after, sizeof after) != NULL);
    CHECK_STR(after, before);
    return 0;
}
