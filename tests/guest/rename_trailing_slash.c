/* Trailing slashes are for directories; "." and ".." cannot be renamed
 * (EBUSY). */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(mkdir("e", 0755));
    CHECK_ERR(rename("f/", "g"), ENOTDIR);
    CHECK_ERR(rename("f", "g/"), ENOTDIR);
    CHECK_ERR(rename("f", "e/"), ENOTDIR);
    OK(rename("d/", "g"));
    OK(rename("g", "d/"));
    OK(rename("d/", "e/"));
    CHECK(!exists("d"));

    CHECK_ERR(rename(".", "x"), EBUSY);
    CHECK_ERR(rename("..", "x"), EBUSY);
    CHECK_ERR(rename("e/.", "x"), EBUSY);
    CHECK_ERR(rename("e", "."), EBUSY);
    CHECK_ERR(rename("e", "e/.."), EBUSY);
    CHECK_ERR(rename("none/.", "x"), ENOENT);

    OK(symlink("e", "l"));
    CHECK_ERR(rename("l/", "x"), ENOTDIR); /* the link is not followed */
    return 0;
}
