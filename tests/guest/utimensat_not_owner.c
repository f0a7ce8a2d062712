/* Only the owner sets times; others need write permission even to set them
 * to now. */
#include "guest.h"

int
main(void)
{
    struct timespec ts[2] = {{1000, 0}, {1000, 0}};

    as_user();
    tmpdir();
    put("f", "");
    OK(chmod("f", 0));
    OK(utimensat(AT_FDCWD, "f", ts, 0)); /* the owner needs no mode bits */
    OK(utimensat(AT_FDCWD, "f", NULL, 0));

    struct stat root = stat_of("/");
    if (root.st_uid == geteuid() || (root.st_mode & 022))
        return 0;
    CHECK_ERR(utimensat(AT_FDCWD, "/", ts, 0), EPERM);
    CHECK_ERR(utimensat(AT_FDCWD, "/", NULL, 0), EACCES);
    ts[0].tv_nsec = ts[1].tv_nsec = UTIME_NOW;
    CHECK_ERR(utimensat(AT_FDCWD, "/", ts, 0), EACCES);
    ts[0].tv_nsec = UTIME_OMIT;
    CHECK_ERR(utimensat(AT_FDCWD, "/", ts, 0), EPERM); /* only one is now */
    ts[1].tv_nsec = UTIME_OMIT;
    OK(utimensat(AT_FDCWD, "/", ts, 0)); /* changes nothing */
    return 0;
}
