/* A process loses its record locks on a file when it closes any descriptor
 * of that file. */
#include "guest.h"

static int
is_locked(void)
{
    return wait_exit(spawn_self("probe"));
}

int
main(int argc, char **argv)
{
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (argc > 1) {
        CHECK_STR(argv[1], "probe");
        int fd = OK(open("f", O_RDWR));
        OK(fcntl(fd, F_GETLK, &fl));
        return fl.l_type != F_UNLCK;
    }
    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR | O_CLOEXEC));
    int other = OK(open("f", O_RDONLY | O_CLOEXEC));
    OK(fcntl(fd, F_SETLK, &fl));
    CHECK(is_locked());
    OK(close(other));
    CHECK(!is_locked());

    OK(fcntl(fd, F_SETLK, &fl));
    int copy = OK(dup(fd));
    OK(close(copy));
    CHECK(!is_locked());
    return 0;
}
