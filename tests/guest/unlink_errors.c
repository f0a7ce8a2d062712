/* unlink refuses directories (EISDIR on Linux) and unknown flags. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(symlink("d", "l"));
    CHECK_ERR(unlink("d"), EISDIR);
    CHECK_ERR(unlink("."), EISDIR);
    CHECK_ERR(unlink(".."), EISDIR);
    CHECK_ERR(unlink("/"), EISDIR);
    CHECK_ERR(unlink("none"), ENOENT);
    CHECK_ERR(unlink(""), ENOENT);
    CHECK_ERR(unlink("f/x"), ENOTDIR);
    CHECK_ERR(unlinkat(AT_FDCWD, "f", AT_REMOVEDIR), ENOTDIR);
    CHECK_ERR(unlinkat(AT_FDCWD, "f", 0x1000), EINVAL);
    CHECK_ERR(unlinkat(-1, "f", 0x1000), EINVAL); /* flags come first */
    OK(unlink("l")); /* the link, not the directory */
    CHECK(exists("d"));
    CHECK_EQ(remove("d"), 0);
    CHECK_EQ(remove("f"), 0);
    CHECK_ERR(remove("f"), ENOENT);
    return 0;
}
