/* post: fork */
/* Inherited descriptors share offset and flags; the table itself is a copy. */
#include "proc.h"

int
main(void)
{
    char text[8] = "";
    int fd;

    tmpdir();
    put("file", "abcdefgh");
    fd = OK(open("file", O_RDWR));
    CHECK_EQ(read(fd, text, 2), 2);
    pid_t pid = OK(fork());
    if (pid == 0) {
        CHECK_EQ(read(fd, text, 3), 3);
        CHECK(memcmp(text, "cde", 3) == 0);
        OK(fcntl(fd, F_SETFL, O_APPEND));
        OK(fcntl(fd, F_SETFD, FD_CLOEXEC)); /* of this table only */
        OK(close(0));
        _exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 5);
    CHECK((OK(fcntl(fd, F_GETFL)) & O_APPEND) != 0);
    CHECK_EQ(OK(fcntl(fd, F_GETFD)), 0);
    CHECK(fcntl(0, F_GETFD) >= 0);
    return 0;
}
