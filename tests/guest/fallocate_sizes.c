/* fallocate reserves space with or without changing the size and keeps what
 * is there. */
#include "guest.h"

int
main(void)
{
    int fds[2];
    struct stat st;

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "abc", 3), 3);
    OK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_size, 3);
    OK(fallocate(fd, 0, 0, 2));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_size, 3);
    OK(fallocate(fd, 0, 100, 100));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_size, 200);
    CHECK_FILE("f", "abc"); /* then zeros */
    CHECK_EQ(posix_fallocate(fd, 0, 300), 0);
    CHECK_EQ(stat_of("f").st_size, 300);

    CHECK_ERR(fallocate(fd, 0, 0, 0), EINVAL);
    CHECK_ERR(fallocate(fd, 0, -1, 1), EINVAL);
    CHECK_ERR(fallocate(fd, 0, 0, -1), EINVAL);
    CHECK_ERR(fallocate(fd, 0x4000, 0, 1), EOPNOTSUPP);
    CHECK_ERR(fallocate(-1, 0, 0, 1), EBADF);
    CHECK_EQ(posix_fallocate(fd, 0, 0), EINVAL);
    fd = OK(open("f", O_RDONLY));
    CHECK_ERR(fallocate(fd, 0, 0, 1), EBADF);
    OK(pipe(fds));
    CHECK_ERR(fallocate(fds[1], 0, 0, 1), ESPIPE);
    return 0;
}
