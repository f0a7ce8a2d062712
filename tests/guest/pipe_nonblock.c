/* A non-blocking pipe takes all or nothing of a small write and part of a
 * large one. */
#include "guest.h"

int
main(void)
{
    static char buf[100000];
    int fds[2];
    char c;

    OK(pipe2(fds, O_NONBLOCK | O_CLOEXEC));
    CHECK_EQ(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    CHECK(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
    CHECK_ERR(read(fds[0], &c, 1), EAGAIN);
    CHECK_EQ(read(fds[0], &c, 0), 0);
    CHECK_EQ(write(fds[1], buf, sizeof buf), 65536);
    CHECK_ERR(write(fds[1], buf, sizeof buf), EAGAIN);

    /* room for one page: a small write fits whole, another not at all */
    CHECK_EQ(read(fds[0], buf, 4096), 4096);
    CHECK_EQ(write(fds[1], buf, 4096), 4096);
    CHECK_ERR(write(fds[1], buf, 2), EAGAIN);
    OK(close(fds[1]));
    CHECK_EQ(read(fds[0], buf, sizeof buf), 65536);
    CHECK_EQ(read(fds[0], buf, 1), 0);

    CHECK_ERR(pipe2(fds, O_APPEND), EINVAL);
    CHECK_ERR(pipe2(fds, 0x10), EINVAL);
    return 0;
}
