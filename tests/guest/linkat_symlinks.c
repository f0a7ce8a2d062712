/* linkat links a symlink itself unless AT_SYMLINK_FOLLOW is given. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "x");
    OK(symlink("f", "l"));
    OK(link("l", "l2"));
    CHECK(S_ISLNK(stat_of("l2").st_mode));
    CHECK_EQ(stat_of("l").st_nlink, 2);
    OK(linkat(AT_FDCWD, "l", AT_FDCWD, "f2", AT_SYMLINK_FOLLOW));
    CHECK(S_ISREG(stat_of("f2").st_mode));
    CHECK_EQ(stat_of("f").st_nlink, 2);

    OK(symlink("none", "dangling"));
    OK(link("dangling", "dangling2"));
    CHECK_ERR(linkat(AT_FDCWD, "dangling", AT_FDCWD, "x", AT_SYMLINK_FOLLOW),
              ENOENT);
    CHECK_ERR(linkat(AT_FDCWD, "f", AT_FDCWD, "x", 0x100000), EINVAL);
    CHECK_ERR(linkat(-1, "f", AT_FDCWD, "x", 0x100000), EINVAL);
    CHECK_ERR(linkat(-1, "f", AT_FDCWD, "x", 0), EBADF);
    return 0;
}
