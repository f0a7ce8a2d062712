/* O_NOFOLLOW refuses a symlink as last component only; with O_PATH it opens
 * the link itself. */
#include "guest.h"

int
main(void)
{
    char buf[16];
    struct stat st;

    tmpdir();
    OK(mkdir("d", 0755));
    put("d/f", "x");
    OK(symlink("d", "ld"));
    OK(symlink("d/f", "lf"));
    CHECK_ERR(open("lf", O_RDONLY | O_NOFOLLOW), ELOOP);
    CHECK_ERR(open("ld", O_RDONLY | O_NOFOLLOW), ELOOP);
    CHECK_ERR(open("lf", O_RDWR | O_CREAT | O_NOFOLLOW, 0644), ELOOP);
    CHECK_ERR(open("ld", O_RDONLY | O_NOFOLLOW | O_DIRECTORY), ENOTDIR);
    OK(open("ld/f", O_RDONLY | O_NOFOLLOW));
    OK(open("d/f", O_RDONLY | O_NOFOLLOW));

    int fd = OK(open("lf", O_PATH | O_NOFOLLOW));
    OK(fstat(fd, &st));
    CHECK(S_ISLNK(st.st_mode));
    CHECK_EQ(readlinkat(fd, "", buf, sizeof buf), 3);
    CHECK(memcmp(buf, "d/f", 3) == 0);
    return 0;
}
