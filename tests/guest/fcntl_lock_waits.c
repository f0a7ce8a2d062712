/* F_SETLKW waits for the other process's lock; exit releases it. */
#include "guest.h"

int
main(int argc, char **argv)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int ready[2], go[2];
    char c;

    if (argc > 1) {
        CHECK_STR(argv[1], "holder");
        int fd = OK(open("f", O_RDWR));
        OK(fcntl(fd, F_SETLK, &fl));
        CHECK_EQ(write(11, "x", 1), 1);
        CHECK_EQ(read(10, &c, 1), 1);
        CHECK_EQ(write(fd, "done", 4), 4);
        return 0;
    }
    tmpdir();
    put("f", "");
    OK(pipe2(ready, O_CLOEXEC));
    OK(pipe2(go, O_CLOEXEC));
    CHECK_EQ(dup2(go[0], 10), 10);
    CHECK_EQ(dup2(ready[1], 11), 11);
    pid_t pid = spawn_self("holder");
    CHECK_EQ(read(ready[0], &c, 1), 1);
    int fd = OK(open("f", O_RDWR | O_CLOEXEC));
    CHECK(fcntl(fd, F_SETLK, &fl) == -1);
    CHECK(errno == EAGAIN || errno == EACCES);
    CHECK_EQ(write(go[1], "x", 1), 1);
    OK(fcntl(fd, F_SETLKW, &fl));
    CHECK_EQ(pread(fd, &c, 1, 0), 1);
    CHECK_EQ(c, 'd');
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
