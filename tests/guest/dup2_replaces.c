/* dup2 closes what was at the number and clears close-on-exec; onto itself
 * it does nothing. */
#include "guest.h"

int
main(void)
{
    int fds[2];
    char c;

    OK(pipe(fds));
    int null = OK(open("/dev/null", O_RDWR | O_CLOEXEC));
    CHECK_EQ(dup2(null, 50), 50);
    CHECK_EQ(fcntl(50, F_GETFD), 0);
    CHECK_EQ(dup2(null, null), null);
    CHECK_EQ(fcntl(null, F_GETFD), FD_CLOEXEC); /* not cleared here */

    CHECK_EQ(dup2(null, fds[1]), fds[1]); /* the pipe's last writer */
    CHECK_EQ(read(fds[0], &c, 1), 0);

    CHECK_ERR(dup2(60, 60), EBADF);
    CHECK_ERR(dup2(60, 50), EBADF);
    CHECK_EQ(write(50, "x", 1), 1); /* still open */
    CHECK_ERR(dup2(null, -1), EBADF);
    CHECK_ERR(dup2(null, 1 << 30), EBADF);
    return 0;
}
