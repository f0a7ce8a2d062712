/* In a removed directory getcwd is ENOENT, nothing can be made, and ".."
 * still leads out. */
#include "guest.h"

int
main(void)
{
    char buf[300];
    struct stat st;

    const char *dir = tmpdir();
    OK(mkdir("d", 0755));
    OK(chdir("d"));
    CHECK(getcwd(buf, sizeof buf) != NULL);
    OK(rmdir("../d"));
    CHECK(getcwd(buf, sizeof buf) == NULL && errno == ENOENT);
    CHECK_ERR(open("f", O_WRONLY | O_CREAT, 0644), ENOENT);
    CHECK_ERR(mkdir("sub", 0755), ENOENT);
    CHECK_ERR(rmdir("."), EINVAL);
    CHECK_ERR(stat("f", &st), ENOENT);
    OK(stat(".", &st));
    CHECK_EQ(st.st_nlink, 0);
    ssize_t n = OK(readlink("/proc/self/cwd", buf, sizeof buf - 1));
    buf[n] = 0;
    char want[300];
    snprintf(want, sizeof want, "%s/d (deleted)", dir);
    CHECK_STR(buf, want);

    OK(chdir(".."));
    CHECK_STR(getcwd(buf, sizeof buf), dir);
    return 0;
}
