/* umask clears bits of new files, directories and FIFOs, not of symlinks or
 * chmod. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    CHECK_EQ(umask(027), 022);
    CHECK_EQ(umask(027), 027);
    OK(creat("f", 0666));
    OK(mkdir("d", 0777));
    OK(mkfifo("p", 0666));
    OK(symlink("f", "l"));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0640);
    CHECK_EQ(stat_of("d").st_mode, S_IFDIR | 0750);
    CHECK_EQ(stat_of("p").st_mode, S_IFIFO | 0640);
    CHECK_EQ(stat_of("l").st_mode, S_IFLNK | 0777);
    OK(chmod("f", 0666));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0666);

    CHECK_EQ(umask(07777), 027); /* only the permission bits are kept */
    CHECK_EQ(umask(0), 0777);
    OK(creat("g", 0777));
    CHECK_EQ(stat_of("g").st_mode, S_IFREG | 0777);
    OK(mkdir("s", 01777));
    CHECK_EQ(stat_of("s").st_mode, S_IFDIR | 01777);
    return 0;
}
