/* post: fork */
/* After fork parent and child share offset and status flags of each
 * descriptor but not the descriptors. */
#include "guest.h"

int
main(void)
{
    char c;

    tmpdir();
    put("f", "abcdef");
    int fd = OK(open("f", O_RDWR));
    CHECK_EQ(read(fd, &c, 1), 1);
    pid_t pid = OK(fork());
    if (pid == 0) {
        int good = read(fd, &c, 1) == 1 && c == 'b' &&
                   fcntl(fd, F_SETFL, O_APPEND) == 0 &&
                   fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && close(fd) == 0;
        _exit(!good);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(read(fd, &c, 1), 1);
    CHECK_EQ(c, 'c');
    CHECK(fcntl(fd, F_GETFL) & O_APPEND);
    CHECK_EQ(fcntl(fd, F_GETFD), 0);
    return 0;
}
