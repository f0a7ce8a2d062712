/* rename replaces a file in one step; whoever has the old one open keeps it. */
#include "guest.h"

int
main(void)
{
    char buf[8];
    struct stat st;

    tmpdir();
    put("a", "aaa");
    put("b", "bb");
    ino_t ino = stat_of("a").st_ino;
    int old = OK(open("b", O_RDONLY));
    int moved = OK(open("a", O_RDONLY));
    OK(rename("a", "b"));
    CHECK(!exists("a"));
    CHECK_EQ(stat_of("b").st_ino, ino);
    CHECK_EQ(stat_of("b").st_nlink, 1);
    CHECK_FILE("b", "aaa");
    OK(fstat(old, &st));
    CHECK_EQ(st.st_nlink, 0);
    CHECK_EQ(read(old, buf, sizeof buf), 2);
    CHECK_EQ(read(moved, buf, sizeof buf), 3);

    OK(rename("b", "b")); /* onto itself: nothing happens */
    CHECK_FILE("b", "aaa");
    OK(chmod("b", 0)); /* the mode of the file does not matter */
    OK(rename("b", "c"));
    CHECK_ERR(rename("none", "d"), ENOENT);
    CHECK_ERR(rename("c", "none/d"), ENOENT);
    CHECK_ERR(rename("", "d"), ENOENT);
    CHECK_ERR(rename("c", ""), ENOENT);
    CHECK_ERR(rename("c/x", "d"), ENOTDIR);
    CHECK_ERR(rename("c", "c/x"), ENOTDIR);
    return 0;
}
