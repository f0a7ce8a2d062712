/* files DIR: blocks, names and attributes of files in memory. */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 1024, LARGE = 2048, NAMES = 1000, STATS = 2000 };

static const char deep[] = "a/b/c/d/e/f";
static char block[BLOCK];

static void
write_blocks(int n)
{
    int fd = open("data", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    NEED(fd >= 0);
    for (int i = 0; i < n; i++) {
        block[0] = (char)i;
        NEED(write(fd, block, BLOCK) == BLOCK);
    }
    NEED(close(fd) == 0);
}

static void
write_file(void)
{
    write_blocks(BLOCKS);
}

/* Once: into memory that was not in use before. */
static void
write_large(void)
{
    int64_t start = now_ns();

    write_blocks(LARGE);
    report("first write", (double)BLOCK * LARGE / (double)(now_ns() - start),
           "GB/s");
    NEED(unlink("data") == 0);
}

static void
read_file(void)
{
    int fd = open("data", O_RDONLY);

    NEED(fd >= 0);
    for (int i = 0; i < BLOCKS; i++) {
        NEED(read(fd, block, BLOCK) == BLOCK);
        NEED(block[0] == (char)i);
    }
    NEED(read(fd, block, BLOCK) == 0);
    NEED(close(fd) == 0);
}

static void
write_and_read(void)
{
    write_file();
    read_file();
    NEED(unlink("data") == 0);
}

static void
create_and_unlink(void)
{
    for (int i = 0; i < NAMES; i++) {
        int fd = open("name", O_WRONLY | O_CREAT | O_EXCL, 0600);
        NEED(fd >= 0);
        NEED(close(fd) == 0);
        NEED(unlink("name") == 0);
    }
}

static void
stat_often(void)
{
    struct stat st;

    for (int i = 0; i < STATS; i++)
        NEED(stat(deep, &st) == 0);
    NEED(S_ISDIR(st.st_mode));
}

/* Makes a/b/c/d/e/f, or removes it. */
static void
each_dir(int (*act)(const char *path), size_t from, size_t to, size_t step)
{
    char path[sizeof deep];

    for (size_t len = from; len != to; len += step) {
        memcpy(path, deep, len);
        path[len] = 0;
        NEED(act(path) == 0);
    }
}

static int
make_dir(const char *path)
{
    return mkdir(path, 0700);
}

int
main(int argc, char **argv)
{
    char dir[] = "benchXXXXXX";

    NEED(chdir(argc > 1 ? argv[1] : "/tmp") == 0);
    NEED(mkdtemp(dir) && chdir(dir) == 0);
    write_large();
    double bytes = (double)BLOCK * BLOCKS;
    double gb_s = 2 * bytes / best_ns(write_and_read, 1);
    report("write+read", gb_s, "GB/s");
    write_file();
    report("rewrite", bytes / best_ns(write_file, 1), "GB/s");
    report("read", bytes / best_ns(read_file, 1), "GB/s");
    NEED(unlink("data") == 0);
    report("create+unlink", best_ns(create_and_unlink, NAMES) / 1000, "us");
    each_dir(make_dir, 1, sizeof deep + 1, 2);
    report("stat", best_ns(stat_often, STATS), "ns");
    each_dir(rmdir, sizeof deep - 1, (size_t)-1, (size_t)-2);
    NEED(chdir("..") == 0 && rmdir(dir) == 0);
    return 0;
}
