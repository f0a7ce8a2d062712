/* A directory cannot move below itself (EINVAL) nor replace one of its
 * ancestors (ENOTEMPTY). */
#include "guest.h"

int
main(void)
{
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("a/b", 0755));
    OK(mkdir("a/b/c", 0755));
    put("a/f", "");
    CHECK_ERR(rename("a", "a/x"), EINVAL);
    CHECK_ERR(rename("a", "a/b/c"), EINVAL);
    CHECK_ERR(rename("a", "a/b/c/x"), EINVAL);
    CHECK_ERR(rename("a/b/c", "a/b"), ENOTEMPTY);
    CHECK_ERR(rename("a/b/c", "a"), ENOTEMPTY);
    CHECK_ERR(rename("a/f", "a"), ENOTEMPTY); /* also for a file */
    OK(rename("a", "a"));
    OK(symlink("a/b", "l"));
    CHECK_ERR(rename("a", "l/x"), EINVAL);
    CHECK(exists("a/b/c"));
    return 0;
}
