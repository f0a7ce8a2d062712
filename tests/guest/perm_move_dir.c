/* Moving a directory to another parent needs write permission on the
 * directory itself. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("b", 0755));
    OK(mkdir("a/d", 0555));
    CHECK_ERR(rename("a/d", "b/d"), EACCES);
    OK(rename("a/d", "a/e")); /* its ".." stays */
    OK(chmod("a/e", 0755));
    OK(rename("a/e", "b/d"));
    CHECK(exists("b/d"));
    return 0;
}
