/* open keeps set-ID and sticky bits of its mode; mkdir keeps only the sticky
 * bit. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    umask(0);
    OK(open("f", O_RDWR | O_CREAT, 07777));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 07777);
    OK(open("type", O_RDWR | O_CREAT, S_IFDIR | 0600));
    CHECK_EQ(stat_of("type").st_mode, S_IFREG | 0600);
    OK(mkdir("d", 07777));
    CHECK_EQ(stat_of("d").st_mode, S_IFDIR | 01777);
    OK(mkfifo("p", 07666));
    CHECK_EQ(stat_of("p").st_mode, S_IFIFO | 07666);
    umask(022);
    OK(open("g", O_RDWR | O_CREAT, 04777));
    CHECK_EQ(stat_of("g").st_mode, S_IFREG | 04755);
    return 0;
}
