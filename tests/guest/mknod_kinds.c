/* An ordinary user makes files, FIFOs and sockets with mknod, but no
 * devices. */
#include "guest.h"

#include <sys/sysmacros.h>

int
main(void)
{
    as_user();
    tmpdir();
    OK(mknod("f", S_IFREG | 0640, 0));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0640);
    OK(mknod("zero", 0600, 0)); /* no type: a regular file */
    CHECK_EQ(stat_of("zero").st_mode, S_IFREG | 0600);
    OK(mknod("p", S_IFIFO | 0600, 0));
    CHECK(S_ISFIFO(stat_of("p").st_mode));
    OK(mknod("s", S_IFSOCK | 0600, 0));
    CHECK(S_ISSOCK(stat_of("s").st_mode));
    CHECK_ERR(open("s", O_RDONLY), ENXIO);

    CHECK_ERR(mknod("c", S_IFCHR | 0600, makedev(1, 3)), EPERM);
    CHECK_ERR(mknod("b", S_IFBLK | 0600, makedev(8, 0)), EPERM);
    CHECK_ERR(mknod("d", S_IFDIR | 0700, 0), EPERM);
    CHECK_ERR(mknod("l", S_IFLNK | 0700, 0), EINVAL);
    CHECK_ERR(mknod("f", S_IFREG | 0600, 0), EEXIST);
    CHECK_ERR(mknod("f", S_IFCHR | 0600, makedev(1, 3)), EEXIST);
    CHECK_ERR(mknod("none/f", S_IFREG | 0600, 0), ENOENT);
    CHECK(!exists("c") && !exists("b"));
    return 0;
}
