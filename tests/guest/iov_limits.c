/* Vectors hold at most IOV_MAX (1024) parts, of which none is longer than
 * SSIZE_MAX. */
#include "guest.h"

#include <limits.h>
#include <sys/uio.h>

int
main(void)
{
    static struct iovec iov[1025];
    static char buf[1025];
    volatile int negative = -1;

    tmpdir();
    CHECK_EQ(sysconf(_SC_IOV_MAX), 1024);
    for (int i = 0; i < 1025; i++)
        iov[i] = (struct iovec){buf + i, 1};
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    memset(buf, 'x', sizeof buf);
    CHECK_EQ(writev(fd, iov, 1024), 1024);
    CHECK_ERR(writev(fd, iov, 1025), EINVAL);
    CHECK_ERR(writev(fd, iov, negative), EINVAL);
    CHECK_ERR(readv(fd, iov, 1025), EINVAL);
    CHECK_ERR(readv(-1, iov, 1025), EBADF);
    CHECK_EQ(stat_of("f").st_size, 1024);

    iov[1].iov_len = SIZE_MAX;
    CHECK_ERR(writev(fd, iov, 2), EINVAL);
    CHECK_ERR(readv(fd, iov, 2), EINVAL);
    CHECK_EQ(stat_of("f").st_size, 1024);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1024);
    return 0;
}
