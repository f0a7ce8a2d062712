/* O_DIRECTORY opens only directories, and directories open only for reading. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(symlink("d", "l"));
    CHECK_ERR(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
    CHECK_ERR(open("none", O_RDONLY | O_DIRECTORY), ENOENT);
    OK(open("d", O_RDONLY | O_DIRECTORY));
    OK(open("l", O_RDONLY | O_DIRECTORY));
    OK(open("d", O_RDONLY));

    CHECK_ERR(open("d", O_WRONLY), EISDIR);
    CHECK_ERR(open("d", O_RDWR | O_DIRECTORY), EISDIR);
    CHECK_ERR(open("d", O_RDONLY | O_CREAT, 0644), EISDIR);
    CHECK_ERR(open("l", O_RDONLY | O_CREAT, 0644), EISDIR);
    CHECK_ERR(creat("d", 0644), EISDIR);
    return 0;
}
