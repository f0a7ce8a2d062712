/* Reads return what is there, then 0 at and after the end, and see bytes
 * that arrive later. */
#include "guest.h"

int
main(void)
{
    char buf[16];

    tmpdir();
    put("f", "abcdef");
    int fd = OK(open("f", O_RDONLY));
    CHECK_EQ(read(fd, buf, 0), 0);
    CHECK_EQ(read(fd, buf, 4), 4);
    CHECK(memcmp(buf, "abcd", 4) == 0);
    memset(buf, '-', sizeof buf);
    CHECK_EQ(read(fd, buf, sizeof buf), 2);
    CHECK(memcmp(buf, "ef--", 4) == 0);
    CHECK_EQ(read(fd, buf, sizeof buf), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 6);

    int wr = OK(open("f", O_WRONLY | O_APPEND));
    CHECK_EQ(write(wr, "gh", 2), 2);
    CHECK_EQ(read(fd, buf, sizeof buf), 2);
    CHECK(memcmp(buf, "gh", 2) == 0);

    OK(lseek(fd, 1000, SEEK_SET));
    CHECK_EQ(read(fd, buf, sizeof buf), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1000);
    return 0;
}
