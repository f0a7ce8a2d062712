/* Times can be set by descriptor, of a symlink itself, and by the older
 * calls. */
#include "guest.h"

#include <sys/time.h>
#include <utime.h>

int
main(void)
{
    struct timespec ts[2] = {{1000, 1}, {2000, 2}};

    tmpdir();
    put("f", "");
    OK(symlink("f", "l"));
    OK(utimensat(AT_FDCWD, "l", ts, AT_SYMLINK_NOFOLLOW));
    CHECK_EQ(stat_of("l").st_mtim.tv_sec, 2000);
    CHECK(stat_of("f").st_mtim.tv_sec > 2000);
    OK(utimensat(AT_FDCWD, "l", ts, 0));
    CHECK_EQ(stat_of("f").st_mtim.tv_sec, 2000);

    int fd = OK(open("f", O_RDONLY)); /* the owner needs no write access */
    ts[1].tv_sec = 3000;
    OK(futimens(fd, ts));
    CHECK_EQ(stat_of("f").st_mtim.tv_sec, 3000);
    CHECK_EQ(stat_of("f").st_mtim.tv_nsec, 2);
    CHECK_ERR(futimens(-1, ts), EBADF);

    struct utimbuf ub = {4000, 5000};
    OK(utime("f", &ub));
    CHECK_EQ(stat_of("f").st_atim.tv_sec, 4000);
    CHECK_EQ(stat_of("f").st_mtim.tv_sec, 5000);
    struct timeval tv[2] = {{6000, 7}, {8000, 9}};
    OK(utimes("f", tv));
    CHECK_EQ(stat_of("f").st_mtim.tv_sec, 8000);
    CHECK_EQ(stat_of("f").st_mtim.tv_nsec, 9000);
    OK(lutimes("l", tv));
    CHECK_EQ(stat_of("l").st_mtim.tv_sec, 8000);
    return 0;
}
