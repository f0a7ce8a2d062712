/* readv scatters and writev gathers in order, stopping at the end of the
 * file. */
#include "guest.h"

#include <sys/uio.h>

int
main(void)
{
    char a[3], b[4], c[5];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    struct iovec out[] = {{(void *)"one", 3}, {NULL, 0}, {(void *)"three", 5}};
    CHECK_EQ(writev(fd, out, 3), 8);
    CHECK_FILE("f", "onethree");

    OK(lseek(fd, 1, SEEK_SET));
    memset(c, '-', sizeof c);
    struct iovec in[] = {{a, sizeof a}, {b, 0}, {b, sizeof b}, {c, sizeof c}};
    CHECK_EQ(readv(fd, in, 4), 7);
    CHECK(memcmp(a, "net", 3) == 0);
    CHECK(memcmp(b, "hree", 4) == 0);
    CHECK_EQ(c[0], '-');
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 8);
    CHECK_EQ(readv(fd, in, 4), 0);
    CHECK_EQ(readv(fd, in, 0), 0);
    CHECK_EQ(writev(fd, out, 0), 0);
    CHECK_ERR(readv(-1, in, 1), EBADF);
    int rd = OK(open("f", O_RDONLY));
    CHECK_ERR(writev(rd, out, 1), EBADF);
    return 0;
}
