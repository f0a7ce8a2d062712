/* SPDX-License-Identifier: MIT */
/* mmap and its kin: contents, errors, replacing and moving parts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PAGE  4096
#define RW    (PROT_READ | PROT_WRITE)
#define ANON  (MAP_PRIVATE | MAP_ANONYMOUS)
#define NAMED "mmap-test-file"

static char *
anon(size_t len)
{
    char *p = mmap(NULL, len, RW, ANON, -1, 0);

    CHECK(p != MAP_FAILED && p != NULL);
    CHECK(((uintptr_t)p & (PAGE - 1)) == 0);
    for (size_t i = 0; i < len; i += 512)
        CHECK(p[i] == 0);
    return p;
}

static void
anonymous(void)
{
    char *p = anon(3 * PAGE), *q = anon(1);

    memset(p, 1, 3 * PAGE);
    CHECK(q[PAGE - 1] == 0);
    CHECK(munmap(p, 3 * PAGE) == 0);
    p = anon(5 * PAGE); /* memory that comes back is zero again */
    CHECK(munmap(p, 5 * PAGE) == 0);
    CHECK(munmap(q, PAGE) == 0);
    CHECK(munmap(q, PAGE) == 0); /* nothing there: no error */
}

static void
bad_arguments(void)
{
    char *p = anon(PAGE);

    FAILS(mmap(NULL, 0, RW, ANON, -1, 0), EINVAL);
    FAILS(mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0), EINVAL);
    FAILS(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 0, 100), EINVAL);
    FAILS(mmap(p + 1, PAGE, RW, ANON | MAP_FIXED, -1, 0), EINVAL);
    FAILS(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
    FAILS(mmap(NULL, SIZE_MAX - PAGE, RW, ANON, -1, 0), ENOMEM);
    FAILS(mmap(NULL, (size_t)PTRDIFF_MAX + 1, RW, ANON, -1, 0), ENOMEM);
    FAILS(munmap(p + 1, PAGE), EINVAL);
    FAILS(munmap(p, 0), EINVAL);
    FAILS(mprotect(p + 1, PAGE, PROT_READ), EINVAL);
    CHECK(munmap(p, PAGE) == 0);
    FAILS(mprotect(p, PAGE, PROT_READ), ENOMEM);
    FAILS(msync(p, PAGE, MS_SYNC), ENOMEM);
    FAILS(msync(p + 1, PAGE, MS_SYNC), EINVAL);
    FAILS(mmap(p, PAGE, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
}

static void
fixed(void)
{
    char *p = anon(8 * PAGE), *q;

    memset(p, 1, 8 * PAGE);
    q = mmap(p + 2 * PAGE, 3 * PAGE, RW, ANON | MAP_FIXED, -1, 0);
    CHECK(q == p + 2 * PAGE);
    CHECK(p[2 * PAGE - 1] == 1 && p[2 * PAGE] == 0);
    CHECK(p[5 * PAGE - 1] == 0 && p[5 * PAGE] == 1);
    FAILS(mmap(p, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
    CHECK(munmap(p + PAGE, PAGE) == 0);
    q = mmap(p + PAGE, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(q == p + PAGE && !q[0]);
    CHECK(munmap(p, 8 * PAGE) == 0);
    /* Half free, half mapped. */
    p = anon(4 * PAGE);
    CHECK(munmap(p + 2 * PAGE, 2 * PAGE) == 0);
    q = mmap(p + PAGE, 3 * PAGE, RW, ANON | MAP_FIXED, -1, 0);
    CHECK(q == p + PAGE);
    memset(q, 2, 3 * PAGE);
    CHECK(p[0] == 0 && p[4 * PAGE - 1] == 2);
    CHECK(munmap(p, 4 * PAGE) == 0);
}

/* A place that the memory does not reach yet. */
static void
fixed_far(void)
{
    char *p = anon(PAGE), *far = p + (24 << 20), *q;

    q = mmap(far, 2 * PAGE, RW, ANON | MAP_FIXED, -1, 0);
    CHECK(q == far);
    memset(q, 3, 2 * PAGE);
    CHECK(munmap(q, 2 * PAGE) == 0);
    CHECK(munmap(p, PAGE) == 0);
}

static void
remap(void)
{
    char *p = anon(4 * PAGE), *q, *wall;

    memset(p, 5, 4 * PAGE);
    CHECK(mremap(p, 4 * PAGE, 2 * PAGE, 0) == p);
    q = mmap(p + 2 * PAGE, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(q == p + 2 * PAGE); /* what was cut off is free */
    FAILS(mremap(p, 2 * PAGE, 4 * PAGE, 0), ENOMEM);
    q = mremap(p, 2 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && q != p);
    CHECK(q[0] == 5 && q[2 * PAGE - 1] == 5 && q[2 * PAGE] == 0);
    FAILS(mprotect(p, PAGE, PROT_READ), ENOMEM); /* it has moved away */

    wall = anon(6 * PAGE);
    p = mremap(q, 6 * PAGE, 6 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, wall);
    CHECK(p == wall && p[0] == 5 && p[3 * PAGE] == 0);
    FAILS(
        mremap(p, 6 * PAGE, 6 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + PAGE),
        EINVAL);
    FAILS(mremap(p, 6 * PAGE, 6 * PAGE, MREMAP_FIXED, q), EINVAL);
    FAILS(mremap(p + 1, PAGE, PAGE, 0), EINVAL);
    FAILS(mremap(p, PAGE, 0, 0), EINVAL);
    CHECK(munmap(p, 6 * PAGE) == 0);
    FAILS(mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
}

static int
make_file(size_t len)
{
    int fd = open(NAMED, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    for (size_t i = 0; i < len; i++)
        CHECK(write(fd, &(char){(char)('a' + i % 26)}, 1) == 1);
    return fd;
}

static void
file(void)
{
    int fd = make_file(5000), ro, wo, dir, fds[2];
    char *p = mmap(NULL, 5000, RW, MAP_PRIVATE, fd, 0), c;

    CHECK(p != MAP_FAILED);
    CHECK(p[0] == 'a' && p[4999] == 'a' + 4999 % 26);
    for (int i = 5000; i < 2 * PAGE; i++)
        CHECK(p[i] == 0);
    p[0] = 'X';
    CHECK(pread(fd, &c, 1, 0) == 1 && c == 'a');
    CHECK(munmap(p, 5000) == 0);

    p = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fd, PAGE);
    CHECK(p != MAP_FAILED && p[0] == 'a' + PAGE % 26);
    CHECK(munmap(p, 100) == 0);
    p = mmap(NULL, 100, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED && p[1] == 'b');
    CHECK(msync(p, 100, MS_SYNC) == 0);
    CHECK(munmap(p, 100) == 0);

    ro = open(NAMED, O_RDONLY);
    wo = open(NAMED, O_WRONLY);
    dir = open(".", O_RDONLY);
    CHECK(pipe(fds) == 0);
    FAILS(mmap(NULL, 100, RW, MAP_SHARED, ro, 0), EACCES);
    FAILS(mmap(NULL, 100, PROT_READ, MAP_PRIVATE, wo, 0), EACCES);
    FAILS(mmap(NULL, 100, PROT_READ, MAP_PRIVATE, dir, 0), ENODEV);
    FAILS(mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fds[0], 0), ENODEV);
    close(ro);
    close(wo);
    close(dir);
    close(fds[0]);
    close(fds[1]);
    close(fd);
    CHECK(unlink(NAMED) == 0);
}

static void
advice(void)
{
    char *p = anon(2 * PAGE);

    memset(p, 9, 2 * PAGE);
    CHECK(madvise(p, PAGE, MADV_WILLNEED) == 0);
    CHECK(madvise(p, PAGE, MADV_DONTNEED) == 0);
    CHECK(p[0] == 0 && p[PAGE] == 9);
    FAILS(madvise(p + 1, PAGE, MADV_WILLNEED), EINVAL);
    CHECK(posix_madvise(p, PAGE, POSIX_MADV_DONTNEED) == 0);
    CHECK(munmap(p, 2 * PAGE) == 0);
}

/* More mappings than a small table of pages holds, in random order. */
static void
many(void)
{
    static char *maps[600];
    static unsigned pages[600];

    for (int round = 0; round < 6000; round++) {
        unsigned i = random32() % 600;

        if (maps[i]) {
            CHECK(maps[i][0] == (char)i);
            CHECK(maps[i][pages[i] * PAGE - 1] == (char)i);
            CHECK(munmap(maps[i], pages[i] * PAGE) == 0);
        }
        pages[i] = 1 + random32() % 20;
        maps[i] = anon(pages[i] * PAGE);
        memset(maps[i], (int)i, pages[i] * PAGE);
    }
    for (int i = 0; i < 600; i++)
        if (maps[i])
            CHECK(munmap(maps[i], pages[i] * PAGE) == 0);
}

/* Running out of memory is an error like any other. In the sandbox only: there
 * the address space ends soon. */
static void
exhaust(void)
{
#ifdef __wasm__
    static char *maps[64];
    const size_t len = 128 << 20;
    int n = 0;

    while (n < 64) {
        maps[n] = mmap(NULL, len, RW, ANON, -1, 0);
        if (maps[n] == MAP_FAILED)
            break;
        n++;
    }
    CHECK(n < 64 && errno == ENOMEM);
    void *volatile big = malloc(len);
    CHECK(!big && errno == ENOMEM);
    for (int i = 0; i < n; i++)
        CHECK(munmap(maps[i], len) == 0);
    CHECK(munmap(anon(PAGE), PAGE) == 0);
    big = malloc(100);
    CHECK(big);
    free(big);
#endif
}

int
main(void)
{
    CHECK(getpagesize() == PAGE && sysconf(_SC_PAGESIZE) == PAGE);
    anonymous();
    bad_arguments();
    fixed();
    fixed_far();
    remap();
    file();
    advice();
    many();
    exhaust();
    return 0;
}
