/* truncate by path: kinds of files, permissions and the order of checks. */
#include "guest.h"

int
main(void)
{
    as_user();
    tmpdir();
    put("f", "abcdef");
    OK(symlink("f", "l"));
    OK(truncate("l", 2));
    CHECK_FILE("f", "ab");
    CHECK_ERR(truncate("none", -1), EINVAL);
    CHECK_ERR(truncate("f", -1), EINVAL);
    CHECK_ERR(truncate("none", 0), ENOENT);
    CHECK_ERR(truncate("f/x", 0), ENOTDIR);
    CHECK_ERR(truncate(".", 0), EISDIR);
    OK(mkfifo("p", 0644));
    CHECK_ERR(truncate("p", 0), EINVAL);
    CHECK_ERR(truncate("/dev/null", 0), EINVAL);

    OK(chmod("f", 0444));
    CHECK_ERR(truncate("f", 0), EACCES);
    CHECK_FILE("f", "ab");

    int fds[2];
    OK(pipe(fds));
    CHECK_ERR(ftruncate(fds[1], 0), EINVAL);
    return 0;
}
