/* Open-file-description locks conflict between descriptions and survive the
 * close of others. */
#include "guest.h"

int
main(void)
{
    struct flock fl;

    tmpdir();
    put("f", "");
    int a = OK(open("f", O_RDWR));
    int b = OK(open("f", O_RDWR));
    int c = OK(open("f", O_RDWR));
    fl = (struct flock){.l_type = F_WRLCK};
    OK(fcntl(a, F_OFD_SETLK, &fl));
    CHECK_ERR(fcntl(b, F_OFD_SETLK, &fl), EAGAIN);
    OK(close(c)); /* unlike F_SETLK's */
    CHECK_ERR(fcntl(b, F_OFD_SETLK, &fl), EAGAIN);
    OK(fcntl(b, F_OFD_GETLK, &fl));
    CHECK_EQ(fl.l_type, F_WRLCK);
    CHECK_EQ(fl.l_pid, -1);

    fl = (struct flock){.l_type = F_WRLCK};
    CHECK(fcntl(b, F_SETLK, &fl) == -1); /* both kinds conflict */
    fl.l_pid = 1;
    CHECK_ERR(fcntl(b, F_OFD_SETLK, &fl), EINVAL);
    int copy = OK(dup(a));
    OK(close(a));
    fl = (struct flock){.l_type = F_WRLCK};
    CHECK_ERR(fcntl(b, F_OFD_SETLK, &fl), EAGAIN);
    OK(close(copy));
    OK(fcntl(b, F_OFD_SETLK, &fl));
    return 0;
}
