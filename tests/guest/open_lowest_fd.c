/* Every call that makes a descriptor takes the lowest free number. */
#include "guest.h"

int
main(void)
{
    int fds[2];

    int a = OK(open("/dev/null", O_RDONLY));
    int b = OK(open("/dev/null", O_RDONLY));
    int c = OK(open("/dev/null", O_RDONLY));
    CHECK_EQ(b, a + 1);
    CHECK_EQ(c, a + 2);
    OK(close(a));
    CHECK_EQ(dup(c), a);
    OK(close(b));
    OK(close(a));
    OK(pipe(fds));
    CHECK_EQ(fds[0], a);
    CHECK_EQ(fds[1], b);
    OK(close(0));
    CHECK_EQ(open("/dev/null", O_RDONLY), 0);
    CHECK_ERR(close(c + 1), EBADF);
    CHECK_ERR(close(-1), EBADF);
    OK(close(c));
    CHECK_ERR(close(c), EBADF);
    return 0;
}
