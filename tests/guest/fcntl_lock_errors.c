/* Record locks need a descriptor of the right mode and a sane range. */
#include "guest.h"

int
main(void)
{
    int fds[2];
    struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    tmpdir();
    put("f", "0123456789");
    int rd = OK(open("f", O_RDONLY));
    int wr = OK(open("f", O_WRONLY));
    CHECK_ERR(fcntl(rd, F_SETLK, &fl), EBADF);
    CHECK_ERR(fcntl(-1, F_SETLK, &fl), EBADF);
    fl.l_type = F_RDLCK;
    CHECK_ERR(fcntl(wr, F_SETLK, &fl), EBADF);
    OK(fcntl(rd, F_SETLK, &fl));
    fl.l_type = F_UNLCK;
    OK(fcntl(wr, F_SETLK, &fl));
    CHECK_ERR(fcntl(wr, F_GETLK, &fl), EINVAL); /* asks for no lock */

    fl = (struct flock){.l_type = 99, .l_whence = SEEK_SET};
    CHECK_ERR(fcntl(wr, F_SETLK, &fl), EINVAL);
    fl = (struct flock){.l_type = F_WRLCK, .l_whence = 99};
    CHECK_ERR(fcntl(wr, F_SETLK, &fl), EINVAL);
    fl = (struct flock){.l_type = F_WRLCK, .l_start = -1};
    CHECK_ERR(fcntl(wr, F_SETLK, &fl), EINVAL);
    fl = (struct flock){.l_type = F_WRLCK, .l_start = 5, .l_len = -6};
    CHECK_ERR(fcntl(wr, F_SETLK, &fl), EINVAL);
    fl = (struct flock){.l_type = F_WRLCK, .l_start = 5, .l_len = -5};
    OK(fcntl(wr, F_SETLK, &fl)); /* bytes 0 to 4 */
    fl = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -3};
    OK(fcntl(wr, F_SETLK, &fl));
    OK(pipe(fds));
    fl = (struct flock){.l_type = F_WRLCK};
    OK(fcntl(fds[1], F_SETLK, &fl)); /* Linux locks anything */
    return 0;
}
