/* readlink gives the stored text, cut to the buffer and without a final
 * zero. */
#include "guest.h"

int
main(void)
{
    char buf[16];

    tmpdir();
    put("f", "");
    OK(symlink("any text//../", "l"));
    memset(buf, '-', sizeof buf);
    CHECK_EQ(readlink("l", buf, sizeof buf), 13);
    CHECK(memcmp(buf, "any text//../---", 16) == 0);
    memset(buf, '-', sizeof buf);
    CHECK_EQ(readlink("l", buf, 3), 3);
    CHECK(memcmp(buf, "any-", 4) == 0);
    CHECK_EQ(stat_of("l").st_size, 13);

    CHECK_ERR(readlink("f", buf, sizeof buf), EINVAL);
    CHECK_ERR(readlink(".", buf, sizeof buf), EINVAL);
    CHECK_ERR(readlink("none", buf, sizeof buf), ENOENT);
    CHECK_ERR(readlink("", buf, sizeof buf), ENOENT);
    CHECK_ERR(readlink("l/x", buf, sizeof buf), ENOENT);
    CHECK_ERR(syscall(SYS_readlinkat, AT_FDCWD, "none", buf, 0), EINVAL);
    CHECK_ERR(syscall(SYS_readlinkat, AT_FDCWD, "none", buf, -1), EINVAL);

    CHECK_ERR(symlink("x", "f"), EEXIST);
    CHECK_ERR(symlink("x", "l"), EEXIST);
    CHECK_ERR(symlink("", "m"), ENOENT);
    CHECK_ERR(symlink("x", ""), ENOENT);
    CHECK_ERR(symlink("x", "none/m"), ENOENT);
    CHECK_ERR(symlink("x", "f/m"), ENOTDIR);
    return 0;
}
