/* lseek from start, current offset and end; errors leave the offset alone. */
#include "guest.h"

int
main(void)
{
    int fds[2];

    tmpdir();
    put("f", "0123456789");
    int fd = OK(open("f", O_RDONLY));
    CHECK_EQ(lseek(fd, 4, SEEK_SET), 4);
    CHECK_EQ(lseek(fd, 3, SEEK_CUR), 7);
    CHECK_EQ(lseek(fd, -2, SEEK_CUR), 5);
    CHECK_EQ(lseek(fd, -1, SEEK_END), 9);
    CHECK_EQ(lseek(fd, 5, SEEK_END), 15);
    CHECK_EQ(lseek(fd, (off_t)1 << 33, SEEK_SET), (off_t)1 << 33);
    CHECK_EQ(lseek(fd, 6, SEEK_SET), 6);

    CHECK_ERR(lseek(fd, -1, SEEK_SET), EINVAL);
    CHECK_ERR(lseek(fd, -7, SEEK_CUR), EINVAL);
    CHECK_ERR(lseek(fd, -11, SEEK_END), EINVAL);
    CHECK_ERR(lseek(fd, INT64_MAX, SEEK_CUR), EINVAL);
    CHECK_ERR(lseek(fd, 0, 99), EINVAL);
    CHECK_ERR(lseek(fd, 0, -1), EINVAL);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 6);
    CHECK_EQ(stat_of("f").st_size, 10);

    CHECK_ERR(lseek(-1, 0, SEEK_SET), EBADF);
    CHECK_ERR(lseek(-1, 0, 99), EBADF); /* before whence */
    OK(pipe(fds));
    CHECK_ERR(lseek(fds[0], 0, SEEK_CUR), ESPIPE);
    CHECK_ERR(lseek(fds[1], 0, SEEK_END), ESPIPE);
    return 0;
}
