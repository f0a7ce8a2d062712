/* Of two processes that wait for each other's record lock exactly one gets
 * EDEADLK. */
#include "guest.h"

static int
lock(int cmd, off_t byte)
{
    struct flock fl = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(10, cmd, &fl);
}

int
main(int argc, char **argv)
{
    int ready[2], go[2];
    char c;

    if (argc > 1) {
        CHECK_STR(argv[1], "child");
        OK(lock(F_SETLK, 1));
        CHECK_EQ(write(12, "x", 1), 1);
        CHECK_EQ(read(11, &c, 1), 1);
        int failed = lock(F_SETLKW, 0) == -1;
        CHECK(!failed || errno == EDEADLK);
        return failed ? 9 : 0; /* exit lets the other go on */
    }
    tmpdir();
    put("f", "");
    CHECK_EQ(dup2(OK(open("f", O_RDWR)), 10), 10);
    OK(pipe2(ready, O_CLOEXEC));
    OK(pipe2(go, O_CLOEXEC));
    CHECK_EQ(dup2(go[0], 11), 11);
    CHECK_EQ(dup2(ready[1], 12), 12);
    OK(lock(F_SETLK, 0));
    pid_t pid = spawn_self("child");
    CHECK_EQ(read(ready[0], &c, 1), 1);
    CHECK_EQ(write(go[1], "x", 1), 1);
    int failed = lock(F_SETLKW, 1) == -1;
    CHECK(!failed || errno == EDEADLK);
    struct flock all = {.l_type = F_UNLCK};
    OK(fcntl(10, F_SETLK, &all));
    CHECK_EQ(wait_exit(pid), failed ? 0 : 9);
    return 0;
}
