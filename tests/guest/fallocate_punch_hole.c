/* FALLOC_FL_PUNCH_HOLE zeroes a range, frees its blocks and keeps the size. */
#include "guest.h"

#define MIB   (1 << 20)
#define PUNCH (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)

int
main(void)
{
    static char buf[4 * MIB];
    struct stat before, after;

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    memset(buf, 'x', sizeof buf);
    CHECK_EQ(write(fd, buf, sizeof buf), sizeof buf);
    OK(fstat(fd, &before));
    OK(fallocate(fd, PUNCH, MIB, 2 * MIB));
    OK(fstat(fd, &after));
    CHECK_EQ(after.st_size, 4 * MIB);
    CHECK(after.st_blocks <= before.st_blocks - 2 * MIB / 512);
    CHECK_EQ(pread(fd, buf, sizeof buf, 0), sizeof buf);
    for (int i = 0; i < 4 * MIB; i++)
        CHECK(buf[i] == (i >= MIB && i < 3 * MIB ? 0 : 'x'));

    /* parts of a block are zeroed; past the end nothing happens */
    OK(fallocate(fd, PUNCH, 10, 20));
    CHECK_EQ(pread(fd, buf, 40, 0), 40);
    for (int i = 0; i < 40; i++)
        CHECK(buf[i] == (i >= 10 && i < 30 ? 0 : 'x'));
    OK(fallocate(fd, PUNCH, 5 * MIB, MIB));
    CHECK_EQ(stat_of("f").st_size, 4 * MIB);
    CHECK_ERR(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 1), EOPNOTSUPP);
    return 0;
}
