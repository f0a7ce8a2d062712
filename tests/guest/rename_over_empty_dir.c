/* A directory may replace an empty one. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    tmpdir();
    OK(mkdir("a", 0755));
    put("a/f", "x");
    OK(mkdir("b", 0700));
    int fd = OK(open("b", O_RDONLY));
    ino_t ino = stat_of("a").st_ino;
    OK(rename("a", "b"));
    CHECK(!exists("a"));
    CHECK_EQ(stat_of("b").st_ino, ino);
    CHECK_EQ(stat_of("b").st_mode, S_IFDIR | 0755);
    CHECK_FILE("b/f", "x");
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_nlink, 0);
    CHECK_ERR(openat(fd, "f", O_WRONLY | O_CREAT, 0644), ENOENT);
    return 0;
}
