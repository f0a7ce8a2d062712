/* With O_APPEND each write goes to the end and moves the offset there; so
 * does pwrite on Linux. */
#include "guest.h"

int
main(void)
{
    char buf[4];

    tmpdir();
    put("f", "0123456789");
    int fd = OK(open("f", O_RDWR | O_APPEND));
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0);
    CHECK_EQ(lseek(fd, 2, SEEK_SET), 2);
    CHECK_EQ(read(fd, buf, 2), 2);
    CHECK(memcmp(buf, "23", 2) == 0);

    CHECK_EQ(write(fd, "ab", 2), 2);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 12);
    CHECK_FILE("f", "0123456789ab");

    /* pwrite ignores its offset (a documented Linux bug), keeps ours */
    OK(lseek(fd, 1, SEEK_SET));
    CHECK_EQ(pwrite(fd, "Z", 1, 0), 1);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1);
    CHECK_FILE("f", "0123456789abZ");
    return 0;
}
