/* Files through stdio and POSIX calls, by absolute paths. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void
test_stdio(void)
{
    char line[64];
    FILE *f = fopen("/tmp/stdio", "w+");

    CHECK(f);
    for (int i = 0; i < 1000; i++)
        CHECK(fprintf(f, "line %d\n", i) > 0);
    rewind(f);
    for (int i = 0; i < 1000; i++) {
        int n = -1;
        CHECK(fgets(line, sizeof line, f) && sscanf(line, "line %d", &n) == 1);
        CHECK(n == i);
    }
    CHECK(!fgets(line, sizeof line, f) && feof(f));
    CHECK(fseek(f, -4, SEEK_END) == 0 && fgets(line, sizeof line, f));
    CHECK(!strcmp(line, "999\n"));
    CHECK(fclose(f) == 0);
    f = fopen("/tmp/stdio", "a");
    CHECK(f && fputs("more\n", f) >= 0 && fclose(f) == 0);
    struct stat st;
    CHECK(stat("/tmp/stdio", &st) == 0 && S_ISREG(st.st_mode));
    CHECK(st.st_size == 10 * 7 + 90 * 8 + 900 * 9 + 5);
}

static void
test_posix(void)
{
    char a[4], b[4];
    struct iovec v[2] = {{a, 4}, {b, 4}};
    struct stat st;
    int fd = open("/tmp/posix", O_RDWR | O_CREAT | O_EXCL, 0644);

    CHECK(fd >= 3);
    CHECK(write(fd, "abcdefgh", 8) == 8);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(readv(fd, v, 2) == 8 && !memcmp(b, "efgh", 4));
    CHECK(pwrite(fd, "XY", 2, 3) == 2 && pread(fd, a, 4, 2) == 4);
    CHECK(!memcmp(a, "cXYf", 4));
    CHECK(ftruncate(fd, 3) == 0 && fstat(fd, &st) == 0 && st.st_size == 3);
    CHECK(posix_fallocate(fd, 0, 100) == 0);
    CHECK(fstat(fd, &st) == 0 && st.st_size == 100);
    CHECK(fsync(fd) == 0 && fdatasync(fd) == 0 && close(fd) == 0);
    CHECK(open("/tmp/posix", O_RDWR | O_CREAT | O_EXCL, 0644) < 0 &&
          errno == EEXIST);
    CHECK(open("/tmp/none", O_RDONLY) < 0 && errno == ENOENT);
    CHECK(open("/tmp/posix/x", O_RDONLY) < 0 && errno == ENOTDIR);
    CHECK(open("/tmp", O_WRONLY) < 0 && errno == EISDIR);
    fd = open("/tmp/posix", O_RDONLY);
    CHECK(fd >= 0 && write(fd, "x", 1) < 0 && errno == EBADF);
    CHECK(close(fd) == 0 && close(fd) < 0 && errno == EBADF);
}

static void
test_names(void)
{
    char target[16];
    struct stat a, b;

    CHECK(link("/tmp/posix", "/tmp/hard") == 0);
    CHECK(stat("/tmp/posix", &a) == 0 && stat("/tmp/hard", &b) == 0);
    CHECK(a.st_ino == b.st_ino && a.st_nlink == 2);
    CHECK(symlink("posix", "/tmp/soft") == 0);
    CHECK(readlink("/tmp/soft", target, sizeof target) == 5);
    CHECK(lstat("/tmp/soft", &b) == 0 && S_ISLNK(b.st_mode));
    CHECK(stat("/tmp/soft", &b) == 0 && S_ISREG(b.st_mode));
    CHECK(rename("/tmp/hard", "/tmp/renamed") == 0);
    CHECK(access("/tmp/hard", F_OK) < 0 && access("/tmp/renamed", R_OK) == 0);
    CHECK(unlink("/tmp/renamed") == 0 && unlink("/tmp/renamed") < 0);
    struct timespec times[2] = {{100, 5}, {200, 6}};
    CHECK(utimensat(AT_FDCWD, "/tmp/posix", times, 0) == 0);
    CHECK(stat("/tmp/posix", &a) == 0);
    CHECK(a.st_atim.tv_sec == 100 && a.st_mtim.tv_nsec == 6);
}

int
main(void)
{
    test_stdio();
    test_posix();
    test_names();
    return 0;
}
