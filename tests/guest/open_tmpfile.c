/* O_TMPFILE makes a nameless file which linkat can name later. */
#include "guest.h"

int
main(void)
{
    char path[64];
    struct stat st;

    tmpdir();
    int fd = OK(open(".", O_RDWR | O_TMPFILE, 0600));
    OK(fstat(fd, &st));
    CHECK(S_ISREG(st.st_mode));
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ(st.st_nlink, 0);
    CHECK_EQ(write(fd, "named", 5), 5);

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OK(linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW));
    CHECK_FILE("f", "named");
    CHECK_EQ(stat_of("f").st_nlink, 1);
    CHECK_EQ(stat_of("f").st_ino, st.st_ino);

    /* O_EXCL: it can never get a name */
    fd = OK(open(".", O_WRONLY | O_TMPFILE | O_EXCL, 0600));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK_ERR(linkat(AT_FDCWD, path, AT_FDCWD, "g", AT_SYMLINK_FOLLOW), ENOENT);

    CHECK_ERR(open(".", O_RDONLY | O_TMPFILE, 0600), EINVAL);
    CHECK_ERR(open("f", O_RDWR | O_TMPFILE, 0600), ENOTDIR);
    CHECK_ERR(open("none", O_RDWR | O_TMPFILE, 0600), ENOENT);
    return 0;
}
