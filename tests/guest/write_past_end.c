/* A write after the end leaves a hole that reads as zeros. */
#include "guest.h"

int
main(void)
{
    static char buf[70000];

    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, "A", 1), 1);
    CHECK_EQ(lseek(fd, 69999, SEEK_SET), 69999);
    CHECK_EQ(stat_of("f").st_size, 1); /* seeking alone grows nothing */
    CHECK_EQ(write(fd, "Z", 1), 1);
    CHECK_EQ(stat_of("f").st_size, 70000);
    memset(buf, 'x', sizeof buf);
    CHECK_EQ(pread(fd, buf, sizeof buf, 0), 70000);
    CHECK_EQ(buf[0], 'A');
    CHECK_EQ(buf[69999], 'Z');
    for (int i = 1; i < 69999; i++)
        CHECK(buf[i] == 0);

    /* a write of nothing past the end grows nothing */
    CHECK_EQ(pwrite(fd, "", 0, 90000), 0);
    CHECK_EQ(stat_of("f").st_size, 70000);
    return 0;
}
