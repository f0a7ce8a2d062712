/* Hard links are equal names of one file, which lives until the last is
 * gone. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("a", "x");
    OK(mkdir("d", 0755));
    OK(link("a", "d/b"));
    CHECK_EQ(stat_of("a").st_ino, stat_of("d/b").st_ino);
    CHECK_EQ(stat_of("a").st_nlink, 2);
    put("d/b", "both");
    CHECK_FILE("a", "both");
    OK(chmod("a", 0600));
    CHECK_EQ(stat_of("d/b").st_mode, S_IFREG | 0600);
    OK(unlink("a"));
    CHECK_EQ(stat_of("d/b").st_nlink, 1);
    CHECK_FILE("d/b", "both");

    CHECK_ERR(link("none", "c"), ENOENT);
    CHECK_ERR(link("d/b", "d"), EEXIST);
    CHECK_ERR(link("d/b", "d/b"), EEXIST);
    CHECK_ERR(link("d/b", "none/c"), ENOENT);
    CHECK_ERR(link("d", "c"), EPERM);
    CHECK_ERR(link("d", "d/b"), EEXIST); /* before EPERM */
    CHECK_ERR(link("d/b", ""), ENOENT);
    CHECK_ERR(link("d/b/", "c"), ENOTDIR);
    OK(mkfifo("p", 0600));
    OK(link("p", "q"));
    CHECK_EQ(stat_of("q").st_nlink, 2);
    return 0;
}
