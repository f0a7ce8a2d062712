/* open, dup2 and close of posix_spawn act one after the other, in the child. */
#include "proc.h"

int
main(int argc, char **argv)
{
    char *args[] = {"child", NULL, NULL};
    posix_spawn_file_actions_t fa;
    int p[2];
    pid_t pid;

    if (argc > 1) {
        CHECK_ERR(fcntl(atoi(argv[1]), F_GETFD), EBADF);
        CHECK_ERR(fcntl(20, F_GETFD), EBADF);
        CHECK_EQ(write(1, "out", 3), 3);
        CHECK_EQ(write(21, "file", 4), 4);
        return 0;
    }
    tmpdir();
    OK(pipe2(p, O_CLOEXEC));
    args[1] = (char *)num(p[1]);
    CHECK_EQ(posix_spawn_file_actions_init(&fa), 0);
    CHECK_EQ(posix_spawn_file_actions_adddup2(&fa, p[1], 1), 0);
    CHECK_EQ(posix_spawn_file_actions_addopen(&fa, 20, "made",
                                              O_WRONLY | O_CREAT, 0640),
             0);
    CHECK_EQ(posix_spawn_file_actions_adddup2(&fa, 20, 21), 0);
    CHECK_EQ(posix_spawn_file_actions_addclose(&fa, 20), 0);
    errno = posix_spawn(&pid, "/proc/self/exe", &fa, NULL, args, environ);
    CHECK(errno == 0);
    posix_spawn_file_actions_destroy(&fa);
    OK(close(p[1]));
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(p[0]), 'o');
    CHECK_FILE("made", "file");
    CHECK_ERR(fcntl(21, F_GETFD), EBADF); /* nothing happened here */
    return 0;
}
