/* Files and directories made in a set-group-ID directory take its group;
 * directories also the bit. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    OK(mkdir("d", 0755));
    OK(chmod("d", 02775));
    CHECK_EQ(stat_of("d").st_mode, S_IFDIR | 02775);
    OK(mkdir("d/sub", 0700));
    CHECK_EQ(stat_of("d/sub").st_mode, S_IFDIR | 02700);
    put("d/f", "");
    CHECK_EQ(stat_of("d/f").st_mode, S_IFREG | 0644);
    CHECK_EQ(stat_of("d/f").st_gid, stat_of("d").st_gid);
    return 0;
}
