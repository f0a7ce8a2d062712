/* Descriptors do only what they were opened for. */
#include "guest.h"

int
main(void)
{
    char c;

    tmpdir();
    put("f", "x");
    int rd = OK(open("f", O_RDONLY));
    int wr = OK(open("f", O_WRONLY));
    CHECK_ERR(write(rd, "y", 1), EBADF);
    CHECK_ERR(pwrite(rd, "y", 1, 0), EBADF);
    CHECK_ERR(write(rd, "y", 0), EBADF);
    CHECK_ERR(read(wr, &c, 1), EBADF);
    CHECK_ERR(pread(wr, &c, 1, 0), EBADF);
    CHECK_ERR(read(wr, &c, 0), EBADF);
    CHECK_ERR(ftruncate(rd, 0), EINVAL);
    CHECK_ERR(read(-1, &c, 1), EBADF);
    CHECK_ERR(write(1000, &c, 1), EBADF);
    CHECK_ERR(fsync(-1), EBADF);
    OK(fsync(rd));
    OK(fdatasync(wr));
    OK(fchmod(rd, 0600));
    CHECK_FILE("f", "x");
    return 0;
}
