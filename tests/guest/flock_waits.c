/* A blocking flock waits until the other process lets go. */
#include "guest.h"

#include <sys/file.h>

int
main(int argc, char **argv)
{
    char c;
    int fds[2];

    if (argc > 1) {
        CHECK_STR(argv[1], "holder");
        int fd = OK(open("f", O_RDWR));
        OK(flock(fd, LOCK_EX));
        CHECK_EQ(write(11, "x", 1), 1);
        CHECK_EQ(read(10, &c, 1), 1);
        CHECK_EQ(write(fd, "done", 4), 4);
        return 0; /* exit unlocks */
    }
    tmpdir();
    put("f", "");
    int go[2];
    OK(pipe2(fds, O_CLOEXEC));
    OK(pipe2(go, O_CLOEXEC));
    CHECK_EQ(dup2(go[0], 10), 10);
    CHECK_EQ(dup2(fds[1], 11), 11);
    pid_t pid = spawn_self("holder");
    CHECK_EQ(read(fds[0], &c, 1), 1);
    int fd = OK(open("f", O_RDWR | O_CLOEXEC));
    CHECK_ERR(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK_EQ(write(go[1], "x", 1), 1);
    OK(flock(fd, LOCK_EX));
    CHECK_FILE("f", "done");
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
