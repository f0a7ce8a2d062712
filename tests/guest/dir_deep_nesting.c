/* A thousand directories inside each other are made, left and removed. */
#include "guest.h"

int
main(void)
{
    struct stat top, st;

    tmpdir();
    OK(stat(".", &top));
    for (int i = 0; i < 1000; i++) {
        OK(mkdir("d", 0755));
        OK(chdir("d"));
    }
    put("f", "deep");
    CHECK_FILE("../../d/d/f", "deep");
    OK(unlink("f"));
    char path[2048], *p = path;
    for (int i = 0; i < 500; i++)
        p = stpcpy(p, "../");
    OK(stat(path, &st));
    for (int i = 0; i < 1000; i++) {
        OK(chdir(".."));
        OK(rmdir("d"));
    }
    OK(stat(".", &st));
    CHECK_EQ(st.st_ino, top.st_ino);
    return 0;
}
