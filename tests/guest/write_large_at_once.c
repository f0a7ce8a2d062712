/* One call writes or reads eight megabytes of a file in full. */
#include "guest.h"

#define SIZE (8 << 20)

int
main(void)
{
    char *buf = malloc(SIZE), *back = malloc(SIZE);

    CHECK(buf && back);
    tmpdir();
    for (int i = 0; i < SIZE; i++)
        buf[i] = (char)(i * 7 + i / 4096);
    int fd = OK(open("f", O_RDWR | O_CREAT, 0644));
    CHECK_EQ(write(fd, buf, SIZE), SIZE);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), SIZE);
    CHECK_EQ(pread(fd, back, SIZE, 0), SIZE);
    CHECK(memcmp(buf, back, SIZE) == 0);
    CHECK_EQ(pread(fd, back, SIZE, 5), SIZE - 5);
    CHECK(memcmp(buf + 5, back, SIZE - 5) == 0);
    return 0;
}
