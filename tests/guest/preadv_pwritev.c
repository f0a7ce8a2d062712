/* preadv and pwritev work at an offset and leave the descriptor's alone. */
#include "guest.h"

#include <sys/uio.h>

int
main(void)
{
    char a[2], b[2];
    int fds[2];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "0123456789", 10), 10);
    struct iovec out[] = {{(void *)"A", 1}, {(void *)"BC", 2}};
    CHECK_EQ(pwritev(fd, out, 2, 8), 3);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 10);
    CHECK_FILE("f", "01234567ABC");

    struct iovec in[] = {{a, 2}, {b, 2}};
    CHECK_EQ(preadv(fd, in, 2, 7), 4);
    CHECK(memcmp(a, "7A", 2) == 0);
    CHECK(memcmp(b, "BC", 2) == 0);
    CHECK_EQ(preadv(fd, in, 2, 11), 0);
    CHECK_ERR(preadv(fd, in, 2, -1), EINVAL);
    CHECK_ERR(pwritev(fd, out, 2, -1), EINVAL);
    OK(pipe(fds));
    CHECK_ERR(preadv(fds[0], in, 2, 0), ESPIPE);
    CHECK_ERR(pwritev(fds[1], out, 2, 0), ESPIPE);
    return 0;
}
