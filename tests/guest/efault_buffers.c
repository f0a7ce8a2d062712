/* Addresses outside the process give EFAULT, after the descriptor was
 * checked. */
#include "guest.h"

#include <sys/uio.h>

int
main(void)
{
    char c = 'c';

    tmpdir();
    put("f", "hello");
    int fd = OK(open("f", O_RDWR));
    int rd = OK(open("f", O_RDONLY));
    CHECK_ERR(syscall(SYS_read, fd, BAD_ADDR, 5), EFAULT);
    CHECK_ERR(syscall(SYS_write, fd, BAD_ADDR, 5), EFAULT);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0);
    CHECK_EQ(stat_of("f").st_size, 5);
    CHECK_ERR(syscall(SYS_read, -1, BAD_ADDR, 5), EBADF);
    CHECK_ERR(syscall(SYS_write, rd, BAD_ADDR, 5), EBADF);
    CHECK_ERR(syscall(SYS_readv, fd, BAD_ADDR, 1), EFAULT);
    CHECK_ERR(syscall(SYS_readv, -1, BAD_ADDR, 1), EBADF);
    CHECK_ERR(syscall(SYS_readv, fd, BAD_ADDR, 1025), EINVAL);

    /* a length that runs past the end of the address space */
    volatile size_t huge = SIZE_MAX;
    CHECK(syscall(SYS_write, fd, &c, huge) == -1);
    CHECK(errno == EFAULT || errno == EINVAL);
    CHECK_FILE("f", "hello");

    /* the second part is bad: all fails, or the first part counts */
    struct iovec iov[2] = {{&c, 1}, {BAD_ADDR, 1}};
    long n = syscall(SYS_writev, fd, iov, 2);
    CHECK(n == 1 || (n == -1 && errno == EFAULT));
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), n == 1);
    return 0;
}
