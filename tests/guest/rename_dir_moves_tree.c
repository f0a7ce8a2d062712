/* Moving a directory moves all below it and changes what ".." means there. */
#include "guest.h"

int
main(void)
{
    struct stat st;
    char buf[300], want[300];

    const char *dir = tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("a/d", 0755));
    OK(mkdir("b", 0755));
    put("a/d/f", "x");
    int fd = OK(open("a/d", O_RDONLY));
    OK(chdir("a/d"));
    OK(rename("../../a/d", "../../b/e"));
    OK(stat("..", &st));
    CHECK_EQ(st.st_ino, stat_of("../../b").st_ino);
    snprintf(want, sizeof want, "%s/b/e", dir);
    CHECK_STR(getcwd(buf, sizeof buf), want);
    OK(faccessat(fd, "f", F_OK, 0));
    OK(fchdir(fd));
    CHECK_FILE("../e/f", "x");
    OK(chdir("../.."));
    CHECK(!exists("a/d"));
    OK(rmdir("a"));
    return 0;
}
