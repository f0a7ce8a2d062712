/* A new file's mode does not limit the descriptor that made it. */
#include "guest.h"

int
main(void)
{
    char c;

    as_user();
    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT, 0));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG);
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(pread(fd, &c, 1, 0), 1);
    CHECK_ERR(open("f", O_RDONLY), EACCES);
    CHECK_ERR(open("f", O_RDWR | O_CREAT, 0), EACCES);
    CHECK_ERR(open("f", O_RDWR | O_CREAT | O_EXCL, 0), EEXIST);

    int wr = OK(creat("g", 0444));
    CHECK_EQ(write(wr, "x", 1), 1);
    CHECK_ERR(read(wr, &c, 1), EBADF);
    return 0;
}
