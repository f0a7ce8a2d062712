/* F_GETFL tells access mode and flags; F_SETFL changes only the flags that
 * may change. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    int fd = OK(open("f", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644));
    int fl = OK(fcntl(fd, F_GETFL));
    CHECK_EQ(fl & O_ACCMODE, O_WRONLY);
    CHECK(fl & O_APPEND);
    CHECK(!(fl & (O_CREAT | O_TRUNC | O_EXCL | O_NONBLOCK)));

    OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
    fl = OK(fcntl(fd, F_GETFL));
    CHECK_EQ(fl & O_ACCMODE, O_WRONLY);
    CHECK(fl & O_NONBLOCK);
    CHECK(!(fl & O_APPEND));

    CHECK_EQ(write(fd, "abc", 3), 3);
    OK(lseek(fd, 0, SEEK_SET));
    OK(fcntl(fd, F_SETFL, O_APPEND));
    CHECK_EQ(write(fd, "d", 1), 1); /* from now on at the end */
    CHECK_FILE("f", "abcd");
    OK(fcntl(fd, F_SETFL, 0));
    OK(lseek(fd, 0, SEEK_SET));
    CHECK_EQ(write(fd, "A", 1), 1);
    CHECK_FILE("f", "Abcd");

    OK(fcntl(fd, F_SETFD, ~0)); /* only bit 0 is kept */
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_ERR(fcntl(-1, F_GETFL), EBADF);
    return 0;
}
