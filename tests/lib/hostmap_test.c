/* What tells host files from one another: not part of the public header. */
#include "lib/hostmap.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct host_file
map(const char *path)
{
    struct host_file f = {0};

    CHECK_EQ(hostmap_open(path, &f), 0);
    return f;
}

static bool
is_same(const char *path, const struct host_file *f)
{
    struct host_file now = map(path);
    bool is = !memcmp(now.identity, f->identity, sizeof now.identity);

    hostmap_close(&now);
    return is;
}

static void
put(int hfd, char c, const struct timespec *times)
{
    CHECK_EQ(pwrite(hfd, &c, 1, 0), 1);
    if (times)
        CHECK_EQ(futimens(hfd, times), 0);
}

TEST(a_changed_file_has_another_identity_whatever_its_mtime)
{
    char path[] = "wasmsand-map-XXXXXX";
    int hfd = mkstemp(path);
    struct stat before, now;

    CHECK(hfd >= 0);
    put(hfd, 'a', NULL);
    CHECK_EQ(fstat(hfd, &before), 0);
    struct host_file f = map(path);
    CHECK(!f.is_settled);
    CHECK(is_same(path, &f));
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    do {
        put(hfd, 'b', times);
        CHECK_EQ(fstat(hfd, &now), 0);
    } while (!memcmp(&now.st_ctim, &before.st_ctim, sizeof now.st_ctim));
    CHECK_EQ(now.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    CHECK(!f.identity[0] || !is_same(path, &f));
    hostmap_close(&f);
    close(hfd);
    unlink(path);
}

/* Of a file system that does not tell changes, nothing is known. */
TEST(an_old_file_is_settled)
{
    struct host_file f = map("/bin/sh");

    CHECK_EQ(f.is_settled, f.identity[0] != 0);
    hostmap_close(&f);
}

TEST(only_regular_files_are_mapped)
{
    struct host_file f;

    CHECK_EQ(hostmap_open("/", &f), -EISDIR);
    CHECK_EQ(hostmap_open("/dev/null", &f), -EINVAL);
    CHECK_EQ(hostmap_open("/nowhere/at all", &f), -ENOENT);
}
