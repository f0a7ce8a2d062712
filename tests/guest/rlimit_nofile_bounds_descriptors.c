/* RLIMIT_NOFILE: EMFILE for the next fd, EBADF/EINVAL for high numbers. */
#include "proc.h"

int
main(void)
{
    struct rlimit rl, back;
    int fd, last = -1, p[2];

    OK(getrlimit(RLIMIT_NOFILE, &rl));
    CHECK(rl.rlim_cur >= 64);
    rl.rlim_cur = 20;
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    OK(getrlimit(RLIMIT_NOFILE, &back));
    CHECK_EQ(back.rlim_cur, 20);
    CHECK_EQ(sysconf(_SC_OPEN_MAX), 20);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(last, 19);
    CHECK_ERR(dup(0), EMFILE);
    CHECK_ERR(dup2(0, 20), EBADF);
    CHECK_ERR(fcntl(0, F_DUPFD, 20), EINVAL);
    CHECK_ERR(fcntl(0, F_DUPFD, 10), EMFILE);
    OK(close(19));
    CHECK_ERR(pipe(p), EMFILE);             /* room for one only */
    CHECK_EQ(OK(open("/dev/null", 0)), 19); /* and nothing leaked */
    rl.rlim_cur = 10;
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    CHECK(fcntl(19, F_GETFD) >= 0); /* open ones above the limit live on */
    return 0;
}
