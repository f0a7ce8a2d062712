/* /proc/self leads to this process; its exe and cwd are links to the program
 * and the directory. */
#include "guest.h"

int
main(void)
{
    char buf[600], want[32];
    ssize_t n;

    const char *dir = tmpdir();
    snprintf(want, sizeof want, "%d", (int)getpid());
    n = OK(readlink("/proc/self", buf, sizeof buf - 1));
    buf[n] = 0;
    CHECK_STR(buf, want);

    n = OK(readlink("/proc/self/cwd", buf, sizeof buf - 1));
    buf[n] = 0;
    CHECK_STR(buf, dir);
    put("f", "x");
    CHECK_FILE("/proc/self/cwd/f", "x");

    n = OK(readlink("/proc/self/exe", buf, sizeof buf - 1));
    buf[n] = 0;
    CHECK(buf[0] == '/');
    struct stat st;
    OK(stat("/proc/self/exe", &st));
    CHECK(S_ISREG(st.st_mode) && st.st_size > 0);
    CHECK(st.st_mode & 0111);
    n = OK(readlink("/proc/self/root", buf, sizeof buf));
    CHECK_EQ(n, 1);
    CHECK_ERR(readlink("/proc/999999999/exe", buf, sizeof buf), ENOENT);
    return 0;
}
