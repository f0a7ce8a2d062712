/* post: fork */
/* A forked child does not inherit record locks and is kept out by its
 * parent's. */
#include "guest.h"

int
main(void)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR));
    OK(fcntl(fd, F_SETLK, &fl));
    pid_t pid = OK(fork());
    if (pid == 0) {
        int good = fcntl(fd, F_SETLK, &fl) == -1 && errno == EAGAIN;
        good = good && fcntl(fd, F_GETLK, &fl) == 0 && fl.l_pid == getppid();
        _exit(!good); /* closing fd here leaves the parent's lock */
    }
    CHECK_EQ(wait_exit(pid), 0);
    pid = OK(fork());
    if (pid == 0)
        _exit(fcntl(fd, F_GETLK, &fl) != 0 || fl.l_type != F_WRLCK);
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}
