/* st_mode tells files, directories, symlinks, FIFOs, pipes and character
 * devices apart. */
#include "guest.h"

#include <sys/sysmacros.h>

int
main(void)
{
    struct stat st;
    int fds[2];

    tmpdir();
    put("f", "");
    OK(mkdir("d", 0700));
    OK(symlink("target", "l"));
    OK(mkfifo("p", 0600));
    CHECK(S_ISREG(stat_of("f").st_mode));
    CHECK(S_ISDIR(stat_of("d").st_mode));
    CHECK_EQ(stat_of("l").st_mode, S_IFLNK | 0777);
    CHECK_EQ(stat_of("l").st_size, 6);
    CHECK_EQ(stat_of("p").st_mode, S_IFIFO | 0600);
    CHECK_EQ(stat_of("p").st_size, 0);
    OK(pipe(fds));
    OK(fstat(fds[0], &st));
    CHECK_EQ(st.st_mode, S_IFIFO | 0600);

    CHECK(S_ISCHR(stat_of("/dev/null").st_mode));
    CHECK_EQ(stat_of("/dev/null").st_rdev, makedev(1, 3));
    CHECK_EQ(stat_of("/dev/zero").st_rdev, makedev(1, 5));
    CHECK_EQ(stat_of("/dev/full").st_rdev, makedev(1, 7));
    CHECK_EQ(stat_of("/dev/random").st_rdev, makedev(1, 8));
    CHECK_EQ(stat_of("/dev/urandom").st_rdev, makedev(1, 9));
    CHECK_EQ(stat_of("/dev/tty").st_rdev, makedev(5, 0));
    CHECK_EQ(stat_of("/dev/null").st_mode & 0777, 0666);
    return 0;
}
