/* chmod sets all twelve bits, follows symlinks, and refuses what is not
 * there. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "");
    OK(symlink("f", "l"));
    OK(chmod("f", 07777));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 07777);
    OK(chmod("f", 0));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG);
    OK(chmod("l", 0640));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0640);
    CHECK_EQ(stat_of("l").st_mode, S_IFLNK | 0777);
    OK(chmod("f", S_IFDIR | 0600)); /* type bits are ignored */
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0600);

    int fd = OK(open("f", O_RDONLY));
    OK(fchmod(fd, 0444));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0444);
    OK(fchmodat(AT_FDCWD, "f", 0600, 0));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0600);
    CHECK_ERR(fchmodat(AT_FDCWD, "l", 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);

    CHECK_ERR(chmod("none", 0600), ENOENT);
    CHECK_ERR(chmod("f/x", 0600), ENOTDIR);
    CHECK_ERR(fchmod(-1, 0600), EBADF);
    if (stat_of("/").st_uid != geteuid())
        CHECK_ERR(chmod("/", 0777), EPERM);
    return 0;
}
