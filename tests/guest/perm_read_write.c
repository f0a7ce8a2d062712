/* File modes decide at open; a descriptor keeps what it had. */
#include "guest.h"

int
main(void)
{
    char c;

    as_user();
    tmpdir();
    put("f", "x");
    int fd = OK(open("f", O_RDWR));
    OK(chmod("f", 0));
    CHECK_ERR(open("f", O_RDONLY), EACCES);
    CHECK_ERR(open("f", O_WRONLY), EACCES);
    CHECK_ERR(open("f", O_RDWR), EACCES);
    CHECK_EQ(pread(fd, &c, 1, 0), 1);
    CHECK_EQ(pwrite(fd, "y", 1, 0), 1);

    OK(chmod("f", 0400));
    OK(open("f", O_RDONLY));
    CHECK_ERR(open("f", O_WRONLY), EACCES);
    CHECK_ERR(open("f", O_RDWR), EACCES);
    OK(chmod("f", 0200));
    OK(open("f", O_WRONLY));
    CHECK_ERR(open("f", O_RDONLY), EACCES);
    CHECK_ERR(open("f", O_RDWR), EACCES);

    /* the owner's bits count for the owner, even if others may do more */
    OK(chmod("f", 0077));
    CHECK_ERR(open("f", O_RDONLY), EACCES);

    OK(symlink("f", "l")); /* a link's own mode means nothing */
    OK(chmod("f", 0600));
    OK(open("l", O_RDWR));
    return 0;
}
