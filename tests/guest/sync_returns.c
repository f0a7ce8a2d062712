/* sync writes all files back; it cannot fail. */
#include "guest.h"

int
main(void)
{
    int fd = OK(open("f", O_CREAT | O_RDWR, 0600));

    CHECK_EQ(write(fd, "x", 1), 1);
    sync();
    CHECK_EQ(lseek(fd, 0, SEEK_END), 1);
    return 0;
}
