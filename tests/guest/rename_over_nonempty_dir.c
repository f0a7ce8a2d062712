/* A directory that is not empty cannot be replaced, and nothing changes. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("b", 0755));
    put("a/f", "1");
    put("b/f", "2");
    CHECK_ERR(rename("a", "b"), ENOTEMPTY);
    CHECK_FILE("a/f", "1");
    CHECK_FILE("b/f", "2");
    OK(unlink("b/f"));
    OK(rename("a", "b"));
    CHECK_FILE("b/f", "1");
    return 0;
}
