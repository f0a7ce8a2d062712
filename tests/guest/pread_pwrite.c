/* pread and pwrite use their own offset and leave the descriptor's alone. */
#include "guest.h"

int
main(void)
{
    char buf[8];
    int fds[2];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "0123456789", 10), 10);
    OK(lseek(fd, 3, SEEK_SET));
    CHECK_EQ(pread(fd, buf, 4, 6), 4);
    CHECK(memcmp(buf, "6789", 4) == 0);
    CHECK_EQ(pread(fd, buf, 4, 8), 2);
    CHECK_EQ(pread(fd, buf, 4, 10), 0);
    CHECK_EQ(pread(fd, buf, 4, (off_t)1 << 40), 0);
    CHECK_EQ(pwrite(fd, "ab", 2, 4), 2);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 3);
    CHECK_FILE("f", "0123ab6789");

    CHECK_ERR(pread(fd, buf, 1, -1), EINVAL);
    CHECK_ERR(pwrite(fd, buf, 1, -1), EINVAL);
    CHECK_ERR(pread(-1, buf, 1, -1), EINVAL); /* before the descriptor */
    CHECK_ERR(pread(-1, buf, 1, 0), EBADF);
    OK(pipe(fds));
    CHECK_ERR(pread(fds[0], buf, 1, 0), ESPIPE);
    CHECK_ERR(pwrite(fds[1], buf, 1, 0), ESPIPE);
    CHECK_ERR(pwrite(fds[0], buf, 1, 0), ESPIPE); /* before its mode */
    return 0;
}
