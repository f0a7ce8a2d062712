/* Record locks survive exec, belong to the process and are not inherited by
 * its children. */
#include "guest.h"

int
main(int argc, char **argv)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *again[] = {argv[0], (char *)"holder", NULL};

    if (argc > 1 && strcmp(argv[1], "probe") == 0) {
        OK(fcntl(10, F_GETLK, &fl));
        CHECK_EQ(fl.l_type, F_WRLCK);
        CHECK_EQ(fl.l_pid, getppid());
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "holder") == 0)
        return wait_exit(spawn_self("probe"));
    if (argc > 1) {
        OK(fcntl(10, F_SETLK, &fl));
        OK(execv("/proc/self/exe", again));
    }
    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    CHECK_EQ(dup2(fd, 10), 10);
    CHECK_EQ(wait_exit(spawn_self("locker")), 0);
    OK(fcntl(fd, F_GETLK, &fl));
    CHECK_EQ(fl.l_type, F_UNLCK); /* gone with its process */
    return 0;
}
