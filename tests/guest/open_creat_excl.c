/* O_CREAT|O_EXCL makes a file exactly once and never follows a symlink. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    int fd = OK(open("f", O_RDWR | O_CREAT | O_EXCL, 0600));
    OK(close(fd));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0600);
    CHECK_ERR(open("f", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);

    OK(mkdir("d", 0755));
    CHECK_ERR(open("d", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    CHECK_ERR(open(".", O_RDONLY | O_CREAT | O_EXCL, 0600), EEXIST);

    OK(symlink("nowhere", "dangling"));
    CHECK_ERR(open("dangling", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    CHECK(!exists("nowhere"));

    /* without O_EXCL an existing file is opened as it is */
    put("f", "text");
    fd = OK(open("f", O_RDWR | O_CREAT, 0777));
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0600);
    CHECK_EQ(stat_of("f").st_size, 4);
    return 0;
}
