/* An ordinary user may set the ids it has and no others. */
#include "proc.h"

int
main(void)
{
    gid_t list[64];
    uid_t uid;
    gid_t gid;
    int n;

    as_user();
    uid = getuid();
    gid = getgid();
    CHECK(uid != 0);
    OK(setuid(uid));
    OK(seteuid(uid));
    OK(setgid(gid));
    OK(setreuid(uid, uid));
    OK(setresuid(uid, uid, (uid_t)-1));
    CHECK_ERR(setuid(0), EPERM);
    CHECK_ERR(seteuid(0), EPERM);
    CHECK_ERR(setgid(0), EPERM);
    CHECK_ERR(setresuid(0, 0, 0), EPERM);
    CHECK_ERR(setgroups(0, NULL), EPERM);
    CHECK_EQ(geteuid(), uid);
    n = OK(getgroups(0, NULL));
    CHECK(n >= 0 && n <= 64);
    CHECK_EQ(getgroups(64, list), n);
    if (n > 1)
        CHECK_ERR(getgroups(1, list), EINVAL);
    return 0;
}
