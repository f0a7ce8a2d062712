/* A pipe holds 64 KiB; F_SETPIPE_SZ rounds up to a page and refuses to cut
 * what is inside. */
#include "guest.h"

int
main(void)
{
    static char buf[65536];
    int fds[2];

    OK(pipe2(fds, O_NONBLOCK));
    CHECK_EQ(fcntl(fds[0], F_GETPIPE_SZ), 65536);
    CHECK_EQ(write(fds[1], buf, sizeof buf), 65536);
    CHECK_ERR(write(fds[1], buf, 1), EAGAIN);
    CHECK_ERR(fcntl(fds[1], F_SETPIPE_SZ, 4096), EBUSY);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 65536);

    CHECK_EQ(fcntl(fds[1], F_SETPIPE_SZ, 5000), 8192);
    CHECK_EQ(fcntl(fds[0], F_GETPIPE_SZ), 8192);
    CHECK_EQ(write(fds[1], buf, sizeof buf), 8192);
    CHECK_EQ(fcntl(fds[0], F_SETPIPE_SZ, 131072), 131072);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 8192);
    CHECK_EQ(fcntl(fds[1], F_SETPIPE_SZ, 0), 4096);

    int null = OK(open("/dev/null", O_RDWR));
    CHECK_ERR(fcntl(null, F_GETPIPE_SZ), EBADF);
    CHECK_ERR(fcntl(null, F_SETPIPE_SZ, 4096), EBADF);
    return 0;
}
