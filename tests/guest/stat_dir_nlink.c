/* A directory has two links and one more for each subdirectory. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    tmpdir();
    OK(mkdir("d", 0755));
    if (stat_of("d").st_nlink == 1)
        return 0; /* Linux allows file systems that do not count */
    CHECK_EQ(stat_of("d").st_nlink, 2);
    OK(mkdir("d/a", 0755));
    OK(mkdir("d/b", 0755));
    put("d/f", "");
    CHECK_EQ(stat_of("d").st_nlink, 4);
    OK(rename("d/a", "a"));
    CHECK_EQ(stat_of("d").st_nlink, 3);
    OK(rename("a", "d/b/a"));
    CHECK_EQ(stat_of("d").st_nlink, 3);
    CHECK_EQ(stat_of("d/b").st_nlink, 3);
    OK(mkdir("e", 0755));
    OK(rename("e", "d/b/a")); /* replaces an empty directory */
    CHECK_EQ(stat_of("d/b").st_nlink, 3);
    OK(rmdir("d/b/a"));
    CHECK_EQ(stat_of("d/b").st_nlink, 2);

    int fd = OK(open("d/b", O_RDONLY));
    OK(rmdir("d/b"));
    OK(fstat(fd, &st));
    CHECK_EQ(st.st_nlink, 0);
    CHECK_EQ(stat_of("d").st_nlink, 2);
    return 0;
}
