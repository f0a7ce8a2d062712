/* read() of a directory is EISDIR, write() EBADF because it is open for
 * reading. */
#include "guest.h"

int
main(void)
{
    char buf[64];

    tmpdir();
    int fd = OK(open(".", O_RDONLY));
    CHECK_ERR(read(fd, buf, sizeof buf), EISDIR);
    CHECK_ERR(pread(fd, buf, sizeof buf, 0), EISDIR);
    CHECK_ERR(write(fd, buf, 1), EBADF);
    CHECK_ERR(ftruncate(fd, 0), EINVAL);
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    OK(fsync(fd));
    return 0;
}
