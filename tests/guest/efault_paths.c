/* Path and result pointers outside the process give EFAULT and leave nothing
 * behind. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    int next = OK(open("/dev/null", O_RDONLY));
    OK(close(next));
    CHECK_ERR(syscall(SYS_openat, AT_FDCWD, BAD_ADDR, O_RDONLY, 0), EFAULT);
    CHECK_ERR(syscall(SYS_openat, -1, BAD_ADDR, O_RDONLY, 0), EFAULT);
    CHECK_ERR(syscall(SYS_mkdirat, AT_FDCWD, BAD_ADDR, 0755), EFAULT);
    CHECK_ERR(syscall(SYS_unlinkat, AT_FDCWD, BAD_ADDR, 0), EFAULT);
    CHECK_ERR(syscall(SYS_faccessat, AT_FDCWD, BAD_ADDR, 0), EFAULT);
    CHECK_ERR(syscall(SYS_chdir, BAD_ADDR), EFAULT);
    CHECK_ERR(syscall(SYS_symlinkat, BAD_ADDR, AT_FDCWD, "l"), EFAULT);
    CHECK_ERR(syscall(SYS_symlinkat, "x", AT_FDCWD, BAD_ADDR), EFAULT);
    CHECK_ERR(syscall(SYS_renameat2, AT_FDCWD, "none", AT_FDCWD, BAD_ADDR, 0),
              EFAULT);
    CHECK_ERR(syscall(SYS_getcwd, BAD_ADDR, 4096), EFAULT);
    OK(symlink("text", "l"));
    CHECK_ERR(syscall(SYS_readlinkat, AT_FDCWD, "l", BAD_ADDR, 10), EFAULT);
    CHECK_ERR(syscall(SYS_pipe2, BAD_ADDR, 0), EFAULT);
    CHECK_EQ(open("/dev/null", O_RDONLY), next); /* no descriptor leaked */
    return 0;
}
