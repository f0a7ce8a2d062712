/* ftruncate shrinks and grows with zeros, also over bytes that were cut off
 * before. */
#include "guest.h"

int
main(void)
{
    char buf[8];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "abcdefgh", 8), 8);
    OK(ftruncate(fd, 3));
    CHECK_EQ(stat_of("f").st_size, 3);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 8); /* the offset stays */
    OK(ftruncate(fd, 6));
    CHECK_EQ(pread(fd, buf, 8, 0), 6);
    CHECK(memcmp(buf, "abc\0\0\0", 6) == 0);

    CHECK_EQ(write(fd, "i", 1), 1); /* at offset 8 */
    CHECK_EQ(stat_of("f").st_size, 9);
    OK(ftruncate(fd, 0));
    CHECK_EQ(pread(fd, buf, 8, 0), 0);
    OK(ftruncate(fd, (off_t)1 << 32));
    CHECK_EQ(stat_of("f").st_size, (off_t)1 << 32);
    CHECK_EQ(pread(fd, buf, 1, ((off_t)1 << 32) - 1), 1);
    CHECK_EQ(buf[0], 0);
    CHECK_ERR(ftruncate(fd, -1), EINVAL);
    CHECK_ERR(ftruncate(-1, -1), EINVAL); /* before the descriptor */
    CHECK_ERR(ftruncate(-1, 0), EBADF);
    return 0;
}
