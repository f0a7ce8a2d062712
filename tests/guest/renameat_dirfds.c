/* renameat takes each path from its own directory. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    OK(mkdir("a", 0755));
    OK(mkdir("b", 0755));
    put("a/f", "x");
    put("file", "");
    int a = OK(open("a", O_RDONLY));
    int b = OK(open("b", O_PATH));
    int file = OK(open("file", O_RDONLY));
    OK(renameat(a, "f", b, "g"));
    CHECK_FILE("b/g", "x");
    CHECK_ERR(renameat(a, "f", b, "g"), ENOENT);
    CHECK_ERR(renameat(-1, "f", b, "g"), EBADF);
    CHECK_ERR(renameat(b, "g", -1, "g"), EBADF);
    CHECK_ERR(renameat(file, "f", b, "g"), ENOTDIR);
    CHECK_ERR(renameat(b, "g", file, "h"), ENOTDIR);
    CHECK_ERR(renameat(b, "", a, "h"), ENOENT);
    OK(renameat(b, "g", AT_FDCWD, "h"));
    CHECK_FILE("h", "x");
    return 0;
}
