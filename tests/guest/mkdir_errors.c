/* mkdir refuses every existing name and every path without a parent. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(symlink("none", "l"));
    OK(mkdir("d", 0700));
    CHECK_EQ(stat_of("d").st_mode, S_IFDIR | 0700);
    CHECK_ERR(mkdir("d", 0755), EEXIST);
    CHECK_ERR(mkdir("d/", 0755), EEXIST);
    CHECK_ERR(mkdir("f", 0755), EEXIST);
    CHECK_ERR(mkdir("l", 0755), EEXIST); /* dangling symlink */
    CHECK_ERR(mkdir("l/", 0755), EEXIST);
    CHECK_ERR(mkdir(".", 0755), EEXIST);
    CHECK_ERR(mkdir("..", 0755), EEXIST);
    CHECK_ERR(mkdir("/", 0755), EEXIST);
    CHECK_ERR(mkdir("d/.", 0755), EEXIST);
    CHECK_ERR(mkdir("new/.", 0755), ENOENT);
    CHECK_ERR(mkdir("new/sub", 0755), ENOENT);
    CHECK_ERR(mkdir("l/sub", 0755), ENOENT);
    CHECK_ERR(mkdir("f/sub", 0755), ENOTDIR);
    CHECK_ERR(mkdir("", 0755), ENOENT);
    OK(mkdir("d/./../new", 0755));
    CHECK(exists("new"));
    return 0;
}
