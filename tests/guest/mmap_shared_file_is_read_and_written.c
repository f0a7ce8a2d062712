/* A mapped file, its descriptors and the mappings of others are one content. */
/* post: fork */
#include "guest.h"
#include <sys/mman.h>

#define RW (PROT_READ | PROT_WRITE)
enum { PAGE = 4096 };

static char *
map(int fd, size_t len, off_t off)
{
    return OK(mmap(NULL, len, RW, MAP_SHARED, fd, off));
}

static void
calls_see_stores(int fd)
{
    char *p = map(fd, 2 * PAGE, 0), buf[16];

    memcpy(p + 100, "stored", 7);
    CHECK_EQ(pread(fd, buf, 7, 100), 7);
    CHECK_STR(buf, "stored");
    CHECK_EQ(pwrite(fd, "written", 8, PAGE - 3), 8);
    CHECK_STR(p + PAGE - 3, "written");
    char *q = map(fd, 2 * PAGE, 0);
    CHECK(q != p);
    CHECK_STR(q + 100, "stored");
    q[0] = 'q';
    CHECK_EQ(p[0], 'q');
    OK(munmap(q, 2 * PAGE));
    OK(msync(p, 2 * PAGE, MS_SYNC));
    OK(munmap(p, 2 * PAGE));
    CHECK_EQ(pread(fd, buf, 7, 100), 7);
    CHECK_STR(buf, "stored");
}

/* Pages are found by their offset, also after the descriptor is closed. */
static void
offsets(void)
{
    int fd = OK(open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600));

    OK(ftruncate(fd, 8 * PAGE));
    for (int i = 0; i < 8; i++) {
        char *p = map(fd, PAGE, i * PAGE);
        *p = (char)('a' + i);
        OK(munmap(p, PAGE));
    }
    char *all = map(fd, 8 * PAGE, 0), *mid = map(fd, 3 * PAGE, 4 * PAGE);
    OK(close(fd));
    for (int i = 0; i < 8; i++)
        CHECK_EQ(all[i * PAGE], 'a' + i);
    mid[PAGE] = 'X';
    CHECK_EQ(all[5 * PAGE], 'X');
    OK(munmap(all + 2 * PAGE, 2 * PAGE));
    CHECK_EQ(all[5 * PAGE], 'X');
    CHECK_EQ(all[PAGE], 'b');
    all[7 * PAGE] = 'H';
    OK(munmap(all, 8 * PAGE));
    OK(munmap(mid, 3 * PAGE));
    fd = OK(open("pages", O_RDONLY));
    char c;
    CHECK_EQ(pread(fd, &c, 1, 7 * PAGE), 1);
    CHECK_EQ(c, 'H');
    OK(close(fd));
}

static void
sizes(void)
{
    int fd = OK(open("size", O_RDWR | O_CREAT | O_TRUNC, 0600));

    CHECK_EQ(write(fd, "0123456789", 10), 10);
    char *p = map(fd, PAGE, 0);
    CHECK(!memcmp(p, "0123456789\0", 12));
    OK(ftruncate(fd, 4));
    CHECK_EQ(p[4], 0);
    CHECK_EQ(stat_of("size").st_size, 4);
    OK(ftruncate(fd, 8));
    CHECK(!memcmp(p, "0123\0\0\0\0", 8));
    CHECK_EQ(pwrite(fd, "abc", 3, 7), 3);
    CHECK(!memcmp(p, "0123\0\0\0abc", 10));
    p[20] = 'x'; /* beyond the end: not part of the file */
    OK(munmap(p, PAGE));
    CHECK_EQ(stat_of("size").st_size, 10);
    OK(close(fd));
}

/* Another program maps the same file. */
static void
other_process(const char *self)
{
    int fd = OK(open("both", O_RDWR | O_CREAT | O_TRUNC, 0600));

    OK(ftruncate(fd, PAGE));
    char *p = map(fd, PAGE, 0);
    strcpy(p, "parent");
    CHECK_EQ(wait_exit(spawn_self(self)), 0);
    CHECK_STR(p, "child of parent");
    pid_t pid = OK(fork());
    if (!pid) {
        strcpy(p, "forked");
        _exit(0);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_STR(p, "forked");
    OK(unlink("both"));
    strcpy(p, "without a name");
    char buf[16];
    CHECK_EQ(pread(fd, buf, 15, 0), 15);
    CHECK_STR(buf, "without a name");
    OK(munmap(p, PAGE));
    OK(close(fd));
}

static int
child(void)
{
    int fd = OK(open("both", O_RDWR));
    char *p = map(fd, PAGE, 0);

    CHECK_STR(p, "parent");
    strcpy(p, "child of parent");
    return 0; /* without munmap */
}

/* /proc shows the range, the offset and the file. */
static void
shown(void)
{
    int fd = OK(open("pages", O_RDWR));
    char *p = map(fd, PAGE, 2 * PAGE), line[512], want[300];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;

    CHECK(maps != NULL);
    snprintf(want, sizeof want, "%s/pages", guest_dir);
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        char how[8], path[300] = "";
        CHECK(sscanf(line, "%llx-%llx %7s %llx %*s %*s %299s", &from, &to, how,
                     &offset, path) >= 4);
        if (from != (uintptr_t)p)
            continue;
        CHECK_EQ(to, from + PAGE);
        CHECK_EQ(offset, 2 * PAGE);
        CHECK_STR(how, "rw-s");
        CHECK_STR(path, want);
        found++;
    }
    CHECK_EQ(found, 1);
    fclose(maps);
    OK(munmap(p, PAGE));
    OK(close(fd));
}

static void
rights(void)
{
    int fd = OK(open("pages", O_RDONLY));
    char *p = OK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));

    CHECK_EQ(*p, 'a');
    CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0) == MAP_FAILED);
    CHECK_EQ(errno, EACCES);
    int out = OK(open("pages", O_RDWR));
    CHECK_EQ(pwrite(out, "z", 1, 0), 1);
    CHECK_EQ(*p, 'z');
    OK(close(out));
    OK(close(fd));
    out = OK(open("pages", O_WRONLY));
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, out, 0) == MAP_FAILED);
    CHECK_EQ(errno, EACCES);
    OK(close(out));
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[0], "child"))
        return child();
    tmpdir();
    int fd = OK(open("file", O_RDWR | O_CREAT, 0600));
    OK(ftruncate(fd, 2 * PAGE));
    calls_see_stores(fd);
    OK(close(fd));
    offsets();
    sizes();
    other_process("both");
    shown();
    rights();
    return 0;
}
