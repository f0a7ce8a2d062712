/* Group ids may always be set to what they are. */
#include "guest.h"

int
main(void)
{
    gid_t gid = getgid(), real, effective, saved;

    CHECK_EQ(getegid(), gid);
    CHECK_EQ(setregid((gid_t)-1, (gid_t)-1), 0);
    CHECK_EQ(setregid(gid, gid), 0);
    CHECK_EQ(setresgid(gid, (gid_t)-1, gid), 0);
    CHECK_EQ(setgid(gid), 0);
    CHECK_EQ(getresgid(&real, &effective, &saved), 0);
    CHECK(real == gid && effective == gid && saved == gid);
    if (geteuid() != 0) {
        CHECK_ERR(setregid(gid + 1, (gid_t)-1), EPERM);
        CHECK_ERR(setresgid((gid_t)-1, gid + 1, (gid_t)-1), EPERM);
    }
    CHECK_EQ(getgid(), gid);
    return 0;
}
