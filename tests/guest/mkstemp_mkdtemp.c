/* mkstemp and mkdtemp fill in a fresh name and make it for the owner alone. */
#include "guest.h"

int
main(void)
{
    char a[] = "aXXXXXX", b[] = "aXXXXXX", s[] = "fXXXXXX.txt";
    char d[] = "dXXXXXX", bad[] = "noX", none[] = "none/aXXXXXX";

    tmpdir();
    umask(0);
    int fd = OK(mkstemp(a));
    OK(mkstemp(b));
    CHECK(strcmp(a, "aXXXXXX") != 0 && strcmp(b, "aXXXXXX") != 0);
    CHECK(strcmp(a, b) != 0);
    CHECK_EQ(stat_of(a).st_mode, S_IFREG | 0600);
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_FILE(a, "x");
    CHECK_EQ(fcntl(fd, F_GETFD), 0);
    fd = OK(mkostemps(s, 4, O_CLOEXEC | O_APPEND));
    CHECK_STR(s + 7, ".txt");
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK(fcntl(fd, F_GETFL) & O_APPEND);

    CHECK(mkdtemp(d) == d);
    CHECK_EQ(stat_of(d).st_mode, S_IFDIR | 0700);
    CHECK_ERR(mkstemp(bad), EINVAL);
    CHECK(mkdtemp(bad) == NULL && errno == EINVAL);
    CHECK_ERR(mkstemp(none), ENOENT);
    return 0;
}
