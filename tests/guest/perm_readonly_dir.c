/* A directory without write permission keeps its entries: EACCES, after
 * ENOENT and EEXIST. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    OK(mkdir("d", 0755));
    OK(mkdir("d/sub", 0755));
    put("d/f", "x");
    put("out", "");
    OK(chmod("d", 0555));

    CHECK_ERR(unlink("d/f"), EACCES);
    CHECK_ERR(unlink("d/none"), ENOENT);
    CHECK_ERR(rmdir("d/sub"), EACCES);
    CHECK_ERR(open("d/new", O_WRONLY | O_CREAT, 0644), EACCES);
    CHECK_ERR(open("d/f", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
    CHECK_ERR(mkdir("d/new", 0755), EACCES);
    CHECK_ERR(mkdir("d/sub", 0755), EEXIST);
    CHECK_ERR(symlink("x", "d/new"), EACCES);
    CHECK_ERR(symlink("x", "d/f"), EEXIST);
    CHECK_ERR(link("out", "d/new"), EACCES);
    CHECK_ERR(mkfifo("d/new", 0644), EACCES);
    CHECK_ERR(rename("d/f", "d/g"), EACCES);
    CHECK_ERR(rename("d/f", "g"), EACCES);
    CHECK_ERR(rename("out", "d/out"), EACCES);

    put("d/f", "changed"); /* the entries' contents are not the directory's */
    put("d/sub/new", "");
    OK(chmod("out", 0));
    OK(unlink("out")); /* nor does a file's mode protect its name */
    return 0;
}
