/* chdir and fchdir move the current directory; getcwd names it without
 * symlinks. */
#include "guest.h"

int
main(void)
{
    char buf[300], want[300];

    const char *dir = tmpdir();
    put("f", "");
    OK(mkdir("d", 0755));
    OK(mkdir("d/e", 0755));
    OK(symlink("d/e", "l"));
    int top = OK(open(".", O_RDONLY));
    int file = OK(open("f", O_RDONLY));
    snprintf(want, sizeof want, "%s/d/e", dir);
    OK(chdir("l"));
    CHECK_STR(getcwd(buf, sizeof buf), want);
    OK(rename("../../d", "../../moved"));
    snprintf(want, sizeof want, "%s/moved/e", dir);
    CHECK_STR(getcwd(buf, sizeof buf), want);
    OK(fchdir(top));
    CHECK_STR(getcwd(buf, sizeof buf), dir);

    CHECK_ERR(fchdir(file), ENOTDIR);
    CHECK_ERR(fchdir(-1), EBADF);
    CHECK_ERR(chdir("f"), ENOTDIR);
    CHECK_ERR(chdir("none"), ENOENT);
    CHECK_ERR(chdir(""), ENOENT);
    CHECK_STR(getcwd(buf, sizeof buf), dir);
    CHECK(getcwd(buf, strlen(dir)) == NULL && errno == ERANGE);
    CHECK_EQ(syscall(SYS_getcwd, buf, sizeof buf), strlen(dir) + 1);
    OK(chdir("/"));
    CHECK_STR(getcwd(buf, 2), "/");
    OK(chdir("/.."));
    CHECK_STR(getcwd(buf, 2), "/");
    return 0;
}
