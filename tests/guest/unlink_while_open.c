/* An unlinked file lives on for its descriptors, apart from a new file of
 * the same name. */
#include "guest.h"

int
main(void)
{
    char buf[300], path[64];
    struct stat st;

    const char *dir = tmpdir();
    put("f", "old");
    int fd = OK(open("f", O_RDWR));
    OK(unlink("f"));
    CHECK(!exists("f"));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_nlink, 0);
    put("f", "new");
    CHECK(stat_of("f").st_ino != st.st_ino);
    CHECK_EQ(pwrite(fd, "er", 2, 3), 2);
    CHECK_EQ(pread(fd, buf, sizeof buf, 0), 5);
    CHECK(memcmp(buf, "older", 5) == 0);
    CHECK_FILE("f", "new");
    OK(fchmod(fd, 0400));
    OK(ftruncate(fd, 1));

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = OK(readlink(path, buf, sizeof buf - 1));
    buf[n] = 0;
    char want[300];
    snprintf(want, sizeof want, "%s/f (deleted)", dir);
    CHECK_STR(buf, want);
    CHECK_FILE(path, "o"); /* and it can be opened again from there */
    CHECK_ERR(linkat(AT_FDCWD, path, AT_FDCWD, "g", AT_SYMLINK_FOLLOW), ENOENT);
    return 0;
}
