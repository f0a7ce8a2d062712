/* Writing, truncating and chown by an ordinary user clear the set-user-ID
 * bit, and set-group-ID where the group may execute. */
#include "guest.h"

static unsigned
mode(void)
{
    return stat_of("f").st_mode & 07777;
}

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "");
    int fd = OK(open("f", O_WRONLY));
    OK(chmod("f", 06755));
    CHECK_EQ(write(fd, "", 0), 0);
    CHECK_EQ(mode(), 06755);
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(mode(), 0755);

    OK(chmod("f", 06745)); /* without group execution sgid is no privilege */
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(mode(), 02745);

    OK(chmod("f", 06755));
    OK(ftruncate(fd, 0));
    CHECK_EQ(mode(), 0755);

    OK(chmod("f", 06755));
    OK(chown("f", getuid(), getgid()));
    CHECK_EQ(mode(), 0755);
    OK(chmod("f", 06755));
    OK(chown("f", (uid_t)-1, (gid_t)-1));
    CHECK_EQ(mode(), 0755);

    OK(mkdir("d", 0755)); /* directories keep theirs */
    OK(chmod("d", 02755));
    OK(chown("d", getuid(), getgid()));
    CHECK_EQ(stat_of("d").st_mode, S_IFDIR | 02755);
    return 0;
}
