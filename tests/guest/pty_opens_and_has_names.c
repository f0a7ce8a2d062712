/* posix_openpt, unlockpt, ptsname, ttyname and isatty fit together. */
#include "tty.h"

int
main(void)
{
    char name[64], link[64], path[64];
    struct stat st;
    int m, s, p[2];
    unsigned n;

    m = OK(posix_openpt(O_RDWR | O_NOCTTY));
    CHECK_EQ(ptsname_r(m, name, sizeof name), 0);
    CHECK(strncmp(name, "/dev/pts/", 9) == 0);
    OK(ioctl(m, TIOCGPTN, &n));
    CHECK_EQ(n, atoi(name + 9));
    CHECK_ERR(open(name, O_RDWR | O_NOCTTY), EIO); /* still locked */
    OK(grantpt(m));
    OK(unlockpt(m));
    s = OK(open(name, O_RDWR | O_NOCTTY));
    CHECK(isatty(m) && isatty(s));
    CHECK_STR(ttyname(s), name);
    OK(fstat(s, &st));
    CHECK(S_ISCHR(st.st_mode));
    CHECK_EQ(st.st_rdev, stat_of(name).st_rdev);
    CHECK_EQ(st.st_uid, geteuid());
    snprintf(path, sizeof path, "/proc/self/fd/%d", s);
    memset(link, 0, sizeof link);
    OK(readlink(path, link, sizeof link - 1));
    CHECK_STR(link, name);
    OK(pipe(p));
    CHECK(!isatty(p[0]) && errno == ENOTTY);
    CHECK(!isatty(99) && errno == EBADF);
    CHECK_EQ(ttyname_r(p[0], name, sizeof name), ENOTTY);
    return 0;
}
