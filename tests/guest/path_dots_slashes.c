/* ".", "//" and ".." at the root mean nothing. */
#include "guest.h"

int
main(void)
{
    struct stat a, b;
    char path[600];

    const char *dir = tmpdir();
    OK(mkdir("d", 0755));
    put("d/f", "x");
    CHECK_FILE("./d/./f", "x");
    CHECK_FILE("d//f", "x");
    CHECK_FILE(".//.//d///.//f", "x");
    CHECK_FILE("d/../d/f", "x");
    CHECK_FILE("d/../d/../d/f", "x");
    snprintf(path, sizeof path, "//%s/d/f", dir);
    CHECK_FILE(path, "x");
    snprintf(path, sizeof path, "/../..%s/d/f", dir);
    CHECK_FILE(path, "x");
    OK(stat("/..", &a));
    OK(stat("/", &b));
    CHECK_EQ(a.st_ino, b.st_ino);
    OK(stat("d/.", &a));
    OK(stat("d/", &b));
    CHECK_EQ(a.st_ino, b.st_ino);
    CHECK_ERR(stat("none/..", &a), ENOENT);
    CHECK_ERR(stat("d/f/..", &a), ENOTDIR);

    put("...", "dots"); /* an ordinary name */
    put(" ", "space");
    put("\xff\n*", "bytes");
    CHECK_FILE("d/../...", "dots");
    CHECK_FILE(" ", "space");
    CHECK_FILE("\xff\n*", "bytes");
    return 0;
}
