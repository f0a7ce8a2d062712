/* Record locks keep other processes out, name their owner to F_GETLK and
 * never conflict within one. */
#include "guest.h"

static struct flock
range(short type, off_t start, off_t len)
{
    struct flock fl = {.l_type = type, .l_whence = SEEK_SET};

    fl.l_start = start;
    fl.l_len = len;
    return fl;
}

int
main(int argc, char **argv)
{
    struct flock fl;

    if (argc > 1) {
        int fd = OK(open("f", O_RDWR));
        fl = range(F_WRLCK, 5, 1);
        CHECK(fcntl(fd, F_SETLK, &fl) == -1);
        CHECK(errno == EAGAIN || errno == EACCES);
        OK(fcntl(fd, F_GETLK, &fl));
        CHECK_EQ(fl.l_type, F_WRLCK);
        CHECK_EQ(fl.l_whence, SEEK_SET);
        CHECK_EQ(fl.l_start, 0);
        CHECK_EQ(fl.l_len, 10);
        CHECK_EQ(fl.l_pid, atoi(argv[1]));
        fl = range(F_RDLCK, 15, 1); /* the parent's is a read lock there */
        OK(fcntl(fd, F_SETLK, &fl));
        fl = range(F_WRLCK, 15, 1);
        CHECK(fcntl(fd, F_SETLK, &fl) == -1);
        fl = range(F_WRLCK, 20, 0);
        OK(fcntl(fd, F_SETLK, &fl));
        return 0;
    }
    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDWR));
    fl = range(F_WRLCK, 0, 10);
    OK(fcntl(fd, F_SETLK, &fl));
    fl = range(F_RDLCK, 10, 10);
    OK(fcntl(fd, F_SETLK, &fl));
    fl = range(F_WRLCK, 0, 0);
    OK(fcntl(fd, F_GETLK, &fl));
    CHECK_EQ(fl.l_type, F_UNLCK); /* our own do not count */
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    CHECK_EQ(wait_exit(spawn_self(pid)), 0);
    return 0;
}
