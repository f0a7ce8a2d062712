/* A missing component is ENOENT, a component that is no directory ENOTDIR,
 * the empty path ENOENT. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    tmpdir();
    put("f", "");
    CHECK_ERR(open("none", O_RDONLY), ENOENT);
    CHECK_ERR(open("none/f", O_RDWR | O_CREAT, 0644), ENOENT);
    CHECK_ERR(creat("none/f", 0644), ENOENT);
    CHECK_ERR(open("f/x", O_RDONLY), ENOTDIR);
    CHECK_ERR(open("f/x", O_RDWR | O_CREAT, 0644), ENOTDIR);
    CHECK_ERR(open("f/..", O_RDONLY), ENOTDIR);
    CHECK_ERR(open("f/.", O_RDONLY), ENOTDIR);
    CHECK_ERR(open("", O_RDONLY), ENOENT);
    CHECK_ERR(open("", O_RDWR | O_CREAT, 0644), ENOENT);
    CHECK_ERR(stat("", &st), ENOENT);
    CHECK_ERR(stat("none", &st), ENOENT);
    CHECK_ERR(lstat("f/x", &st), ENOTDIR);
    OK(symlink("none", "dangling"));
    CHECK_ERR(open("dangling", O_RDONLY), ENOENT);
    CHECK_ERR(stat("dangling", &st), ENOENT);
    OK(lstat("dangling", &st));
    return 0;
}
