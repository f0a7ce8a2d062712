/* Directories: making, listing, removing, walking relative to one. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 300 };

static int
count(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    CHECK(closedir(d) == 0);
    return n;
}

static void
test_listing(void)
{
    char name[32];

    CHECK(mkdir("/tmp/dirs", 0755) == 0);
    CHECK(mkdir("/tmp/dirs", 0755) < 0 && errno == EEXIST);
    CHECK(count("/tmp/dirs") == 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "/tmp/dirs/%d", i);
        FILE *f = fopen(name, "w");
        CHECK(f && fclose(f) == 0);
    }
    CHECK(count("/tmp/dirs") == FILES);
    CHECK(rmdir("/tmp/dirs") < 0 && errno == ENOTEMPTY);
    DIR *d = opendir("/tmp/dirs");
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            CHECK(unlinkat(dirfd(d), e->d_name, 0) == 0);
    rewinddir(d);
    int left = 0;
    while (readdir(d))
        left++;
    CHECK(left == 2 && closedir(d) == 0);
    CHECK(rmdir("/tmp/dirs") == 0);
    CHECK(!opendir("/tmp/dirs") && errno == ENOENT);
}

static void
test_relative(void)
{
    struct stat st;

    CHECK(mkdir("/tmp/rel", 0755) == 0);
    int dir = open("/tmp/rel", O_RDONLY | O_DIRECTORY);
    CHECK(dir >= 0);
    CHECK(mkdirat(dir, "a", 0755) == 0 && mkdirat(dir, "a/b", 0755) == 0);
    int fd = openat(dir, "a/b/f", O_WRONLY | O_CREAT, 0644);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
    CHECK(fstatat(dir, "a/b/../b/f", &st, 0) == 0 && st.st_size == 1);
    CHECK(renameat(dir, "a/b/f", dir, "f") == 0);
    CHECK(openat(dir, "../rel/f", O_RDONLY) < 0);
    CHECK(stat("/tmp/rel/f", &st) == 0);
    CHECK(close(dir) == 0);
}

int
main(void)
{
    test_listing();
    test_relative();
    return 0;
}
