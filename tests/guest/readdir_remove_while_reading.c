/* Removing each entry as it is read (rm -r) misses none of 5,000. */
#include "guest.h"

int
main(void)
{
    char name[32];
    struct dirent *e;
    int removed = 0;

    tmpdir();
    OK(mkdir("d", 0755));
    put("seed", "");
    int fd = OK(open("d", O_RDONLY));
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "file-%d", i);
        OK(linkat(AT_FDCWD, "seed", fd, name, 0));
    }
    DIR *d = fdopendir(fd);
    while ((e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        OK(unlinkat(fd, e->d_name, 0));
        removed++;
    }
    CHECK_EQ(removed, 5000);
    OK(rmdir("d"));
    OK(closedir(d));
    return 0;
}
