/* open of a FIFO waits for the other end; bytes and end of file pass between
 * processes. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char buf[16];

    if (argc > 1) {
        CHECK_STR(argv[1], "writer");
        int fd = OK(open("p", O_WRONLY));
        CHECK_EQ(write(fd, "hello", 5), 5);
        return 0;
    }
    tmpdir();
    OK(mkfifo("p", 0600));
    for (int round = 0; round < 3; round++) {
        pid_t pid = spawn_self("writer");
        int fd = OK(open("p", O_RDONLY | O_CLOEXEC));
        CHECK_EQ(read(fd, buf, sizeof buf), 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
        CHECK_EQ(read(fd, buf, sizeof buf), 0);
        CHECK_EQ(wait_exit(pid), 0);
        OK(close(fd));
    }
    CHECK_EQ(stat_of("p").st_size, 0);
    return 0;
}
