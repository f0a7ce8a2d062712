/* options: --cwd /tmp */
/* A program that starts elsewhere than in "/" finds files by relative and by
 * absolute paths. */
#include "check.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

int
main(void)
{
    struct stat a, b;
    FILE *f = fopen("relative", "w");

    CHECK(f && fclose(f) == 0);
    CHECK(stat("relative", &a) == 0 && stat("/tmp/relative", &b) == 0);
    CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
    CHECK(stat("./relative", &b) == 0 && a.st_ino == b.st_ino);
    f = fopen("/tmp/absolute", "w");
    CHECK(f && fclose(f) == 0 && access("absolute", F_OK) == 0);
    CHECK(stat("/dev/null", &a) == 0 && S_ISCHR(a.st_mode));
    CHECK(stat("/proc/self", &a) == 0 && S_ISDIR(a.st_mode));
    CHECK(mkdir("sub", 0755) == 0 && rmdir("/tmp/sub") == 0);
    DIR *d = opendir(".");
    int found = 0;
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        found += !strcmp(e->d_name, "relative");
    CHECK(found == 1);
    CHECK(!fopen("../etc/passwd", "r"));
    return 0;
}
