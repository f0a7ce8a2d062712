/* SEEK_DATA and SEEK_HOLE find the written part of a sparse file. */
#include "guest.h"

#define MIB ((off_t)1 << 20)

int
main(void)
{
    static char buf[65536];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    memset(buf, 'x', sizeof buf);
    CHECK_EQ(pwrite(fd, buf, sizeof buf, 8 * MIB), sizeof buf);
    OK(ftruncate(fd, 32 * MIB));

    /* a file system may round data outwards, by no more than 1 MiB */
    off_t data = OK(lseek(fd, 0, SEEK_DATA));
    CHECK(data <= 8 * MIB && data >= 7 * MIB);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), data);
    off_t hole = OK(lseek(fd, data, SEEK_HOLE));
    CHECK(hole >= 8 * MIB + (off_t)sizeof buf && hole <= 9 * MIB);

    CHECK_EQ(lseek(fd, 8 * MIB + 5, SEEK_DATA), 8 * MIB + 5);
    CHECK_EQ(lseek(fd, 5, SEEK_HOLE), 5);
    CHECK_ERR(lseek(fd, hole, SEEK_DATA), ENXIO); /* only a hole is left */
    CHECK_EQ(lseek(fd, hole + 7, SEEK_HOLE), hole + 7);
    CHECK_ERR(lseek(fd, 32 * MIB, SEEK_DATA), ENXIO);
    CHECK_ERR(lseek(fd, 32 * MIB, SEEK_HOLE), ENXIO);
    CHECK_ERR(lseek(fd, -1, SEEK_DATA), ENXIO);
    CHECK_ERR(lseek(fd, -1, SEEK_HOLE), ENXIO);

    /* the end of a file counts as a hole */
    put("full", "abc");
    fd = OK(open("full", O_RDONLY));
    CHECK_EQ(lseek(fd, 0, SEEK_HOLE), 3);
    CHECK_EQ(lseek(fd, 1, SEEK_DATA), 1);
    CHECK_ERR(lseek(fd, 3, SEEK_DATA), ENXIO);
    return 0;
}
