/* fsync works on files and directories, not on pipes. */
#include "guest.h"

int
main(void)
{
    int fds[2];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT | O_SYNC, 0644));
    CHECK_EQ(write(fd, "x", 1), 1);
    OK(fsync(fd));
    OK(fdatasync(fd));
    OK(syncfs(fd));
    int dir = OK(open(".", O_RDONLY));
    OK(fsync(dir));
    OK(pipe(fds));
    CHECK_ERR(fsync(fds[1]), EINVAL);
    CHECK_ERR(fdatasync(fds[0]), EINVAL);
    CHECK_ERR(fsync(-1), EBADF);
    CHECK_ERR(syncfs(-1), EBADF);
    CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL), 0);
    CHECK_EQ(posix_fadvise(fd, 0, 0, 99), EINVAL);
    CHECK_EQ(posix_fadvise(fds[0], 0, 0, POSIX_FADV_NORMAL), ESPIPE);
    CHECK_EQ(posix_fadvise(-1, 0, 0, POSIX_FADV_NORMAL), EBADF);
    return 0;
}
