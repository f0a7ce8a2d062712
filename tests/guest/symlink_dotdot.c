/* ".." after a symlink is the parent of what the link names, not of the
 * link. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("a/b", 0755));
    OK(mkdir("c", 0755));
    put("a/where", "in a");
    put("where", "on top");
    put("c/where", "in c");
    OK(symlink("../a/b", "c/l"));
    CHECK_FILE("c/l/../where", "in a");
    CHECK_FILE("c/where", "in c");
    CHECK_FILE("c/l/../../where", "on top");

    /* an absolute link starts at the root again */
    char text[300];
    CHECK(getcwd(text, sizeof text) != NULL);
    OK(symlink(text, "c/abs"));
    CHECK_FILE("c/abs/where", "on top");
    CHECK_FILE("c/abs/c/l/../where", "in a");
    OK(symlink("/", "root"));
    struct stat a, b;
    OK(stat("root/..", &a));
    OK(stat("/", &b));
    CHECK_EQ(a.st_ino, b.st_ino);
    return 0;
}
