/* The *at calls look at the descriptor only for relative paths: EBADF, or
 * ENOTDIR for a file. */
#include "guest.h"

int
main(void)
{
    char buf[8];
    struct stat st;

    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_RDONLY));
    CHECK_ERR(openat(-1, "x", O_RDONLY), EBADF);
    CHECK_ERR(openat(999, "x", O_RDONLY), EBADF);
    CHECK_ERR(openat(fd, "x", O_RDONLY), ENOTDIR);
    CHECK_ERR(openat(fd, "..", O_RDONLY), ENOTDIR);
    OK(openat(-1, "/", O_RDONLY));
    OK(openat(fd, "/", O_RDONLY));
    CHECK_ERR(openat(fd, "", O_RDONLY), ENOENT); /* before the descriptor */
    CHECK_ERR(openat(-1, "", O_RDONLY), ENOENT);

    CHECK_ERR(mkdirat(-1, "x", 0755), EBADF);
    CHECK_ERR(mkdirat(fd, "x", 0755), ENOTDIR);
    CHECK_ERR(unlinkat(-1, "x", 0), EBADF);
    CHECK_ERR(unlinkat(fd, "x", 0), ENOTDIR);
    CHECK_ERR(symlinkat("x", -1, "x"), EBADF);
    CHECK_ERR(readlinkat(-1, "x", buf, sizeof buf), EBADF);
    CHECK_ERR(fstatat(-1, "x", &st, 0), EBADF);
    CHECK_ERR(fstatat(fd, "x", &st, 0), ENOTDIR);
    CHECK_ERR(faccessat(-1, "x", F_OK, 0), EBADF);
    CHECK_ERR(fchmodat(fd, "x", 0, 0), ENOTDIR);
    CHECK_ERR(utimensat(-1, "x", NULL, 0), EBADF);
    CHECK_ERR(mkfifoat(fd, "x", 0644), ENOTDIR);
    return 0;
}
