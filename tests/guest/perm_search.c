/* Without search permission nothing below a directory is reached; without
 * read it cannot be listed. */
#include "guest.h"

int
main(void)
{
    struct stat st;

    as_user();
    tmpdir();
    OK(mkdir("d", 0755));
    OK(mkdir("d/e", 0755));
    put("d/f", "x");
    int fd = OK(open("d", O_RDONLY));

    OK(chmod("d", 0600));
    CHECK_ERR(stat("d/f", &st), EACCES);
    CHECK_ERR(stat("d/none", &st), EACCES);
    CHECK_ERR(open("d/f", O_RDONLY), EACCES);
    CHECK_ERR(open("d/e/x", O_RDONLY | O_CREAT, 0644), EACCES);
    CHECK_ERR(mkdir("d/e", 0755), EACCES); /* not EEXIST */
    CHECK_ERR(chdir("d"), EACCES);
    CHECK_ERR(stat("d/..", &st), EACCES);
    CHECK_ERR(fchdir(fd), EACCES);
    CHECK_ERR(fstatat(fd, "f", &st, 0), EACCES);
    CHECK_ERR(access("d/f", F_OK), EACCES);
    DIR *dir = opendir("d");
    CHECK(dir && readdir(dir));
    closedir(dir);

    OK(chmod("d", 0300));
    OK(stat("d/f", &st));
    CHECK(opendir("d") == NULL && errno == EACCES);
    OK(chdir("d"));
    OK(open("f", O_RDONLY));
    OK(unlink("f"));
    return 0;
}
