/* A trailing slash asks for a directory: ENOTDIR for a file, EISDIR for
 * O_CREAT, and symlinks are followed. */
#include "guest.h"

int
main(void)
{
    char buf[8];
    struct stat st;

    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(symlink("d", "l"));
    OK(symlink("f", "lf"));
    CHECK_ERR(open("f/", O_RDONLY), ENOTDIR);
    CHECK_ERR(stat("f/", &st), ENOTDIR);
    CHECK_ERR(lstat("lf/", &st), ENOTDIR);
    CHECK_ERR(access("f/", F_OK), ENOTDIR);
    CHECK_ERR(unlink("f/"), ENOTDIR);
    CHECK_ERR(unlink("d/"), EISDIR);
    CHECK_ERR(unlink("none/"), ENOENT);
    CHECK_ERR(open("new/", O_WRONLY | O_CREAT, 0644), EISDIR);
    CHECK_ERR(open("f/", O_WRONLY | O_CREAT, 0644), EISDIR);
    CHECK_ERR(open("none/", O_RDONLY), ENOENT);

    OK(lstat("l/", &st));
    CHECK(S_ISDIR(st.st_mode));
    CHECK_ERR(readlink("l/", buf, sizeof buf), EINVAL);
    CHECK_ERR(rmdir("l/"), ENOTDIR);
    CHECK_ERR(symlink("x", "new/"), ENOENT);
    CHECK_ERR(link("f", "new/"), ENOENT);
    CHECK_ERR(symlink("x", "d/"), EEXIST);

    OK(mkdir("e///", 0755));
    OK(rmdir("e/"));
    CHECK(!exists("e"));
    return 0;
}
