/* Duplicates share offset and status flags; a second open has its own. */
#include "guest.h"

int
main(void)
{
    char c;

    tmpdir();
    put("f", "abcdef");
    int a = OK(open("f", O_RDWR));
    int b = OK(dup(a));
    int other = OK(open("f", O_RDWR));
    CHECK_EQ(read(a, &c, 1), 1);
    CHECK_EQ(read(b, &c, 1), 1);
    CHECK_EQ(c, 'b');
    CHECK_EQ(read(other, &c, 1), 1);
    CHECK_EQ(c, 'a');
    OK(lseek(b, 5, SEEK_SET));
    CHECK_EQ(lseek(a, 0, SEEK_CUR), 5);

    OK(fcntl(a, F_SETFL, O_APPEND));
    CHECK(fcntl(b, F_GETFL) & O_APPEND);
    CHECK(!(fcntl(other, F_GETFL) & O_APPEND));

    OK(fcntl(a, F_SETFD, FD_CLOEXEC)); /* this one is the descriptor's own */
    CHECK_EQ(fcntl(b, F_GETFD), 0);
    OK(close(a));
    CHECK_EQ(read(b, &c, 1), 1);
    CHECK_ERR(dup(a), EBADF);
    CHECK_ERR(dup(-1), EBADF);
    return 0;
}
