/* In a sticky directory of one's own one's files can still be removed, and
 * new files do not inherit the bit. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    OK(mkdir("s", 0755));
    OK(chmod("s", 01777));
    CHECK_EQ(stat_of("s").st_mode, S_IFDIR | 01777);
    put("s/f", "");
    OK(mkdir("s/d", 0777));
    CHECK_EQ(stat_of("s/f").st_mode, S_IFREG | 0644);
    CHECK_EQ(stat_of("s/d").st_mode, S_IFDIR | 0755);
    OK(rename("s/f", "s/g"));
    OK(unlink("s/g"));
    OK(rmdir("s/d"));
    OK(rmdir("s"));
    CHECK(stat_of("/tmp").st_mode & S_ISVTX);
    return 0;
}
