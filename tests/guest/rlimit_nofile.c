/* RLIMIT_NOFILE bounds descriptor numbers: EMFILE for new ones, EBADF and
 * EINVAL for chosen ones. */
#include "guest.h"

#include <sys/resource.h>

int
main(void)
{
    struct rlimit rl;
    int fds[2], fd, last = -1;

    OK(getrlimit(RLIMIT_NOFILE, &rl));
    int high = OK(dup2(0, 100));
    rl.rlim_cur = 20;
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(last, 19);
    CHECK_ERR(dup(0), EMFILE);
    CHECK_ERR(fcntl(0, F_DUPFD, 3), EMFILE);
    CHECK_ERR(fcntl(0, F_DUPFD, 20), EINVAL);
    CHECK_ERR(dup2(0, 20), EBADF);
    CHECK_ERR(open("/none", O_RDONLY), EMFILE); /* before the path */
    CHECK_EQ(fcntl(high, F_GETFD), 0);          /* those above stay open */
    CHECK_EQ(dup2(0, 19), 19);

    OK(close(19));
    CHECK_ERR(pipe(fds), EMFILE);
    CHECK_EQ(open("/dev/null", O_RDONLY), 19); /* the pipe took none */
    rl.rlim_cur = 21;
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    CHECK_EQ(dup(0), 20);
    CHECK_EQ(getdtablesize(), 21);
    CHECK_EQ(sysconf(_SC_OPEN_MAX), 21);
    return 0;
}
