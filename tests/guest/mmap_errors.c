/* mmap refuses empty and unaligned ranges and descriptors it cannot read. */
#include "guest.h"

#include <sys/mman.h>

static void *
map(size_t len, int prot, int flags, int fd, off_t off)
{
    return mmap(NULL, len, prot, flags, fd, off);
}

int
main(void)
{
    tmpdir();
    put("f", "x");
    int rd = OK(open("f", O_RDONLY));
    int wr = OK(open("f", O_WRONLY));
    CHECK(map(0, PROT_READ, MAP_PRIVATE, rd, 0) == MAP_FAILED);
    CHECK_EQ(errno, EINVAL);
    CHECK(map(100, PROT_READ, MAP_PRIVATE, rd, 1) == MAP_FAILED);
    CHECK_EQ(errno, EINVAL);
    CHECK(map(100, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);
    CHECK_EQ(errno, EBADF);
    CHECK(map(100, PROT_READ, MAP_PRIVATE, wr, 0) == MAP_FAILED);
    CHECK_EQ(errno, EACCES);
    CHECK(map(100, PROT_READ, 0, rd, 0) == MAP_FAILED);
    CHECK_EQ(errno, EINVAL);
    char *p = map(100, PROT_READ | PROT_WRITE, MAP_PRIVATE, rd, 0);
    CHECK(p != MAP_FAILED); /* writable although the descriptor is not */
    p[0] = 'y';
    CHECK_FILE("f", "x");
    CHECK_ERR(munmap(p + 1, 100), EINVAL);
    CHECK_ERR(munmap(p, 0), EINVAL);
    OK(munmap(p, 100));
    return 0;
}
