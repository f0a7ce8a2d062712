/* An ordinary user may not give files away, but may set the owner and group
 * they have. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "");
    OK(symlink("none", "l"));
    uid_t uid = geteuid();
    gid_t gid = getegid();
    OK(chown("f", (uid_t)-1, (gid_t)-1));
    OK(chown("f", uid, gid));
    CHECK_ERR(chown("f", 0, (gid_t)-1), EPERM);
    CHECK_ERR(chown("f", uid + 1, gid), EPERM);
    CHECK_ERR(chown("f", uid, gid + 54321), EPERM);
    CHECK_ERR(chown("f", (uid_t)-1, 0), EPERM);
    CHECK_EQ(stat_of("f").st_uid, uid);
    CHECK_EQ(stat_of("f").st_gid, gid);

    CHECK_ERR(chown("l", uid, gid), ENOENT); /* follows */
    OK(lchown("l", uid, gid));
    CHECK_ERR(lchown("l", 0, 0), EPERM);
    int fd = OK(open("f", O_RDONLY));
    OK(fchown(fd, uid, gid));
    CHECK_ERR(fchown(fd, 0, 0), EPERM);
    CHECK_ERR(fchown(-1, uid, gid), EBADF);
    OK(fchownat(fd, "", uid, gid, AT_EMPTY_PATH));
    CHECK_ERR(fchownat(AT_FDCWD, "f", uid, gid, 0x40000), EINVAL);
    CHECK_ERR(chown("none", uid, gid), ENOENT);
    if (stat_of("/").st_uid != uid)
        CHECK_ERR(chown("/", uid, gid), EPERM);
    return 0;
}
