/* rmdir removes only empty directories and never ".", ".." or a symlink. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(mkdir("d/e", 0755));
    OK(symlink("d/e", "l"));
    CHECK_ERR(rmdir("d"), ENOTEMPTY);
    CHECK_ERR(rmdir("f"), ENOTDIR);
    CHECK_ERR(rmdir("f/"), ENOTDIR);
    CHECK_ERR(rmdir("l"), ENOTDIR);
    CHECK_ERR(rmdir("none"), ENOENT);
    CHECK_ERR(rmdir(""), ENOENT);
    CHECK_ERR(rmdir("."), EINVAL);
    CHECK_ERR(rmdir("d/."), EINVAL);
    CHECK_ERR(rmdir(".."), ENOTEMPTY);
    CHECK_ERR(rmdir("d/e/.."), ENOTEMPTY);
    CHECK_ERR(rmdir("/"), EBUSY);
    OK(unlinkat(AT_FDCWD, "d/e", AT_REMOVEDIR));
    OK(rmdir("d"));
    CHECK(!exists("d"));
    return 0;
}
