/* O_CREAT through a dangling symlink makes the file that the link names. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    OK(mkdir("d", 0755));
    OK(symlink("d/target", "l"));
    int fd = OK(open("l", O_WRONLY | O_CREAT, 0640));
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_FILE("d/target", "x");
    CHECK_EQ(stat_of("d/target").st_mode, S_IFREG | 0640);
    CHECK(S_ISLNK(stat_of("l").st_mode));

    /* relative links start at the link's directory */
    OK(symlink("sibling", "d/rel"));
    put("d/rel", "y");
    CHECK_FILE("d/sibling", "y");

    OK(symlink("gone/target", "deep"));
    CHECK_ERR(open("deep", O_WRONLY | O_CREAT, 0640), ENOENT);
    return 0;
}
