/* A removed directory that is still open is empty and takes no new entries. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    tmpdir();
    OK(mkdir("d", 0755));
    DIR *dir = opendir("d");
    CHECK(dir != NULL);
    int fd = dirfd(dir);
    OK(rmdir("d"));
    CHECK(readdir(dir) == NULL); /* not even the dots */
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_nlink, 0);
    CHECK_ERR(openat(fd, "new", O_WRONLY | O_CREAT, 0644), ENOENT);
    CHECK_ERR(mkdirat(fd, "new", 0755), ENOENT);
    CHECK_ERR(symlinkat("x", fd, "new"), ENOENT);
    CHECK_ERR(openat(fd, "none", O_RDONLY), ENOENT);
    OK(openat(fd, ".", O_RDONLY));
    OK(fstatat(fd, "..", &st, 0)); /* the parent is still known */
    CHECK_EQ(st.st_ino, stat_of(".").st_ino);

    OK(mkdir("d", 0755)); /* a new directory, not the old one */
    CHECK_ERR(openat(fd, "new", O_WRONLY | O_CREAT, 0644), ENOENT);
    OK(closedir(dir));
    return 0;
}
